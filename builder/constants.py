"""The values of constant operands: the copy of a buffer, and the cast of a number."""

from __future__ import annotations

import mmap
import threading
from typing import Any

import numpy as np

from webnn.validation.descriptor import BITS, NUMPY_DTYPES, OperandDescriptor, is_float

__all__ = ["ConstantMemory", "scalar"]

Array = np.ndarray[Any, np.dtype[Any]]


#: NumPy asks for huge pages for an array of 4 MiB or more: this takes a few page faults instead of a thousand.
_BLOCK = 2**24
_LARGE = 2**22
_SMALL = 2**12
_ALIGNMENT = 64


class ConstantMemory:
    """The memory of a builder's constants: those of medium size share blocks. A block lives as long as one of its constants."""

    __slots__ = ("_block", "_lock", "_used")

    def __init__(self) -> None:
        self._block = np.empty(0, np.uint8)
        self._used = 0
        self._lock = threading.Lock()

    def keep(self, view: Array, descriptor: OperandDescriptor) -> Array:
        """Return an array of a view's bytes, in row-major order, that nobody writes to: the same memory if nobody can, otherwise a copy."""
        # A small constant must not keep a large file in memory.
        if view.nbytes >= _SMALL and view.flags.c_contiguous and view.flags.aligned and _is_unwritable(view):
            return view.reshape(descriptor.array_shape)
        return self._copy(view, descriptor)

    def _copy(self, view: Array, descriptor: OperandDescriptor) -> Array:
        dtype = NUMPY_DTYPES[descriptor.dataType]
        if not _SMALL <= view.nbytes < _LARGE:
            return np.array(view, dtype=dtype, order="C").reshape(descriptor.array_shape)
        copied = self._take(view.nbytes).view(dtype).reshape(view.shape)
        copied[...] = view
        return copied.reshape(descriptor.array_shape)

    def _take(self, size: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
        with self._lock:
            if self._used + size > self._block.size:
                self._block = np.empty(_BLOCK, np.uint8)
                self._used = -self._block.ctypes.data % _ALIGNMENT
            start = self._used
            self._used = start + size + -size % _ALIGNMENT
            return self._block[start : start + size]


def _is_unwritable(view: Array) -> bool:
    """Tell whether nobody can write to a view's memory: it belongs to an object of `bytes`, or to an `mmap` made with ``ACCESS_READ``.

    A read-only array over memory that an array owns does not count: the owner can be made writeable again. Subclasses do not count, because
    they may give away other memory, nor do other exporters, such as a library's arrays that came by DLPack: they cannot be asked.
    """
    owner: Any = view
    while isinstance(owner, np.ndarray | memoryview):
        owner = owner.obj if isinstance(owner, memoryview) else owner.base
    # An mmap says whether it can be written to only through a buffer. It cannot be closed or changed while an array has its buffer.
    return type(owner) is bytes or (type(owner) is mmap.mmap and memoryview(owner).readonly)


def scalar(descriptor: OperandDescriptor, number: float) -> Array:
    """Cast a number to the data type of a scalar: Web IDL's integer conversion, or rounding to nearest.

    Until 2024-06 the number is a finite double. Since 2026-06 it is already cast (`Revision.cast`), and not changed here.
    """
    dtype = NUMPY_DTYPES[descriptor.dataType]
    if is_float(descriptor.dataType):
        with np.errstate(over="ignore"):
            return np.array(number, dtype)
    # A single small integer is in the low bits of its byte.
    bits = np.array(int(number) % 2 ** BITS[descriptor.dataType], f"u{dtype.itemsize}")
    return bits.view(dtype).reshape(descriptor.array_shape)
