"""`GPUQueue`, `GPUCommandEncoder` and `GPUCommandBuffer`: what copies bytes between buffers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, overload

import numpy as np

from webnn.context.promise import running_loop
from webnn.gpu.buffer import GPUBuffer, GPUBufferUsage
from webnn.gpu.convert import convert_object, convert_size, refuse
from webnn.validation import webidl
from webnn.validation.buffers import Bytes, as_array
from webnn.validation.errors import WebNNTypeError

if TYPE_CHECKING:
    import asyncio

__all__ = ["GPUCommandBuffer", "GPUCommandEncoder", "GPUQueue"]


class _Copy(NamedTuple):
    source: GPUBuffer
    sourceOffset: int
    destination: GPUBuffer
    destinationOffset: int
    size: int


class GPUCommandBuffer:
    """Commands that `GPUQueue.submit` carries out, once."""

    __slots__ = ("__weakref__", "_copies", "_device")

    _copies: list[_Copy] | None
    _device: object

    def __init__(self, *_: object, **__: object) -> None:
        raise TypeError("GPUCommandBuffer: illegal constructor; command buffers are made by GPUCommandEncoder.finish()")


class GPUCommandEncoder:
    """Collects commands. Encoders are made by `GPUDevice.createCommandEncoder`."""

    __slots__ = ("__weakref__", "_copies", "_device")

    #: ``None`` once the encoder is finished.
    _copies: list[_Copy] | None
    _device: object

    def __init__(self, *_: object, **__: object) -> None:
        raise TypeError("GPUCommandEncoder: illegal constructor; encoders are made by GPUDevice.createCommandEncoder()")

    @overload
    def copyBufferToBuffer(self, source: GPUBuffer, destination: GPUBuffer, size: int | None = None, /) -> None: ...

    @overload
    def copyBufferToBuffer(
        self, source: GPUBuffer, sourceOffset: int, destination: GPUBuffer, destinationOffset: int, size: int | None = None, /
    ) -> None: ...

    def copyBufferToBuffer(self, source: object, *rest: object) -> None:
        """Copy bytes from a buffer to another one.

        Args:
            source: A buffer with the usage ``COPY_SRC``.
            rest: The first byte of the source, a buffer with the usage ``COPY_DST``, its first byte, and how many bytes; all are multiples
                of 4. Or that buffer and how many bytes. By default all that follow in the source are copied.

        Raises:
            WebNNTypeError: An argument cannot be converted.
            OperationError: The range does not fit, or the encoder is finished.
        """
        operation = "copyBufferToBuffer"
        if len(rest) not in {1, 2, 3, 4}:
            raise TypeError(f"{operation} takes 2 to 5 arguments, got {1 + len(rest)}")
        given = rest if len(rest) > 2 else (0, rest[0], 0, *rest[1:])
        first = convert_object(operation, "source", source, GPUBuffer)
        start = convert_size(operation, "sourceOffset", given[0])
        second = convert_object(operation, "destination", given[1], GPUBuffer)
        place = convert_size(operation, "destinationOffset", given[2])
        size = first.size - start if len(given) < 4 or given[3] is None else convert_size(operation, "size", given[3])
        for name, value in (("sourceOffset", start), ("destinationOffset", place), ("size", size)):
            if value % 4:
                refuse(operation, f"{name} must be a multiple of 4, got {value}")
        if first is second:
            refuse(operation, "destination must be another buffer than source")
        for name, buffer, offset in (("source", first, start), ("destination", second, place)):
            if buffer._device is not self._device:
                refuse(operation, f"{name} must be a buffer of this device")
            if size < 0 or offset + size > buffer.size:
                refuse(operation, f"the bytes from {offset} to {offset + size} must be in the {name}, which has {buffer.size}")
        if self._copies is None:
            refuse(operation, "the encoder must not be finished")
        self._copies.append(_Copy(first, start, second, place, size))

    def finish(self) -> GPUCommandBuffer:
        """Return what was collected.

        Raises:
            OperationError: The encoder is finished already.
        """
        copies, self._copies = self._copies, None
        if copies is None:
            refuse("finish", "the encoder must not be finished already")
        made = object.__new__(GPUCommandBuffer)
        made._copies, made._device = copies, self._device
        return made


class GPUQueue:
    """Carries out commands, at once and in the order of the calls: `GPUDevice.queue`. Any thread may call any method."""

    __slots__ = ("__weakref__", "_device", "_lock")

    _device: object
    #: The device's.
    _lock: threading.RLock

    def __init__(self, *_: object, **__: object) -> None:
        raise TypeError("GPUQueue: illegal constructor; GPUDevice.queue is one")

    def writeBuffer(self, buffer: GPUBuffer, bufferOffset: int, data: Bytes, dataOffset: int = 0, size: int | None = None) -> None:
        """Write bytes to a buffer.

        Args:
            buffer: A buffer with the usage ``COPY_DST``.
            bufferOffset: The first byte, a multiple of 4.
            data: An array, or any object with a buffer.
            dataOffset: Its first element.
            size: How many elements, by default all that follow. Their bytes are a multiple of 4.

        Raises:
            WebNNTypeError: An argument cannot be converted.
            OperationError: The range does not fit, or the device cannot write to the buffer.
        """
        operation = "writeBuffer"
        target = convert_object(operation, "buffer", buffer, GPUBuffer)
        start = convert_size(operation, "bufferOffset", bufferOffset)
        reason, array = as_array(data)
        if array is None:
            raise WebNNTypeError(f"{operation}: data {reason}", operation=operation, argument="data")
        first = convert_size(operation, "dataOffset", dataOffset)
        elements = np.ascontiguousarray(array).reshape(-1)
        count = len(elements) - first if size is None else convert_size(operation, "size", size)
        if count < 0 or first + count > len(elements):
            refuse(operation, f"the elements from {first} to {first + count} must be in data, which has {len(elements)}")
        content = elements[first : first + count].view(np.uint8)
        if start % 4:
            refuse(operation, f"bufferOffset must be a multiple of 4, got {start}")
        if len(content) % 4:
            refuse(operation, f"the bytes must be a multiple of 4, got {len(content)}")
        if start + len(content) > target.size:
            refuse(operation, f"the bytes from {start} to {start + len(content)} must be in the buffer, which has {target.size}")
        if target._device is not self._device:
            refuse(operation, "buffer must be a buffer of this device")
        with self._lock:
            target._require(operation, "buffer", GPUBufferUsage.COPY_DST)[start : start + len(content)] = content

    def submit(self, commandBuffers: Sequence[GPUCommandBuffer]) -> None:
        """Carry out command buffers in order. If one of them is refused, none is carried out.

        Args:
            commandBuffers: Command buffers of this device that were not submitted before.

        Raises:
            WebNNTypeError: An argument cannot be converted.
            OperationError: A buffer is destroyed or mapped or lacks a usage, or a command buffer is submitted again.
        """
        try:
            every = webidl.sequence(lambda value: convert_object("submit", "commandBuffers", value, GPUCommandBuffer))(commandBuffers)
        except webidl.ConversionError as error:
            message = f"submit: commandBuffers{error.path} {error.reason}"
            raise WebNNTypeError(message, operation="submit", argument="commandBuffers") from error.__cause__
        with self._lock:
            work: list[Callable[[], None]] = []
            for place, each in enumerate(every):
                if each._device is not self._device:
                    refuse("submit", f"commandBuffers[{place}] must be of this device")
                if each._copies is None or each in every[:place]:
                    refuse("submit", f"commandBuffers[{place}] must not be submitted before")
                work.extend(map(_prepare, each._copies))
            for each in every:
                each._copies = None
            for copy in work:
                copy()

    def onSubmittedWorkDone(self) -> asyncio.Future[None]:
        """Return a future that is done when the submitted work is: at once."""
        future: asyncio.Future[None] = running_loop().create_future()
        future.set_result(None)
        return future

    def onSubmittedWorkDoneSync(self) -> None:
        """Wait for the submitted work: `onSubmittedWorkDone` for scripts."""


def _prepare(copy: _Copy) -> Callable[[], None]:
    source = copy.source._require("submit", "source", GPUBufferUsage.COPY_SRC)
    destination = copy.destination._require("submit", "destination", GPUBufferUsage.COPY_DST)

    def carry_out() -> None:
        content = source[copy.sourceOffset : copy.sourceOffset + copy.size]
        destination[copy.destinationOffset : copy.destinationOffset + copy.size] = content

    return carry_out
