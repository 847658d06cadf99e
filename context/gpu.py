"""`GPUDevice`: the devices of WebGPU from which contexts are made, and to which tensors are exported.

The core has no buffers of its own. Its device makes a context of type "webgpu", and nothing else. An extra has subclasses with buffers, or
makes such an object for a device of another package: its entry point in the group ``webnn.gpus`` has the name of that package.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np

from webnn.validation import extras

if TYPE_CHECKING:
    from webnn.context.holding import Coming

    Bytes: TypeAlias = np.ndarray[Any, np.dtype[np.uint8]]

__all__ = ["GPUDevice", "find_device"]

_BUILTINS = (str, int, float, bytes, list, tuple, set, dict, type(None))


class GPUDevice:
    """A stand-in for WebGPU's ``GPUDevice``: enough to make a context of type "webgpu" from it.

    Args:
        label: A name of your choice.
    """

    __slots__ = ("__weakref__", "label")

    def __init__(self, label: str = "") -> None:
        self.label = label

    @property
    def _hasBuffers(self) -> bool:
        """Tensors can be exported to it."""
        return False

    def _check_lost(self, operation: str) -> None:
        """Raise `InvalidStateError` if the device is lost."""

    def _export(self, data: Bytes, returns: Callable[[Bytes | Coming | None], None]) -> Any:
        """Make a buffer of the device with a tensor's bytes; only for devices that have buffers.

        Args:
            data: The bytes, a multiple of 4. The device may keep and change the array.
            returns: To be called once with the bytes when the buffer is destroyed, or with a `Coming` of them, or with ``None`` if the
                device is lost before.

        Returns:
            The buffer, an object of the device's own package.

        Raises:
            InvalidStateError: The device is lost.
            UnknownError: There is no memory.
        """
        self._refuse()

    @property
    def _hasUsages(self) -> bool:
        """A program may choose the usage of its buffers."""
        return False

    def _export_as(self, usage: int, data: Bytes, returns: Callable[[Bytes | Coming | None], None]) -> Any:
        """Make a buffer as `_export` does, with a usage, the sum of flags of WebGPU; only for devices that let programs choose it."""
        self._refuse()

    def _export_again(self, last: object, returns: Callable[[Bytes | Coming | None], None]) -> Any:
        """Make a buffer as `_export` does, of the bytes of the last one, which are still to come; only for devices that have a `Coming`."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise TypeError("this GPUDevice has no buffers")


def find_device(value: object) -> GPUDevice | None:
    """Return the device that a value is, or that an extra makes for it; ``None`` if it is something else."""
    if isinstance(value, GPUDevice):
        return value
    if isinstance(value, _BUILTINS):
        return None
    entries = extras.find("webnn.gpus")
    for kind in type(value).__mro__:
        entry = entries.get(kind.__module__.partition(".")[0])
        if entry is not None:
            found: GPUDevice | None = entry.load()(value)
            return found
    return None
