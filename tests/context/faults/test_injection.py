"""Faults in contexts: what a program sees of each in both drafts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from tests.context.faults.faulty import DELAY, compute, constant_tensor, current, double, former, outcome
from tests.context.tensors import SHAPE, filled, full, held, make, scale_graph, value
from tests.support import CURRENT, PATIENCE, refused
from webnn import (
    ML,
    GPUDevice,
    InvalidStateError,
    MLContext,
    MLGraphBuilder,
    NotSupportedError,
    OperationError,
    UnknownError,
    WebNNTypeError,
)
from webnn.context.faults import Faults

#: The memory of a tensor of `SHAPE`, and of a graph of `scale_graph`: input, output and a scalar.
BYTES, GRAPH = 24, 52


# Contexts


def test_device_types_are_refused() -> None:
    faults = Faults(refuse={"npu": "", "gpu": "the driver was reset"})
    ml = ML(revision="2024-06", faults=faults)
    with refused(NotSupportedError, rule="fault", operation="createContext", said='refuse="npu"'):
        ml.createContextSync(deviceType="npu")
    with refused(NotSupportedError, rule="fault", operation="createContext", said='refuse="gpu"'):
        ml.createContextSync(deviceType="gpu")
    with refused(NotSupportedError, rule="fault", operation="createContext", said="driver"):
        ml.createContextSync(GPUDevice())
    with pytest.raises(WebNNTypeError):
        ml.createContextSync(deviceType="tpu")
    assert ml.createContextSync()._state.selection.requested == "cpu"
    assert faults.contexts == 4
    faults.refuse = "cpu"
    with refused(NotSupportedError, rule="fault", operation="createContext", said='refuse="cpu"'):
        ml.createContextSync()


async def test_a_refusal_rejects_the_promise() -> None:
    for revision in ("2024-06", CURRENT):
        ml = ML(revision=revision, faults=Faults(refuse=["cpu", "gpu"]))
        for deviceType in ("cpu", "gpu", None):
            future = ml.createContext(deviceType=deviceType)
            with refused(NotSupportedError, rule="fault", operation="createContext"):
                await future


# The current draft leaves the choice to the context: what it would get is what is refused. This machine has at least a CPU.
ACCELERATED: list[tuple[dict[str, Any], str]] = [
    ({}, "NotSupportedError"),
    ({"accelerated": True}, "NotSupportedError"),
    ({"accelerated": False}, "ok"),
    ({"deviceType": "cpu"}, "ok"),
]


@pytest.mark.parametrize(("options", "expected"), ACCELERATED)
def test_the_device_that_a_request_would_get(options: dict[str, Any], expected: str) -> None:
    faults = Faults()
    ml = ML(revision=CURRENT, faults=faults)
    gets = ml.createContextSync()._state.selection.device
    if gets == "cpu":
        expected = "NotSupportedError"
    faults.refuse = gets
    assert outcome(lambda: ml.createContextSync(options)) == expected


@pytest.mark.parametrize("revision", ["2024-06", CURRENT])
def test_a_fault_comes_before_the_policy(tmp_path: Path, revision: str) -> None:
    file = tmp_path / "npu.json"
    file.write_text('{"_extends": "coreml", "_devices": {"gpu": "cpu"}, "_native": ["add"]}', encoding="utf-8")
    faults = Faults(refuse=["gpu", "cpu"], failBuild=1)
    ml = ML(revision=revision, profile=file, fallback="deny", faults=faults)
    with refused(NotSupportedError, rule="fault", operation="createContext", said='refuse="gpu"'):
        ml.createContextSync(deviceType="gpu")
    faults.refuse = "cpu"
    # The fault concerns the requested device, not the one that would run it.
    with refused(NotSupportedError, rule="device", operation="createContext"):
        ml.createContextSync(deviceType="gpu")
    context = ml.createContextSync(deviceType="npu")
    for operation, rule in (("build", "fault"), ("mul", "device")):
        with refused(OperationError, rule=rule, operation=operation):
            double(context) if revision == "2024-06" else scale_graph(context, 2)


# Builds and computations of the draft of June 2024


def test_a_build_fails() -> None:
    faults = Faults(failBuild=2)
    context = former(faults)
    double(context)
    with refused(OperationError, rule="fault", operation="build", said="failBuild=2"):
        double(context)
    assert compute(context, double(context)) == 2
    assert faults.builds == 3


def test_a_builder_can_build_again_after_a_fault() -> None:
    context = former(Faults(failBuild=1))
    builder = MLGraphBuilder(context)
    outputs = {"y": builder.neg(builder.input("x", {"dataType": "float32", "dimensions": SHAPE}))}
    assert outcome(lambda: builder.buildSync(outputs)) == "OperationError"
    assert compute(context, builder.buildSync(outputs)) == -1


def test_a_computation_fails() -> None:
    faults = Faults()
    context = former(faults)
    graph = double(context)
    faults.failCompute = [2]
    x, y = full(1), full(0)
    assert compute(context, graph) == 2
    with refused(OperationError, rule="fault", operation="compute", said="failCompute=2"):
        context.computeSync(graph, {"x": x}, {"y": y})
    # As in a browser, the arrays are gone; nothing was computed.
    assert not y.any()
    with refused(rule="detached", operation="compute", argument="inputs['x']"):
        context.computeSync(graph, {"x": x}, {"y": y})
    assert compute(context, graph) == 2
    # A call that is refused for its arguments does not count as a computation.
    assert faults.computes == 3


async def test_promises_fail() -> None:
    faults = Faults(failBuild=1, failCompute=1)
    context = await ML(revision="2024-06", faults=faults).createContext()
    builder = MLGraphBuilder(context)
    outputs = {"y": builder.neg(builder.input("x", {"dataType": "float32", "dimensions": SHAPE}))}
    with refused(OperationError, rule="fault", operation="build", said="failBuild=1"):
        await builder.build(outputs)
    graph = await builder.build(outputs)
    futures = [context.compute(graph, {"x": full(1)}, {"y": full(0)}) for _ in range(2)]
    with refused(OperationError, rule="fault", operation="compute", said="failCompute=1"):
        await futures[0]
    assert (await futures[1])["outputs"]["y"][0, 0] == -1


async def test_a_fault_is_decided_at_the_call() -> None:
    faults = Faults(delay=DELAY)
    context = former(faults)
    graph = double(context)
    faults.failCompute = "all"
    future = context.compute(graph, {"x": full(1)}, {"y": full(0)})
    faults.failCompute = None
    other = context.compute(graph, {"x": full(1)}, {"y": full(0)})
    assert faults.computes == 2
    with pytest.raises(OperationError):
        await future
    assert (await other)["outputs"]["y"][0, 0] == 2


def test_a_context_that_is_lost_while_a_call_is_checked() -> None:
    """As another thread may do."""
    context = former(Faults(loseAfter=1))
    graph = double(context)

    class Losing(Mapping[str, Any]):
        """Inputs: the context is lost when they are read."""

        def __init__(self) -> None:
            self.given = {"x": full(1)}
            self.lost = False

        def __getitem__(self, name: str) -> Any:
            return self.given[name]

        def __iter__(self) -> Iterator[str]:
            if not self.lost:
                self.lost = True
                compute(context, graph)
            return iter(self.given)

        def __len__(self) -> int:
            return 1

    inputs, y = Losing(), full(0)
    with refused(InvalidStateError, rule="lost", operation="compute"):
        context.computeSync(graph, inputs, {"y": y})
    assert inputs.lost
    # No array was transferred.
    other = former(Faults())
    result = other.computeSync(double(other), inputs.given, {"y": y})
    assert result["outputs"]["y"][0, 0] == 2


def test_a_former_context_is_of_no_use_after_a_loss() -> None:
    faults = Faults(loseAfter=2)
    context, other = former(faults), former(faults)
    graph, others = double(context), double(other)
    # The computation that is the last one still ends well.
    assert [compute(context, graph), compute(context, graph)] == [2, 2]
    with refused(InvalidStateError, rule="lost", operation="compute", said="an injected fault (loseAfter=2)"):
        compute(context, graph)
    with refused(InvalidStateError, rule="lost", operation="build", said="an injected fault (loseAfter=2)"):
        double(context)
    # Neither of them counted; another context lives on.
    assert (faults.builds, faults.computes) == (2, 2)
    assert compute(other, others) == 2
    assert repr(context).endswith(", lost>")


async def test_what_a_former_context_has_queued_fails() -> None:
    faults = Faults(loseAfter=1)
    context = former(faults)
    graph = double(context)
    faults.delay = DELAY
    builder = MLGraphBuilder(context)
    y = builder.neg(builder.input("x", {"dataType": "float32", "dimensions": SHAPE}))
    first, second = (context.compute(graph, {"x": full(1)}, {"y": full(0)}) for _ in range(2))
    building = builder.build({"y": y})
    assert (await first)["outputs"]["y"][0, 0] == 2
    for future in (second, building):
        with refused(InvalidStateError, rule="lost"):
            await future


def test_a_failure_and_a_loss_in_one() -> None:
    context = former(Faults(failCompute=1, loseAfter=1))
    graph = double(context)
    assert outcome(lambda: compute(context, graph)) == "OperationError"
    assert outcome(lambda: compute(context, graph)) == "InvalidStateError"


# Builds and computations of the current draft


def test_a_dispatch_that_fails_loses_the_context() -> None:
    faults = Faults(failCompute=2)
    context = current(faults)
    graph, x, y = scale_graph(context, 2), filled(context, 1), make(context)
    context.dispatch(graph, {"x": x}, {"y": y})
    assert value(context, y) == 2
    # The call knows nothing of it.
    context.dispatch(graph, {"x": x}, {"y": y})
    with refused(InvalidStateError, rule="lost", operation="readTensor", said="dispatch: an injected fault (failCompute=2)"):
        context.readTensorSync(y)
    assert context.lostSync() == {"message": "dispatch: an injected fault (failCompute=2)"}
    assert outcome(lambda: context.dispatch(graph, {"x": x}, {"y": y})) == "InvalidStateError"
    assert faults.computes == 2


async def test_a_context_is_lost_after_a_number_of_dispatches() -> None:
    faults = Faults(loseAfter=2)
    context = current(faults)
    graph, x, y = scale_graph(context, 2), filled(context, 1), make(context)
    lost = context.lost
    context.dispatch(graph, {"x": x}, {"y": y})
    assert (await context.readTensor(y))[0, 0] == 2
    assert not lost.done()
    context.dispatch(graph, {"x": x}, {"y": y})
    reading = context.readTensor(y)
    with pytest.raises(InvalidStateError):
        await reading
    assert await lost == {"message": "an injected fault (loseAfter=2)"}
    # The page makes another one.
    context = current(faults)
    graph, x, y = scale_graph(context, 2), filled(context, 1), make(context)
    context.dispatch(graph, {"x": x}, {"y": y})
    assert value(context, y) == 2


def test_a_build_fails_in_the_current_draft() -> None:
    context = current(Faults(failBuild=1))
    builder = MLGraphBuilder(context)
    outputs = {"y": builder.neg(builder.input("x", dataType="float32", shape=SHAPE))}
    assert outcome(lambda: builder.buildSync(outputs)) == "OperationError"
    # A builder builds once, whatever comes of it; the context lives on.
    assert outcome(lambda: builder.buildSync(outputs)) == "InvalidStateError"
    scale_graph(context, 2)
    assert context.lostSync(0) is None


# Memory


def of_type(dataType: str, shape: list[int]) -> Callable[[MLContext], Any]:
    return lambda context: context.createTensorSync(dataType=dataType, shape=shape)


def shared_constant(context: MLContext) -> Any:
    """A constant of 24 bytes that two operators use, an input and two outputs of 24 bytes: 96."""
    builder = MLGraphBuilder(context)
    x = builder.input("x", dataType="float32", shape=SHAPE)
    weights = builder.constant({"dataType": "float32", "shape": SHAPE}, full(1))
    y = builder.add(x, weights)
    return builder.buildSync({"y": y, "z": builder.mul(y, weights)})


def optional_operand(context: MLContext) -> Any:
    """Inputs of 24 and 16 bytes, an output of 16, and a bias of 8 among the options: 64."""
    builder = MLGraphBuilder(context)
    a = builder.input("a", dataType="float32", shape=[2, 3])
    b = builder.input("b", dataType="float32", shape=[3, 2])
    return builder.buildSync({"y": builder.gemm(a, b, c=builder.constant({"dataType": "float32", "shape": [2]}, np.zeros(2, np.float32)))})


NEEDS: list[tuple[Callable[[MLContext], Any], int, str]] = [
    (of_type("float32", [2, 3]), 24, "UnknownError"),
    (of_type("int64", []), 8, "UnknownError"),
    (of_type("uint8", [3]), 3, "UnknownError"),
    (of_type("int4", [3]), 2, "UnknownError"),
    (constant_tensor, 24, "UnknownError"),
    (lambda context: scale_graph(context, 2), GRAPH, "OperationError"),
    (shared_constant, 96, "OperationError"),
    (optional_operand, 72, "OperationError"),
]


@pytest.mark.parametrize(("call", "size", "error"), NEEDS)
def test_memory_is_counted_exactly(call: Callable[[MLContext], Any], size: int, error: str) -> None:
    faults = Faults(memoryLimit=size)
    context = ML(revision=f"{CURRENT}+browsers", faults=faults).createContextSync()
    assert outcome(lambda: call(context)) == "ok"
    # Nothing is summed up.
    assert outcome(lambda: call(context)) == "ok"
    faults.memoryLimit = size - 1
    assert outcome(lambda: call(context)) == error
    faults.memoryLimit = None
    assert outcome(lambda: call(context)) == "ok"


def test_what_the_errors_of_memory_say() -> None:
    faults = Faults(memoryLimit=10)
    context = current(faults)
    with refused(UnknownError, rule="fault", operation="createTensor", said="memoryLimit=10"):
        make(context)
    with refused(UnknownError, rule="fault", operation="createConstantTensor"):
        constant_tensor(context)
    with refused(OperationError, rule="fault", operation="build", said="memoryLimit=10"):
        scale_graph(context, 2)
    # The steps' own refusals stay.
    with pytest.raises(WebNNTypeError):
        make(context, shape=[0])


async def test_memory_ends_while_a_program_runs() -> None:
    faults = Faults()
    context = current(faults)
    graph, x, y = scale_graph(context, 2), filled(context, 1), make(context)
    faults.memoryLimit = 2 * BYTES
    context.dispatch(graph, {"x": x}, {"y": y})
    assert value(context, y) == 2
    faults.memoryLimit = 2 * BYTES - 1
    creating = context.createTensor(dataType="float32", shape=[100])
    with refused(UnknownError, rule="fault", operation="createTensor", said="400 bytes"):
        await creating
    context.dispatch(graph, {"x": x}, {"y": y})
    assert (await context.lost)["message"] == "dispatch: an injected fault (memoryLimit=47): there is no memory for 48 bytes"


@pytest.mark.parametrize("delay", [None, DELAY])
async def test_memory_that_is_really_short(monkeypatch: pytest.MonkeyPatch, delay: float | None) -> None:
    context = current(Faults(delay=delay))
    monkeypatch.setattr("webnn.context.engine.memory.np.zeros", Mock(side_effect=MemoryError("none left")))
    with refused(UnknownError, rule="memory", operation="createTensor", said="none left"):
        make(context)
    with held(context):
        creating = context.createTensor(dataType="float32", shape=SHAPE)
        for _ in range(5):
            await asyncio.sleep(0)
        # A slow answer comes behind the work that is queued.
        assert creating.done() == (delay is None)
    with refused(UnknownError, rule="memory", operation="createTensor", said="none left"):
        await creating


@pytest.mark.parametrize("delay", [None, DELAY])
async def test_a_wrong_descriptor_rejects_the_promise(delay: float | None) -> None:
    context = current(Faults(delay=delay))
    creating = context.createTensor(dataType="float32", shape=[0])
    with refused(rule="limit", operation="createTensor", argument="descriptor"):
        await creating


async def test_a_new_tensor_does_not_wait_for_what_is_queued() -> None:
    context = current(Faults())
    with held(context):
        tensor = await asyncio.wait_for(context.createTensor(dataType="float32", shape=SHAPE, readable=True), PATIENCE)
        constant = await asyncio.wait_for(context.createConstantTensor({"dataType": "float32", "shape": SHAPE}, full(1)), PATIENCE)
    assert (tensor.shape, constant.constant) == (SHAPE, True)
    assert value(context, tensor) == 0


def test_a_former_computation_needs_memory() -> None:
    faults = Faults()
    context = former(faults)
    graph = double(context)
    faults.memoryLimit = 2 * BYTES - 1
    with refused(OperationError, rule="fault", operation="compute", said="memoryLimit=47"):
        compute(context, graph)


def test_a_refused_tensor_is_forgotten() -> None:
    faults = Faults(memoryLimit=1)
    context = current(faults)
    with pytest.raises(UnknownError):
        make(context)
    assert len(context._state.loss._members) == 0


def test_without_faults_nothing_is_counted() -> None:
    context = ML(revision="2024-06").createContextSync()
    assert getattr(context._computeSteps, "_faults", None) is None
    assert compute(context, double(context)) == 2
