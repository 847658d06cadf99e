"""Requests without an answer, and requests that come again: the Python side of the JavaScript binding."""

from __future__ import annotations

import json
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import webnn
from tests.webnn.javascript.test_dispatch import FLOATS
from tests.webnn.javascript.test_dispatch import Program as Observed
from tests.webnn.javascript.test_dispatch import view as view_of
from tests.webnn.javascript.test_dispatch_tensors import BUILDER, CONTEXT, PAIR, Page, view
from webnn.javascript.channel import Bytes
from webnn.javascript.dispatch import Dispatcher
from webnn.javascript.idl import load_idl


@pytest.fixture
def page() -> Page:
    page = Page()
    page.ask("MLGraphBuilder", "input", BUILDER, "x", PAIR)
    return page


X = 3


def tell(page: Page, *request: Any, results: Sequence[Any] = (), views: Sequence[Any] = (), buffers: Sequence[Bytes] = ()) -> list[str]:
    interface, member, handle, *arguments = request
    page.dispatcher.tell(json.dumps([interface, member, handle, arguments, views, [], results]), buffers)
    return page.dispatcher.faults


def test_results_get_the_handles_of_the_request(page: Page) -> None:
    assert tell(page, "MLGraphBuilder", "add", BUILDER, {"$h": X}, {"$h": X}, results=[-1]) == []
    assert tell(page, "MLGraphBuilder", "split", BUILDER, {"$h": -1}, 2, results=[-2, -3]) == []
    assert page.ask("MLOperand", "shape", -1) == [2]
    assert page.ask("MLOperand", "shape", -3) == [1]
    answer = page.answer("MLGraphBuilder", "neg", BUILDER, {"$h": -2})
    assert answer["value"]["$a"] == {"dataType": "float32", "shape": [1]}


@pytest.mark.parametrize("results", [[0], [X], [5], [-1], ["-2"], [None], [-2.5], [True], [], [-2, -3]], ids=str)
def test_handles_that_are_not_free(page: Page, results: list[Any]) -> None:
    tell(page, "MLGraphBuilder", "neg", BUILDER, {"$h": X}, results=[-1])
    objects = dict(page.dispatcher._objects)
    tell(page, "MLGraphBuilder", "add", BUILDER, {"$h": X}, {"$h": X}, results=results)
    if results:
        assert len(page.dispatcher.faults) == 1
    assert page.dispatcher._objects == objects


@pytest.mark.parametrize("text", ["", "null", "[]", '["ML", "createContext", 0, [], [], []]', '"nothing"'])
def test_malformed_requests_are_kept(page: Page, text: str) -> None:
    page.dispatcher.tell(text, [])
    assert len(page.dispatcher.faults) == 1


def test_an_error_that_nobody_foresaw_is_a_fault(page: Page) -> None:
    faults = tell(page, "MLGraphBuilder", "transpose", BUILDER, {"$h": X}, {"permutation": [1]}, results=[-1])
    assert len(faults) == 1
    assert "options.permutation must be less than the rank" in faults[0]
    # Operations that use its result get the error, too.
    name, message = page.answer("MLGraphBuilder", "neg", BUILDER, {"$h": -1})["error"]
    assert (name, "options.permutation" in message) == ("TypeError", True)


def test_after_a_loss_errors_are_no_faults(page: Page) -> None:
    faults = webnn.Faults(failCompute=1)
    with webnn.emulate(faults=faults):
        page = Page()
    x = page.ask("MLGraphBuilder", "input", BUILDER, "x", PAIR)
    y = page.ask("MLGraphBuilder", "neg", BUILDER, {"$h": x})
    other = page.ask("MLGraphBuilder", "constructor", None, {"$h": CONTEXT})
    a = page.ask("MLGraphBuilder", "input", other, "a", PAIR)
    graph = page.ask("MLGraphBuilder", "build", BUILDER, {"$r": [["y", {"$h": y}]]})
    named = [{"$r": [[name, {"$h": page.tensor()}]]} for name in ("x", "y")]
    assert tell(page, "MLContext", "dispatch", CONTEXT, {"$h": graph}, *named) == []
    assert tell(page, "MLGraphBuilder", "neg", other, {"$h": a}, results=[-1]) == []
    assert tell(page, "MLGraphBuilder", "neg", other, {"$h": -1}, results=[-2]) == []
    # That explains no other error.
    assert len(tell(page, "MLGraphBuilder", "neg", other, {"$h": 99}, results=[-9])) == 1
    answer = page.answer("MLGraphBuilder", "neg", other, {"$h": -2})
    assert answer["error"][0] == "InvalidStateError"
    assert answer["lost"] == [[CONTEXT, "dispatch: an injected fault (failCompute=1)"]]
    # JavaScript knows now.
    assert len(tell(page, "MLGraphBuilder", "neg", other, {"$h": a}, results=[-3])) == 2


def test_the_request_for_nothing(page: Page) -> None:
    assert page.dispatcher.call('"nothing"', []) == ('{"value": null}', [])


def test_a_repeated_write_has_its_own_bytes(page: Page) -> None:
    tensor, values = page.tensor(), np.array([1, 2], np.float32)
    for number in range(4):
        data = values + number
        request = ["MLContext", "writeTensor", CONTEXT, [{"$h": tensor}, {"$v": 0}], [view(0, 8)], []]
        if number % 2:
            page.dispatcher.tell(json.dumps([*request, []]), [data.tobytes()])
        else:
            page.dispatcher.call(json.dumps(request), [data.tobytes()])
        page.ask("MLContext", "readTensor", CONTEXT, {"$h": tensor})
        assert page.answered == [data.tobytes()]


