"""The Python side of the JavaScript binding since 2026-06: attributes, dictionaries, tensors, lost contexts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import webnn
from tests.support import CURRENT
from webnn.context.engine.session import CompiledGraph
from webnn.javascript.channel import Bytes
from webnn.javascript.dispatch import Dispatcher
from webnn.javascript.idl import load_idl

PAIR = {"dataType": "float32", "shape": [2]}
ML, CONTEXT, BUILDER = 0, 1, 2


class Page:
    """A realm's requests: a context and a builder are there."""

    def __init__(self, profile: str | None = None) -> None:
        idl = load_idl(CURRENT, profile)
        self.dispatcher = Dispatcher(webnn.ML(revision=idl.revision), idl)
        assert self.ask("ML", "createContext", ML) == CONTEXT
        assert self.ask("MLGraphBuilder", "constructor", None, {"$h": CONTEXT}) == BUILDER

    def answer(
        self, interface: str, member: str, handle: int | None, *arguments: Any, views: Sequence[Any] = (), buffers: Sequence[Bytes] = ()
    ) -> Any:
        text, answered = self.dispatcher.call(json.dumps([interface, member, handle, arguments, views, []]), buffers)
        self.answered = [bytes(each) for each in answered]
        return json.loads(text)

    def ask(self, *request: Any, **rest: Any) -> Any:
        answer = self.answer(*request, **rest)
        assert answer.keys() == {"value"}, answer
        value = answer["value"]
        return value["$h"] if isinstance(value, dict) and "$h" in value else value

    def tensor(self, descriptor: dict[str, Any] = PAIR) -> int:
        return int(self.ask("MLContext", "createTensor", CONTEXT, {**descriptor, "readable": True, "writable": True}))

    def write(self, tensor: int, data: np.ndarray[Any, Any], kind: str = "ArrayBuffer") -> Any:
        views = [view(0, data.nbytes, kind)]
        return self.answer("MLContext", "writeTensor", CONTEXT, {"$h": tensor}, {"$v": 0}, views=views, buffers=[data.tobytes()])

    def dispatch(self, member: str) -> Any:
        """Dispatch a graph of one operation over two new tensors."""
        x = self.ask("MLGraphBuilder", "input", BUILDER, "x", PAIR)
        y = self.ask("MLGraphBuilder", member, BUILDER, {"$h": x})
        graph = self.ask("MLGraphBuilder", "build", BUILDER, {"$r": [["y", {"$h": y}]]})
        named = [{"$r": [[name, {"$h": self.tensor()}]]} for name in ("x", "y")]
        return self.answer("MLContext", "dispatch", CONTEXT, {"$h": graph}, *named)


def view(offset: int, length: int, kind: str = "Float32Array", *, sent: bool = True, detached: bool = False) -> dict[str, Any]:
    return {"kind": kind, "buffer": 1, "offset": offset, "length": length, "detached": detached, "sent": sent}


@pytest.fixture
def page() -> Page:
    return Page()


def test_attributes(page: Page) -> None:
    operand = page.ask("MLGraphBuilder", "input", BUILDER, "x", PAIR)
    assert [page.ask("MLOperand", name, operand) for name in ("dataType", "shape")] == ["float32", [2]]
    tensor = page.tensor()
    names = ("dataType", "shape", "readable", "writable", "constant")
    assert [page.ask("MLTensor", name, tensor) for name in names] == ["float32", [2], True, True, False]
    assert page.ask("MLContext", "accelerated", CONTEXT) in (True, False)
    assert page.dispatcher.faults == []


@pytest.mark.parametrize(
    ("interface", "member"),
    [("MLContext", "compute"), ("MLContext", "lostSync"), ("MLContext", "_loss"), ("MLTensor", "_memory"), ("MLTensor", "constructor")],
)
def test_only_members_of_the_idl_can_be_used(page: Page, interface: str, member: str) -> None:
    answer = page.answer(interface, member, CONTEXT)
    assert answer == {"error": ["Error", f"the emulator failed: LookupError: {interface} has no member '{member}'"]}


def test_a_dictionary(page: Page) -> None:
    limits = page.ask("MLContext", "opSupportLimits", CONTEXT)["value"]
    assert limits["conv2d"]["input"]["rankRange"] == {"min": 4, "max": 4}
    assert "float32" in limits["input"]["dataTypes"]


def test_limits_are_sent_once(page: Page) -> None:
    same = page.ask("ML", "createContext", ML)
    with webnn.emulate(profile="coreml"):
        others = [page.ask("ML", "createContext", ML) for _ in range(2)]
    answers = [page.ask("MLContext", "opSupportLimits", each) for each in (CONTEXT, others[0], same, others[1], CONTEXT)]
    assert [each["$c"] for each in answers] == [0, 1, 0, 1, 0]
    assert ["value" in each for each in answers] == [True, True, False, False, False]
    assert answers[0]["value"]["add"] != answers[1]["value"]["add"]


#: A number as it travels, and what an int64 constant of it holds.
NUMBERS = [
    (5, 5),
    ({"$b": "7fffffffffffffff"}, 2**63 - 1),
    ({"$b": "-20000000000001"}, -(2**53) - 1),
    ({"$b": f"{10**5000:x}"}, 2**63 - 1),
    ({"$b": f"{-(10**5000):x}"}, -(2**63)),
    ({"$n": "1152921504606847000"}, 2**60),
    ({"$n": "-0"}, 0),
]


