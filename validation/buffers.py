"""Buffers: Web IDL's ``ArrayBufferView`` for NumPy arrays, and the step *validate buffer with descriptor*."""

from __future__ import annotations

from typing import Any

import numpy as np

from webnn.validation import webidl
from webnn.validation.descriptor import NUMPY_DTYPES, SMALL_TYPES, OperandDescriptor

__all__ = ["as_array", "mismatch"]

Array = np.ndarray[Any, np.dtype[Any]]


def as_array(value: object) -> tuple[str, Array | None]:
    """Return a value as an array over its own memory: a NumPy array, or anything with the buffer protocol.

    Returns:
        An empty string and the array, or the reason why there is none.
    """
    if type(value) is np.ndarray:
        return "", value
    if webidl.isInstance(value, np.ndarray):
        # A subclass may say what it likes of its size: the array below it has the memory.
        return "", np.asarray(value)
    if not webidl.isInstance(value, np.generic):
        try:
            return "", np.asarray(memoryview(value))  # type: ignore[arg-type]  # refused below if it has no buffer
        except Exception:  # it has none, or its method raises
            pass
    return f"must be a NumPy array or an object with a buffer, got {webidl.describe(value)}", None


def mismatch(view: Array, descriptor: OperandDescriptor) -> str:
    """*Validate buffer with descriptor*, `#validate-buffer-with-descriptor`: say what differs, nothing if all is well."""
    dtype = NUMPY_DTYPES[descriptor.dataType]
    # 1. The element type is the one of the data type. A byte-swapped type is another type.
    if view.dtype != dtype:
        swapped = " in the other byte order" if view.dtype.newbyteorder() == dtype else ""
        packed = "uint8, the bytes of " if descriptor.dataType in SMALL_TYPES else ""
        return f"must have elements of {packed}{descriptor.dataType}, got {view.dtype}{swapped}"
    # 2. The byte length is the descriptor's.
    if view.nbytes != descriptor.byte_length:
        return f"must have {descriptor.byte_length} bytes for {descriptor}, got {view.nbytes} ({webidl.describe(view)})"
    return ""
