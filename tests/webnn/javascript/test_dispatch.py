"""The Python side of the JavaScript binding: requests as texts and bytes, answers as texts and bytes."""

from __future__ import annotations

import json
import math
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import webnn
from webnn.javascript.channel import Bytes
from webnn.javascript.dispatch import Dispatcher
from webnn.javascript.idl import load_idl

FLOATS = {"dataType": "float32", "dimensions": [2]}


class Program:
    """A short form of the binding in JavaScript: each method is one request."""

    def __init__(self) -> None:
        self.observed: list[tuple[str, Any]] = []
        self.dispatcher = Dispatcher(
            webnn.ML(revision="2024-06"), load_idl("2024-06"), lambda _, member, __, result: self.observed.append((member, result))
        )
        self.context = self.make("ML", "createContext", 0)
        self.builder = self.make("MLGraphBuilder", "constructor", None, {"$h": self.context})

    def request(
        self,
        interface: str,
        member: str,
        handle: int | None,
        *arguments: Any,
        views: Sequence[Any] = (),
        buffers: Sequence[Bytes] = (),
        dropped: Sequence[int] = (),
    ) -> tuple[Any, list[bytes]]:
        text, answered = self.dispatcher.call(json.dumps([interface, member, handle, arguments, views, dropped]), buffers)
        return json.loads(text), [bytes(each) for each in answered]

    def make(self, interface: str, member: str, handle: int | None, *arguments: Any, **rest: Any) -> int:
        answer, _ = self.request(interface, member, handle, *arguments, **rest)
        assert "error" not in answer, answer
        return int(answer["value"]["$h"])

    def operand(self, member: str, *arguments: Any, **rest: Any) -> int:
        return self.make("MLGraphBuilder", member, self.builder, *arguments, **rest)

    def value_of(self, operand: int, size: int, kind: str = "Float32Array") -> bytes:
        """Compute an operand that needs no input."""
        copy = self.operand("identity", {"$h": operand})
        graph = self.make("MLGraphBuilder", "build", self.builder, {"$r": [["y", {"$h": copy}]]})
        views = [view(1, 0, size, kind, sent=False)]
        answer, answered = self.request(
            "MLContext", "compute", self.context, {"$h": graph}, {"$r": []}, {"$r": [["y", {"$v": 0}]]}, views=views
        )
        assert answer == {"value": [["y", 0]]}
        return answered[0]


def view(buffer: int, offset: int, length: int, kind: str = "Float32Array", *, sent: bool = True, detached: bool = False) -> dict[str, Any]:
    return {"kind": kind, "buffer": buffer, "offset": offset, "length": length, "detached": detached, "sent": sent}


@pytest.fixture
def program() -> Program:
    return Program()


#: Requests that no binding sends, and what the error says.
MALFORMED: list[tuple[str, str]] = [
    ("", "JSONDecodeError"),
    ("{", "JSONDecodeError"),
    ("null", "TypeError"),
    ("[]", "ValueError: not enough values"),
    ("{}", "ValueError: not enough values"),
    ('["ML", "createContext", 0, [], [], [], []]', "ValueError: too many values"),
    ('["Nothing", "createContext", 0, [], [], []]', "KeyError: 'Nothing'"),
    ('["ML", "nothing", 0, [], [], []]', "LookupError: ML has no member 'nothing'"),
    ('["ML", ["createContext"], 0, [], [], []]', "TypeError: unhashable"),
    ('["ML", "createContext", 99, [], [], []]', "KeyError: 99"),
    ('["ML", "createContext", null, [], [], []]', "KeyError: None"),
    ('["ML", "createContext", 0, [{"$h": 99}], [], []]', "KeyError: 99"),
    ('["ML", "createContext", 0, [{"$v": 0}], [], []]', "IndexError"),
    ('["ML", "createContext", 0, [{"$n": "one"}], [], []]', "ValueError: could not convert string to float: 'one'"),
    ('["ML", "createContext", 0, [{"$b": "1.5"}], [], []]', "ValueError: invalid literal for int() with base 16: '1.5'"),
    ('["ML", "createContext", 0, [{"$x": "Window"}], [], []]', "KeyError: 'Window'"),
    ('["ML", "createContext", 0, [], [{"sent": true}], []]', "StopIteration"),
    ('["ML", "createContext", 0, [], [{}], []]', "KeyError: 'sent'"),
    ('["ML", "createContext", 0, [1, 2, 3], [], []]', "TypeError"),
    ('["MLGraphBuilder", "relu", 0, [], [], []]', "LookupError: the object 0 is not one of MLGraphBuilder"),
    ('["MLContext", "lost", 0, [], [], []]', "LookupError: MLContext has no member 'lost'"),
]


