"""Constant operands: the copy of a buffer, and the cast of a number."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import numpy as np

from webnn.validation import buffers
from webnn.validation.descriptor import BITS, NUMPY_DTYPES, DataType, OperandDescriptor
from webnn.validation.operation import Call

__all__ = ["ConstantMemory", "Scalar", "as_view", "check_view", "scalar"]

Array = np.ndarray[Any, np.dtype[Any]]


class Scalar(NamedTuple):
    """A scalar constant: its descriptor and its value, a 0-D array."""

    descriptor: OperandDescriptor
    value: Array


def as_view(call: Call, value: object) -> Array:
    """Convert to ``ArrayBufferView``.

    Raises:
        WebNNTypeError: The value has no buffer.
    """
    reason, view = buffers.as_array(value)
    if view is None:
        raise call.error("bufferView", reason)
    return view


def check_view(call: Call, view: Array, descriptor: OperandDescriptor) -> None:
    """*Validate buffer with descriptor*.

    Raises:
        WebNNTypeError: The element type or the byte length differs from the descriptor's.
    """
    reason = buffers.elements_mismatch(view, descriptor)
    if reason:
        raise call.error("bufferView", reason)


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

    def copy(self, view: Array, descriptor: OperandDescriptor) -> Array:
        """Copy a view's bytes, in row-major order."""
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


def scalar(dataType: DataType, number: float) -> Scalar:
    """Cast a number to a data type: Web IDL's integer conversion, or rounding to nearest.

    Args:
        dataType: The type.
        number: The number. Until 2024-06 a finite double; since 2026-06 already cast (`numbers.cast`), and not changed here.
    """
    dtype = NUMPY_DTYPES[dataType]
    descriptor = OperandDescriptor(dataType)
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            value = np.array(number, dtype)
    else:
        # A single small integer is in the low bits of its byte.
        unsigned = np.dtype(f"u{dtype.itemsize}")
        value = np.array(int(number) % 2 ** BITS[dataType], unsigned).view(dtype).reshape(descriptor.array_shape)
    return Scalar(descriptor, value)
