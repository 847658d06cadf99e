"""Slow answers: they take their time, the event loop goes round meanwhile, and a loss of the context ends the wait."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tests.context.faults.faulty import DELAY, compute, constant_tensor, current, double, former, outcome
from tests.context.tensors import SHAPE, filled, full, make, scale_graph, value
from tests.support import CURRENT, PATIENCE, refused, wait_until
from webnn import ML, InvalidStateError, MLContext, MLGraphBuilder, NotSupportedError, UnknownError
from webnn.context.faults import Faults, injection
from webnn.context.state import Loss

#: A delay that nothing waits for, in seconds.
HANGS = 3600.0


async def test_slow_answers_do_not_block_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    faults = Faults(delay=DELAY)
    rounds = 0

    async def tick() -> None:
        nonlocal rounds
        while True:
            await asyncio.sleep(0.001)
            rounds += 1

    # The engine, which takes a while to load, is loaded first.
    value(context := current(Faults()), filled(context, 1))
    scale_graph(context, 2)
    ticking = asyncio.create_task(tick())
    waits = 0

    def wait_for_rounds() -> None:
        """Wait on for the event loop, which does not go round if it is what waits here."""
        nonlocal waits
        waits += 1
        enough = rounds + 3
        wait_until(lambda: rounds >= enough)

    def sleep(delay: float) -> None:
        time.sleep(delay)
        wait_for_rounds()

    def wait(loss: Loss, delay: float) -> None:
        wait_in_earnest(loss, delay)
        wait_for_rounds()

    wait_in_earnest = Loss.wait
    monkeypatch.setattr(Loss, "wait", wait)
    monkeypatch.setattr(injection, "time", SimpleNamespace(sleep=sleep))
    began = time.perf_counter()
    steps = []

    def step(name: str) -> None:
        nonlocal began, waits
        steps.append((name, time.perf_counter() - began >= DELAY * 0.9, waits))
        began, waits = time.perf_counter(), 0

    context = await ML(revision=CURRENT, faults=faults).createContext()
    step("createContext")
    x = await context.createTensor(dataType="float32", shape=SHAPE, writable=True)
    step("createTensor")
    y = await context.createTensor(dataType="float32", shape=SHAPE, readable=True)
    step("createTensor")
    await context.createConstantTensor({"dataType": "float32", "shape": SHAPE}, full(0))
    step("createConstantTensor")
    builder = MLGraphBuilder(context)
    graph = await builder.build({"y": builder.neg(builder.input("x", dataType="float32", shape=SHAPE))})
    step("build")
    context.writeTensor(x, full(1))
    context.dispatch(graph, {"x": x}, {"y": y})
    faults.delay = None
    # The dispatch is slow, the read is not.
    assert (await context.readTensor(y))[0, 0] == -1
    step("dispatch")
    faults.delay = DELAY
    await context.readTensor(y)
    step("readTensor")
    assert steps == [(name, True, 1) for name, _, _ in steps]
    ticking.cancel()


def seconds(call: Callable[[], Any]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def test_the_twins_sleep() -> None:
    faults = Faults(delay=DELAY)

    context, old = current(faults), former(faults)
    x, graph = filled(context, 1), double(old)
    calls: list[Callable[[], Any]] = [
        lambda: ML(revision="2024-06", faults=faults).createContextSync(),
        lambda: make(context),
        lambda: constant_tensor(context),
        lambda: context.readTensorSync(x),
        lambda: double(old),
        lambda: compute(old, graph),
    ]
    for call in calls:
        assert seconds(call) >= DELAY * 0.9
    # Immediate refusals are not delayed.
    faults.delay = HANGS
    another = filled(current(Faults()), 1)
    refused: list[Callable[[], Any]] = [
        lambda: context.readTensorSync(another),
        lambda: make(context, shape=[0]),
        lambda: ML(revision="2024-06", faults=faults).createContextSync(deviceType="tpu"),
        lambda: compute(old, double(former(Faults()))),
    ]
    assert [outcome(call) for call in refused] == ["TypeError"] * len(refused)
    faults.delay = None
    context.readTensorSync(x)


def test_a_context_is_decided_at_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault or a delay that is set while it waits comes too late."""
    faults = Faults(delay=DELAY)
    waits: list[float] = []

    def arm(delay: float) -> None:
        waits.append(delay)
        faults.refuse, faults.delay = "cpu", HANGS

    monkeypatch.setattr(injection, "time", SimpleNamespace(sleep=arm))
    former(faults)
    assert waits == [DELAY]
    # A refusal is slow, too.
    assert outcome(lambda: former(faults)) == "NotSupportedError"
    assert waits == [DELAY, HANGS]


