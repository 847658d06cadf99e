"""The loss of a context: `destroy()`, failures at run time, and what ends with it."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import numpy as np
import pytest

from tests.context.tensors import SHAPE, add_graph, current, filled, full, held, make, scale_graph, value
from tests.support import refused
from webnn import InvalidStateError, MLContext, MLGraphBuilder
from webnn.builder.graph import collect
from webnn.builder.onnx import translate
from webnn.builder.onnx.emitter import Translation
from webnn.context import build
from webnn.validation.caller import find_caller

MESSAGE = {"message": "destroy() was called"}


@pytest.fixture
def context() -> MLContext:
    return current()


async def test_destruction_resolves_the_promise(context: MLContext) -> None:
    lost = context.lost
    assert isinstance(lost, asyncio.Future)
    assert context.lost is lost
    await asyncio.sleep(0)
    assert not lost.done()
    assert context.lostSync(0) is None
    context.destroy()
    context.destroy()
    assert await lost == MESSAGE
    assert await context.lost == MESSAGE
    assert context.lost is lost
    assert context.lostSync() == MESSAGE
    assert repr(context).endswith(", lost>")


async def test_each_event_loop_has_a_promise(context: MLContext) -> None:
    loops = []

    async def wait() -> dict[str, str]:
        loops.append(asyncio.get_running_loop())
        started.set()
        return dict(await context.lost)

    started = threading.Event()
    other = asyncio.get_running_loop().run_in_executor(None, asyncio.run, wait())
    while not started.is_set():
        await asyncio.sleep(0.001)
    context.destroy()
    assert await other == MESSAGE
    assert await context.lost == MESSAGE
    # A loop that is closed is forgotten when another one asks.
    await asyncio.get_running_loop().run_in_executor(None, asyncio.run, wait())
    assert len([loop for loop in context._state.loss._futures if loop.is_closed()]) <= 1


async def test_a_cancelled_promise_is_no_loss(context: MLContext) -> None:
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(context.lost, 0.01)
    assert not context.lost.done()
    context.destroy()
    assert await context.lost == MESSAGE


def test_another_thread_waits(context: MLContext) -> None:
    assert context.lostSync(0.01) is None
    seen: list[Any] = []
    thread = threading.Thread(target=lambda: seen.append(context.lostSync()))
    thread.start()
    context.destroy()
    thread.join()
    assert seen == [MESSAGE]
    # The caller gets an object of its own.
    seen[0].clear()
    assert context.lostSync() == MESSAGE


async def test_nothing_works_after_that(context: MLContext) -> None:
    builder = MLGraphBuilder(context)
    x = builder.input("x", dataType="float32", shape=SHAPE)
    y = builder.relu(x)
    graph, tensors = add_graph(context), {name: make(context) for name in ("x", "y", "sum", "difference")}
    constant = context.createConstantTensorSync({"dataType": "float32", "shape": SHAPE}, full(1))
    context.destroy()
    calls: list[Any] = [
        lambda: MLGraphBuilder(context),
        lambda: builder.input("z", dataType="float32", shape=[1]),
        lambda: builder.neg(x),
        lambda: builder.buildSync({"y": y}),
        lambda: context.dispatch(graph, {n: tensors[n] for n in ("x", "y")}, {n: tensors[n] for n in ("sum", "difference")}),
        lambda: context.writeTensor(tensors["x"], full(0)),
        lambda: context.readTensorSync(tensors["x"]),
        lambda: context.readTensorSync(tensors["x"], full(0)),
        lambda: context.createTensorSync(dataType="int8", shape=[]),
        lambda: context.createConstantTensorSync({"dataType": "int8", "shape": []}, b"1"),
    ]
    for call in calls:
        with refused(InvalidStateError, rule="lost", said="destroy() was called"):
            call()
    futures: list[asyncio.Future[Any]] = [
        builder.build({"y": y}),
        context.readTensor(tensors["x"]),
        context.createTensor(dataType="int8", shape=[]),
        context.createConstantTensor({"dataType": "int8", "shape": []}, b"1"),
    ]
    for future in futures:
        with refused(InvalidStateError, rule="lost", said="destroy() was called"):
            await future
    # Errors of another kind come first.
    with refused(rule="conversion", operation="createTensor", argument="descriptor.dataType"):
        context.createTensorSync(dataType="x", shape=[])
    with refused(rule="destroyed", operation="constant", argument="tensor"):
        MLGraphBuilder(current()) and builder.constant(constant)
    # These still do.
    graph.destroy()
    constant.destroy()
    assert tensors["x"].shape == SHAPE
    assert context.opSupportLimits()
    assert context.accelerated is False


async def test_what_is_pending_fails(context: MLContext) -> None:
    graph, tensor = add_graph(context), filled(context, 7)
    outputs = {"sum": make(context), "difference": make(context)}
    builder = MLGraphBuilder(context)
    product = builder.neg(builder.input("x", dataType="float32", shape=SHAPE))
    buffer = full(0)
    with held(context):
        futures: list[asyncio.Future[Any]] = [
            context.createTensor(dataType="int8", shape=[]),
            context.createConstantTensor({"dataType": "int8", "shape": []}, b"1"),
            context.readTensor(tensor),
            context.readTensor(tensor, buffer),
            builder.build({"y": product}),
        ]
        context.dispatch(graph, {"x": tensor, "y": filled(context, 1)}, outputs)
        memory = outputs["sum"]._memory
        context.destroy()
        assert all(future.done() for future in futures)
    for future in futures:
        with refused(InvalidStateError, rule="lost"):
            await future
    context._state.timeline.finish()
    # The dispatch was dropped.
    assert memory is not None
    assert not memory.array.any()
    assert not buffer.any()
    await asyncio.sleep(0)
    assert not context._state.loss.promises


async def test_a_dispatch_before_is_no_error(context: MLContext) -> None:
    graph = add_graph(context)
    context.dispatch(graph, {"x": filled(context, 1), "y": filled(context, 2)}, {"sum": make(context), "difference": make(context)})
    context.destroy()
    assert await context.lost == MESSAGE


def test_another_context_lives_on(context: MLContext) -> None:
    other = current()
    graph, x, y = scale_graph(other, 2), filled(other, 1), make(other)
    context.destroy()
    other.dispatch(graph, {"x": x}, {"y": y})
    assert value(other, y) == 2
    assert other.lostSync(0) is None


def failing_graph(context: MLContext, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A graph that the engine takes, and cannot run."""
    bad = Translation(emit=lambda e, op: e.node("Reshape", [op["input"], e.ints([7])]))
    with monkeypatch.context() as patch:
        patch.setattr(translate, "TRANSLATIONS", {**translate.TRANSLATIONS, "relu": bad})
        builder = MLGraphBuilder(context)
        return builder.buildSync({"y": builder.relu(builder.input("x", dataType="float32", shape=SHAPE), label="mine")})