@pytest.mark.parametrize(("text", "message"), MALFORMED, ids=range(len(MALFORMED)))
def test_malformed_requests_are_answered_and_kept(program: Program, text: str, message: str) -> None:
    answer, answered = program.dispatcher.call(text, [])
    name, said = json.loads(answer)["error"]
    assert (name, answered) == ("Error", [])
    assert said.startswith(f"the emulator failed: {message}")
    assert len(program.dispatcher.faults) == 1
    assert "Traceback" in program.dispatcher.faults[0]
    # It goes on as before.
    assert program.operand("input", "x", FLOATS) > 0


#: Members of Python objects that JavaScript must not reach.
FORBIDDEN = [
    ("ML", "__class__"),
    ("ML", "__init__"),
    ("ML", "constructor"),
    ("ML", "createContextSync"),
    ("MLContext", "_create"),
    ("MLContext", "_timeline"),
    ("MLContext", "computeSync"),
    ("MLContext", "__reduce__"),
    ("MLContext", "constructor"),
    ("MLGraphBuilder", "_context"),
    ("MLGraphBuilder", "__dict__"),
    ("MLGraphBuilder", ""),
    ("MLGraph", "compute"),
    ("MLOperand", "_builder"),
    ("MLActivation", "_create"),
]


@pytest.mark.parametrize(("interface", "member"), FORBIDDEN)
def test_only_members_of_the_idl_can_be_called(program: Program, interface: str, member: str) -> None:
    handle = {"ML": 0, "MLContext": program.context}.get(interface, program.builder)
    answer, _ = program.request(interface, member, handle)
    assert answer == {"error": ["Error", f"the emulator failed: LookupError: {interface} has no member '{member}'"]}
    assert len(program.dispatcher.faults) == 1


def test_errors_of_the_program_are_no_faults(program: Program) -> None:
    for member, arguments in [("input", ("x", {"dataType": "float8"})), ("input", ("", FLOATS)), ("constant", ("float32", {"$n": "NaN"}))]:
        answer, _ = program.request("MLGraphBuilder", member, program.builder, *arguments)
        assert answer["error"][0] == "TypeError"
    device = program.make("ML", "createContext", 0, {"$x": "GPUDevice"})
    builder = program.make("MLGraphBuilder", "constructor", None, {"$h": device})
    x = program.make("MLGraphBuilder", "input", builder, "x", FLOATS)
    y = program.make("MLGraphBuilder", "relu", builder, {"$h": x})
    graph = program.make("MLGraphBuilder", "build", builder, {"$r": [["y", {"$h": y}]]})
    answer, _ = program.request("MLContext", "compute", device, {"$h": graph}, {"$r": []}, {"$r": []})
    assert answer["error"][0] == "OperationError"
    assert program.dispatcher.faults == []


def test_dropped_objects_are_freed(program: Program) -> None:
    x = program.operand("input", "x", FLOATS)
    y = program.operand("relu", {"$h": x})
    alive = {member: weakref.ref(result) for member, result in program.observed if member in {"input", "relu"}}
    program.observed.clear()
    program.request("MLOperand", "shape", y, dropped=[x])
    assert alive["input"]() is not None  # the other one is made of it
    program.request("ML", "createContext", 0, dropped=[y, y, 12345])
    program.observed.clear()
    assert (alive["input"](), alive["relu"]()) == (None, None)
    answer, _ = program.request("MLOperand", "shape", y)
    assert answer["error"] == ["Error", f"the emulator failed: KeyError: {y}"]


def test_a_handle_is_never_used_again(program: Program) -> None:
    first = program.operand("input", "x", FLOATS)
    second = program.make("MLGraphBuilder", "input", program.builder, "x", FLOATS, dropped=[first])
    assert second > first


#: A number as it travels, and what a float32 constant holds.
NUMBERS = [(1, 1.0), (0.1, 0.1), ({"$n": "-0"}, -0.0), (1e21, 1e21), (16777217, 16777216.0), (-5e-324, -0.0)]


@pytest.mark.parametrize(("number", "expected"), NUMBERS)
def test_numbers(program: Program, number: object, expected: float) -> None:
    result = np.frombuffer(program.value_of(program.operand("constant", "float32", number), 4), np.float32)[0]
    assert result == np.float32(expected)
    assert math.copysign(1, result) == math.copysign(1, expected)


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_json_does_not_know(program: Program, text: str) -> None:
    x = program.operand("input", "x", FLOATS)
    answer, _ = program.request("MLGraphBuilder", "clamp", program.builder, {"$h": x}, {"maxValue": {"$n": text}})
    assert answer["error"][0] == "TypeError"
    assert text.lower()[:3].strip("-") in answer["error"][1].lower()
    assert program.dispatcher.faults == []


