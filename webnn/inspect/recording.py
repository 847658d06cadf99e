"""Steps of a context that report the program's calls to listeners, each with the program's line.

A context has them only while somebody listens: otherwise they cost nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from webnn.context.emulation import ambient, emulate
from webnn.context.faults.injection import FaultyBuildSteps, FaultyTensorSteps
from webnn.context.graph_steps import BuildSteps, ComputeSteps
from webnn.context.tensor_steps import Array, TensorSteps
from webnn.validation.caller import find_line
from webnn.validation.errors import UnknownError

if TYPE_CHECKING:
    import asyncio

    from webnn.builder.graph import ComputationalGraph
    from webnn.context.context import MLContext
    from webnn.context.graph import MLGraph
    from webnn.context.graph_steps import MLComputeResult
    from webnn.context.tensor import MLTensor
    from webnn.validation.caller import Caller

__all__ = ["Line", "Listener", "attach", "detach", "watch_contexts"]

#: A file, and a line in it.
Line = tuple[str, int]

_LOCK = threading.Lock()


class Listener(Protocol):
    """Is told of calls, on the thread of the call: that one begins, and what one did that succeeded."""

    def begun(self, method: str) -> Callable[[], None] | None:
        """Learn that a call begins; return a function to call at its end, also with an error, unless the listener needs none."""

    def created(self, tensor: MLTensor, line: Line) -> Callable[[], None]:
        """Learn of a new tensor; return a function to call when it is destroyed. That may be on any thread, and with any lock held."""

    def copied(self, method: str, line: Line, size: int, made: int) -> None:
        """Record that a method copied bytes, and how much new memory it used for them."""

    def dispatched(self, graph: MLGraph, inputs: Mapping[str, MLTensor], outputs: Mapping[str, MLTensor], line: Line) -> None:
        """Learn of a dispatch."""

    def built(self, line: Line) -> None:
        """Learn that a graph is being built."""

    def computed(self) -> None:
        """Learn of a computation over arrays."""


def watch_contexts(watch: Callable[[MLContext], None]) -> AbstractContextManager[object]:
    """Have a function called with every context that is made in a block, behind the hook that is there already."""
    before = ambient().on_context

    def both(context: MLContext) -> None:
        if before is not None:
            before(context)
        watch(context)

    return emulate(on_context=both)


def attach(context: MLContext, listener: Listener) -> None:
    """Tell a listener of the calls of a context from now on, also of those of builders that are made from now on."""
    with _LOCK:
        tensors, build = context._tensorSteps, context._buildSteps
        if not isinstance(tensors, _RecordedTensorSteps) or not isinstance(build, _RecordedBuildSteps):
            plain = (tensors, build, context._computeSteps)
            tensors, build = _record(tensors)
            tensors.plain = plain
            context._tensorSteps, context._buildSteps, context._computeSteps = tensors, build, _RecordedComputeSteps(tensors)
        tensors.listeners = build.listeners = (*tensors.listeners, listener)


def detach(context: MLContext, listener: Listener) -> None:
    """Tell a listener nothing more about a context."""
    with _LOCK:
        tensors, build = context._tensorSteps, context._buildSteps
        if isinstance(tensors, _RecordedTensorSteps) and isinstance(build, _RecordedBuildSteps):
            tensors.listeners = build.listeners = tuple(each for each in tensors.listeners if each is not listener)
            if not tensors.listeners:
                context._tensorSteps, context._buildSteps, context._computeSteps = tensors.plain


class _Call:
    """Tells listeners when a call begins and ends. A generator would stand between the call and the program's line."""

    __slots__ = ("_ends", "_listeners", "_method")

    def __init__(self, listeners: tuple[Listener, ...], method: str) -> None:
        self._listeners = listeners
        self._method = method

    def __enter__(self) -> None:
        self._ends = [end for listener in self._listeners if (end := listener.begun(self._method)) is not None]

    def __exit__(self, *_: object) -> None:
        for end in self._ends:
            end()


