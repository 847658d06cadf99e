"""The memory of tensors."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from webnn.context.buffers import copy_bytes
from webnn.context.engine import runtime
from webnn.validation.descriptor import NUMPY_DTYPES, OperandDescriptor

__all__ = ["TensorMemory"]

Array = np.ndarray[Any, np.dtype[Any]]


class TensorMemory:
    """The memory of an `MLTensor`: a value of the engine, and an array over it.

    Not thread-safe: the context's timeline runs one job at a time.

    Args:
        array: The memory, C-contiguous, of the tensor's type and shape; for the small types, the bytes that hold two elements each.

    Attributes:
        array: The memory, which lives as long as the array.
        users: References to the graphs that it was bound to.
    """

    __slots__ = ("_value", "array", "users")

    def __init__(self, array: Array) -> None:
        self.array = array
        #: Made at the first dispatch: a constant needs none.
        self._value: Any = None
        self.users: set[weakref.ref[Any]] = set()

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

    def write(self, source: Array) -> None:
        """Copy the bytes of an array of the same byte length, in row-major order."""
        array = self.array
        if source.dtype is array.dtype and source.shape == array.shape:
            array[...] = source
        else:
            copy_bytes(source, array)

    def read(self) -> Array:
        """Return a copy."""
        return self.array.copy()

    def release(self) -> None:
        """Unbind the memory from its graphs, which would otherwise keep it alive."""
        for reference in self.users:
            graph = reference()
            if graph is not None:
                graph.forget()
        self.users.clear()
