"""Statistics about the elements of a value."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from webnn.context.inspections import Statistics
from webnn.validation.descriptor import ML_DTYPES, NUMPY_DTYPES
from webnn.validation.descriptor import unpack as unpack_small

if TYPE_CHECKING:
    from webnn.validation.descriptor import OperandDescriptor

__all__ = ["describe_elements", "unpack"]

Array = np.ndarray[Any, np.dtype[Any]]

#: How many elements are converted to float64 at once: a value is not copied as a whole.
_PIECE = 1 << 20


def unpack(array: Array, descriptor: OperandDescriptor) -> Array:
    """Return a value with an element for each of its own, of a type that NumPy has.

    Two elements of int4 and uint4 share a byte, the first one in the low bits. Elements of low precision become float32.
    """
    if descriptor.dataType in ML_DTYPES and array.dtype == NUMPY_DTYPES[descriptor.dataType]:
        with np.errstate(invalid="ignore"):  # a signalling NaN is an invalid value to NumPy
            array = array.astype(np.float32)
    return unpack_small(array, descriptor.dataType, descriptor.dimensions).reshape(descriptor.dimensions)


def describe_elements(array: Array) -> Statistics:
    """Return the statistics of a value; see `unpack` for small types."""
    flat = array.reshape(-1)
    floating = flat.dtype.kind == "f"
    nans = infinities = zeros = finite = 0
    total = 0.0
    least: Any = None
    most: Any = None
    for begin in range(0, flat.size, _PIECE):
        piece = flat[begin : begin + _PIECE]
        zeros += piece.size - int(np.count_nonzero(piece))
        if floating:
            good = np.isfinite(piece)
            if not good.all():
                bad = int(np.count_nonzero(np.isnan(piece)))
                nans += bad
                piece = piece[good]
                infinities += good.size - piece.size - bad
        if piece.size:
            low, high = piece.min().item(), piece.max().item()
            least = low if least is None else min(least, low)
            most = high if most is None else max(most, high)
            finite += piece.size
            total += float(piece.sum(dtype=np.float64))
    mean = total / finite if finite else None
    squares = 0.0
    if mean is not None:
        for begin in range(0, flat.size, _PIECE):
            wide = flat[begin : begin + _PIECE].astype(np.float64)
            if nans or infinities:
                wide = wide[np.isfinite(wide)]
            wide -= mean
            squares += float(np.dot(wide, wide))
    return Statistics(
        count=flat.size,
        minimum=least,
        maximum=most,
        mean=mean,
        deviation=math.sqrt(squares / finite) if finite else None,
        zeros=zeros,
        nans=nans,
        infinities=infinities,
    )
