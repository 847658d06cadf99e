"""Constant operands: the copy of a buffer, and the cast of a number."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from webnn.validation import buffers
from webnn.validation.descriptor import NUMPY_DTYPES, DataType, OperandDescriptor
from webnn.validation.dictionary import Dictionary
from webnn.validation.operation import Call

__all__ = ["Scalar", "as_view", "check_view", "copy", "scalar", "to_descriptor"]

Array = np.ndarray[Any, np.dtype[Any]]


class Scalar(NamedTuple):
    """A scalar constant: its descriptor and its value, a 0-D array."""

    descriptor: OperandDescriptor
    value: Array


def to_descriptor(dictionary: Dictionary) -> OperandDescriptor:
    """Return the operand descriptor of a converted ``MLOperandDescriptor``."""
    return OperandDescriptor(**dict(dictionary))


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
    reason = buffers.mismatch(view, descriptor)
    if reason:
        raise call.error("bufferView", reason)


def copy(view: Array, descriptor: OperandDescriptor) -> Array:
    """Copy a view's bytes, in row-major order, into memory of our own."""
    return np.array(view, dtype=NUMPY_DTYPES[descriptor.dataType], order="C").reshape(descriptor.dimensions)


def scalar(dataType: DataType, number: float) -> Scalar:
    """Cast a number to a data type: Web IDL's integer conversion, or rounding to nearest.

    Args:
        dataType: The type.
        number: The finite number, a double as the IDL says (an int beyond 2^53 was rounded).
    """
    dtype = NUMPY_DTYPES[dataType]
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            value = np.array(number, dtype)
    else:
        bits = 8 * dtype.itemsize
        value = np.array(int(number) % 2**bits, f"uint{bits}").view(dtype)
    return Scalar(OperandDescriptor(dataType), value)