class _RecordedTensorSteps(TensorSteps):
    """Tells listeners of tensors, copies and dispatches."""

    listeners: tuple[Listener, ...] = ()
    #: The steps that the context had before.
    plain: tuple[TensorSteps, BuildSteps, ComputeSteps]

    def _note(self, tensor: MLTensor) -> MLTensor:
        """Have the listeners watch a tensor that was just made."""
        line, memory = find_line(), tensor._memory
        if memory is not None:
            memory.watchers = [listener.created(tensor, line) for listener in self.listeners]
            if memory.withdrawn:
                # The context was lost meanwhile, on another thread.
                for watch in memory.watchers:
                    watch()
        return tensor

    def create(self, descriptor: object, members: Mapping[str, Any]) -> asyncio.Future[MLTensor]:
        """Run the steps of `MLContext.createTensor`."""
        with _Call(self.listeners, "createTensor"):
            return super().create(descriptor, members)

    def create_sync(self, descriptor: object, members: Mapping[str, Any]) -> MLTensor:
        """Run the steps of `MLContext.createTensor`, and return the tensor."""
        with _Call(self.listeners, "createTensor"):
            return super().create_sync(descriptor, members)

    def create_constant(self, descriptor: object, inputData: object) -> asyncio.Future[MLTensor]:
        """Run the steps of `MLContext.createConstantTensor`."""
        with _Call(self.listeners, "createConstantTensor"):
            return super().create_constant(descriptor, inputData)

    def create_constant_sync(self, descriptor: object, inputData: object) -> MLTensor:
        """Run the steps of `MLContext.createConstantTensor`, and return the tensor."""
        with _Call(self.listeners, "createConstantTensor"):
            return super().create_constant_sync(descriptor, inputData)

    def dispatch(self, graph: MLGraph, inputs: Mapping[str, MLTensor], outputs: Mapping[str, MLTensor]) -> None:
        """Run the steps of `MLContext.dispatch`."""
        with _Call(self.listeners, "dispatch"):
            super().dispatch(graph, inputs, outputs)
        line = find_line()
        for listener in self.listeners:
            listener.dispatched(graph, inputs, outputs, line)

    def write(self, tensor: MLTensor, inputData: object) -> None:
        """Run the steps of `MLContext.writeTensor`."""
        with _Call(self.listeners, "writeTensor"):
            super().write(tensor, inputData)
        self._copied("writeTensor", tensor._descriptor.byte_length)

    def stage(self, view: Array) -> Array:
        """Copy data that is to be written later."""
        self._copied("writeTensor", view.nbytes, view.nbytes)
        return super().stage(view)

    def queue_read(self, tensor: MLTensor, outputData: object) -> asyncio.Future[Any]:
        """Run the steps of `MLContext.readTensor`."""
        with _Call(self.listeners, "readTensor"):
            result = super().queue_read(tensor, outputData)
        size = tensor._descriptor.byte_length
        self._copied("readTensor", size, size)
        if outputData is not None:
            # The data waits in memory of its own until the event loop writes it to the program's.
            self._copied("readTensor", size)
        return result

    def read_sync(self, tensor: MLTensor, outputData: Any) -> Array | None:
        """Run the steps of `MLContext.readTensor`."""
        with _Call(self.listeners, "readTensor"):
            result = super().read_sync(tensor, outputData)
        size = tensor._descriptor.byte_length
        self._copied("readTensor", size, size if outputData is None else 0)
        return result

    def _copied(self, method: str, size: int, made: int = 0) -> None:
        line = find_line()
        for listener in self.listeners:
            listener.copied(method, line, size, made)


class _RecordedBuildSteps(BuildSteps):
    """Tells listeners of the graphs."""

    listeners: tuple[Listener, ...] = ()

    def build(self, graph: ComputationalGraph, caller: Caller) -> asyncio.Future[MLGraph]:
        """Compile a graph on the timeline."""
        self._note()
        with _Call(self.listeners, "build"):
            return super().build(graph, caller)

    def build_sync(self, graph: ComputationalGraph, caller: Caller) -> MLGraph:
        """Compile a graph and wait for it."""
        self._note()
        with _Call(self.listeners, "build"):
            return super().build_sync(graph, caller)

    def _note(self) -> None:
        line = find_line()
        for listener in self.listeners:
            listener.built(line)


class _RecordedComputeSteps(ComputeSteps):
    """Tells the listeners of recorded steps of the computations over arrays."""

    def __init__(self, recorded: _RecordedTensorSteps) -> None:
        super().__init__(recorded._state)
        self._recorded = recorded

    def compute(self, graph: MLGraph, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> asyncio.Future[MLComputeResult]:
        """Run the steps of `MLContext.compute`."""
        with _Call(self._recorded.listeners, "compute"):
            return self._note().compute(graph, inputs, outputs)

    def compute_sync(self, graph: MLGraph, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> MLComputeResult:
        """Run the steps and wait for the result."""
        with _Call(self._recorded.listeners, "compute"):
            return self._note().compute_sync(graph, inputs, outputs)

    def _note(self) -> ComputeSteps:
        for listener in self._recorded.listeners:
            listener.computed()
        return self._recorded.plain[2]


class _RecordedPlainTensorSteps(_RecordedTensorSteps):
    """The same for a context without faults."""

    def promise(self, create: Callable[[], MLTensor]) -> asyncio.Future[MLTensor]:
        """Return the promise of a new tensor."""
        return super().promise(lambda: self._note(create()))

    def finish(self, create: Callable[[], MLTensor]) -> MLTensor:
        """Return a new tensor."""
        return super().finish(lambda: self._note(create()))


class _RecordedFaultyTensorSteps(_RecordedTensorSteps, FaultyTensorSteps):
    """The same for a context with faults."""

    def _allocate(self, create: Callable[[], MLTensor]) -> MLTensor | UnknownError:
        """Make a tensor, or return why there is no memory for it."""
        outcome = super()._allocate(create)
        return outcome if isinstance(outcome, UnknownError) else self._note(outcome)


class _RecordedFaultyBuildSteps(_RecordedBuildSteps, FaultyBuildSteps):
    """The same for a context with faults."""


def _record(tensors: TensorSteps) -> tuple[_RecordedTensorSteps, _RecordedBuildSteps]:
    """Return the same steps, with reports to listeners."""
    state = tensors._state
    if isinstance(tensors, FaultyTensorSteps):
        return _RecordedFaultyTensorSteps(state, tensors._faults), _RecordedFaultyBuildSteps(state, tensors._faults)
    return _RecordedPlainTensorSteps(state), _RecordedBuildSteps(state)
