"""Distances in units of the last place (ULP)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from webnn.reference.numbers import Array, Wide, nearest
from webnn.validation.descriptor import BITS, DATA_TYPES, FLOAT_FORMATS, SMALL_TYPES, DataType, is_float

__all__ = ["ulp_distance"]


def ulp_distance(actual: ArrayLike, expected: ArrayLike, dataType: DataType) -> Wide:
    """Return how far computed numbers are from exact ones: for each element the difference, in ULP.

    A ULP is the distance of neighbouring numbers of the type at the expected number: 2^-23 from 1 to 2 in float32, 2^-10 in float16. Below
    the smallest normal number it is the smallest denormal one. The best number of the type is at most 0.5 ULP away.

    - NaN is 0 from NaN, and infinitely far from any number.
    - An infinity is 0 from itself, and from numbers that round to it; it is infinitely far from anything else.
    - -0 is 0 from +0.
    - Integers: the difference.

    Args:
        actual: Numbers of the data type, any shape; those of int4 and uint4 one by one, not packed.
        expected: The exact numbers, as ``evaluate(..., exact=True)`` returns them: float64 for a floating-point type. The same shape, or
            one to broadcast with.
        dataType: The data type of the numbers.

    Returns:
        The distances, 0 or greater, perhaps infinite, never NaN; the shape is that of both, broadcast.

    Raises:
        ValueError: There is no such data type, or the shapes do not fit.
    """
    if dataType not in BITS:
        raise ValueError(f"dataType must be one of {', '.join((*DATA_TYPES, *SMALL_TYPES))}, got {dataType!r}")
    computed, exact = np.broadcast_arrays(np.asarray(actual), np.asarray(expected))
    return _real(computed, exact, dataType) if is_float(dataType) else _integer(computed, exact)


def _real(actual: Array, expected: Array, dataType: DataType) -> Wide:
    a, e = actual.astype(np.float64), expected.astype(np.float64)
    form = FLOAT_FORMATS[dataType]
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = nearest(e, dataType).astype(np.float64)
        # |expected| is at least 2^(exponent - 1), and less than 2^exponent; the exponent of 0 is 0.
        _, exponent = np.frexp(e)
        exponent = np.where(e == 0, form.smallest, exponent - 1)
        distance = np.abs(a - e) / np.ldexp(1.0, np.maximum(exponent, form.smallest) - form.bits + 1)
    if form.saturates:
        # There is no infinity that a number too large could have become.
        distance = np.where((a == rounded) & (np.abs(e) > form.largest), 0.0, distance)
    finite = np.isfinite(a) & np.isfinite(rounded)
    return np.where(finite, distance, np.where((a == rounded) | (np.isnan(a) & np.isnan(e)), 0.0, np.inf))


def _integer(actual: Array, expected: Array) -> Wide:
    if expected.dtype.kind == "f" or max(actual.dtype.itemsize, expected.dtype.itemsize) < 8:
        with np.errstate(invalid="ignore"):
            distance = np.abs(actual.astype(np.float64) - expected.astype(np.float64))
        return np.where(np.isnan(distance), np.inf, distance)
    # Python's integers: the difference of two int64 may be no int64.
    return np.asarray(np.abs(actual.astype(object) - expected.astype(object)), np.float64)
