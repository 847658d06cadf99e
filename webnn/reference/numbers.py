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

from webnn.validation.descriptor import FLOAT_FORMATS, NUMPY_DTYPES, DataType, FloatFormat

__all__ = [
    "Array",
    "Operation",
    "Wide",
    "axes_or",
    "cast_number",
    "elementwise",
    "exact",
    "idl_float",
    "is_float",
    "nearest",
    "typed",
    "wide",
]

#: A tensor of any WebNN data type.
Array: TypeAlias = NDArray[Any]
#: The type of every intermediate floating-point value.
Wide: TypeAlias = NDArray[np.float64]


#: An operation: takes arrays, and returns one or a list.
Operation: TypeAlias = Callable[..., "Array | list[Array]"]

#: That of the type in which results are exact; those of data types are in `FLOAT_FORMATS`.
_EXACT = FloatFormat(53, -1022, (2 - 2**-52) * 2.0**1023)


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


def nearest(values: Array, dataType: DataType) -> Array:
    """Round numbers to a type of `FLOAT_FORMATS`, ties to even, in one step.

    Args:
        values: Numbers, any shape.
        dataType: The type. What is too large for it becomes infinite; in a type without infinities, the largest number.
    """
    form = FLOAT_FORMATS[dataType]
    with np.errstate(all="ignore"):
        numbers = np.asarray(values, np.float64)
        unit = np.ldexp(1.0, np.maximum(np.frexp(numbers)[1] - 1, form.smallest) - form.bits + 1)
        rounded = np.rint(numbers / unit) * unit
        end = form.largest if form.saturates else np.inf
        rounded = np.where(np.abs(rounded) > form.largest, np.copysign(end, numbers), rounded)
        return rounded.astype(NUMPY_DTYPES[dataType])


def cast_number(number: float, dataType: str) -> float:
    """Cast a number, which may be an integer of any size: `#cast`.

    To the nearest number of the type, the even one of two. Integers beyond the type's range become its ends, NaN 0.
    """
    floating = dataType == "float64" or dataType in FLOAT_FORMATS
    form = FLOAT_FORMATS.get(dataType, _EXACT)  # type: ignore[call-overload]  # float64 is not there
    end = form.largest if form.saturates else math.inf
    if isinstance(number, float) and not math.isfinite(number):
        if floating:
            return number if math.isnan(number) else math.copysign(end, number)
        return 0 if math.isnan(number) else int(np.iinfo(dataType).max if number > 0 else np.iinfo(dataType).min)
    if number == 0:
        return number if floating else 0
    value = Fraction(number)
    if not floating:
        return round(min(max(value, Fraction(int(np.iinfo(dataType).min))), Fraction(int(np.iinfo(dataType).max))))
    # That of the largest power of two that is not greater, within the range of the type.
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    exponent -= abs(value) < Fraction(2) ** exponent
    quantum = Fraction(2) ** (max(exponent, form.smallest) - form.bits + 1)
    rounded = abs(round(value / quantum) * quantum)
    return math.copysign(end if rounded > Fraction(form.largest) else float(rounded), -1 if number < 0 else 1)
