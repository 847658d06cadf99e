"""`MLContext`: `#api-mlcontext`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar

import numpy as np

from webnn.builder.interfaces import ContextBase
from webnn.context import buffers
from webnn.context.engine import CompiledGraph
from webnn.context.graph import MLGraph
from webnn.context.timeline import Timeline
from webnn.validation import webidl
from webnn.validation.errors import OperationError, WebNNTypeError
from webnn.validation.revision import Revision

if TYPE_CHECKING:
    import asyncio

    from webnn.builder.graph import ComputationalGraph
    from webnn.context.devices import Selection
    from webnn.context.ml import Document

__all__ = ["MLComputeResult", "MLContext", "promise", "rejected"]

T = TypeVar("T")
Array = np.ndarray[Any, np.dtype[Any]]
ContextType = Literal["default", "webgpu"]
_COMPUTE = "#api-mlcontext-compute"


class MLComputeResult(TypedDict):
    """What `MLContext.compute` returns: the transferred arrays, by name. `#dictdef-mlcomputeresult`."""

    inputs: dict[str, Array]
    outputs: dict[str, Array]


def _loop() -> asyncio.AbstractEventLoop:
    # A script that never waits for a future does without asyncio, which takes longer to load than all of this package's own modules.
    import asyncio  # noqa: PLC0415

    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        raise RuntimeError(
            "this method returns an asyncio future and must be called in a running event loop; in a script, call its twin with the "
            "suffix Sync (createContextSync, buildSync, computeSync)"
        ) from None


def rejected(error: BaseException) -> asyncio.Future[Any]:
    """Return a future of the running event loop that has failed."""
    future: asyncio.Future[Any] = _loop().create_future()
    future.set_exception(error)
    return future


def promise(timeline: Timeline, job: Callable[[], T]) -> asyncio.Future[T]:
    """Run a job on a timeline; return a future of the running event loop."""
    import asyncio  # noqa: PLC0415 (as above)

    loop = _loop()
    return asyncio.wrap_future(timeline.submit(job), loop=loop)


class MLContext(ContextBase):
    """The state of neural network computation: a device, and the graphs that run on it. `#api-mlcontext`.

    Contexts are made by `ML.createContext`. The work of one context runs in order on a timeline of its own; a context may be used from
    several threads.
    """

    __slots__ = (
        "__weakref__",
        "_contextType",
        "_deviceType",
        "_document",
        "_powerPreference",
        "_revision",
        "_selection",
        "_timeline",
    )

    _contextType: ContextType
    _deviceType: str
    _document: Document
    _powerPreference: str
    _revision: Revision
    _selection: Selection
    _timeline: Timeline

    def __init__(self, *_: object, **__: object) -> None:
        raise TypeError("MLContext: illegal constructor; contexts are made by ML.createContext()")

    @classmethod
    def _create(
        cls,
        *,
        contextType: ContextType,
        deviceType: str,
        document: Document,
        powerPreference: str,
        revision: Revision,
        selection: Selection,
    ) -> MLContext:
        context = object.__new__(cls)
        context._contextType = contextType
        context._deviceType = deviceType
        context._document = document
        context._powerPreference = powerPreference
        context._revision = revision
        context._selection = selection
        context._timeline = Timeline()
        return context

    def __repr__(self) -> str:
        providers = ", ".join(name for name, _ in self._selection.providers)
        return f'<MLContext deviceType="{self._deviceType}" powerPreference="{self._powerPreference}": {providers}>'

    def compute(self, graph: MLGraph, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> asyncio.Future[MLComputeResult]:
        """Compute a graph, on the context's timeline. `#api-mlcontext-compute`.

        The arrays are transferred: the result holds new arrays over the same memory, and the arrays given here count as detached from
        then on. No data is copied.

        Args:
            graph: A graph of this context.
            inputs: For each input of the graph an array (or any writeable object with a buffer) of its element type and byte length.
            outputs: For each output that is wanted an array to hold it.

        Returns:
            A future of ``{"inputs": ..., "outputs": ...}``. It fails with `WebNNTypeError` if the graph or an array does not fit (then no
            array was transferred) and with `OperationError` if the context was made from a GPUDevice or the engine fails.
        """
        try:
            work, result = self._prepare(graph, inputs, outputs)
        except Exception as error:  # a failed step rejects the promise
            return rejected(error)

        def job() -> MLComputeResult:
            work()
            return result

        return promise(self._timeline, job)

    def computeSync(self, graph: MLGraph, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> MLComputeResult:
        """Compute a graph and wait for it: `compute` for scripts.

        Args:
            graph: As for `compute`.
            inputs: As for `compute`.
            outputs: As for `compute`.

        Returns:
            ``{"inputs": ..., "outputs": ...}``, the transferred arrays.

        Raises:
            WebNNTypeError: The graph or an array does not fit; no array was transferred.
            OperationError: The context was made from a GPUDevice, or the engine fails.
        """
        work, result = self._prepare(graph, inputs, outputs)
        self._timeline.run(work)
        return result

    def _prepare(self, graph: MLGraph, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> tuple[Callable[[], None], MLComputeResult]:
        """Run the steps of `compute` before the parallel ones: check everything, then transfer."""
        if not isinstance(graph, MLGraph):
            raise _error("graph", f"must be an MLGraph, got {webidl.describe(graph)}")
        # A dict is what everybody passes; the general check is slower than all the rest of this method.
        if type(inputs) is not dict and not isinstance(inputs, Mapping):
            raise _error("inputs", f"must be a mapping from names to arrays, got {webidl.describe(inputs)}")
        if type(outputs) is not dict and not isinstance(outputs, Mapping):
            raise _error("outputs", f"must be a mapping from names to arrays, got {webidl.describe(outputs)}")
        # 3. The graph belongs to this context.
        if graph._context is not self:
            raise _error("graph", "must be a graph of this context, but another one built it")
        # 4. A context made from a GPUDevice computes in other ways.
        if self._contextType != "default":
            raise OperationError(
                'compute: the context must be of type "default", but it was made from a GPUDevice',
                operation="compute",
            )
        implementation = graph._implementation
        check = buffers.check
        given: list[buffers.Checked] = []
        wanted: list[buffers.Checked] = []
        # 5. Every input is there and fits. Names that the graph does not know: docs/spec-issues.md.
        slots = implementation.inputs
        for name, value in inputs.items():
            slot = slots.get(name)
            if slot is None:
                raise _error("inputs", f"must name inputs of the graph, {list(slots)}, got {name!r}")
            view = check(slot, value)
            if isinstance(view, str):
                raise _error(f"inputs[{name!r}]", view)
            given.append(view)
        if len(given) != len(slots):
            missing = [name for name in slots if name not in inputs]
            raise _error("inputs", f"must have every input of the graph, {list(slots)}, but lacks {missing}")
        # 6. Every wanted output exists and its buffer fits.
        slots = implementation.outputs
        for name, value in outputs.items():
            slot = slots.get(name)
            if slot is None:
                raise _error("outputs", f"must name outputs of the graph, {list(slots)}, got {name!r}")
            view = check(slot, value)
            if isinstance(view, str):
                raise _error(f"outputs[{name!r}]", view)
            wanted.append(view)
        # 7.-8. Transfer the views of both.
        newInputs, newOutputs = buffers.transfer(given, wanted)
        if isinstance(newInputs, str) or isinstance(newOutputs, str):
            raise _error(f"view {newInputs!r}", str(newOutputs))

        def work() -> None:
            # 10.1. Execute the graph; without a wanted output there is nothing to do.
            if wanted:
                implementation.run(given, wanted)

        return work, {"inputs": newInputs, "outputs": newOutputs}

    def _checkAllowed(self, operation: str) -> None:
        self._document._checkAllowed(operation)

    def _isDetached(self, view: Array) -> bool:
        return buffers.is_detached(view)

    def _rejected(self, error: BaseException) -> asyncio.Future[Any]:
        return rejected(error)

    def _build(self, graph: ComputationalGraph) -> asyncio.Future[MLGraph]:
        return promise(self._timeline, lambda: self._compile(graph))

    def _buildSync(self, graph: ComputationalGraph) -> MLGraph:
        return self._timeline.run(lambda: self._compile(graph))

    def _compile(self, graph: ComputationalGraph) -> MLGraph:
        """Convert the graph into what the engine understands: the parallel steps of `build`."""
        # The translation loads onnx, which takes a while: not before the first build.
        from webnn.builder.onnx.translate import translate  # noqa: PLC0415

        return MLGraph._create(self, CompiledGraph(translate(graph), self._selection.providers))


def _error(argument: str, requirement: str) -> WebNNTypeError:
    return WebNNTypeError(f"compute: {argument} {requirement}", operation="compute", argument=argument, anchor=_COMPUTE)
