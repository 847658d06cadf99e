"""Tensors that are lent to a `GPUDevice`: pull request #942."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from webnn.context.context import MLContext
from webnn.context.graph import MLGraph
from webnn.context.promise import Pending, rejected
from webnn.context.tensor import MLTensor, MLTensorDescriptor
from webnn.context.tensor_steps import convert_tensors, create_tensor
from webnn.gpu import CLASSES, WEBGPU_IDL, GPUBuffer, GPUBufferUsage, GPUDevice
from webnn.proposals.exportable_tensor_tests import TESTS
from webnn.proposals.proposal import Decision, Proposal
from webnn.validation import webidl
from webnn.validation.buffers import Bytes, WritableBytes
from webnn.validation.drafts.idl import INTERFACES, Interfaces, merge_idl
from webnn.validation.errors import InvalidStateError, UnknownError, WebNNTypeError
from webnn.validation.operand_descriptor import convertTensorDescriptor
from webnn.validation.operation import Call

if TYPE_CHECKING:
    import asyncio

__all__ = ["PROPOSAL", "ExportableTensor", "ExportingContext"]

_USAGE = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST
#: The sizes of copies of WebGPU are multiples of this.
_ALIGNMENT = 4


class ExportableTensor(MLTensor):
    """A tensor that can be lent to a device.

    It has two locks. Calls that use the tensor are checked and queued under `_queueLock`, so that no export comes in between. They may wait
    for the timeline, so jobs of the timeline must not take it. `_lock` guards the attributes, and is never held while anything waits.
    """

    __slots__ = ("_buffer", "_calls", "_device", "_lock", "_queueLock", "_returned")

    #: The buffer, from the end of an export to its destruction.
    _buffer: GPUBuffer | None
    #: The calls of `exportToGPU` and of `GPUBuffer.destroy` that have begun and not ended.
    _calls: set[object]
    _device: GPUDevice
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

    def _finish(self, call: object) -> GPUBuffer:
        """Run the steps of `exportToGPU` on the timeline; the call has ended before anybody gets the buffer."""
        try:
            return self._lend()
        finally:
            self._end(call)

    def _lend(self) -> GPUBuffer:
        """Return the buffer with a copy of the data."""
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
                raise UnknownError(f"exportToGPU: there must be memory for {self._descriptor}", operation="exportToGPU") from error
            data[:size] = memory.array.reshape(-1).view(np.uint8)
            self._buffer = self._device._export(data, _USAGE, self._take_back)
            return self._buffer

    def _take_back(self, data: np.ndarray[Any, np.dtype[np.uint8]] | None) -> None:
        """End the export: queue the copy of the buffer's bytes, or destroy the tensor if they are lost."""
        call = object()
        with self._lock:
            self._buffer, self._returned = None, data
            self._calls.add(call)
        if data is None:
            self.destroy()
        else:
            self._state.timeline.post(self._copy_back, data.nbytes)
        self._end(call)

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
        return InvalidStateError("exportToGPU: tensor must not be destroyed", operation="exportToGPU")


