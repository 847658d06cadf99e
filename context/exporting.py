"""Tensors that are exported to a `GPUDevice`: `MLContext.createExportableTensor` and `MLContext.exportToGPU`.

The text of the draft's algorithms is not known here: docs/proposals/exportable-tensors.md has what is decided in its place.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from webnn.context.context import MLContext
from webnn.context.gpu import GPUDevice, find_device
from webnn.context.holding import Coming, HoldingTimeline
from webnn.context.promise import rejected
from webnn.context.tensor import MLTensor
from webnn.context.tensor_steps import convert_tensors, create_tensor
from webnn.validation import webidl
from webnn.validation.errors import InvalidStateError, OperationError, UnknownError, WebNNTypeError, argument_error
from webnn.validation.operand_descriptor import convertTensorDescriptor
from webnn.validation.operation import Call

if TYPE_CHECKING:
    import asyncio

    from webnn.context.graph import MLGraph
    from webnn.context.state import ContextState
    from webnn.validation.buffers import Bytes, WritableBytes

__all__ = ["ExportableTensor", "ExportingContext", "create_exportable", "export"]

_EXPORT = "#api-mlcontext-exporttogpu"
#: The sizes of copies of WebGPU are multiples of this.
_ALIGNMENT = 4


class ExportableTensor(MLTensor):
    """A tensor that can be lent to a device.

    It has two locks. Calls that use the tensor are checked and queued under `_queueLock`, so that no export comes in between. They may wait
    for the timeline, so jobs of the timeline must not take it. `_lock` guards the attributes, and is never held while anything waits.
    """

    __slots__ = ("_buffer", "_calls", "_device", "_epoch", "_last", "_lock", "_queueLock", "_returned")

    #: The buffer, from the end of an export to its destruction.
    _buffer: object | None
    #: The calls of `exportToGPU` and of the buffer's ``destroy`` that have begun and not ended.
    _calls: set[object]
    _device: GPUDevice
    #: The epoch of the timeline in which work was held that writes the tensor.
    _epoch: int
    #: The last buffer, if nothing was queued since then that writes the tensor. Its bytes are to come.
    _last: object | None
    _lock: threading.Lock
    _queueLock: threading.RLock
    #: The bytes of the last buffer, until the timeline has copied them.
    _returned: np.ndarray[Any, np.dtype[np.uint8]] | None

    @property
    def _isLent(self) -> bool:
        return self._buffer is not None or bool(self._calls)

    def _begin(self) -> object:
        """Begin an export; return what `_end` needs."""
        call = object()
        with self._queueLock, self._lock:
            if self._isDestroyed:
                raise self._destroyed()
            self._device._check_lost("exportToGPU")
            self._calls.add(call)
        return call

    def _end(self, call: object) -> None:
        """End a call, whatever has become of it: the buffer is there, or the tensor can be used again."""
        with self._lock:
            self._calls.discard(call)

    def _lend(self) -> object:
        """Return the buffer with a copy of the data: a job of the timeline."""
        with self._lock:
            if self._buffer is not None:
                return self._buffer
            memory = self._memory
            if memory is None:
                raise self._destroyed()
            self._settle()
            size = self._descriptor.byte_length
            try:
                data = np.zeros(-(-size // _ALIGNMENT) * _ALIGNMENT, np.uint8)
            except MemoryError as error:
                raise UnknownError(
                    f"exportToGPU: there must be memory for {self._descriptor}", operation="exportToGPU", rule="memory"
                ) from error
            data[:size] = memory.array.reshape(-1).view(np.uint8)
            self._buffer = self._device._export(data, self._take_back)
            return self._buffer

    def _take_back(self, data: np.ndarray[Any, np.dtype[np.uint8]] | Coming | None) -> None:
        """End the export: queue the copy of the buffer's bytes, or destroy the tensor if they are lost."""
        call = object()
        with self._lock:
            last, self._buffer = self._buffer, None
            self._returned = None if isinstance(data, Coming) else data
            self._calls.add(call)
        if data is None:
            self.destroy()
        elif isinstance(data, Coming):
            self._wait_for(data, last)
        else:
            self._state.timeline.post(self._copy_back, data.nbytes)
        self._end(call)

    def _wait_for(self, coming: Coming, last: object) -> None:
        """Hold the work that is queued from now on, until the bytes of the last buffer are there."""
        memory, timeline = self._memory, self._state.timeline
        if memory is None or not isinstance(timeline, HoldingTimeline):
            return
        content: list[np.ndarray[Any, np.dtype[np.uint8]]] = []

        def fill() -> None:
            for data in content if self._state.loss.info is None else ():
                memory.array.reshape(-1).view(np.uint8)[...] = data[: self._descriptor.byte_length]

        let_go = timeline.hold(fill)
        self._epoch, self._last = timeline.epoch, last

        def take(data: np.ndarray[Any, np.dtype[np.uint8]] | None) -> None:
            if data is None:
                self.destroy()
            else:
                content.append(data)
            let_go()

        coming.then(take)

    def _note_write(self) -> None:
        """Take note that work was queued that writes the tensor."""
        timeline = self._state.timeline
        if isinstance(timeline, HoldingTimeline) and timeline.holds:
            self._epoch, self._last = timeline.epoch, None

    @property
    def _isHeld(self) -> bool:
        """Work that writes the tensor waits for bytes of a destroyed buffer."""
        timeline = self._state.timeline
        return isinstance(timeline, HoldingTimeline) and timeline.holds and self._epoch == timeline.epoch

    def _lend_again(self) -> object:
        """Return a buffer with what the last one had: its bytes are to come."""
        with self._lock:
            if self._buffer is not None:
                return self._buffer
            if self._memory is None:
                raise self._destroyed()
            if self._last is None:
                raise OperationError(
                    "exportToGPU: the bytes of tensor depend on those of a destroyed GPUBuffer, which come when the program yields: await "
                    "something first, for example readTensor()",
                    operation="exportToGPU",
                    rule="exported",
                )
            self._buffer = self._device._export_again(self._last, self._take_back)
            return self._buffer

    def _copy_back(self) -> None:
        """Copy the bytes of the last buffer: a job of the timeline."""
        with self._lock:
            self._settle()

    def _settle(self) -> None:
        memory = self._memory
        if self._returned is not None and memory is not None:
            memory.array.reshape(-1).view(np.uint8)[...] = self._returned[: self._descriptor.byte_length]
        self._returned = None

    def _destroyed(self) -> InvalidStateError:
        if self._state.loss.info is not None:
            return self._state.loss.error("exportToGPU")
        return InvalidStateError("exportToGPU: tensor must not be destroyed", operation="exportToGPU", rule="destroyed")