@pytest.mark.parametrize(("number", "expected"), NUMBERS)
def test_numbers(page: Page, number: object, expected: int) -> None:
    constant = page.ask("MLGraphBuilder", "constant", BUILDER, "int64", number)
    y = page.ask("MLGraphBuilder", "identity", BUILDER, {"$h": constant})
    graph = page.ask("MLGraphBuilder", "build", BUILDER, {"$r": [["y", {"$h": y}]]})
    tensor = page.tensor({"dataType": "int64", "shape": []})
    assert page.answer("MLContext", "dispatch", CONTEXT, {"$h": graph}, {"$r": []}, {"$r": [["y", {"$h": tensor}]]}) == {"value": None}
    assert page.answer("MLContext", "readTensor", CONTEXT, {"$h": tensor}) == {"value": None}
    assert np.frombuffer(page.answered[0], np.int64).tolist() == [expected]


def test_reading_and_writing(page: Page) -> None:
    tensor, data = page.tensor(), np.array([1.5, -2], np.float32)
    for kind in ("ArrayBuffer", "SharedArrayBuffer", "Float32Array", "Uint8Array"):
        assert page.write(tensor, data, kind) == {"value": None}
    assert page.answer("MLContext", "readTensor", CONTEXT, {"$h": tensor}) == {"value": None}
    assert page.answered == [data.tobytes()]
    # A larger buffer of the program's gets the tensor's bytes, and no more.
    views = [view(4, 20, "Uint8Array", sent=False)]
    assert page.answer("MLContext", "readTensor", CONTEXT, {"$h": tensor}, {"$v": 0}, views=views) == {"value": None}
    assert page.answered == [data.tobytes()]
    for wrong in (view(0, 4, sent=False), view(0, 0, detached=True, sent=False)):
        assert page.answer("MLContext", "readTensor", CONTEXT, {"$h": tensor}, {"$v": 0}, views=[wrong])["error"][0] == "TypeError"
        assert page.answered == []
    assert page.dispatcher.faults == []


@pytest.mark.parametrize(("dataType", "size"), [("int4", 5), ("uint4", 5), ("int8", 5)])
def test_small_integers_share_bytes(dataType: str, size: int) -> None:
    page = Page("browsers-2026")
    tensor = page.tensor({"dataType": dataType, "shape": [size]})
    data = np.arange((size + 1) // 2 if dataType != "int8" else size, dtype=np.uint8)
    assert page.write(tensor, data) == {"value": None}
    page.ask("MLContext", "readTensor", CONTEXT, {"$h": tensor})
    assert page.answered == [data.tobytes()]


@pytest.mark.parametrize("kind", ["DataView", "Uint8ClampedArray"])
def test_views_of_no_type(page: Page, kind: str) -> None:
    tensor, data = page.tensor(), np.array([1.5, -2], np.float32)
    assert page.write(tensor, data, kind) == {"value": None}
    page.ask("MLContext", "readTensor", CONTEXT, {"$h": tensor})
    assert page.answered == [data.tobytes()]
    given = {"views": [view(0, 8, kind)], "buffers": [data.tobytes()]}
    for interface, member, handle in (("MLGraphBuilder", "constant", BUILDER), ("MLContext", "createConstantTensor", CONTEXT)):
        answer = page.answer(interface, member, handle, PAIR, {"$v": 0}, **given)
        assert answer["error"][0] == "TypeError"
        assert f"got a {kind}" in answer["error"][1]


def test_a_destroyed_context_is_lost_in_the_same_answer(page: Page) -> None:
    other = page.ask("ML", "createContext", ML)
    answer = page.answer("MLContext", "destroy", CONTEXT)
    assert answer.keys() == {"value", "lost"}
    [[handle, message]] = answer["lost"]
    assert (handle, bool(message)) == (CONTEXT, True)
    answer = page.answer("MLContext", "createTensor", CONTEXT, PAIR)
    assert (answer.keys(), answer["error"][0]) == ({"error"}, "InvalidStateError")
    assert page.ask("MLContext", "accelerated", other) in (True, False)


def test_a_failed_dispatch_loses_the_context(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise webnn.OperationError("dispatch: the engine failed", operation="dispatch")

    assert page.dispatch("relu") == {"value": None}
    monkeypatch.setattr(CompiledGraph, "dispatch", fail)
    page.ask("MLGraphBuilder", "constructor", None, {"$h": CONTEXT})
    builder = page.ask("MLGraphBuilder", "constructor", None, {"$h": CONTEXT})
    x = page.ask("MLGraphBuilder", "input", builder, "x", PAIR)
    y = page.ask("MLGraphBuilder", "neg", builder, {"$h": x})
    graph = page.ask("MLGraphBuilder", "build", builder, {"$r": [["y", {"$h": y}]]})
    named = [{"$r": [[name, {"$h": page.tensor()}]]} for name in ("x", "y")]
    answer = page.answer("MLContext", "dispatch", CONTEXT, {"$h": graph}, *named)
    assert answer == {"value": None, "lost": [[CONTEXT, "dispatch: the engine failed"]]}
    assert page.dispatcher.faults == []