class ExportingContext(MLContext):
    """The members of `MLContext` that this adds, and those that refuse tensors that are exported."""

    __slots__ = ()

    def createExportableTensor(self, descriptor: MLTensorDescriptor, gpuDevice: GPUDevice) -> asyncio.Future[MLTensor]:
        """Create a tensor that `exportToGPU` can lend to a device, all zeros.

        Args:
            descriptor: ``dataType`` and ``shape``; ``readable`` if `readTensor` may read it; ``writable`` if `writeTensor` may write it.
            gpuDevice: The device.

        Returns:
            A future of the tensor. It fails as that of `createTensor` does, with `WebNNTypeError` if the context was made from another
            device, and with `InvalidStateError` if the device is lost.
        """
        return self._tensorSteps.promise(partial(self._create_exportable, descriptor, gpuDevice))

    def createExportableTensorSync(self, descriptor: MLTensorDescriptor, gpuDevice: GPUDevice) -> MLTensor:
        """Create a tensor and wait for it: `createExportableTensor` for scripts, with its arguments.

        Raises:
            WebNNTypeError: The descriptor or the device does not fit.
            InvalidStateError: The context or the device is lost.
            UnknownError: There is no memory.
        """
        return self._tensorSteps.finish(partial(self._create_exportable, descriptor, gpuDevice))

    def exportToGPU(self, tensor: MLTensor) -> asyncio.Future[GPUBuffer]:
        """Lend a tensor to its device, after the work that is queued, until the buffer is destroyed.

        From this call to `GPUBuffer.destroy`, the context cannot use the tensor. A second call returns the same buffer.

        Args:
            tensor: A tensor of this context that `createExportableTensor` made.

        Returns:
            A future of the buffer. It fails with `WebNNTypeError` if the tensor does not fit, and with `InvalidStateError` if the tensor is
            destroyed or the device is lost, also before the buffer is there.
        """
        try:
            exportable = self._check_export(tensor)
            call = exportable._begin()
        except Exception as error:  # a failed step rejects the promise
            return rejected(error)
        pending: Pending[GPUBuffer] = Pending(self._state.loss.promises)

        # It runs even if the program has cancelled the future: the next call returns the buffer.
        def job() -> None:
            try:
                buffer = exportable._finish(call)
            except Exception as error:  # a failed step rejects the promise
                pending.reject(error)
            else:
                pending.resolve(lambda: buffer)

        self._state.timeline.hurry(job)
        return pending.future

    def exportToGPUSync(self, tensor: MLTensor) -> GPUBuffer:
        """Lend a tensor and wait for the buffer: `exportToGPU` for scripts.

        Raises:
            WebNNTypeError: The tensor does not fit.
            InvalidStateError: The tensor is destroyed, or the device is lost.
        """
        exportable = self._check_export(tensor)
        call = exportable._begin()
        try:
            return self._state.timeline.run(partial(exportable._finish, call))
        finally:  # also if the program is interrupted while it waits
            exportable._end(call)

    def dispatch(self, graph: MLGraph, inputs: Mapping[str, MLTensor], outputs: Mapping[str, MLTensor]) -> None:
        """Queue the computation of a graph, as in the draft.

        Raises:
            WebNNTypeError: A tensor is exported; or as in the draft.
            InvalidStateError: As in the draft.
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
            super().dispatch(graph, given, wanted)

    def readTensor(self, tensor: MLTensor, outputData: WritableBytes | None = None) -> asyncio.Future[Any]:
        """Read a tensor's data, as in the draft. The future fails with `WebNNTypeError` if the tensor is exported, or as in the draft."""
        try:
            with _kept("readTensor", "#api-mlcontext-readtensor", {"tensor": tensor}):
                return super().readTensor(tensor, outputData)
        except WebNNTypeError as error:  # a failed step rejects the promise
            return rejected(error)

    def readTensorSync(self, tensor: MLTensor, outputData: WritableBytes | None = None) -> Any:
        """Read a tensor's data and wait for it: `readTensor` for scripts, with its arguments.

        Raises:
            WebNNTypeError: The tensor is exported; or as in the draft.
            InvalidStateError: As in the draft.
        """
        # The lock is not held while this waits. An export that another thread begins meanwhile lends a copy: this reads what was there.
        with _kept("readTensor", "#api-mlcontext-readtensor", {"tensor": tensor}):
            pass
        return super().readTensorSync(tensor, outputData)

    def writeTensor(self, tensor: MLTensor, inputData: Bytes) -> None:
        """Write a tensor's data, as in the draft.

        Raises:
            WebNNTypeError: A tensor is exported; or as in the draft.
            InvalidStateError: As in the draft.
        """
        with _kept("writeTensor", "#api-mlcontext-writetensor", {"tensor": tensor}):
            super().writeTensor(tensor, inputData)

    def _create_exportable(self, descriptor: object, gpuDevice: object) -> MLTensor:
        """Run the steps of `createExportableTensor`."""
        state = self._state
        call = Call("createExportableTensor", "", state.revision)
        given: Any = descriptor
        converted = convertTensorDescriptor(call, given)
        if not webidl.isInstance(gpuDevice, GPUDevice):
            raise call.error("gpuDevice", f"must be a webnn.gpu.GPUDevice, got {webidl.describe(gpuDevice)}")
        device: Any = gpuDevice
        if state.origin.gpuDevice not in {None, device}:
            raise call.error("gpuDevice", "must be the GPUDevice that the context was made from")
        state.loss.check(call.operation)
        device._check_lost(call.operation)
        created = create_tensor(state, call, ExportableTensor, *converted)
        created._buffer, created._calls, created._device, created._returned = None, set(), device, None
        created._lock, created._queueLock = threading.Lock(), threading.RLock()
        return created

    def _check_export(self, tensor: MLTensor) -> ExportableTensor:
        """Run the steps of `exportToGPU` that ask what the tensor is."""
        if not webidl.isInstance(tensor, MLTensor):
            raise _type_error("exportToGPU", "tensor", f"must be an MLTensor, got {webidl.describe(tensor)}")
        if tensor._state is not self._state:
            raise _type_error("exportToGPU", "tensor", "must be a tensor of this context, but another one made it")
        if not isinstance(tensor, ExportableTensor):
            raise _type_error("exportToGPU", "tensor", "must be made by createExportableTensor()")
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
                raise _type_error(operation, place, "must not be exported: destroy its GPUBuffer first", anchor)
        yield


def _type_error(operation: str, argument: str, requirement: str, anchor: str = "") -> WebNNTypeError:
    return WebNNTypeError(f"{operation}: {argument} {requirement}", operation=operation, argument=argument, anchor=anchor)


_IDL = {
    "interfaces": {
        "MLContext": {
            "operations": [
                {
                    "name": "createExportableTensor",
                    "returns": {"promise": "MLTensor"},
                    "arguments": [{"name": "descriptor", "type": "MLTensorDescriptor"}, {"name": "gpuDevice", "type": "GPUDevice"}],
                },
                {"name": "exportToGPU", "returns": {"promise": "GPUBuffer"}, "arguments": [{"name": "tensor", "type": "MLTensor"}]},
            ]
        }
    }
}

