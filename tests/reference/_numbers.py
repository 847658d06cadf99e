"""What every family needs: wide floats, exact integers, and the one rounding at the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

#: A tensor of any WebNN data type.
Array: TypeAlias = NDArray[Any]
#: The type of every intermediate floating-point value.
Wide: TypeAlias = NDArray[np.float64]


def is_float(x: Array) -> bool:
    """Tell whether the tensor's type is float32 or float16."""
    return x.dtype.kind == "f"


def idl_float(value: float) -> float:
    """Return the value that Web IDL's `float` gives an option: the nearest float32."""
    return float(np.float32(value))


def wide(x: Array) -> Wide:
    """Return a floating-point tensor as float64; nothing is lost."""
    return x.astype(np.float64)


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
        return np.asarray(values, dtype=np.float64).astype(dtype)
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
