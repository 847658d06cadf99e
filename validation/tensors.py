"""`MLTensor`: the checks of buffers and of named tensors. `#api-mltensor`, `#api-mlcontext`."""

from __future__ import annotations

from typing import Any

import numpy as np

from webnn.validation import webidl
from webnn.validation.descriptor import NUMPY_DTYPES, OperandDescriptor

__all__ = ["misfit", "mismatch"]

Array = np.ndarray[Any, np.dtype[Any]]


def misfit(view: Array, descriptor: OperandDescriptor, *, larger: bool = False) -> str:
    """Say why a buffer cannot hold a tensor's bytes, as *validate buffer with descriptor* does; empty if it can.

    A tensor's bytes may come from elements of any type (docs/spec-issues.md).

    Args:
        view: The buffer.
        descriptor: The tensor's descriptor.
        larger: The buffer may be longer than the tensor.
    """
    dtype = view.dtype
    # Unlike in JavaScript, elements may be other things than numbers.
    if dtype.hasobject or dtype.names is not None:
        return f"must have elements that are numbers, got {dtype}"
    if not dtype.isnative:
        return f"must have elements in the byte order of this machine, got {dtype.str}"
    # [2026-06: 1] The byte length is the descriptor's.
    if view.nbytes != descriptor.byte_length and not (larger and view.nbytes > descriptor.byte_length):
        least = "at least " if larger else ""
        return f"must have {least}{descriptor.byte_length} bytes for {descriptor}, got {view.nbytes} ({webidl.describe(view)})"
    return ""


def mismatch(view: Array, descriptor: OperandDescriptor) -> str:
    """*Validate buffer with descriptor*, `#validate-buffer-with-descriptor`: say what is wrong, nothing if all is well."""
    # 1. The byte length is the descriptor's.
    reason = misfit(view, descriptor)
    # 2. The element type is the descriptor's or uint8, which stands for bytes of any kind.
    if not reason and view.dtype != NUMPY_DTYPES[descriptor.dataType] and view.dtype != np.uint8:
        return f"must have elements of {descriptor.dataType} or uint8, got {view.dtype}"
    return reason
