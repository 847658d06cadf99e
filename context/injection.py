"""What `Faults` decides, done: steps of `MLContext` that stand in the place of the ordinary ones in a context that has faults.

Each function runs the ordinary steps, so that the calls check what they always check, and gives its job a delay, an error or a loss.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from webnn.context import compute, create, dispatch
from webnn.context.promise import promise, rejected
from webnn.validation.errors import UnknownError

if TYPE_CHECKING:
    import asyncio

    import numpy as np

    from webnn.builder.graph import ComputationalGraph
    from webnn.context.compute import MLComputeResult
    from webnn.context.context import MLContext
    from webnn.context.faults import Faults
    from webnn.context.graph import MLGraph
    from webnn.context.tensor import MLTensor
    from webnn.context.timeline import Timeline

__all__ = [
    "admit",
    "building",
    "created",
    "failing",
    "pause",
    "prepare_compute",
    "prepare_dispatch",
    "read",
    "read_sync",
    "resolved",
    "stall",
]


@contextmanager
def pause(faults: Faults) -> Iterator[None]:
    """Wait at the end of the block, which creates a context or fails to."""
    delay = faults.delay or 0.0
    try:
        yield
    finally:
        time.sleep(delay)


def stall(timeline: Timeline, faults: Faults) -> None:
    """Have a timeline wait before its next job."""
    delay = faults.delay
    if delay:
        timeline.post(lambda: time.sleep(delay))


def admit(faults: Faults, deviceType: str) -> None:
    """Count a request for a context.

    Raises:
        NotSupportedError: It is to be refused.
    """
    refusal = faults._judgeContext(deviceType)
    if refusal is not None:
        raise refusal


def failing(error: Exception) -> Callable[[], NoReturn]:
    """Return a job that fails."""

    def job() -> NoReturn:
        raise error

    return job


def building(context: MLContext, graph: ComputationalGraph, compile: Callable[[], MLGraph]) -> Callable[[], MLGraph]:
    """Decide about a build.

    Args:
        context: The context.
        graph: What is to be built.
        compile: The steps of the timeline.

    Returns:
        The job for the timeline.
    """
    if context._loss.info is not None:
        # Its steps refuse it: there is nothing to decide.
        return compile
    verdict = _faults(context)._judgeBuild(lambda: _graph_size(graph))

    def job() -> MLGraph:
        _wait(context, verdict.delay)
        if verdict.error is not None:
            context._loss.check("build")
            raise verdict.error
        return compile()

    return job


def prepare_compute(
    context: MLContext, graph: MLGraph, inputs: Mapping[str, Any], outputs: Mapping[str, Any]
) -> tuple[Callable[[], None], MLComputeResult]:
    """Run the steps of `MLContext.compute` before the parallel ones, and decide about these.

    Returns:
        As `webnn.context.compute.prepare`.

    Raises:
        WebNNTypeError: The graph or an array does not fit; no array was transferred.
        OperationError: The context was made from a GPUDevice.
        InvalidStateError: The context is lost, which only a fault does in the draft of June 2024.
    """
    loss = context._loss
    loss.check("compute")
    work, result = compute.prepare(context, graph, inputs, outputs)
    verdict = _faults(context)._judgeCompute("compute", lambda: _run_size(graph))

    def job() -> None:
        _wait(context, verdict.delay)
        loss.check("compute")
        try:
            if verdict.error is not None:
                raise verdict.error
            work()
        finally:
            if verdict.loses:
                loss.lose(verdict.loses)

    return job, result


def prepare_dispatch(
    context: MLContext, graph: MLGraph, inputs: Mapping[str, MLTensor], outputs: Mapping[str, MLTensor]
) -> Callable[[], None]:
    """Run the steps of `MLContext.dispatch` before those of the timeline, and decide about these.

    Returns:
        The job for the timeline.

    Raises:
        WebNNTypeError: The graph or a tensor does not fit.
        InvalidStateError: The graph was destroyed.
    """
    loss = context._loss
    work = dispatch.prepare_dispatch(context, graph, inputs, outputs)
    verdict = _faults(context)._judgeCompute("dispatch", lambda: _run_size(graph))

    def job() -> None:
        _wait(context, verdict.delay)
        if verdict.error is not None:
            loss.lose(str(verdict.error))
        else:
            work()
        if verdict.loses:
            loss.lose(verdict.loses)

    return job


def created(context: MLContext, create_tensor: Callable[[], MLTensor]) -> MLTensor:
    """Create a tensor, and wait before the answer.

    Raises:
        WebNNTypeError: The descriptor or the data does not fit.
        InvalidStateError: The context is lost, before or while it waits.
        UnknownError: There is no memory.
    """
    delay = _faults(context).delay or 0.0
    outcome = _allocate(context, create_tensor)
    _wait(context, delay)
    return _settle(context, outcome)


def resolved(context: MLContext, create_tensor: Callable[[], MLTensor]) -> asyncio.Future[MLTensor]:
    """Return the promise of a tensor. A slow one is resolved by the timeline, after the work that is queued.

    Raises:
        RuntimeError: There is no running event loop.
    """
    delay = _faults(context).delay
    if not delay:
        return create.resolved(context, lambda: _settle(context, _allocate(context, create_tensor)))
    try:
        outcome = _allocate(context, create_tensor)
    except Exception as error:  # a failed step rejects the promise
        return rejected(error)

    def job() -> MLTensor:
        _wait(context, delay)
        return _settle(context, outcome)

    return promise(context._timeline, job, context._loss.promises)


def read(context: MLContext, tensor: MLTensor, outputData: object) -> asyncio.Future[Any]:
    """Run the steps of `MLContext.readTensor`, and queue a wait and those of the timeline.

    Raises:
        WebNNTypeError: The tensor is not a readable one of this context, or the buffer does not fit.
        InvalidStateError: The tensor was destroyed.
    """
    _stall_read(context, tensor, outputData)
    return dispatch.read(context, tensor, outputData)


def read_sync(context: MLContext, tensor: MLTensor, outputData: object) -> np.ndarray[Any, np.dtype[Any]] | None:
    """Run the steps of `MLContext.readTensor`, wait, and wait for the data.

    Raises:
        WebNNTypeError: The tensor is not a readable one of this context, or the buffer does not fit.
        InvalidStateError: The tensor was destroyed, or is while it waits.
    """
    _stall_read(context, tensor, outputData)
    return dispatch.read_sync(context, tensor, outputData)


def _stall_read(context: MLContext, tensor: MLTensor, outputData: object) -> None:
    """Have the timeline wait before a read, unless that is refused."""
    delay = _faults(context).delay
    if delay:
        dispatch.check_read(context, tensor, outputData)
        context._timeline.post(lambda: _wait(context, delay))


def _faults(context: MLContext) -> Faults:
    faults = context._faults
    assert faults is not None  # these steps are those of a context that has some
    return faults


def _wait(context: MLContext, delay: float) -> None:
    """Wait; what ends the context ends that, too."""
    if delay:
        context._loss.wait(delay)


def _allocate(context: MLContext, create_tensor: Callable[[], MLTensor]) -> MLTensor | UnknownError:
    """Create a tensor, or return why there is no memory for it."""
    try:
        tensor = create_tensor()
    except UnknownError as error:
        return error
    return _faults(context)._judgeTensor(_creation(tensor), tensor._descriptor) or tensor


def _settle(context: MLContext, outcome: MLTensor | UnknownError) -> MLTensor:
    if isinstance(outcome, UnknownError):
        raise outcome
    if outcome._isDestroyed:
        context._loss.check(_creation(outcome))
    return outcome


def _creation(tensor: MLTensor) -> str:
    return "createConstantTensor" if tensor._isConstant else "createTensor"


def _graph_size(graph: ComputationalGraph) -> int:
    """Return how many bytes the constants, inputs and outputs of a graph have; a constant that is used twice counts once."""
    constants = {
        id(operand): operand
        for operator in graph.operators
        for operand in (*operator.inputs, *(member for _, member in operator.members))
        if operand._value is not None
    }
    every = (*constants.values(), *graph.inputs.values(), *graph.outputs.values())
    return sum(operand._descriptor.byte_length for operand in every)


def _run_size(graph: MLGraph) -> int:
    """Return how many bytes the inputs and outputs of a graph have."""
    return sum(each.byte_length for each in (*graph._inputDescriptors.values(), *graph._outputDescriptors.values()))