def test_views_of_one_buffer_share_their_memory(program: Program) -> None:
    x = program.operand("input", "x", FLOATS)
    graph = program.make("MLGraphBuilder", "build", program.builder, {"$r": [["y", {"$h": program.operand("neg", {"$h": x})}]]})

    def compute(*views: dict[str, Any]) -> tuple[Any, list[bytes]]:
        content = np.array([1, 2], np.float32).tobytes()
        names = {"$r": [["x", {"$v": 0}]]}, {"$r": [["y", {"$v": 1}]]}
        return program.request("MLContext", "compute", program.context, {"$h": graph}, *names, views=views, buffers=[content])

    answer, answered = compute(view(1, 8, 8), view(2, 4, 8, sent=False))
    assert answer == {"value": [["y", 0]]}
    assert np.frombuffer(answered[0], np.float32).tolist() == [-1, -2]
    for views in [
        (view(1, 0, 8), view(1, 0, 8, sent=False)),
        (view(1, 0, 8), view(1, 8, 8, sent=False)),
        (view(1, 4, 8), view(1, 0, 8, sent=False)),
    ]:
        answer, answered = compute(*views)
        assert answer["error"][0] == "TypeError"
        assert "must not share memory with another view of this call" in answer["error"][1]
        assert answered == []
    assert program.dispatcher.faults == []


#: A view that no type of the draft fits, and what the error says of it.
STRANGE_VIEWS = [
    (view(1, 0, 8, "DataView"), "DataView"),
    (view(1, 0, 8, "Uint8ClampedArray"), "Uint8ClampedArray"),
    (view(1, 0, 8, "Float64Array"), "float64"),
    (view(1, 0, 8, "Int16Array"), "int16"),
    (view(1, 0, 0, detached=True, sent=False), "detached Float32Array"),
]


@pytest.mark.parametrize(("given", "message"), STRANGE_VIEWS, ids=[message for _, message in STRANGE_VIEWS])
def test_views_that_fit_no_type(program: Program, given: dict[str, Any], message: str) -> None:
    buffers = [bytes(given["length"])] * given["sent"]
    for data_type in ("float32", "uint8", "int64"):
        descriptor = {"dataType": data_type, "dimensions": [2]}
        answer, _ = program.request("MLGraphBuilder", "constant", program.builder, descriptor, {"$v": 0}, views=[given], buffers=buffers)
        assert answer["error"][0] == "TypeError"
        assert message in answer["error"][1]
    assert program.dispatcher.faults == []


@pytest.mark.parametrize("kind", ["Float16Array", "Uint16Array"])
@pytest.mark.parametrize("make", [bytes, bytearray, memoryview])
def test_bytes_of_any_kind(program: Program, kind: str, make: type[bytes]) -> None:
    content = np.array([1.5, -2], np.float16).tobytes()
    descriptor = {"dataType": "float16", "dimensions": [2]}
    operand = program.operand("constant", descriptor, {"$v": 0}, views=[view(1, 0, 4, kind)], buffers=[make(content)])
    assert program.value_of(operand, 4, kind) == content


@pytest.mark.parametrize(("make", "isShared"), [(bytes, True), (bytearray, False)])
def test_a_constant_of_bytes_is_not_copied(program: Program, make: type[bytes], isShared: bool) -> None:
    """They cannot change."""
    content, size = make(np.ones(2048, np.float32).tobytes()), 8192
    descriptor = {"dataType": "float32", "dimensions": [2048]}
    operand = program.operand("constant", descriptor, {"$v": 0}, views=[view(1, 0, size)], buffers=[content])
    value = program.dispatcher._objects[operand]._value
    assert np.shares_memory(value, np.frombuffer(content, np.float32)) is isShared


def test_texts_that_utf_8_cannot_hold(program: Program) -> None:
    for name in ("\ud800", "a\0b", "\U0001f600", "__class__", "$h"):
        x = program.operand("input", name, FLOATS)
        assert program.request("MLOperand", "shape", x)[0] == {"value": [2]}
    answer, _ = program.request("MLGraphBuilder", "input", program.builder, "x", {"dataType": "\ud800"})
    assert answer["error"][0] == "TypeError"
    assert program.dispatcher.faults == []


def test_idl_of_no_revision() -> None:
    with pytest.raises(ValueError, match=r"there is no revision '1999-01' of the specification here"):
        load_idl("1999-01")