async def test_a_loss_ends_a_wait() -> None:
    faults = Faults()
    context = current(faults)
    x = filled(context, 1)
    faults.delay = HANGS
    futures: list[asyncio.Future[Any]] = [context.readTensor(x), context.createTensor(dataType="float32", shape=[])]
    await asyncio.sleep(0.01)
    context.destroy()
    for future in futures:
        with pytest.raises(InvalidStateError):
            await asyncio.wait_for(future, PATIENCE)
    # The thread that waits is let go, too.
    await asyncio.to_thread(context._state.timeline.finish)


WAITING: list[tuple[str, Callable[[MLContext], Any]]] = [
    ("createTensor", make),
    ("createConstantTensor", constant_tensor),
    ("build", lambda context: scale_graph(context, 2)),
]


@pytest.mark.parametrize(("operation", "call"), WAITING, ids=[operation for operation, _ in WAITING])
@pytest.mark.parametrize("fault", [{}, {"failBuild": "all"}])
def test_a_loss_ends_a_twin_that_waits(operation: str, call: Callable[[MLContext], Any], fault: dict[str, Any]) -> None:
    """It goes before what the call would have failed with."""
    faults = Faults(**fault)
    context = current(faults)
    faults.delay = HANGS
    timer = threading.Timer(0.05, context.destroy)
    timer.start()
    with refused(InvalidStateError, rule="lost", operation=operation):
        call(context)
    timer.join()


async def test_a_slow_shortage() -> None:
    faults = Faults()
    context = current(faults)
    faults.memoryLimit, faults.delay = 1, DELAY
    began = time.perf_counter()
    with refused(UnknownError, rule="fault", operation="createTensor", said="24 bytes"):
        await context.createTensor(dataType="float32", shape=SHAPE)
    assert time.perf_counter() - began >= DELAY * 0.9
    began = time.perf_counter()
    ml = ML(revision="2024-06", faults=Faults(refuse="gpu", delay=DELAY))
    with pytest.raises(NotSupportedError):
        await ml.createContext(deviceType="gpu")
    assert time.perf_counter() - began >= DELAY * 0.9


async def test_what_is_cancelled_before_its_turn() -> None:
    """It has counted; neither its work nor its fault happens. Work that was begun goes on."""
    faults = Faults()
    context = former(faults)
    graph = double(context)
    # Longer than a busy machine may oversleep.
    faults.delay, faults.loseAfter = 5 * DELAY, 2
    first, second = (context.compute(graph, {"x": full(1)}, {"y": full(0)}) for _ in range(2))
    await asyncio.sleep(DELAY / 5)
    for future in (first, second):
        future.cancel()
    assert faults.computes == 2
    faults.delay = None
    third = await context.compute(graph, {"x": full(3)}, {"y": full(0)})
    assert third["outputs"]["y"][0, 0] == 6


def test_an_event_loop_that_ends_before_the_answers() -> None:
    """They are not awaited any more, and others can use the context."""
    faults = Faults()
    context = current(faults)
    x = filled(context, 1)
    builder = MLGraphBuilder(context)
    outputs = {"y": builder.neg(builder.input("x", dataType="float32", shape=SHAPE))}
    faults.delay = DELAY

    async def program() -> None:
        context.readTensor(x)
        context.createTensor(dataType="float32", shape=SHAPE)
        builder.build(outputs)

    asyncio.run(program())
    assert value(context, x) == 1
    assert (context._state.loss.promises, x._pending) == ({}, {})
