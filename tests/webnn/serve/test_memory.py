"""The limit of memory of a session: a greedy page is refused, its neighbour is not, and what is dropped can be had again."""

from __future__ import annotations

import gc
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import numpy as np
import pytest

from tests.webnn.serve.pages import VISITOR, Caller, eventually, request
from webnn.javascript.channel import Message
from webnn.serve.messages import MessageError
from webnn.serve.options import Options
from webnn.serve.session import Session

#: The limit, and the size of what the pages make, in bytes.
LIMIT, SIZE = 1 << 22, 1 << 19
TENSOR = {"dataType": "uint8", "shape": [SIZE], "readable": True, "writable": True}
VIEW = {"kind": "Uint8Array", "buffer": 0, "offset": 0, "length": SIZE, "detached": False, "sent": True}
REFUSED = "all that a page keeps must have at most 4,194,304 bytes (webnn serve --memory-limit), got "


class Greedy(Caller):
    """A page that makes more and more."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.made: list[int] = []

    async def begin(self) -> None:
        await self.make(request("ML", "createContext", 0))
        self.builder = await self.make(request("MLGraphBuilder", "constructor", None, {"$h": 1}))
        self.x = await self.make(request("MLGraphBuilder", "input", self.builder, "x", {"dataType": "float32", "shape": [1]}))

    async def ask(self, text: bytes, *buffers: bytes) -> dict[str, Any]:
        answer, _ = await self.complete(text, *buffers)
        if "error" not in answer and answer["value"] is not None:
            self.made.append(answer["value"]["$h"])
        return answer

    async def tensor(self) -> dict[str, Any]:
        return await self.ask(request("MLContext", "createTensor", 1, TENSOR))

    async def constant_tensor(self) -> dict[str, Any]:
        text = request("MLContext", "createConstantTensor", 1, {"dataType": "uint8", "shape": [SIZE]}, {"$v": 0}, views=[VIEW])
        return await self.ask(text, bytes(SIZE))

    async def constant(self) -> dict[str, Any]:
        descriptor = {"dataType": "uint8", "shape": [SIZE]}
        return await self.ask(
            request("MLGraphBuilder", "constant", self.builder, descriptor, {"$v": 0}, views=[VIEW]), np.random.default_rng(1).bytes(SIZE)
        )

    async def names(self) -> dict[str, Any]:
        return await self.ask(request("MLGraphBuilder", "relu", self.builder, {"$h": self.x}, {"label": "l" * SIZE}))

    async def graphs(self) -> dict[str, Any]:
        builder = await self.make(request("MLGraphBuilder", "constructor", None, {"$h": 1}))
        y = await self.make(request("MLGraphBuilder", "input", builder, "x", {"dataType": "float32", "shape": [1]}))
        for _ in range(20):
            y = await self.make(request("MLGraphBuilder", "relu", builder, {"$h": y}))
        return await self.ask(request("MLGraphBuilder", "build", builder, {"$r": [["y", {"$h": y}]]}))

    async def buffers(self) -> dict[str, Any]:
        if not hasattr(self, "device"):
            self.device = await self.make(request("GPUDevice", "constructor", None))
        return await self.ask(request("GPUDevice", "createBuffer", self.device, {"size": SIZE, "usage": 8}))

    async def results(self) -> dict[str, Any]:
        """Read a tensor, and leave the result here."""
        if not hasattr(self, "read"):
            await self.tensor()
            self.read = request("MLContext", "readTensor", 1, {"$h": self.made[-1]})
        answer, _ = await self.answer(self.read)
        return answer if "error" in answer else {"value": answer["pending"]}

    async def drop(self) -> None:
        text = json.dumps(["MLGraphBuilder", "constructor", None, [{"$h": 1}], [], self.made]).encode()
        self.made = []
        await self.make(text)


@pytest.fixture
async def begin() -> AsyncIterator[Callable[[], Awaitable[Greedy]]]:
    sessions: list[Session] = []
    faults: list[str] = []

    async def begin_page() -> Greedy:
        sessions.append(Session("0123456789abcdef", VISITOR, Options(memory=LIMIT, revision="2026-06+exportable-tensors"), faults.append))
        page = Greedy(sessions[-1])
        await page.begin()
        return page

    yield begin_page
    for session in sessions:
        session.end()
        session.join()
    assert faults == []


WAYS = [Greedy.tensor, Greedy.constant_tensor, Greedy.constant, Greedy.names, Greedy.graphs, Greedy.buffers, Greedy.results]


async def fill(page: Greedy, more: Callable[[Greedy], Awaitable[dict[str, Any]]]) -> list[str]:
    """Make things until one is refused, and return the error."""
    for _ in range(2 * LIMIT // SIZE + 40):
        answer = await more(page)
        assert page.session.memory.held <= LIMIT
        if "error" in answer:
            error: list[str] = answer["error"]
            return error
    raise AssertionError("nothing was refused")


@pytest.mark.parametrize("more", WAYS, ids=lambda each: each.__name__)
async def test_a_greedy_page_is_refused_and_another_is_not(begin: Any, more: Any) -> None:
    greedy, other = await begin(), await begin()
    name, message = await fill(greedy, more)
    assert name == "UnknownError"
    assert REFUSED in message
    assert greedy.session.memory.held > LIMIT // 2
    assert "error" not in await more(other)


@pytest.mark.parametrize("more", [Greedy.tensor, Greedy.constant_tensor, Greedy.names, Greedy.buffers], ids=lambda each: each.__name__)
async def test_what_a_page_drops_does_not_count(begin: Any, more: Any) -> None:
    page = await begin()
    await fill(page, more)
    await page.drop()
    gc.collect()
    await eventually(lambda: page.session.memory.held < SIZE)
    assert "error" not in await more(page)


async def test_results_that_are_fetched_do_not_count(begin: Any) -> None:
    page = await begin()
    await fill(page, Greedy.results)
    for number in list(page.session._results):
        await page.session.result(number)
    assert "error" not in await page.results()


async def test_a_constant_of_a_graph_counts_without_its_operand(begin: Any) -> None:
    page = await begin()
    await page.constant()
    [constant] = page.made
    await page.ask(request("MLGraphBuilder", "identity", page.builder, {"$h": constant}))
    output = page.made.pop()
    graph = await page.make(request("MLGraphBuilder", "build", page.builder, {"$r": [["y", {"$h": output}]]}))
    page.made += [page.builder, output, page.x]
    await page.drop()
    assert page.session.memory.held > SIZE
    page.made = [graph]
    await page.drop()
    await eventually(lambda: page.session.memory.held < SIZE)


async def test_constants_without_an_answer(begin: Any) -> None:
    """The page is told by the call that needs one, and nothing counts as a fault of the emulator."""
    page = await begin()
    told = [
        json.dumps(["MLGraphBuilder", "constant", page.builder, [{"dataType": "uint8", "shape": [SIZE]}, {"$v": 0}], [VIEW], [], [-each]])
        for each in range(1, 10)
    ]
    messages = [Message("D", [text.encode(), bytearray(SIZE)]) for text in told]
    await page.session.exchange(page.number + 1, messages)
    page.number += len(messages)
    name, message = (await page.ask(request("MLGraphBuilder", "relu", page.builder, {"$h": -9})))["error"]
    assert name == "UnknownError"
    assert REFUSED in message


async def test_objects_that_could_not_be_made_are_limited(begin: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from webnn.javascript import dispatch

    monkeypatch.setattr(dispatch, "_MOST_FAILED", 3)
    page = await begin()
    texts = [json.dumps(["MLGraphBuilder", "relu", page.builder, [{"$h": -100}], [], [], [-each]]).encode() for each in range(1, 9)]
    with pytest.raises(MessageError, match="is not one that the binding sends"):
        await page.session.exchange(page.number + 1, [Message("D", [text]) for text in texts])
