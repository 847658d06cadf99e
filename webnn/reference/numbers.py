"""Helpers of all families: wide floats, exact integers, and the one rounding at the end.

Results are rounded to the type of an operand. No draft has float64, so operands of that type mean results without rounding:
`webnn.reference.evaluate` computes exact results with them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from webnn.validation import numbers
from webnn.validation.descriptor import FLOAT_FORMATS, NUMPY_DTYPES, DataType

__all__ = [
    "Array",
    "Multiply",
    "Operation",
    "Wide",
    "axes_or",
    "cast_option",
    "each_element",
    "elementwise",
    "exact",
    "idl_float",
    "is_float",
    "named",
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
#: Multiplies matrices, [..., M, K] and [..., K, N]. Operations with products take another one than NumPy's for another accumulator.
Multiply: TypeAlias = Callable[[Wide, Wide], Wide]


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
    """Return a tensor as float64, int64 or uint64. Sums and products of integers that wrap there wrap the same way in a smaller type."""
    return wide(x) if is_float(x) else x.astype(np.uint64 if x.dtype.kind == "u" else np.int64)


def typed(values: Any, dtype: np.dtype[Any]) -> Array:
    """Bring float64 values or integers into an operand's type.

    Floating point: one rounding to nearest, ties to even, overflow to infinity. Integers: modulo 2^bits.
    """
    return np.asarray(values).astype(dtype, copy=False)


def elementwise(function: Callable[..., Any], *inputs: Array) -> Array:
    """Apply a function of float64 arrays or of integers to tensors of one type."""
    return typed(function(*(exact(x) for x in inputs)), inputs[0].dtype)


def each_element(function: Callable[..., Any]) -> Operation:
    """Return the operation that applies a function to the elements of its operands."""

    def operation(*inputs: Array) -> Array:
        return elementwise(function, *inputs)

    return operation


def named(*functions: Operation) -> Mapping[str, Operation]:
    """Return functions by their names; an underscore at the end does not count."""
    return MappingProxyType({function.__name__.rstrip("_"): function for function in functions})


def axes_or(axes: list[int] | None, default: range) -> list[int]:
    """Return the axes, or the default where the option is absent (an empty list is not)."""
    return list(default) if axes is None else list(axes)


def nearest(values: Array, dataType: DataType) -> Array:
    """Round numbers to a type of `FLOAT_FORMATS`, ties to even, in one step.

    Too large a number becomes infinite; in a type without infinities, the largest one.
    """
    form = FLOAT_FORMATS[dataType]
    with np.errstate(all="ignore"):
        numbers = np.asarray(values, np.float64)
        unit = np.ldexp(1.0, np.maximum(np.frexp(numbers)[1] - 1, form.smallest) - form.bits + 1)
        rounded = np.rint(numbers / unit) * unit
        end = form.largest if form.saturates else np.inf
        rounded = np.where(np.abs(rounded) > form.largest, np.copysign(end, numbers), rounded)
        return rounded.astype(NUMPY_DTYPES[dataType])


def cast_option(number: float, dataType: str) -> float:
    """Cast a number, which may be an integer of any size, to a data type or to float64, which rounds nothing: `#cast`."""
    return numbers.as_double(number) if dataType == "float64" else numbers.cast(number, cast("DataType", dataType))
