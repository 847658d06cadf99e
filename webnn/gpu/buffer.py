"""`GPUBuffer`: bytes that a device can write, copy and read."""

from __future__ import annotations

import enum
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from webnn.context.promise import rejected, running_loop
from webnn.gpu.convert import convert_size, refuse

if TYPE_CHECKING:
    import asyncio

__all__ = ["GPUBuffer", "GPUBufferUsage", "GPUMapMode"]

Bytes = np.ndarray[Any, np.dtype[np.uint8]]


class GPUBufferUsage(enum.IntFlag):
    """The ways in which a buffer can be used."""

    MAP_READ = 0x1
    MAP_WRITE = 0x2
    COPY_SRC = 0x4
    COPY_DST = 0x8
    INDEX = 0x10
    VERTEX = 0x20
    UNIFORM = 0x40
    STORAGE = 0x80
    INDIRECT = 0x100
    QUERY_RESOLVE = 0x200


class GPUMapMode(enum.IntFlag):
    """How a buffer is mapped."""

    READ = 0x1
    WRITE = 0x2


class GPUBuffer:
    """Memory of a `GPUDevice`. Buffers are made by `GPUDevice.createBuffer`, and by ``MLContext.exportToGPU``.

    Any thread may call any method.

    Attributes:
        size: How many bytes it has.
        usage: The ways in which it can be used.
        label: A name of the program's choice.
    """

    __slots__ = ("__weakref__", "_bytes", "_device", "_lock", "_mapped", "_returns", "label", "size", "usage")

    #: ``None`` once the buffer is destroyed. The lock, its device's, guards it.
    _bytes: Bytes | None
    _device: object
    _lock: threading.RLock
    #: The bytes that are mapped, from and to.
    _mapped: tuple[int, int] | None
    #: Called with the bytes when the buffer is destroyed, if it is a tensor's; with ``None`` if its device is lost.
    _returns: Callable[[Bytes | None], None] | None
    label: str
    size: int
    usage: GPUBufferUsage

    def __init__(self, *_: object, **__: object) -> None:
        raise TypeError("GPUBuffer: illegal constructor; buffers are made by GPUDevice.createBuffer()")

    @classmethod
    def _create(
        cls,
        device: object,
        lock: threading.RLock,
        data: Bytes,
        usage: GPUBufferUsage,
        label: str,
        returns: Callable[[Bytes | None], None] | None = None,
    ) -> GPUBuffer:
        buffer = object.__new__(cls)
        buffer._bytes = data
        buffer._device = device
        buffer._lock = lock
        buffer._mapped = None
        buffer._returns = returns
        buffer.label = label
        buffer.size = len(data)
        buffer.usage = usage
        return buffer

    def __reduce__(self) -> NoReturn:
        raise TypeError("GPUBuffer cannot be pickled: it is memory of this process")

    def __repr__(self) -> str:
        return f"<GPUBuffer of {self.size} bytes, {self.usage.name}{', destroyed' if self._bytes is None else ''}>"

    def mapAsync(self, mode: int, offset: int = 0, size: int | None = None) -> asyncio.Future[None]:
        """Map the bytes, so that `getMappedRange` can read them.

        Args:
            mode: `GPUMapMode.READ`. The stand-in does not map buffers to write to them: `GPUQueue.writeBuffer` does that.
            offset: The first byte, a multiple of 8.
            size: How many bytes, a multiple of 4; by default all that follow.

        Returns:
            A future that is done at once. It fails with `WebNNTypeError` if an argument cannot be converted, and with `OperationError` if
            the buffer or the range does not fit, or the buffer is mapped or destroyed.
        """
        future: asyncio.Future[None] = running_loop().create_future()
        try:
            self.mapSync(mode, offset, size)
        except Exception as error:  # a failed step rejects the promise
            return rejected(error)
        future.set_result(None)
        return future

    def mapSync(self, mode: int, offset: int = 0, size: int | None = None) -> None:
        """Map the bytes: `mapAsync` for scripts, with its arguments.

        Raises:
            WebNNTypeError: An argument cannot be converted.
            OperationError: The buffer or the range does not fit, or the buffer is mapped or destroyed.
        """
        flags, start, stop = convert_size("mapAsync", "mode", mode), *self._range("mapAsync", offset, size)
        with self._lock:
            self._require("mapAsync", "buffer", GPUBufferUsage.MAP_READ)
            if flags != GPUMapMode.READ:
                refuse("mapAsync", f"mode must be GPUMapMode.READ, {GPUMapMode.READ:d}, got {flags}")
            self._mapped = start, stop

    def getMappedRange(self, offset: int = 0, size: int | None = None) -> Bytes:
        """Return a copy of mapped bytes.

        Args:
            offset: The first byte, a multiple of 8.
            size: How many bytes, a multiple of 4; by default all that follow.

        Raises:
            WebNNTypeError: An argument cannot be converted.
            OperationError: These bytes are not mapped.
        """
        start, stop = self._range("getMappedRange", offset, size)
        with self._lock:
            data, mapped = self._bytes, self._mapped
            if data is None or mapped is None:
                refuse("getMappedRange", "buffer must be mapped by mapAsync()")
            if size is None:
                stop = mapped[1]
            if not mapped[0] <= start <= stop <= mapped[1]:
                refuse("getMappedRange", f"the bytes from {start} to {stop} must be mapped, but those from {mapped[0]} to {mapped[1]} are")
            return data[start:stop].copy()

    def unmap(self) -> None:
        """End the mapping. A buffer that is not mapped stays as it is."""
        with self._lock:
            self._mapped = None

    def destroy(self) -> None:
        """Release the memory. The memory of a tensor returns to the tensor: `exportToGPU`. A second call does nothing."""
        self._end(returned=True)

    def _end(self, *, returned: bool) -> None:
        """Take the memory away, and tell the tensor that it belongs to, if any; without the bytes if they are not ``returned``."""
        with self._lock:
            data, self._bytes, self._mapped = self._bytes, None, None
            returns, self._returns = self._returns, None
        if returns is not None and data is not None:
            returns(data if returned else None)

    def _range(self, operation: str, offset: object, size: object) -> tuple[int, int]:
        start = convert_size(operation, "offset", offset)
        length = max(self.size - start, 0) if size is None else convert_size(operation, "size", size)
        if start % 8:
            refuse(operation, f"offset must be a multiple of 8, got {start}")
        if length % 4:
            refuse(operation, f"size must be a multiple of 4, got {length}")
        if start + length > self.size:
            refuse(operation, f"the bytes from {start} to {start + length} must be in the buffer, which has {self.size}")
        return start, start + length

    def _require(self, operation: str, argument: str, usage: GPUBufferUsage) -> Bytes:
        """Return the bytes, with the device's lock, if the device may use them."""
        if self._bytes is None:
            refuse(operation, f"{argument} must not be destroyed")
        if usage not in self.usage:
            refuse(operation, f"{argument} must have the usage {usage.name}, got {self.usage.name}")
        if self._mapped is not None:
            refuse(operation, f"{argument} must not be mapped")
        return self._bytes
