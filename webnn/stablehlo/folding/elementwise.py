"""Arithmetic, comparisons and functions of elements that are known.

Functions of floating-point numbers are computed in float64 and rounded once. Integers wrap around.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from webnn.builder.elementwise import FUNCTIONS, bits_of, divide, is_signed, power, total_order, wrap
from webnn.hlo.attributes import COMPARISONS
from webnn.importing.values import Array, Refused
from webnn.stablehlo.elements import kind_of
from webnn.stablehlo.folding import Fold
from webnn.stablehlo.folding.conversion import FOLDS as CONVERSIONS
from webnn.stablehlo.kinds import check
from webnn.stablehlo.node import Node

__all__ = ["FOLDS"]

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


def _remainder(one: Array, other: Array) -> Array:
    """Return the remainder of a division, with the sign of the dividend."""
    if kind_of(one.dtype) == "c":
        raise Refused("the remainder of complex numbers is not defined")
    if kind_of(one.dtype) != "i":
        return np.asarray(np.fmod(one, other))
    return np.asarray(one - divide(one, other) * other)


def _power(base: Array, exponent: Array) -> Array:
    """Raise to a power; an integer 0 with a negative exponent is 0, where WebNN's has all bits set."""
    found = power(base, exponent)
    return np.where((base == 0) & (exponent < 0), base.dtype.type(0), found) if kind_of(base.dtype) == "i" else found


def _sign(x: Array) -> Array:
    """Return x by its magnitude; zeros and NaN stay, where WebNN's sign of NaN is 0."""
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
    compare = COMPARISONS.get(node.text("comparison_direction"))
    if compare is None:
        raise Refused(f"comparison_direction must be one of {', '.join(COMPARISONS)}, got {node.text('comparison_direction')}")
    if node.text("compare_type", "") == "TOTALORDER" and kind_of(one.dtype) == "f":
        one, other = total_order(one), total_order(other)
    return np.asarray(FUNCTIONS[compare](one, other))


def _select(node: Node) -> Array:
    check(node)
    return np.where(*node.arrays())


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


#: StableHLO's names of the builder's functions: first of those that are computed in float64, then of those that round once themselves.
_WIDE: Mapping[str, str] = {
    **{name: name for name in ("ceil", "floor", "log", "sqrt", "tan", "tanh")},
    **{"cosine": "cos", "exponential": "exp", "logistic": "sigmoid", "round_nearest_even": "roundEven", "sine": "sin"},
}
_ONCE: Mapping[str, str] = {
    **{"abs": "abs", "add": "add", "divide": "div", "maximum": "max", "minimum": "min", "multiply": "mul", "negate": "neg"},
    "subtract": "sub",
}
_TABLE: Mapping[str, Fold] = {
    **{name: _fold(FUNCTIONS[same]) for name, same in _WIDE.items()},
    **{name: _exact(FUNCTIONS[same]) for name, same in _ONCE.items()},
    "and": _exact(np.bitwise_and),
    "atan2": _fold(_atan2),
    "cbrt": _fold(_cbrt),
    "clamp": _exact(lambda low, x, high: np.minimum(np.maximum(x, low), high)),
    "compare": _compare,
    "complex": _complex,
    "count_leading_zeros": _bits(_count_leading_zeros),
    "exponential_minus_one": _fold(np.expm1),
    "imag": _part("imag"),
    "is_finite": _is_finite,
    "log_plus_one": _fold(np.log1p),
    "not": _exact(np.invert),
    "or": _exact(np.bitwise_or),
    "popcnt": _bits(lambda _, x: np.bitwise_count(x)),
    "power": _fold(_power),
    "real": _part("real"),
    "remainder": _exact(_remainder),
    "round_nearest_afz": _fold(_round_away),
    "rsqrt": _fold(lambda x: 1 / np.sqrt(x)),
    "select": _select,
    "shift_left": _bits(_shift_left),
    "shift_right_arithmetic": _shift_right_arithmetic,
    "shift_right_logical": _bits(_shift_right),
    "sign": _fold(_sign),
    "xor": _exact(np.bitwise_xor),
}

FOLDS: Mapping[str, Fold] = {**{f"stablehlo.{name}": fold for name, fold in _TABLE.items()}, **CONVERSIONS}
