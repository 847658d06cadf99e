"""Devices of programs in JavaScript: what Python does between `destroy()` and the bytes. js/test/webgpu.test.mjs has the other side."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import webnn
from webnn.context import holding
from webnn.gpu.bridge import GPUBridge
from webnn.validation.errors import InvalidStateError, OperationError

FLOATS: Any = {"dataType": "float32", "shape": [3], "readable": True, "writable": True}
ONES = np.ones(3, np.float32)


class Setup:
    """A tensor on such a device, that is exported, and a graph that doubles."""

    def __init__(self) -> None:
        self.device = GPUBridge()
        self.context: Any
        self.context = webnn.ML(revision="2026-09").createContextSync()
        builder = webnn.MLGraphBuilder(self.context)
        x = builder.input("x", dataType="float32", shape=[3])
        self.graph = builder.buildSync({"y": builder.add(x, x)})
        self.tensor, self.second = (self.context.createExportableTensorSync(FLOATS, self.device) for _ in range(2))
        self.context.writeTensor(self.tensor, ONES)
        self.buffer: Any = self.context.exportToGPU(self.tensor)

    def dispatch(self) -> None:
        self.context.dispatch(self.graph, {"x": self.tensor}, {"y": self.second})

    def give(self, value: float) -> None:
        self.buffer.give(np.full(3, value, np.float32).view(np.uint8))


def test_the_bytes_go_out() -> None:
    setup = Setup()
    assert setup.buffer.last is None
    assert setup.buffer.take().view(np.float32).tolist() == [1, 1, 1]
    assert len(setup.buffer.take()) == 0


def test_work_waits_for_the_bytes() -> None:
    setup = Setup()

    async def run() -> tuple[Any, Any]:
        setup.buffer.destroy()
        setup.dispatch()
        first = setup.context.readTensor(setup.second)
        setup.context.writeTensor(setup.tensor, 5 * ONES)
        setup.dispatch()
        second = setup.context.readTensor(setup.second)
        await asyncio.sleep(0)
        assert not first.done()
        setup.give(3)
        return await first, await second

    first, second = asyncio.run(run())
    assert (first.tolist(), second.tolist()) == ([6, 6, 6], [10, 10, 10])


def test_errors_of_calls_do_not_wait() -> None:
    setup = Setup()
    setup.buffer.destroy()
    with pytest.raises(webnn.WebNNTypeError):
        setup.context.dispatch(setup.graph, {"x": setup.tensor}, {})
    with pytest.raises(webnn.WebNNTypeError):
        setup.context.writeTensor(setup.tensor, np.ones(2, np.float32))


def test_an_export_in_the_same_turn_is_of_the_last_buffer() -> None:
    setup = Setup()
    setup.buffer.destroy()
    again = setup.context.exportToGPU(setup.tensor)
    assert again.last is setup.buffer
    assert setup.context.exportToGPU(setup.tensor) is again
    assert len(again.take()) == 0
    again.destroy()
    setup.give(3)
    again.give(np.full(3, 4, np.float32).view(np.uint8))
    assert setup.context.readTensorSync(setup.tensor).tolist() == [4, 4, 4]


def write(setup: Setup) -> Any:
    setup.context.writeTensor(setup.tensor, ONES)
    return setup.tensor


def dispatch(setup: Setup) -> Any:
    setup.dispatch()
    return setup.second


@pytest.mark.parametrize("queue", [write, dispatch], ids=["written", "an output"])
def test_an_export_that_needs_the_bytes(queue: Callable[[Setup], Any]) -> None:
    setup = Setup()
    setup.buffer.destroy()
    tensor = queue(setup)
    with pytest.raises(OperationError, match="await something first") as caught:
        setup.context.exportToGPU(tensor)
    assert (caught.value.operation, caught.value.rule) == ("exportToGPU", "exported")
    setup.give(3)
    assert setup.context.exportToGPU(tensor).take().view(np.float32).tolist() == ([1, 1, 1] if queue is write else [6, 6, 6])


def test_another_tensor_is_exported_at_once() -> None:
    setup = Setup()
    setup.buffer.destroy()
    assert setup.context.exportToGPU(setup.second).take().tolist() == [0] * 12


def test_a_program_that_never_yields(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its calls are refused, and what it has can end."""
    monkeypatch.setattr(holding, "_MOST_JOBS", 3)
    setup = Setup()
    setup.buffer.destroy()
    for _ in range(2):
        setup.dispatch()
    for call in (setup.dispatch, lambda: setup.context.writeTensor(setup.tensor, ONES)):
        with pytest.raises(OperationError, match="await something first") as caught:
            call()
        assert caught.value.rule == "limit"

    async def read() -> None:
        with pytest.raises(OperationError, match="readTensor: too many"):
            await setup.context.readTensor(setup.tensor)

    asyncio.run(read())
    setup.tensor.destroy()
    setup.context.destroy()


def lose_bytes(setup: Setup) -> None:
    setup.buffer.lose()


def lose_device(setup: Setup) -> None:
    setup.device.lose("the driver failed")


def give_too_few(setup: Setup) -> None:
    setup.buffer.give(np.zeros(4, np.uint8))


@pytest.mark.parametrize("lose", [lose_bytes, lose_device, give_too_few])
@pytest.mark.parametrize("isReturned", [True, False], ids=["returned", "lent"])
def test_lost_bytes(lose: Callable[[Setup], None], isReturned: bool) -> None:
    setup = Setup()

    async def run() -> None:
        if isReturned:
            setup.buffer.destroy()
            pending = setup.context.readTensor(setup.tensor)
            lose(setup)
            with pytest.raises(InvalidStateError):
                await pending
        else:
            lose(setup)

    asyncio.run(run())
    if not isReturned and lose is give_too_few:  # bytes that nobody waits for
        assert setup.context.exportToGPU(setup.tensor) is setup.buffer
        return
    with pytest.raises(InvalidStateError):
        setup.context.exportToGPU(setup.tensor)
    # Nothing waits any more.
    setup.context.writeTensor(setup.second, ONES)
    assert setup.context.readTensorSync(setup.second).tolist() == [1, 1, 1]


def test_a_lost_device_makes_no_tensor() -> None:
    setup = Setup()
    setup.device.lose("")
    with pytest.raises(InvalidStateError, match="it is lost"):
        setup.context.createExportableTensorSync(FLOATS, setup.device)


@pytest.mark.parametrize("end", ["destroy the tensor", "lose the context"])
def test_an_end_before_the_bytes(end: str) -> None:
    setup = Setup()

    async def run() -> None:
        setup.buffer.destroy()
        setup.dispatch()
        pending = setup.context.readTensor(setup.tensor)
        (setup.tensor if end == "destroy the tensor" else setup.context).destroy()
        with pytest.raises(InvalidStateError):
            await pending
        setup.give(3)
        setup.buffer.give(np.zeros(12, np.uint8))

    asyncio.run(run())
    setup.context.lostSync(0)


def test_the_context_is_lost_while_it_is_lent() -> None:
    setup = Setup()
    setup.context.destroy()
    setup.buffer.destroy()
    setup.give(3)


def test_it_cannot_be_pickled() -> None:
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(GPUBridge())
