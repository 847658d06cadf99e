"""Element-wise functions in NumPy: the reference computes with them, and imports what they know already.

Integers wrap around: they are computed modulo 2^bits. Arrays of integers are int8 to uint64, or the smaller integers of ml_dtypes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from webnn.validation.descriptor import integer_range

__all__ = ["FUNCTIONS", "bits_of", "divide", "is_signed", "power", "saturate", "total_order", "wrap"]

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


@functools.cache
def bits_of(dtype: np.dtype[Any]) -> int:
    """Return how many bits an element has: 4 for int4, which takes a byte, and 1 for bool."""
    digits = dtype.name.lstrip("uint")
    return int(digits) if digits.isdecimal() else 1 if dtype.kind == "b" else 8 * dtype.itemsize


def is_signed(dtype: np.dtype[Any]) -> bool:
    """Tell whether integers have a sign."""
    return dtype.name.startswith("int")


def wrap(integers: Array, dtype: np.dtype[Any]) -> Array:
    """Return integers in a type, modulo 2^bits."""
    bits = bits_of(dtype)
    if bits < 8:
        integers = integers.astype(np.int64) & ((1 << bits) - 1)
        if is_signed(dtype):
            integers = np.where(integers >> (bits - 1), integers - (1 << bits), integers)
    return integers.astype(dtype)


def saturate(numbers: Array, dtype: np.dtype[Any]) -> Array:
    """Return floating-point numbers as integers of a type: truncated towards zero, and at most the ends of its range; NaN is 0."""
    low, high = integer_range(dtype.name)
    wide = np.dtype(np.int64 if low else np.uint64)
    whole = np.trunc(numbers.astype(np.float64))
    # The greatest integer of 64 bits is not a float64; the power of 2 above it is.
    found = np.where((whole >= low) & (whole < high + 1), whole, 0).astype(wide)
    found = np.where(whole >= high + 1, wide.type(high), np.where(whole < low, wide.type(low), found))
    return found.astype(dtype)


def divide(a: Array, b: Array) -> Array:
    """Divide; integers towards zero. An integer by 0 has all bits set, and the least integer by -1 is itself."""
    if a.dtype.kind not in "iu":
        return np.asarray(np.divide(a, b))
    by_zero = b == 0
    negates = (b == -1) if a.dtype.kind == "i" else np.zeros_like(by_zero)
    divisor = np.where(by_zero | negates, a.dtype.type(1), b)
    quotient = (a - np.fmod(a, divisor)) // divisor
    return np.asarray(np.where(by_zero, ~a.dtype.type(0), np.where(negates, np.negative(a), quotient)))


def power(a: Array, b: Array) -> Array:
    """Raise to a power. Integers: by squaring; a negative exponent gives the reciprocal, truncated as by `divide`."""
    if a.dtype.kind not in "iu":
        return np.asarray(np.power(a, b))
    result = np.ones(np.broadcast_shapes(a.shape, b.shape), a.dtype)
    negative = b < 0
    # The power of 1 or -1 depends on the last bit.
    rest, square = np.where(negative, b & 1, b), a
    while rest.any():
        result = np.where(rest & 1, result * square, result)
        square, rest = square * square, rest >> 1
    return np.asarray(np.where(negative, divide(np.ones_like(result), np.where(np.abs(a) == 1, result, a)), result))


def total_order(numbers: Array) -> Array:
    """Return integers in the order of floating-point numbers in which -0 is less than 0, and NaN is at both ends."""
    bits = np.asarray(numbers, order="C").view(f"i{numbers.dtype.itemsize}")
    return np.where(bits < 0, bits ^ np.iinfo(bits.dtype).max, bits)


#: The functions that are the same wherever elements are computed, by the names of the methods of `MLGraphBuilder`. Comparisons return
#: booleans.
FUNCTIONS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "abs": np.abs,
        "add": np.add,
        "ceil": np.ceil,
        "cos": np.cos,
        "div": divide,
        "equal": np.equal,
        "exp": np.exp,
        "floor": np.floor,
        "greater": np.greater,
        "greaterOrEqual": np.greater_equal,
        "lesser": np.less,
        "lesserOrEqual": np.less_equal,
        "log": np.log,
        "max": np.maximum,
        "min": np.minimum,
        "mul": np.multiply,
        "neg": np.negative,
        "notEqual": np.not_equal,
        "roundEven": np.rint,
        "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
        "sin": np.sin,
        "sqrt": np.sqrt,
        "sub": np.subtract,
        "tan": np.tan,
        "tanh": np.tanh,
    }
)
