"""Operations that go on after their call (`Dispatcher.begin`): what a page is told at once, and what later."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import webnn
from tests.support import CURRENT
from webnn.javascript.channel import Bytes
from webnn.javascript.dispatch import Begun, Dispatcher
from webnn.javascript.idl import load_idl

PAIR = {"dataType": "float32", "shape": [2]}
ML, CONTEXT, BUILDER = 0, 1, 2


class Page:
    """A page whose operations go on after their calls."""

    def __init__(self, revision: str = CURRENT, faults: webnn.Faults | None = None, first: int = 1) -> None:
        self.lost: list[tuple[int, str]] = []
        idl = load_idl(revision)
        on_lost = lambda handle, message: self.lost.append((handle, message))  # noqa: E731
        self.dispatcher = Dispatcher(webnn.ML(revision=idl.revision, faults=faults), idl, on_lost=on_lost, first=first)

    def begin(
        self, interface: str, member: str, handle: int | None, *arguments: Any, views: Sequence[Any] = (), buffers: Sequence[Bytes] = ()
    ) -> Begun | tuple[str, list[Bytes]]:
        return self.dispatcher.begin(json.dumps([interface, member, handle, arguments, views, []]), buffers)

    async def answer(self, *request: Any, **rest: Any) -> dict[str, Any]:
        begun = self.begin(*request, **rest)
        if isinstance(begun, Begun):
            await asyncio.wait({begun.future})
            begun = begun.answer()
        text, self.buffers = begun
        answer: dict[str, Any] = json.loads(text)
        return answer

    async def ask(self, *request: Any, **rest: Any) -> Any:
        answer = await self.answer(*request, **rest)
        assert answer.keys() == {"value"}, answer
        value = answer["value"]
        return value["$h"] if isinstance(value, dict) and "$h" in value else value

    async def prepare(self) -> int:
        """Make a context and a builder, and build relu of a pair; return the graph."""
        context = await self.ask("ML", "createContext", ML)
        builder = await self.ask("MLGraphBuilder", "constructor", None, {"$h": context})
        assert (context, builder) == (CONTEXT, BUILDER)
        x = await self.ask("MLGraphBuilder", "input", BUILDER, "x", {**PAIR, "dimensions": [2]})
        y = await self.ask("MLGraphBuilder", "relu", BUILDER, {"$h": x})
        graph: int = await self.ask("MLGraphBuilder", "build", BUILDER, {"$r": [["y", {"$h": y}]]})
        return graph


def view(number: int, *, sent: bool) -> dict[str, Any]:
    return {"kind": "Float32Array", "buffer": number, "offset": 0, "length": 8, "detached": False, "sent": sent}


async def compute(page: Page, graph: int) -> Begun | tuple[str, list[Bytes]]:
    named = [{"$r": [[name, {"$v": number}]]} for number, name in enumerate("xy")]
    views = [view(0, sent=True), view(1, sent=False)]
    content = bytearray(np.array([-1, 2], np.float32))
    return page.begin("MLContext", "compute", CONTEXT, {"$h": graph}, *named, views=views, buffers=[content])


async def test_a_computation_goes_on() -> None:
    page = Page("2024-06", webnn.Faults(delay=0.01))
    begun = await compute(page, await page.prepare())
    assert isinstance(begun, Begun)
    assert not begun.future.done()
    # The page is served meanwhile.
    assert "value" in await page.answer("MLGraphBuilder", "input", BUILDER, "z", {**PAIR, "dimensions": [2]})
    await begun.future
    text, [content] = begun.answer()
    assert json.loads(text) == {"value": [["y", 0]]}
    np.testing.assert_array_equal(np.frombuffer(content, np.float32), [0, 2])


async def test_a_refusal_is_the_first_answer() -> None:
    page = Page("2024-06", webnn.Faults(delay=0.01))
    graph = await page.prepare()
    views = [view(0, sent=True)]
    refused = page.begin("MLContext", "compute", CONTEXT, {"$h": graph}, {"$r": []}, {"$r": []}, views=views, buffers=[bytearray(8)])
    assert not isinstance(refused, Begun)
    assert json.loads(refused[0])["error"][0] == "TypeError"


async def test_an_operation_that_fails_answers_with_its_error() -> None:
    page = Page("2024-06", webnn.Faults(failCompute=1, delay=0.01))
    begun = await compute(page, await page.prepare())
    assert isinstance(begun, Begun)
    await asyncio.wait({begun.future})
    assert json.loads(begun.answer()[0])["error"][0] == "OperationError"
    assert page.dispatcher.faults == []


@pytest.mark.parametrize("delay", [None, 0.01], ids=["at once", "later"])
async def test_tensors(delay: float | None) -> None:
    page = Page(faults=webnn.Faults(delay=delay))
    graph = await page.prepare()
    x, y = [await page.ask("MLContext", "createTensor", CONTEXT, {**PAIR, "readable": True, "writable": True}) for _ in "xy"]
    content = bytearray(np.array([-1, 2], np.float32))
    views = [{**view(0, sent=True), "kind": "ArrayBuffer"}]
    await page.ask("MLContext", "writeTensor", CONTEXT, {"$h": x}, {"$v": 0}, views=views, buffers=[content])
    await page.ask("MLContext", "dispatch", CONTEXT, {"$h": graph}, {"$r": [["x", {"$h": x}]]}, {"$r": [["y", {"$h": y}]]})
    await page.ask("MLContext", "readTensor", CONTEXT, {"$h": y})
    np.testing.assert_array_equal(np.frombuffer(page.buffers[0], np.float32), [0, 2])


async def test_a_lost_context_is_told_with_the_next_answer_and_to_the_host() -> None:
    page = Page(faults=webnn.Faults(failCompute=1))
    graph = await page.prepare()
    x, y = [await page.ask("MLContext", "createTensor", CONTEXT, PAIR) for _ in "xy"]
    named = [{"$r": [[name, {"$h": tensor}]]} for name, tensor in (("x", x), ("y", y))]
    await page.ask("MLContext", "dispatch", CONTEXT, {"$h": graph}, *named)
    [context] = page.dispatcher.contexts().values()
    await context.lost
    await asyncio.sleep(0)
    assert [handle for handle, _ in page.lost] == [CONTEXT]
    answer = json.loads(page.dispatcher.begin('"nothing"', [])[0])  # type: ignore[index,arg-type]
    assert answer["lost"] == [list(each) for each in page.lost]
    # A dispatch that was sent before the page knew is not a fault.
    page.dispatcher.tell(json.dumps(["MLContext", "dispatch", CONTEXT, [{"$h": graph}, *named], [], [], []]), [])
    assert page.dispatcher.faults == []


async def test_objects_of_an_earlier_session_are_refused() -> None:
    page = Page(first=40)
    answer = await page.answer("MLGraphBuilder", "constructor", None, {"$h": 3})
    assert answer["error"] == ["InvalidStateError", "the object belongs to a session that has ended"]
    assert (await page.answer("ML", "createContext", ML))["value"]["$h"] == 40


async def test_another_ml_makes_the_next_contexts() -> None:
    page = Page()
    await page.ask("ML", "createContext", ML)
    page.dispatcher.replace(webnn.ML(revision=CURRENT, faults=webnn.Faults(refuse=["cpu", "gpu", "npu"])))
    assert (await page.answer("ML", "createContext", ML))["error"][0] == "NotSupportedError"
    page.dispatcher.clear()
    assert page.dispatcher.contexts() == {}
