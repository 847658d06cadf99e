"""Devices of WebGPU that a program in JavaScript has: a tensor is exported to a buffer that the program's side makes.

webgpu.js is that side. It gets the bytes for a buffer, and gives them back after `destroy()` has returned, when the device has them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn
from weakref import WeakSet

import numpy as np

from webnn.context import gpu
from webnn.context.holding import Coming
from webnn.validation.errors import InvalidStateError

if TYPE_CHECKING:
    from webnn.context.gpu import Bytes

__all__ = ["GPUBridge", "GPUBridgeBuffer"]


class GPUBridge(gpu.GPUDevice):
    """A device of the program's side."""

    __slots__ = ("_buffers", "_reason")

    def __init__(self) -> None:
        super().__init__()
        self._buffers: WeakSet[GPUBridgeBuffer] = WeakSet()
        #: Why it is lost; empty if it is not.
        self._reason = ""

    def __reduce__(self) -> NoReturn:
        raise TypeError("a GPUDevice of JavaScript cannot be pickled: it belongs to its program")

    def lose(self, message: str) -> None:
        """Lose the device: tensors that are exported to it are destroyed with their bytes."""
        self._reason = message or "it is lost"
        for buffer in list(self._buffers):
            buffer.lose()

    @property
    def _hasBuffers(self) -> bool:
        return True

    def _check_lost(self, operation: str) -> None:
        if self._reason:
            raise InvalidStateError(
                f"{operation}: the GPUDevice must not be lost, but it is: {self._reason}", operation=operation, rule="lost"
            )

    def _export(self, data: Bytes, returns: Callable[[Bytes | Coming | None], None]) -> GPUBridgeBuffer:
        return self._add(GPUBridgeBuffer(self, len(data), data, None, returns))

    def _export_again(self, last: object, returns: Callable[[Bytes | Coming | None], None]) -> GPUBridgeBuffer:
        assert isinstance(last, GPUBridgeBuffer)
        return self._add(GPUBridgeBuffer(self, last.size, None, last, returns))

    def _add(self, buffer: GPUBridgeBuffer) -> GPUBridgeBuffer:
        self._check_lost("exportToGPU")
        self._buffers.add(buffer)
        return buffer


class GPUBridgeBuffer:
    """A buffer of a tensor on such a device.

    Attributes:
        device: The device.
        size: How many bytes it has.
        last: The buffer whose bytes it gets on the device, because they are not here yet; ``None`` if they are.
    """

    __slots__ = ("__weakref__", "_coming", "_data", "_returns", "device", "last", "size")

    def __init__(
        self,
        device: GPUBridge,
        size: int,
        data: Bytes | None,
        last: GPUBridgeBuffer | None,
        returns: Callable[[Bytes | Coming | None], None],
    ) -> None:
        self.device, self.size, self.last = device, size, last
        self._data = data
        self._returns: Callable[[Bytes | Coming | None], None] | None = returns
        self._coming: Coming | None = None

    def take(self) -> Bytes:
        """Return the bytes, once."""
        data, self._data = self._data, None
        return np.empty(0, np.uint8) if data is None else data

    def destroy(self) -> None:
        """End the export. The bytes come later. A second call does nothing."""
        returns, self._returns = self._returns, None
        if returns is not None:
            self._coming = Coming()
            returns(self._coming)

    def give(self, data: Any) -> None:
        """Give the bytes back. They are lost if they have another size."""
        content = np.array(data, np.uint8).reshape(-1)
        self._finish(content if len(content) == self.size else None)

    def lose(self) -> None:
        """Lose the bytes, before or after the export has ended."""
        returns, self._returns = self._returns, None
        if returns is not None:
            returns(None)
        self._finish(None)

    def _finish(self, data: Bytes | None) -> None:
        coming, self._coming = self._coming, None
        if coming is not None:
            coming.give(data)