class ExportingContext(MLContext):
    """The `MLContext` of drafts that export tensors: refuses to use tensors that are exported."""

    __slots__ = ()

    @property
    def _isHeld(self) -> bool:
        """Work waits for the bytes of a destroyed buffer, so that a read gets its data later."""
        timeline = self._state.timeline
        return isinstance(timeline, HoldingTimeline) and timeline.holds

    def _check_room(self, operation: str) -> None:
        """Refuse a call if very many wait for the bytes of a destroyed buffer: the program never yields."""
        timeline = self._state.timeline
        if isinstance(timeline, HoldingTimeline) and timeline.isFull:
            raise OperationError(
                f"{operation}: too many calls wait for the bytes of a destroyed GPUBuffer already: await something first",
                operation=operation,
                rule="limit",
            )

    def dispatch(self, graph: MLGraph, inputs: Mapping[str, MLTensor], outputs: Mapping[str, MLTensor]) -> None:
        """Queue the computation of a graph, as in drafts without exports.

        Raises:
            WebNNTypeError: A tensor is exported; or as in those drafts.
            InvalidStateError: As in those drafts.
            OperationError: Too many calls wait for the bytes of a destroyed buffer.
        """
        # A mapping of another class may change with each use.
        given, wanted = (
            dict(named if type(named) is dict else convert_tensors(argument, named))
            for argument, named in (("inputs", inputs), ("outputs", outputs))
        )
        places = {
            f"{argument}[{webidl.describe(name)}]": tensor
            for argument, named in (("inputs", given), ("outputs", wanted))
            for name, tensor in named.items()
        }
        with _kept("dispatch", "#api-mlcontext-dispatch", places):
            self._check_room("dispatch")
            super().dispatch(graph, given, wanted)
            for tensor in wanted.values():
                if isinstance(tensor, ExportableTensor):
                    tensor._note_write()

    def readTensor(self, tensor: MLTensor, outputData: WritableBytes | None = None) -> asyncio.Future[Any]:
        """Read a tensor's data. The future fails with `WebNNTypeError` if the tensor is exported, or as in drafts without exports."""
        try:
            with _kept("readTensor", "#api-mlcontext-readtensor", {"tensor": tensor}):
                self._check_room("readTensor")
                return super().readTensor(tensor, outputData)
        except (OperationError, WebNNTypeError) as error:  # a failed step rejects the promise
            return rejected(error)

    def readTensorSync(self, tensor: MLTensor, outputData: WritableBytes | None = None) -> Any:
        """Read a tensor's data and wait for it: `readTensor` for scripts, with its arguments.

        Raises:
            WebNNTypeError: The tensor is exported; or as in drafts without exports.
            InvalidStateError: As in those drafts.
        """
        # The lock is not held while this waits. An export that another thread begins meanwhile lends a copy: this reads what was there.
        with _kept("readTensor", "#api-mlcontext-readtensor", {"tensor": tensor}):
            pass
        return super().readTensorSync(tensor, outputData)

    def writeTensor(self, tensor: MLTensor, inputData: Bytes) -> None:
        """Write a tensor's data, as in drafts without exports.

        Raises:
            WebNNTypeError: The tensor is exported; or as in those drafts.
            InvalidStateError: As in those drafts.
            OperationError: As `dispatch`.
        """
        with _kept("writeTensor", "#api-mlcontext-writetensor", {"tensor": tensor}):
            self._check_room("writeTensor")
            super().writeTensor(tensor, inputData)
            if isinstance(tensor, ExportableTensor):
                tensor._note_write()


