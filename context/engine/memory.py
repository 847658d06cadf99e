"""The memory of tensors."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from webnn.context.buffers import BufferSlot, copy_bytes
from webnn.context.engine import runtime
from webnn.context.timeline import BUSY, Busy
from webnn.validation.descriptor import NUMPY_DTYPES, OperandDescriptor

__all__ = ["Dispatch", "TensorMemory"]

Array = np.ndarray[Any, np.dtype[Any]]


class TensorMemory:
    """The memory of an `MLTensor`: a value of the engine, and an array over it.

    Not thread-safe: the context's timeline runs one job at a time.

    Args:
        array: The memory, C-contiguous, of the tensor's type and shape; for the small types, the bytes that hold two elements each.

    Attributes:
        array: The memory, which lives as long as the array.
        dtype: The array's type.
        shape: The array's shape.
        users: References to the graphs that it was bound to.
        watchers: Called when the tensor is destroyed, on any thread and with any lock held.
        withdrawn: Whether the tensor was destroyed. Jobs that were queued before still use the memory.
    """

    __slots__ = ("_value", "array", "dtype", "shape", "users", "watchers", "withdrawn")

    def __init__(self, array: Array) -> None:
        self.array = array
        # Kept because the array makes them anew for each access.
        self.dtype, self.shape = array.dtype, array.shape
        #: Made at the first dispatch: a constant needs none.
        self._value: Any = None
        self.users: set[weakref.ref[Any]] = set()
        self.watchers: Sequence[Callable[[], None]] = ()
        self.withdrawn = False

    @classmethod
    def zeros(cls, descriptor: OperandDescriptor) -> TensorMemory:
        """Make memory that is all zeros; the operating system allocates the pages of a large one on first use."""
        return cls(np.zeros(descriptor.array_shape, NUMPY_DTYPES[descriptor.dataType]))

    @property
    def value(self) -> Any:
        """The engine's value: its memory is the array's."""
        if self._value is None:
            self._value = runtime.load().OrtValue.ortvalue_from_numpy(self.array)
        return self._value

    @property
    def raw(self) -> Array:
        """The memory, even if a device has newer numbers. Any thread may ask for it."""
        return self.array

    @property
    def isAway(self) -> bool:
        """Tell whether the next read has to wait for a device."""
        return False

    def write(self, source: Array) -> None:
        """Copy the bytes of an array of the same byte length, in row-major order."""
        if source.dtype is self.dtype and source.shape == self.shape:
            self.array[...] = source
        else:
            copy_bytes(source, self.array)

    def fill(self, source: Array) -> None:
        """Copy an array of the same type and shape."""
        self.array[...] = source

    def read(self) -> Array:
        """Return a copy."""
        return self.array.copy()

    def read_at_once(self) -> Array | Busy:
        """Return a copy; `BUSY` if that would wait for a device."""
        return BUSY if self.isAway else self.read()

    def copy_to(self, target: Array) -> None:
        """Copy to an array of the same type and shape."""
        target[...] = self.array

    def withdraw(self) -> None:
        """Have no graph repeat a dispatch with this memory. Any thread may call this, and no job need be done before."""
        # A graph that repeats a dispatch looks at this after it has made itself a user.
        self.withdrawn = True
        for reference in list(self.users):
            graph = reference()
            if graph is not None:
                graph.last = None
        for watch in self.watchers:
            watch()

    def release(self) -> None:
        """Unbind the memory from its graphs, which would otherwise keep it alive."""
        for reference in self.users:
            graph = reference()
            if graph is not None:
                graph.forget()
        self.users.clear()


@dataclass(frozen=True, slots=True, eq=False)
class Dispatch:
    """The computation of a graph over tensors, after all checks.

    Attributes:
        slots: The inputs and outputs of the graph, in the order of the call.
        memories: The memory of the tensors.
        inputs: The tensors that were given, by name, to recognize the same call again; ``None`` if it must be checked again.
        outputs: Likewise.
    """

    slots: Sequence[BufferSlot]
    memories: Sequence[TensorMemory]
    inputs: Mapping[str, object] | None
    outputs: Mapping[str, object] | None
