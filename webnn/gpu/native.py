"""Devices of wgpu-py: a tensor is exported to a real GPU, as a buffer of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np

from webnn.context import gpu
from webnn.gpu.device import EXPORTED
from webnn.validation.errors import InvalidStateError, UnknownError

if TYPE_CHECKING:
    import wgpu

__all__ = ["NativeDevice", "adapt"]

Bytes: TypeAlias = np.ndarray[Any, np.dtype[np.uint8]]
#: Where a device of wgpu-py keeps its `NativeDevice`, so that it has one.
_KEY = "_webnn_device"


class NativeDevice(gpu.GPUDevice):
    """A device of wgpu-py.

    wgpu-py does not say when a device is lost. It is lost here from its ``destroy`` on, or if its driver fails in an export.
    """

    __slots__ = ("_destroyNative", "_exported", "_lock", "_reason", "native")

    def __init__(self, native: wgpu.GPUDevice) -> None:
        super().__init__(native.label)
        self.native = native
        self._lock = threading.Lock()
        #: The functions that take the bytes back, by the id of the buffer.
        self._exported: dict[int, Callable[[Bytes | None], None]] = {}
        #: Why it is lost; empty if it is not.
        self._reason = ""
        self._destroyNative = native.destroy
        # The program calls the methods of wgpu's objects. These two must tell the tensor, too: `destroy` of the device, and of the buffer.
        vars(native)["destroy"] = self._destroy

    def __reduce__(self) -> NoReturn:
        raise TypeError("a device of wgpu-py cannot be pickled: it belongs to this process")

    def __repr__(self) -> str:
        return f"<NativeDevice of {self.native!r}{', lost' if self._reason else ''}>"

    @property
    def _hasBuffers(self) -> bool:
        return True

    def _check_lost(self, operation: str) -> None:
        if self._reason:
            message = f"{operation}: the GPUDevice must not be lost, but it is: {self._reason}"
            raise InvalidStateError(message, operation=operation, rule="lost")

    def _export(self, data: Bytes, returns: Callable[[Bytes | None], None]) -> wgpu.GPUBuffer:
        # Imported lazily: it is not there unless the program has a device of it.
        from wgpu import GPUError  # noqa: PLC0415

        self._check_lost("exportToGPU")
        try:
            buffer = self.native.create_buffer(label="tensor", size=data.nbytes, usage=int(EXPORTED))
            if data.nbytes:
                self.native.queue.write_buffer(buffer, 0, data)
        except GPUError as error:
            message = f"exportToGPU: the GPUDevice must make a buffer of {data.nbytes} bytes: {error}"
            raise UnknownError(message, operation="exportToGPU", rule="memory") from error
        destroy = buffer.destroy

        def take_back() -> None:
            with self._lock:
                known = self._exported.pop(id(buffer), None)
            if known is not None:
                content = self._read(buffer)
                destroy()
                known(content)

        vars(buffer)["destroy"] = take_back
        with self._lock:
            self._exported[id(buffer)] = returns
        return buffer

    def _read(self, buffer: wgpu.GPUBuffer) -> Bytes | None:
        """Return the bytes of a buffer after the work that is submitted; ``None`` if the device is lost."""
        from wgpu import GPUError  # noqa: PLC0415 (as above)

        if not buffer.size:
            return np.empty(0, np.uint8)
        try:
            return np.frombuffer(self.native.queue.read_buffer(buffer), np.uint8)
        except GPUError as error:
            self._reason = self._reason or str(error)
            return None

    def _destroy(self) -> None:
        """Destroy the device, and with it the bytes of the tensors that are exported to it."""
        self._reason = self._reason or "destroy() was called"
        with self._lock:
            exported, self._exported = self._exported, {}
        self._destroyNative()
        for returns in exported.values():
            returns(None)


def adapt(value: object) -> NativeDevice | None:
    """Return the one device for a device of wgpu-py; ``None`` for any other object of that package."""
    from wgpu import GPUDevice  # noqa: PLC0415 (as above)

    if not isinstance(value, GPUDevice):
        return None
    known = vars(value).get(_KEY)
    return known if isinstance(known, NativeDevice) else vars(value).setdefault(_KEY, NativeDevice(value))
