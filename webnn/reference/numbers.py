"""What every family needs: wide floats, exact integers, and the one rounding at the end.

The rounding is that to the type of an operand. Operands of float64, which no draft has, are therefore not rounded: this is how
`webnn.reference.evaluate` computes exact results.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "Operation", "Wide", "axes_or", "cast_number", "elementwise", "exact", "idl_float", "is_float", "typed", "wide"]

#: A tensor of any WebNN data type.
Array: TypeAlias = NDArray[Any]
#: The type of every intermediate floating-point value.
Wide: TypeAlias = NDArray[np.float64]


#: An operation: takes arrays, and returns one or a list.
Operation: TypeAlias = Callable[..., "Array | list[Array]"]

#: Significant bits, and the exponents of the smallest normal and of the largest number.
_FORMATS = {"float32": (24, -126, 127), "float16": (11, -14, 15), "float64": (53, -1022, 1023)}


def is_float(x: Array) -> bool:
    """Tell whether the tensor's type is floating point."""
    return x.dtype.kind == "f"


def idl_float(value: float) -> float:
    """Return the value that Web IDL's `float` gives an option: the nearest float32."""
    return float(np.float32(value))


def wide(x: Array) -> Wide:
    """Return a floating-point tensor as float64, itself if it is one; nothing is lost."""
    return x.astype(np.float64, copy=False)


def exact(x: Array) -> Array:
    """Return a tensor as one of Python numbers (integers without bounds) or of float64."""
    return wide(x) if is_float(x) else x.astype(object)


def typed(values: Any, dtype: np.dtype[Any]) -> Array:
    """Bring exact values into an operand's type.

    Args:
        values: Float64 values or Python integers, any shape.
        dtype: The output's type. Floating point: one rounding to nearest, ties to even, overflow
            to infinity. Integers: modulo 2^bits.
    """
    if dtype.kind == "f":
        return np.asarray(values, dtype=np.float64).astype(dtype, copy=False)
    integers = np.asarray(values, dtype=object)
    bits = 8 * dtype.itemsize
    residues = [int(value) % 2**bits for value in integers.ravel()]
    return np.array(residues, dtype=f"u{dtype.itemsize}").view(dtype).reshape(integers.shape)


def elementwise(function: Callable[..., Any], *inputs: Array) -> Array:
    """Apply a function of float64 arrays or of Python integers to tensors of one type."""
    return typed(function(*(exact(x) for x in inputs)), inputs[0].dtype)


def axes_or(axes: list[int] | None, default: range) -> list[int]:
    """Return the axes, or the default where the option is absent (an empty list is not)."""
    return list(default) if axes is None else list(axes)


def cast_number(number: float, dtype: np.dtype[Any]) -> float:
    """Cast a number, which may be an integer of any size: `#cast`.

    To the nearest number of the type, the even one of two. Integers beyond the type's range become its ends, NaN 0.
    """
    if isinstance(number, float) and not math.isfinite(number):
        if dtype.kind == "f":
            return number
        return 0 if math.isnan(number) else int(np.iinfo(dtype).max if number > 0 else np.iinfo(dtype).min)
    if number == 0:
        return number if dtype.kind == "f" else 0
    value = Fraction(number)
    if dtype.kind != "f":
        return round(min(max(value, Fraction(int(np.iinfo(dtype).min))), Fraction(int(np.iinfo(dtype).max))))
    bits, smallest, largest = _FORMATS[dtype.name]
    # That of the largest power of two that is not greater, within the range of the type.
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    exponent -= abs(value) < Fraction(2) ** exponent
    exponent = min(max(exponent, smallest), largest + 1)
    quantum = Fraction(2) ** (exponent - bits + 1)
    nearest = round(value / quantum) * quantum
    return math.copysign(math.inf if abs(nearest) >= 2 ** (largest + 1) else float(abs(nearest)), -1 if number < 0 else 1)
