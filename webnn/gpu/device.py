"""`GPUDevice`: makes buffers, until it is lost."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Required, TypedDict, Unpack, overload

import numpy as np

from webnn.context import gpu
from webnn.context.promise import Pending
from webnn.gpu.buffer import Bytes, GPUBuffer, GPUBufferUsage
from webnn.gpu.commands import GPUCommandEncoder, GPUQueue
from webnn.gpu.convert import convert_size, refuse
from webnn.validation import webidl
from webnn.validation.errors import InvalidStateError, WebNNTypeError

if TYPE_CHECKING:
    import asyncio

__all__ = ["EXPORTED", "GPUBufferDescriptor", "GPUDevice", "GPUDeviceLostInfo"]


_EVERY_USAGE = sum(GPUBufferUsage)
#: The usage of an exported tensor's buffer.
EXPORTED = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST


class GPUBufferDescriptor(TypedDict, total=False):
    """The descriptor that `GPUDevice.createBuffer` accepts."""

    size: Required[int]
    usage: Required[int]
    label: str


class GPUDeviceLostInfo(TypedDict):
    """The value with which `GPUDevice.lost` resolves."""

    reason: Literal["destroyed", "unknown"]
    message: str


class GPUDevice(gpu.GPUDevice):
    """A device of the stand-in. Any thread may call any method.

    Args:
        label: A name of the program's choice.
    """

    __slots__ = ("_buffers", "_info", "_lock", "_queue", "_waiting")

    def __init__(self, label: str = "") -> None:
        super().__init__(label)
        #: Held while bytes of its buffers are read or written.
        self._lock = threading.RLock()
        self._buffers: weakref.WeakSet[GPUBuffer] = weakref.WeakSet()
        #: Why the device is lost; ``None`` if it is not.
        self._info: GPUDeviceLostInfo | None = None
        self._waiting: list[Pending[GPUDeviceLostInfo]] = []
        self._queue = object.__new__(GPUQueue)
        self._queue._device, self._queue._lock = self, self._lock

    def __reduce__(self) -> NoReturn:
        raise TypeError("GPUDevice cannot be pickled: its buffers are memory of this process")

    def __repr__(self) -> str:
        return f"<GPUDevice{f' {self.label}' if self.label else ''}{', lost' if self._info is not None else ''}>"

    @property
    def queue(self) -> GPUQueue:
        """The queue, always the same one."""
        return self._queue

    @property
    def lost(self) -> asyncio.Future[GPUDeviceLostInfo]:
        """A new future of the running event loop that the loss of the device resolves."""
        pending: Pending[GPUDeviceLostInfo] = Pending()
        with self._lock:
            info = self._info
            if info is None:
                self._waiting.append(pending)
        if info is not None:
            pending.future.set_result(info.copy())
        return pending.future

    @overload
    def createBuffer(self, descriptor: GPUBufferDescriptor) -> GPUBuffer: ...

    @overload
    def createBuffer(self, **members: Unpack[GPUBufferDescriptor]) -> GPUBuffer: ...

    def createBuffer(self, descriptor: GPUBufferDescriptor | None = None, **members: Any) -> GPUBuffer:
        """Make a buffer, all zeros.

        Args:
            descriptor: ``size`` in bytes, ``usage``, the sum of `GPUBufferUsage` flags, and ``label``.
            members: The descriptor's members as keyword arguments.

        Raises:
            WebNNTypeError: A member is missing or cannot be converted.
            OperationError: The usage is not valid, the device is lost, or there is no memory.
        """
        operation = "createBuffer"
        try:
            given: dict[str, Any] = {**webidl.dictionary_members(descriptor), **members}
        except webidl.ConversionError as error:
            raise _type_error("descriptor", error.reason) from error.__cause__
        for name in ("size", "usage"):
            if given.get(name) is None:
                raise _type_error("descriptor", f"must have the member {name}")
        size = convert_size(operation, "descriptor.size", given["size"])
        usage = convert_size(operation, "descriptor.usage", given["usage"])
        if usage == 0 or usage & ~_EVERY_USAGE:
            refuse(operation, f"usage must be a sum of GPUBufferUsage flags, got {usage}")
        flags = GPUBufferUsage(usage)
        if given.get("mappedAtCreation") or GPUBufferUsage.MAP_WRITE in flags:
            refuse(operation, "the stand-in does not map buffers to write to them: use queue.writeBuffer()")
        if GPUBufferUsage.MAP_READ in flags and usage & ~int(GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST):
            refuse(operation, f"a usage with MAP_READ must have no other flag than COPY_DST, got {flags.name}")
        try:
            data = np.zeros(size, np.uint8)
        except (MemoryError, ValueError):
            refuse(operation, f"there must be memory for {size} bytes")
        buffer = GPUBuffer._create(self, self._lock, data, flags, str(given.get("label") or ""))
        with self._lock:
            if self._info is not None:
                refuse(operation, f"the GPUDevice must not be lost, but it is: {self._info['message']}")
            self._buffers.add(buffer)
        return buffer

    def createCommandEncoder(self) -> GPUCommandEncoder:
        """Make an encoder of commands."""
        encoder = object.__new__(GPUCommandEncoder)
        encoder._copies, encoder._device = [], self
        return encoder

    def destroy(self) -> None:
        """Lose the device, and destroy its buffers. A second call does nothing.

        Tensors that are exported to it are destroyed with their bytes.
        """
        self._lose("destroyed", "destroy() was called")

    def lose(self, message: str) -> None:
        """Lose the device as a real one is lost, for example when its driver fails. This method is the emulator's own.

        Args:
            message: Why.
        """
        self._lose("unknown", message)

    def _lose(self, reason: Literal["destroyed", "unknown"], message: str) -> None:
        with self._lock:
            if self._info is not None:
                return
            info = self._info = GPUDeviceLostInfo(reason=reason, message=message)
            waiting, self._waiting = self._waiting, []
            buffers = list(self._buffers)
        for pending in waiting:
            pending.resolve(info.copy)
        for buffer in buffers:
            buffer._end(returned=False)

    @property
    def _hasBuffers(self) -> bool:
        return True

    def _check_lost(self, operation: str) -> None:
        if self._info is not None:
            message = f"{operation}: the GPUDevice must not be lost, but it is: {self._info['message']}"
            raise InvalidStateError(message, operation=operation)

    @property
    def _hasUsages(self) -> bool:
        return True

    def _export(self, data: Bytes, returns: Callable[[Bytes | None], None]) -> GPUBuffer:
        return self._export_as(EXPORTED, data, returns)

    def _export_as(self, usage: int, data: Bytes, returns: Callable[[Bytes | None], None]) -> GPUBuffer:
        buffer = GPUBuffer._create(self, self._lock, data, GPUBufferUsage(usage), "tensor", returns)
        with self._lock:
            self._check_lost("exportToGPU")
            self._buffers.add(buffer)
        return buffer


def _type_error(argument: str, reason: str) -> WebNNTypeError:
    return WebNNTypeError(f"createBuffer: {argument} {reason}", operation="createBuffer", argument=argument)
