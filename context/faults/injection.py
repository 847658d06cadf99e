"""Fault-injecting versions of the steps of a context.

They run the ordinary steps, so a call makes its usual checks. Then they add a delay, an error or a loss of the context to its job.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from webnn.context.graph_steps import BuildSteps, ComputeSteps
from webnn.context.promise import promise, rejected
from webnn.context.state import Steps
from webnn.context.tensor_steps import TensorSteps
from webnn.validation.errors import UnknownError

if TYPE_CHECKING:
    import asyncio

    from webnn.builder.graph import ComputationalGraph
    from webnn.context.buffers import Moves
    from webnn.context.context import MLContext
    from webnn.context.engine.memory import TensorMemory
    from webnn.context.faults.faults import Faults
    from webnn.context.graph import MLGraph
    from webnn.context.graph_steps import MLComputeResult
    from webnn.context.state import ContextState
    from webnn.context.tensor import MLTensor
    from webnn.context.tensor_steps import Array
    from webnn.context.timeline import Timeline
    from webnn.validation.caller import Caller

__all__ = ["create_context", "create_context_sync", "inject", "make_steps"]

T = TypeVar("T")


def create_context(timeline: Timeline, create: Callable[[], MLContext], faults: Faults) -> asyncio.Future[MLContext]:
    """Decide at the call whether it gets a context; answer on the timeline, after the delay."""
    delay = faults.delay
    if delay:
        timeline.post(lambda: time.sleep(delay))
    try:
        context = create()
    except Exception as error:  # a failed step rejects the promise
        return promise(timeline, _failing(error))
    return promise(timeline, lambda: context)


def create_context_sync(create: Callable[[], MLContext], faults: Faults) -> MLContext:
    """Create a context, and wait before the answer."""
    delay = faults.delay or 0.0
    try:
        return create()
    finally:
        time.sleep(delay)


def make_steps(state: ContextState, faults: Faults) -> tuple[BuildSteps, ComputeSteps, TensorSteps]:
    """Return the steps of a context's methods that inject the faults."""
    return FaultyBuildSteps(state, faults), FaultyComputeSteps(state, faults), FaultyTensorSteps(state, faults)


def inject(faults: Faults, state: ContextState, operation: str, graph: MLGraph, work: Callable[[], T]) -> Callable[[], T]:
    """Decide which fault a computation gets that returns or raises, and return the job for the timeline."""
    loss, verdict = state.loss, faults._judgeCompute(operation, lambda: _run_size(graph))

    def job() -> T:
        _wait(state, verdict.delay)
        loss.check(operation)
        try:
            if verdict.error is not None:
                raise verdict.error
            return work()
        finally:
            if verdict.loses:
                loss.lose(verdict.loses)

    return job


class _Faulty(Steps):
    """The constructor of steps that have faults."""

    def __init__(self, state: ContextState, faults: Faults) -> None:
        super().__init__(state, direct=False)
        self._faults = faults

    @property
    def prompt(self) -> bool:
        """Whether quick work may be done at once: a delay must not hold up the caller."""
        return super().prompt and not self._faults.delay


class FaultyBuildSteps(_Faulty, BuildSteps):
    """Builds graphs, or fails to."""

    def prepare(self, graph: ComputationalGraph, caller: Caller) -> Callable[[], MLGraph]:
        """Decide which fault a build gets, and return the job for the timeline."""
        state, build = self._state, super().prepare(graph, caller)
        if state.loss.info is not None:
            # The context is lost, so the build fails without a fault.
            return build
        verdict = self._faults._judgeBuild(lambda: _graph_size(graph))

        def job() -> MLGraph:
            _wait(state, verdict.delay)
            if verdict.error is not None:
                state.loss.check("build")
                raise verdict.error
            return build()

        return job


class FaultyComputeSteps(_Faulty, ComputeSteps):
    """Computes graphs over buffers, or fails to."""

    def prepare(
        self, graph: MLGraph, inputs: Mapping[str, Any], outputs: Mapping[str, Any], moves: Moves
    ) -> tuple[Callable[[], None], MLComputeResult]:
        """Run the steps before the parallel ones, and decide which fault the parallel ones get."""
        state = self._state
        state.loss.check("compute")
        work, result = super().prepare(graph, inputs, outputs, moves)
        return inject(self._faults, state, "compute", graph, work), result


class FaultyTensorSteps(_Faulty, TensorSteps):
    """Makes and reads tensors late or not at all, and fails to run graphs on them."""

    def prepare_dispatch(self, graph: MLGraph, inputs: Mapping[str, MLTensor], outputs: Mapping[str, MLTensor]) -> Callable[[], None]:
        """Run the steps of `MLContext.dispatch` before those of the timeline, and decide which fault the latter get."""
        state, loss = self._state, self._state.loss
        work = super().prepare_dispatch(graph, inputs, outputs)
        verdict = self._faults._judgeCompute("dispatch", lambda: _run_size(graph))

        def job() -> None:
            _wait(state, verdict.delay)
            if verdict.error is not None:
                loss.lose(str(verdict.error))
            else:
                work()
            if verdict.loses:
                loss.lose(verdict.loses)

        return job

    def promise(self, create: Callable[[], MLTensor]) -> asyncio.Future[MLTensor]:
        """Return the promise of a new tensor. A slow one is resolved by the timeline, after the work that is queued."""
        delay = self._faults.delay
        if not delay:
            return super().promise(lambda: self._settle(self._allocate(create)))
        try:
            outcome = self._allocate(create)
        except Exception as error:  # a failed step rejects the promise
            return rejected(error)
        state = self._state

        def job() -> MLTensor:
            _wait(state, delay)
            return self._settle(outcome)

        return promise(state.timeline, job, state.loss.promises)

    def finish(self, create: Callable[[], MLTensor]) -> MLTensor:
        """Make a tensor, and wait before the answer."""
        delay = self._faults.delay or 0.0
        outcome = self._allocate(create)
        _wait(self._state, delay)
        return self._settle(outcome)

    def _check_read(self, tensor: MLTensor, outputData: object) -> tuple[TensorMemory, Array | None]:
        """Run the steps of `MLContext.readTensor` up to the promise, and have the timeline wait before the others."""
        checked = super()._check_read(tensor, outputData)
        delay = self._faults.delay
        if delay:
            state = self._state
            state.timeline.post(lambda: _wait(state, delay))
        return checked

    def _allocate(self, create: Callable[[], MLTensor]) -> MLTensor | UnknownError:
        """Make a tensor, or return why there is no memory for it."""
        try:
            tensor = create()
        except UnknownError as error:
            return error
        return self._faults._judgeTensor(_creation(tensor), tensor._descriptor) or tensor

    def _settle(self, outcome: MLTensor | UnknownError) -> MLTensor:
        if isinstance(outcome, UnknownError):
            raise outcome
        if outcome._isDestroyed:
            self._state.loss.check(_creation(outcome))
        return outcome


def _failing(error: Exception) -> Callable[[], NoReturn]:
    """Return a job that fails."""

    def job() -> NoReturn:
        raise error

    return job


def _wait(state: ContextState, delay: float) -> None:
    """Wait, but not longer than until the context is lost."""
    if delay:
        state.loss.wait(delay)


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
    return sum(operand.descriptor.byte_length for operand in every)


def _run_size(graph: MLGraph) -> int:
    """Return how many bytes the inputs and outputs of a graph have."""
    return sum(each.byte_length for each in (*graph._inputDescriptors.values(), *graph._outputDescriptors.values()))