def test_a_failure_at_run_time(context: MLContext, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, x, y, buffer = failing_graph(context, monkeypatch), filled(context, 1), make(context), full(5)
    # The call knows nothing of it.
    context.dispatch(graph, {"x": x}, {"y": y})
    with refused(InvalidStateError, rule="lost", operation="readTensor"):
        context.readTensorSync(y, buffer)
    assert buffer.tolist() == full(5).tolist()
    info = context.lostSync(0)
    assert info is not None
    assert info["message"].startswith("[mine] dispatch: the engine failed in the graph at relu: ")
    with refused(InvalidStateError, rule="lost", operation="dispatch"):
        context.dispatch(graph, {"x": x}, {"y": y})


async def test_a_failure_while_reads_are_pending(context: MLContext, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, x, y = failing_graph(context, monkeypatch), filled(context, 1), make(context)
    with held(context):
        before = context.readTensor(x)
        context.dispatch(graph, {"x": x}, {"y": y})
        context.dispatch(graph, {"x": x}, {"y": y})
        after = context.readTensor(y)
    with pytest.raises(InvalidStateError):
        await after
    assert "at relu" in (await context.lost)["message"]
    # It was done before, but a loss of the context may come first.
    (result,) = await asyncio.gather(before, return_exceptions=True)
    assert isinstance(result, np.ndarray | InvalidStateError)


def test_a_failure_that_nobody_reads(context: MLContext, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, x, y = failing_graph(context, monkeypatch), filled(context, 1), make(context)
    context.dispatch(graph, {"x": x}, {"y": y})
    info = context.lostSync()
    assert info is not None
    assert "at relu" in info["message"]


def test_what_comes_too_late(context: MLContext) -> None:
    """Another thread loses the context between the check and the end of a creation."""
    tensor, lose = make(context), context._state.loss.lose
    lose("first")
    lose("second")
    with refused(InvalidStateError, rule="lost", operation="createTensor", said="first"):
        context._state.loss.add(tensor, "createTensor")
    assert len(context._state.loss._members) == 0


def test_a_build_that_comes_too_late_is_not_begun(context: MLContext, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[object] = []
    monkeypatch.setattr("webnn.context.engine_backend.translate", begun.append)
    builder = MLGraphBuilder(context)
    graph = collect({"y": builder.neg(builder.input("x", dataType="float32", shape=SHAPE))})
    caller = find_caller()
    context.destroy()
    with refused(InvalidStateError, rule="lost", operation="build"):
        build.compile_graph(context._state, graph, caller)
    assert begun == []


async def test_a_read_of_a_destroyed_tensor_fails_at_once(context: MLContext) -> None:
    tensor = filled(context, 7)
    with held(context):
        tensor.destroy()
        future = context.readTensor(tensor)
        assert future.done()
        with refused(InvalidStateError, rule="destroyed", operation="readTensor"):
            await future