@pytest.mark.parametrize("buffers", [[], [b"1234"], [b"12345678" * 2], [b"12345678"] * 2], ids=len)
def test_a_repeated_request_with_other_sizes(page: Page, buffers: list[bytes]) -> None:
    """A process that is not the binding may send anything."""
    tensor = page.tensor()
    request = json.dumps(["MLContext", "writeTensor", CONTEXT, [{"$h": tensor}, {"$v": 0}], [view(0, 8)], []])
    page.dispatcher.call(request, [b"abcdefgh"])
    page.dispatcher.call(request, buffers)
    page.ask("MLContext", "readTensor", CONTEXT, {"$h": tensor})
    assert len(page.answered[0]) == 8
    assert (page.answered[0] == b"abcdefgh") == (len(page.dispatcher.faults) == 1)


class Loop:
    """The draft with `compute()`, without an observer."""

    def __init__(self) -> None:
        self.dispatcher = Dispatcher(webnn.ML(revision="2024-06"), load_idl("2024-06"))

    def request(self, *request: Any, views: Sequence[Any] = (), buffers: Sequence[Bytes] = (), dropped: Sequence[int] = ()) -> Any:
        interface, member, handle, *arguments = request
        text, answered = self.dispatcher.call(json.dumps([interface, member, handle, arguments, views, dropped]), buffers)
        self.answered = [bytes(each) for each in answered]
        return json.loads(text)


def test_a_repeated_computation_has_its_own_bytes() -> None:
    loop = Loop()
    context, builder = (
        loop.request(*each)["value"]["$h"] for each in (("ML", "createContext", 0), ("MLGraphBuilder", "constructor", None, {"$h": 1}))
    )
    x = loop.request("MLGraphBuilder", "input", builder, "x", FLOATS)["value"]["$h"]
    y = loop.request("MLGraphBuilder", "neg", builder, {"$h": x})["value"]["$h"]
    graph = loop.request("MLGraphBuilder", "build", builder, {"$r": [["y", {"$h": y}]]})["value"]["$h"]
    call = ["MLContext", "compute", context, {"$h": graph}, {"$r": [["x", {"$v": 0}]]}, {"$r": [["y", {"$v": 1}]]}]
    views = [view_of(0, 0, 8), view_of(1, 0, 8, sent=False)]
    results = []
    for number in range(5):
        data = np.array([number, -number], np.float32)
        assert loop.request(*call, views=views, buffers=[data.tobytes()]) == {"value": [["y", 0]]}
        results.append(np.frombuffer(loop.answered[0], np.float32).tolist())
    assert results == [[-number, number] for number in range(5)]
    # Views of one buffer are refused each time, and so is what does not fit.
    shared = [view_of(0, 0, 8), view_of(0, 0, 8, sent=False)]
    for _ in range(2):
        assert "error" in loop.request(*call, views=shared, buffers=[data.tobytes()])
        assert "error" in loop.request(*call, views=[view_of(0, 0, 8), view_of(1, 0, 4, sent=False)], buffers=[data.tobytes()])
    assert loop.request(*call, views=views, buffers=[data.tobytes()]) == {"value": [["y", 0]]}
    # Nothing that is kept holds an object that was dropped.
    alive = weakref.ref(loop.dispatcher._objects[graph])
    loop.request("MLOperand", "shape", y, dropped=[graph])
    assert alive() is None
    answer = loop.request(*call, views=views, buffers=[data.tobytes()])
    assert answer["error"] == ["Error", f"the emulator failed: KeyError: {graph}"]


def test_a_failed_computation_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = Loop()
    with webnn.emulate(faults=webnn.Faults(failCompute=2)):
        context = loop.request("ML", "createContext", 0)["value"]["$h"]
    builder = loop.request("MLGraphBuilder", "constructor", None, {"$h": context})["value"]["$h"]
    x = loop.request("MLGraphBuilder", "input", builder, "x", FLOATS)["value"]["$h"]
    y = loop.request("MLGraphBuilder", "neg", builder, {"$h": x})["value"]["$h"]
    graph = loop.request("MLGraphBuilder", "build", builder, {"$r": [["y", {"$h": y}]]})["value"]["$h"]
    call = ["MLContext", "compute", context, {"$h": graph}, {"$r": [["x", {"$v": 0}]]}, {"$r": [["y", {"$v": 1}]]}]
    views = [view_of(0, 0, 8), view_of(1, 0, 8, sent=False)]
    outcomes = ["error" in loop.request(*call, views=views, buffers=[bytes(8)]) for _ in range(4)]
    assert outcomes == [False, True, False, False]


def test_what_is_observed_is_not_overwritten() -> None:
    program = Observed()
    x = program.operand("input", "x", FLOATS)
    y = program.operand("neg", {"$h": x})
    graph = program.make("MLGraphBuilder", "build", program.builder, {"$r": [["y", {"$h": y}]]})
    for number in range(3):
        program.request(
            *("MLContext", "compute", program.context, {"$h": graph}, {"$r": [["x", {"$v": 0}]]}, {"$r": [["y", {"$v": 1}]]}),
            views=[view_of(0, 0, 8), view_of(1, 0, 8, sent=False)],
            buffers=[np.array([number, 1], np.float32).tobytes()],
        )
    outputs = [result["y"].tolist() for member, result in program.observed if member == "compute"]
    assert outputs == [[0, -1], [-1, -1], [-2, -1]]