PROPOSAL = Proposal(
    name="exportable-tensors",
    since="2026-06",
    mixins={"MLContext": ExportingContext},
    extensions={INTERFACES: lambda: Interfaces(WEBGPU_IDL, CLASSES)},
    idl=partial(merge_idl, changes=_IDL),
    title="Tensors that are lent to a GPUDevice",
    source=(
        "webmachinelearning/webnn pull request #942, opened on 2026-07-13 and merged, in the text of the review of 2026-08-27; the "
        "MLTensor explainer of 2025-05-14; for states that both leave open, Chromium's implementation of 2026"
    ),
    summary=(
        "A tensor is exported as a `GPUBuffer`, so that WebGPU makes the inputs of a graph or shows its outputs. Until that buffer is "
        "destroyed, WebNN cannot use the tensor."
    ),
    errors=(
        "`dispatch` and `writeTensor` throw a TypeError for a tensor that is exported; `readTensor` rejects with one.",
        "`createExportableTensor` rejects with a TypeError if the context was made from another `GPUDevice`, and with an InvalidStateError "
        "if the device is lost.",
        "`exportToGPU` rejects with a TypeError for a tensor of another context or one that is not exportable, and with an "
        "InvalidStateError if the tensor is destroyed or the device is lost, also while it waits.",
    ),
    program=(
        "Make the tensor with `createExportableTensor(descriptor, gpuDevice)`, and await `exportToGPU(tensor)`.",
        "Destroy the `GPUBuffer` before the next `dispatch`, `readTensor` or `writeTensor` with the tensor.",
    ),
    decisions=(
        Decision(
            "Where does a program get a `GPUDevice` without a GPU?",
            "The emulator has a stand-in, only with this proposal. In Python: `webnn.gpu.GPUDevice()`. In JavaScript as from WebGPU: "
            "`navigator.gpu.requestAdapter()`, then `requestDevice()`; also in a page of `webnn serve`, in place of the browser's own. "
            "It has `createBuffer`, `queue.writeBuffer`, `copyBufferToBuffer`, `submit`, `mapAsync` to read, `destroy` and `lost`. It has "
            "no shaders: a program writes the numbers that a shader would compute.",
        ),
        Decision(
            "Does `exportToGPU` return a promise?",
            "Yes, as in the explainer and in Chromium. The pull request says that it returns a `GPUBuffer`, as the draft says of "
            "`createContext` that it returns an `MLContext`.",
        ),
        Decision(
            "When does an export begin and end?",
            "It begins with the call, and the buffer has the results of the work that was queued before. It ends when the buffer is "
            "destroyed, and work that is queued later sees the buffer's bytes.",
        ),
        Decision(
            "What does a second `exportToGPU` return?",
            "The same buffer, also if the first call still waits. Chromium refuses a second call that comes while the first one waits.",
        ),
        Decision(
            "Which devices can a tensor be exported to?",
            "The one that the context was made from. A context that was made from options exports to any device, as in Chromium.",
        ),
        Decision(
            "What becomes of the buffer if the tensor is destroyed, or the context is lost?",
            "It stays usable until it is destroyed, as web-platform-tests of Chromium demand. Its bytes are then discarded.",
        ),
        Decision(
            "What if the device is lost or destroyed?",
            "Its buffers go, and tensors that are exported to it are destroyed with their bytes: `readTensor` fails with an "
            "InvalidStateError. Other tensors and the context stay usable, but nothing can be exported any more.",
        ),
        Decision("Which usage does the buffer have?", "`STORAGE`, `COPY_SRC` and `COPY_DST`. Issue #954 asks for others, and is open."),
        Decision(
            "How large is the buffer of a tensor whose byte length is not a multiple of 4?",
            "It is rounded up to the next one, because WebGPU copies multiples of 4. The bytes behind the tensor's are ignored.",
        ),
        Decision("What about errors that WebGPU reports in error scopes?", "The stand-in throws them at once, as an OperationError."),
    ),
    tests=TESTS,
    example="""import numpy as np
import webnn
from webnn.gpu import GPUDevice

device = GPUDevice()
context = webnn.ML(revision="2026-06+exportable-tensors").createContextSync(device)
builder = webnn.MLGraphBuilder(context)
descriptor = {"dataType": "float32", "shape": [4]}
graph = builder.buildSync({"y": builder.relu(builder.input("x", descriptor))})
x = context.createExportableTensorSync({**descriptor, "writable": True}, device)
y = context.createTensorSync({**descriptor, "readable": True})

buffer = context.exportToGPUSync(x)
device.queue.writeBuffer(buffer, 0, np.float32([-1, 2, -3, 4]))
try:
    context.dispatch(graph, {"x": x}, {"y": y})
except webnn.WebNNTypeError as error:
    print(error)

buffer.destroy()
context.dispatch(graph, {"x": x}, {"y": y})
print(context.readTensorSync(y))
""",
)
