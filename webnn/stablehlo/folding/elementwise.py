"""Arithmetic, comparisons and functions of elements that are known.

Functions of floating-point numbers are computed in float64 and rounded once. Integers wrap around.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from webnn.importing.values import Refused
from webnn.stablehlo.folding.conversion import FOLDS as CONVERSIONS
from webnn.stablehlo.folding.conversion import total_order, wrap
from webnn.stablehlo.kinds import bits_of, check, is_signed, kind_of
from webnn.stablehlo.node import Node

if TYPE_CHECKING:
    from webnn.importing.values import Array
    from webnn.stablehlo.folding import Fold

__all__ = ["FOLDS"]

_COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = MappingProxyType(
    {"EQ": np.equal, "NE": np.not_equal, "GE": np.greater_equal, "GT": np.greater, "LE": np.less_equal, "LT": np.less}
)
#: The types of NumPy that NumPy computes with by itself.
_NATIVE = frozenset("biufc")


def _widen(array: Array) -> Array:
    """Return elements in the type in which they are computed: functions in float64 or complex128, small integers in int64."""
    kind = kind_of(array.dtype)
    if kind == "i":
        return array if array.dtype.kind in _NATIVE else array.astype(np.int64)
    return array.astype(np.float64 if kind == "f" else np.complex128 if kind == "c" else np.bool_, copy=False)


def _round(array: Array, dtype: np.dtype[Any]) -> Array:
    """Return computed elements in their type."""
    if array.dtype == dtype:
        return array
    return wrap(array, dtype) if kind_of(dtype) == "i" else array.astype(dtype)


def _fold(compute: Callable[..., Any]) -> Fold:
    """Compute with all operands widened."""

    def fold(node: Node) -> Array:
        check(node)
        arrays = node.arrays()
        return _round(np.asarray(compute(*map(_widen, arrays))), arrays[0].dtype)

    return fold


def _exact(compute: Callable[..., Any]) -> Fold:
    """Compute in the type of the operands, which rounds once."""

    def fold(node: Node) -> Array:
        check(node)
        arrays = node.arrays()
        if arrays[0].dtype.kind not in _NATIVE:
            return _round(np.asarray(compute(*map(_widen, arrays))), arrays[0].dtype)
        return np.asarray(compute(*arrays))

    return fold


def _divide(one: Array, other: Array) -> Array:
    """Divide; integers toward zero. By zero all bits are set, and the least integer by -1 is itself."""
    if kind_of(one.dtype) != "i":
        return np.asarray(np.divide(one, other))
    by_zero = other == 0
    negates = (other == -1) if one.dtype.kind == "i" else np.zeros_like(by_zero)
    divisor = np.where(by_zero | negates, one.dtype.type(1), other)
    quotient = (one - np.fmod(one, divisor)) // divisor
    return np.asarray(np.where(by_zero, ~one.dtype.type(0), np.where(negates, np.negative(one), quotient)))


def _remainder(one: Array, other: Array) -> Array:
    """Return what a division leaves, with the sign of the dividend."""
    if kind_of(one.dtype) == "c":
        raise Refused("the remainder of complex numbers is not defined")
    if kind_of(one.dtype) != "i":
        return np.asarray(np.fmod(one, other))
    return np.asarray(one - _divide(one, other) * other)


def _power(base: Array, exponent: Array) -> Array:
    """Raise to a power; integers by squaring, and with a negative exponent only 1 and -1 are not 0."""
    if kind_of(base.dtype) != "i":
        return np.asarray(np.power(base, exponent))
    result = np.ones(np.broadcast_shapes(base.shape, exponent.shape), base.dtype)
    negative = exponent < 0
    # The power of 1 or -1 depends on the last bit.
    rest = np.where(negative, exponent & 1, exponent)
    square = base
    while rest.any():
        result = np.where(rest & 1, result * square, result)
        square = square * square
        rest = rest >> 1
    is_unit = (base == 1) | ((base == -1) if base.dtype.kind == "i" else False)
    return np.asarray(np.where(negative & ~is_unit, base.dtype.type(0), result))


def _sign(x: Array) -> Array:
    """Return x by its magnitude; zeros and NaN stay."""
    if kind_of(x.dtype) == "c":
        return np.asarray(np.where(x == 0, x, x / np.abs(x)))
    return np.asarray(np.where(x == 0, x, np.sign(x)))


def _cbrt(x: Array) -> Array:
    return np.asarray(np.power(x, 1 / 3) if kind_of(x.dtype) == "c" else np.cbrt(x))


def _atan2(one: Array, other: Array) -> Array:
    if kind_of(one.dtype) == "f":
        return np.asarray(np.arctan2(one, other))
    i = np.complex128(1j)
    return np.asarray(-i * np.log((other + i * one) / np.sqrt(other * other + one * one)))


def _round_away(x: Array) -> Array:
    """Round to the nearest integer, of two away from zero."""
    whole = np.trunc(x)
    return np.asarray(np.where(np.abs(x - whole) >= 0.5, whole + np.copysign(1.0, x), whole))


def _compare(node: Node) -> Array:
    check(node)
    one, other = node.arrays()
    compare = _COMPARISONS.get(node.text("comparison_direction"))
    if compare is None:
        raise Refused(f"comparison_direction must be one of {', '.join(_COMPARISONS)}, got {node.text('comparison_direction')}")
    if node.text("compare_type", "") == "TOTALORDER" and kind_of(one.dtype) == "f":
        one, other = total_order(one), total_order(other)
    return np.asarray(compare(one, other))


def _select(node: Node) -> Array:
    check(node)
    return np.where(*node.arrays())


def _abs(node: Node) -> Array:
    check(node)
    x = node.array(0)
    return np.abs(x) if x.dtype.kind in _NATIVE else _round(np.abs(_widen(x)), x.dtype)


def _is_finite(node: Node) -> Array:
    check(node)
    return np.isfinite(_widen(node.array(0)))


def _part(name: str) -> Fold:
    def fold(node: Node) -> Array:
        check(node)
        return np.asarray(getattr(node.array(0), name))

    return fold


def _complex(node: Node) -> Array:
    check(node)
    if node.dtype().kind != "c":
        raise Refused(f"the result must have complex numbers, got {node.types[0]}")
    real, imaginary = np.broadcast_arrays(*node.arrays())
    found = np.empty(real.shape, node.dtype())
    found.real, found.imag = real, imaginary
    return found


# Bits.


def _bits(compute: Callable[..., Any]) -> Fold:
    """Compute with integers that have no sign; the function gets the number of bits, too."""

    def fold(node: Node) -> Array:
        check(node)
        arrays = node.arrays()
        dtype, bits = arrays[0].dtype, bits_of(arrays[0].dtype)
        unsigned = [array.astype(f"u{array.dtype.name.removeprefix('u')}" if array.dtype.kind in _NATIVE else np.int64) for array in arrays]
        if bits < 8:
            unsigned = [(array & ((1 << bits) - 1)).astype(np.uint64) for array in unsigned]
        return wrap(np.asarray(compute(bits, *unsigned)), dtype)

    return fold


def _shift_left(bits: int, x: Array, distance: Array) -> Array:
    is_far = distance >= bits
    return np.where(is_far, x.dtype.type(0), x << np.where(is_far, distance.dtype.type(0), distance))


def _shift_right(bits: int, x: Array, distance: Array) -> Array:
    is_far = distance >= bits
    return np.where(is_far, x.dtype.type(0), x >> np.where(is_far, distance.dtype.type(0), distance))


def _shift_right_arithmetic(node: Node) -> Array:
    check(node)
    x, distance = node.arrays()
    bits, dtype = bits_of(x.dtype), x.dtype
    # An unsigned number counts as the signed one of the same bits.
    signed = wrap(x, np.dtype(np.int64)) if bits < 8 else x.view(f"int{bits}")
    if bits < 8 and not is_signed(dtype):
        signed = np.where(signed >> (bits - 1), signed - (1 << bits), signed)
    distance = wrap(distance, np.dtype(np.int64)) if bits < 8 else distance.view(f"int{bits}")
    is_far = (distance < 0) | (distance >= bits)
    return wrap(np.asarray(signed >> np.where(is_far, signed.dtype.type(bits - 1), distance)), dtype)


def _count_leading_zeros(bits: int, x: Array) -> Array:
    found = np.zeros_like(x)
    for bit in range(bits):
        found += x < x.dtype.type(1 << bit)
    return found


def _bitwise(compute: Callable[..., Any]) -> Fold:
    def fold(node: Node) -> Array:
        check(node)
        arrays = node.arrays()
        dtype = arrays[0].dtype
        if dtype.kind in _NATIVE:
            return np.asarray(compute(*arrays))
        return wrap(np.asarray(compute(*map(_widen, arrays))), dtype)

    return fold


_TABLE: Mapping[str, Fold] = MappingProxyType(
    {
        "abs": _abs,
        "add": _exact(np.add),
        "and": _bitwise(np.bitwise_and),
        "atan2": _fold(_atan2),
        "cbrt": _fold(_cbrt),
        "ceil": _fold(np.ceil),
        "clamp": _exact(lambda low, x, high: np.minimum(np.maximum(x, low), high)),
        "compare": _compare,
        "complex": _complex,
        "cosine": _fold(np.cos),
        "count_leading_zeros": _bits(_count_leading_zeros),
        "divide": _exact(_divide),
        "exponential": _fold(np.exp),
        "exponential_minus_one": _fold(np.expm1),
        "floor": _fold(np.floor),
        "imag": _part("imag"),
        "is_finite": _is_finite,
        "log": _fold(np.log),
        "log_plus_one": _fold(np.log1p),
        "logistic": _fold(lambda x: 1 / (1 + np.exp(-x))),
        "maximum": _exact(np.maximum),
        "minimum": _exact(np.minimum),
        "multiply": _exact(np.multiply),
        "negate": _exact(np.negative),
        "not": _bitwise(np.invert),
        "or": _bitwise(np.bitwise_or),
        "popcnt": _bits(lambda _, x: np.bitwise_count(x)),
        "power": _fold(_power),
        "real": _part("real"),
        "remainder": _exact(_remainder),
        "round_nearest_afz": _fold(_round_away),
        "round_nearest_even": _fold(np.rint),
        "rsqrt": _fold(lambda x: 1 / np.sqrt(x)),
        "select": _select,
        "shift_left": _bits(_shift_left),
        "shift_right_arithmetic": _shift_right_arithmetic,
        "shift_right_logical": _bits(_shift_right),
        "sign": _fold(_sign),
        "sine": _fold(np.sin),
        "sqrt": _fold(np.sqrt),
        "subtract": _exact(np.subtract),
        "tan": _fold(np.tan),
        "tanh": _fold(np.tanh),
        "xor": _bitwise(np.bitwise_xor),
    }
)

FOLDS: Mapping[str, Fold] = MappingProxyType({**{f"stablehlo.{name}": fold for name, fold in _TABLE.items()}, **CONVERSIONS})