def create_exportable(state: ContextState, descriptor: object, gpuDevice: object) -> MLTensor:
    """Run the steps of `MLContext.createExportableTensor`."""
    call = Call("createExportableTensor", "#api-mlcontext-createexportabletensor", state.revision)
    given: Any = descriptor
    converted = convertTensorDescriptor(call, given)
    device = find_device(gpuDevice)
    if device is None:
        raise call.error("gpuDevice", f"must be a GPUDevice, got {webidl.describe(gpuDevice)}", rule="conversion")
    if not device._hasBuffers:
        raise call.error(
            "gpuDevice", f"must be a GPUDevice that has buffers, got {webidl.describe(gpuDevice)}, which makes contexts only", rule="usage"
        )
    if state.origin.gpuDevice not in {None, device}:
        raise call.error("gpuDevice", "must be the GPUDevice that the context was made from", rule="owner")
    state.loss.check(call.operation)
    device._check_lost(call.operation)
    created = create_tensor(state, call, ExportableTensor, *converted)
    created._buffer, created._calls, created._device, created._returned = None, set(), device, None
    created._epoch, created._last = -1, None
    created._lock, created._queueLock = threading.Lock(), threading.RLock()
    return created


def export(state: ContextState, tensor: MLTensor) -> Any:
    """Run the steps of `MLContext.exportToGPU`."""
    exportable = _check_export(state, tensor)
    # From here on the tensor is exported. The buffer has the results of the work that is queued.
    call = exportable._begin()
    try:
        return exportable._lend_again() if exportable._isHeld else state.timeline.run(exportable._lend)
    finally:  # also if the program is interrupted while it waits
        exportable._end(call)


def _check_export(state: ContextState, tensor: MLTensor) -> ExportableTensor:
    """Run the steps of `MLContext.exportToGPU` that ask what the tensor is."""
    refuse = partial(argument_error, "exportToGPU", "tensor", anchor=_EXPORT)
    if not webidl.isInstance(tensor, MLTensor):
        raise refuse(f"must be an MLTensor, got {webidl.describe(tensor)}", rule="conversion")
    if tensor._state is not state:
        raise refuse("must be a tensor of this context, but another one made it", rule="owner")
    if not isinstance(tensor, ExportableTensor):
        raise refuse("must be made by createExportableTensor()", rule="usage")
    return tensor


@contextmanager
def _kept(operation: str, anchor: str, places: Mapping[str, object]) -> Iterator[None]:
    """Keep tensors from being exported, or refuse them if they are: by their place in the call."""
    exportable = {place: tensor for place, tensor in places.items() if isinstance(tensor, ExportableTensor)}
    with ExitStack() as stack:
        # One order for all threads: two that wait for each other's locks would wait for ever.
        for tensor in sorted(set(exportable.values()), key=id):
            stack.enter_context(tensor._queueLock)
        for place, tensor in exportable.items():
            if tensor._isLent and not tensor._isDestroyed:
                raise argument_error(operation, place, "must not be exported: destroy its GPUBuffer first", anchor, rule="exported")
        yield
