"""`MLContext`: `#api-mlcontext`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack, overload

import numpy as np

from webnn.context import above
from webnn.validation.member import DraftMembers, class_of_draft, some_drafts

if TYPE_CHECKING:
    import asyncio

    from webnn.builder.options import MLOperandDescriptor
    from webnn.context.gpu import GPUDevice
    from webnn.context.graph import MLGraph
    from webnn.context.graph_steps import BuildSteps, ComputeSteps, MLComputeResult
    from webnn.context.state import ContextState, MLContextLostInfo
    from webnn.context.tensor import MLTensor, MLTensorDescriptor
    from webnn.context.tensor_steps import TensorSteps
    from webnn.validation.buffers import Bytes, WritableBytes
    from webnn.validation.revision import Revision

__all__ = ["MLContext"]

Array = np.ndarray[Any, np.dtype[Any]]


class MLContext(DraftMembers):
    """The state of neural network computation: a device, and the graphs that run on it. `#api-mlcontext`.

    Contexts are made by `ML.createContext`. The work of one context runs in order on a timeline of its own; a context may be used from
    several threads.

    `compute` belongs to the draft 2024-06, exports of tensors to those since 2026-09, everything else to those since 2026-06; the default
    of `ML` has all but the exports. A context has the members of its own draft; the others are absent for `hasattr`, and raise
    `MissingMemberError`, a `WebNNTypeError`.
    """

    __slots__ = ("__weakref__", "_buildSteps", "_computeSteps", "_revision", "_state", "_tensorSteps")

    _revision: Revision
    _state: ContextState
    # The steps of the methods: plain, or with faults in front. Members are declared with the drafts that have them.
    _buildSteps: BuildSteps
    _computeSteps: ComputeSteps
    _tensorSteps: TensorSteps

    def __init__(self, *_: object, **__: object) -> None:
        raise TypeError("MLContext: illegal constructor; contexts are made by ML.createContext()")

    @classmethod
    def _create(cls, state: ContextState, build: BuildSteps, compute: ComputeSteps, tensors: TensorSteps) -> MLContext:
        kind: type[MLContext] = cls
        if "MLContext.exportToGPU" in state.revision.members:
            # Imported lazily; most drafts export no tensors.
            from webnn.context.exporting import ExportingContext  # noqa: PLC0415

            kind = ExportingContext
        context = object.__new__(class_of_draft(kind, "MLContext", state.revision))
        context._revision = state.revision
        context._state = state
        context._buildSteps = build
        context._computeSteps = compute
        context._tensorSteps = tensors
        return context

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return above.travel().reduce_context(self)

    def __repr__(self) -> str:
        state = self._state
        providers = ", ".join(name for name, _ in state.selection.providers)
        lost = ", lost" if state.loss.info is not None else ""
        return f'<MLContext deviceType="{state.selection.requested}" powerPreference="{state.powerPreference}": {providers}{lost}>'

    def _repr_html_(self) -> str:
        from webnn.display.table import facts  # noqa: PLC0415 (only notebooks need it)

        state = self._state
        values = {
            "deviceType": state.selection.requested,
            "device": state.selection.device,
            "powerPreference": state.powerPreference,
            "draft": state.revision.draft,
            "device profile": "" if state.profile is None else state.profile.name,
            "providers": ", ".join([name for name, _ in state.selection.providers]),
            "lost": "" if state.loss.info is None else state.loss.info["message"] or "yes",
        }
        return facts("MLContext", values)

    @property
    @some_drafts
    def accelerated(self) -> bool:
        """The context runs on a massively parallel device, not on the CPU alone. `#mlcontext-accelerated`.

        Raises:
            WebNNTypeError: The context follows the draft 2024-06, which has ``deviceType``.
        """
        if self._state.on_ask is not None:
            self._state.on_ask()
        return self._state.selection.accelerated

    @property
    @some_drafts
    def lost(self) -> asyncio.Future[MLContextLostInfo]:
        """A future of the running event loop that the loss of the context resolves, with ``{"message": ...}``. `#mlcontext-lost`.

        A context is lost when it is destroyed, and when the engine fails in a graph that was dispatched. The future is the same one each
        time, as long as the program does not cancel it; `asyncio.shield` keeps `asyncio.wait_for` from that.

        Raises:
            WebNNTypeError: The context follows the draft 2024-06, whose contexts are never lost.
        """
        return self._state.loss.future()

    @some_drafts
    def lostSync(self, timeout: float | None = None) -> MLContextLostInfo | None:
        """Wait for the loss of the context: `lost` for scripts and for threads that watch.

        The work that is queued is done first: ``lostSync(0)`` tells whether it succeeded.

        Args:
            timeout: How long to wait after that, in seconds; without it, for ever.

        Returns:
            ``{"message": ...}``, or ``None`` if the timeout expires.

        Raises:
            WebNNTypeError: The context follows the draft 2024-06, whose contexts are never lost.
        """
        self._state.timeline.finish()
        return self._state.loss.wait(timeout)

    @some_drafts
    def compute(self, graph: MLGraph, inputs: Mapping[str, Bytes], outputs: Mapping[str, WritableBytes]) -> asyncio.Future[MLComputeResult]:
        """Compute a graph, on the context's timeline. `#api-mlcontext-compute`.

        The arrays are transferred: the result holds new arrays over the same memory, and the arrays given here count as detached from
        then on. No data is copied.

        Args:
            graph: A graph of this context.
            inputs: For each input of the graph an array (or any writeable object with a buffer) of its element type and byte length. A
                tensor of another library, with ``__dlpack__``, is only read, and can be used again.
            outputs: For each output that is wanted an array to hold it.

        Returns:
            A future of ``{"inputs": ..., "outputs": ...}``. It fails with `WebNNTypeError` if the graph or an array does not fit (then no
            array was transferred), with `OperationError` if the context was made from a GPUDevice or the engine fails, and with
            `InvalidStateError` if the graph or the context was destroyed. A context that follows a draft since 2026-06 exactly has
            `dispatch` in place of this method.
        """
        return self._computeSteps.compute(graph, inputs, outputs)

    @some_drafts
    def computeSync(self, graph: MLGraph, inputs: Mapping[str, Bytes], outputs: Mapping[str, WritableBytes]) -> MLComputeResult:
        """Compute a graph and wait for it: `compute` for scripts.

        Args:
            graph: As for `compute`.
            inputs: As for `compute`.
            outputs: As for `compute`.

        Returns:
            ``{"inputs": ..., "outputs": ...}``, the transferred arrays.

        Raises:
            WebNNTypeError: The graph or an array does not fit; no array was transferred. Or the context follows a draft since 2026-06
                exactly.
            OperationError: The context was made from a GPUDevice, or the engine fails.
            InvalidStateError: The graph or the context was destroyed.
        """
        return self._computeSteps.compute_sync(graph, inputs, outputs)

    @some_drafts
    def dispatch(self, graph: MLGraph, inputs: Mapping[str, MLTensor], outputs: Mapping[str, MLTensor]) -> None:
        """Queue the computation of a graph on the context's timeline, and return at once. `#api-mlcontext-dispatch`.

        The graph reads and writes the tensors' memory in place. Work of one context runs in the order of the calls: what is written later
        does not change this computation, and `readTensor` waits for it. If the engine fails, the context is lost.

        Args:
            graph: A graph of this context.
            inputs: For each input of the graph a tensor of its type and shape.
            outputs: For each output of the graph such a tensor. No tensor may be given twice.

        Raises:
            WebNNTypeError: The graph or a tensor does not fit or belongs to another context, or a tensor was destroyed. Or the context
                follows the draft 2024-06, which has `compute`.
            InvalidStateError: The graph was destroyed, by itself or with the context.
        """
        self._tensorSteps.dispatch(graph, inputs, outputs)

    @overload
    def createTensor(self, descriptor: MLTensorDescriptor) -> asyncio.Future[MLTensor]: ...

    @overload
    def createTensor(self, **members: Unpack[MLTensorDescriptor]) -> asyncio.Future[MLTensor]: ...

    @some_drafts
    def createTensor(self, descriptor: MLTensorDescriptor | None = None, **members: Any) -> asyncio.Future[MLTensor]:
        """Create a tensor, all zeros. `#api-mlcontext-createtensor`.

        Args:
            descriptor: ``dataType`` and ``shape``; ``readable`` if `readTensor` may read it; ``writable`` if `writeTensor` may write it.
            members: The descriptor's members as keyword arguments.

        Returns:
            A future of the tensor. It fails with `WebNNTypeError` if the descriptor is not valid or not supported, with `InvalidStateError`
            if the context is lost, and with `UnknownError` if there is no memory. A context that follows the draft 2024-06 does not
            have this method.
        """
        return self._tensorSteps.create(descriptor, members)

    @overload
    def createTensorSync(self, descriptor: MLTensorDescriptor) -> MLTensor: ...

    @overload
    def createTensorSync(self, **members: Unpack[MLTensorDescriptor]) -> MLTensor: ...

    @some_drafts
    def createTensorSync(self, descriptor: MLTensorDescriptor | None = None, **members: Any) -> MLTensor:
        """Create a tensor and wait for it: `createTensor` for scripts.

        Args:
            descriptor: As for `createTensor`.
            members: As for `createTensor`.

        Raises:
            WebNNTypeError: The descriptor is not valid or not supported, or the context follows the draft 2024-06.
            InvalidStateError: The context is lost.
            UnknownError: There is no memory.
        """
        return self._tensorSteps.create_sync(descriptor, members)

    @some_drafts
    def createConstantTensor(self, descriptor: MLOperandDescriptor, inputData: Bytes) -> asyncio.Future[MLTensor]:
        """Create a constant tensor, for `MLGraphBuilder.constant`: several graphs can use one copy of the data.

        `#api-mlcontext-createconstanttensor`.

        Args:
            descriptor: ``dataType`` and ``shape``.
            inputData: An array, or any object with a buffer, of the type (or of uint8) and of the byte length. Its bytes are copied.

        Returns:
            A future of the tensor. It fails with `WebNNTypeError` if the descriptor is not valid or not supported, or the data does not
            fit, with `InvalidStateError` if the context is lost, and with `UnknownError` if there is no memory. A context that follows the
            draft 2024-06 does not have this method.
        """
        return self._tensorSteps.create_constant(descriptor, inputData)

    @some_drafts
    def createConstantTensorSync(self, descriptor: MLOperandDescriptor, inputData: Bytes) -> MLTensor:
        """Create a constant tensor and wait for it: `createConstantTensor` for scripts.

        Args:
            descriptor: As for `createConstantTensor`.
            inputData: As for `createConstantTensor`.

        Raises:
            WebNNTypeError: The descriptor is not valid or not supported, the data does not fit, or the context follows the draft
                2024-06.
            InvalidStateError: The context is lost.
            UnknownError: There is no memory.
        """
        return self._tensorSteps.create_constant_sync(descriptor, inputData)

    @some_drafts
    def createExportableTensor(self, descriptor: MLTensorDescriptor, gpuDevice: GPUDevice) -> asyncio.Future[MLTensor]:
        """Create a tensor that `exportToGPU` can lend to a device, all zeros. `#api-mlcontext-createexportabletensor`.

        Args:
            descriptor: As for `createTensor`.
            gpuDevice: The device: one that has buffers. A context that was made from a device exports to that one only.

        Returns:
            A future of the tensor. It fails with `WebNNTypeError` if the descriptor or the device does not fit, with `InvalidStateError` if
            the context or the device is lost, and with `UnknownError` if there is no memory. A context that follows a draft until 2026-06
            does not have this method.
        """
        from webnn.context.exporting import create_exportable  # noqa: PLC0415 (as above)

        return self._tensorSteps.promise(partial(create_exportable, self._state, descriptor, gpuDevice))

    @some_drafts
    def createExportableTensorSync(self, descriptor: MLTensorDescriptor, gpuDevice: GPUDevice) -> MLTensor:
        """Create a tensor and wait for it: `createExportableTensor` for scripts.

        Args:
            descriptor: As for `createExportableTensor`.
            gpuDevice: As for `createExportableTensor`.

        Raises:
            WebNNTypeError: The descriptor or the device does not fit, or the context follows a draft until 2026-06.
            InvalidStateError: The context or the device is lost.
            UnknownError: There is no memory.
        """
        from webnn.context.exporting import create_exportable  # noqa: PLC0415 (as above)

        return self._tensorSteps.finish(partial(create_exportable, self._state, descriptor, gpuDevice))

    @some_drafts
    def exportToGPU(self, tensor: MLTensor) -> Any:
        """Lend a tensor to its device until the returned buffer is destroyed. `#api-mlcontext-exporttogpu`.

        The buffer has the results of the work that is queued, so this waits for it. Until the buffer is destroyed, the context refuses to
        use the tensor. A second call returns the same buffer.

        Args:
            tensor: A tensor of this context that `createExportableTensor` made.

        Returns:
            A ``GPUBuffer`` of the device: for a device of another package, an object of that package.

        Raises:
            WebNNTypeError: The tensor does not fit, or the context follows a draft until 2026-06.
            InvalidStateError: The tensor is destroyed, or the context or the device is lost.
            UnknownError: There is no memory.
        """
        from webnn.context.exporting import export  # noqa: PLC0415 (as above)

        return export(self._state, tensor)

    @overload
    def readTensor(self, tensor: MLTensor, outputData: None = None) -> asyncio.Future[Array]: ...

    @overload
    def readTensor(self, tensor: MLTensor, outputData: WritableBytes) -> asyncio.Future[None]: ...

    @some_drafts
    def readTensor(self, tensor: MLTensor, outputData: WritableBytes | None = None) -> asyncio.Future[Any]:
        """Read a tensor's data, after the work that is queued. `#api-mlcontext-readtensor`.

        With ``outputData`` the data goes to the beginning of that buffer. `#api-mlcontext-readtensor-byob`.

        Args:
            tensor: A readable tensor of this context.
            outputData: A writeable C-contiguous array, or any such object with a buffer, of elements of any type, at least as long as the
                data.

        Returns:
            A future of a new array of the tensor's type and shape; with ``outputData``, of ``None``. It fails with `WebNNTypeError` if the
            tensor or the buffer does not fit, and with `InvalidStateError` if the tensor was destroyed, or is before the data is there. A
            context that follows the draft 2024-06 does not have this method.
        """
        return self._tensorSteps.read(tensor, outputData)

    @overload
    def readTensorSync(self, tensor: MLTensor, outputData: None = None) -> Array: ...

    @overload
    def readTensorSync(self, tensor: MLTensor, outputData: WritableBytes) -> None: ...

    @some_drafts
    def readTensorSync(self, tensor: MLTensor, outputData: WritableBytes | None = None) -> Array | None:
        """Read a tensor's data and wait for it: `readTensor` for scripts.

        Args:
            tensor: As for `readTensor`.
            outputData: As for `readTensor`.

        Returns:
            A new array of the tensor's type and shape; with ``outputData``, ``None``.

        Raises:
            WebNNTypeError: The tensor or the buffer does not fit, or the context follows the draft 2024-06.
            InvalidStateError: The tensor was destroyed, or is before the data is there.
        """
        return self._tensorSteps.read_sync(tensor, outputData)

    @some_drafts
    def writeTensor(self, tensor: MLTensor, inputData: Bytes) -> None:
        """Write a tensor's data, after the work that is queued, and return at once. `#api-mlcontext-writetensor`.

        Args:
            tensor: A writable tensor of this context.
            inputData: An array, or any object with a buffer, of elements of any type and of the tensor's byte length. Changes after the
                call have no effect.

        Raises:
            WebNNTypeError: The tensor or the buffer does not fit, or the context follows the draft 2024-06.
            InvalidStateError: The tensor was destroyed, by itself or with the context.
        """
        self._tensorSteps.write(tensor, inputData)

    @some_drafts
    def opSupportLimits(self) -> dict[str, Any]:
        """Return which types and ranks each operation takes: ``MLOpSupportLimits``. `#api-mlcontext-opsupportlimits`.

        Returns:
            A new dictionary each time. Under the policy "deny" it lacks the types that the device cannot compute. docs/devices.md.

        Raises:
            WebNNTypeError: The context follows the draft 2024-06, which has no such limits.
        """
        # Imported lazily; most programs do not need the tables of limits.
        from webnn.context.build import find_failing  # noqa: PLC0415
        from webnn.context.limits import op_support_limits  # noqa: PLC0415

        return op_support_limits(self._revision, without=find_failing(self._state) if self._state.fallback == "deny" else ())

    @some_drafts
    def destroy(self) -> None:
        """Lose the context, and with it its graphs and tensors. `#api-mlcontext-destroy`.

        Work that is queued is dropped, and what is pending fails with `InvalidStateError`. A second call does nothing.

        Raises:
            WebNNTypeError: The context follows the draft 2024-06, which does not destroy contexts.
        """
        # 1.-2. Unless it is lost already, the context is lost.
        self._state.loss.lose("destroy() was called")
