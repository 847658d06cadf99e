"""Elements that are known, in other types: by value, by bits, and with fewer bits."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from webnn.builder.elementwise import bits_of, saturate, wrap
from webnn.importing.values import Array, Refused
from webnn.stablehlo.elements import kind_of
from webnn.stablehlo.folding import Fold
from webnn.stablehlo.kinds import check
from webnn.stablehlo.node import Node

__all__ = ["FOLDS"]

#: The bits of the mantissa and of the exponent of the types that IEEE 754 and bfloat16 define.
_FORMATS: Mapping[str, tuple[int, int]] = {"float16": (10, 5), "bfloat16": (7, 8), "float32": (23, 8), "float64": (52, 11)}


def _convert(node: Node) -> Array:
    """Integers wrap; floating-point numbers are truncated and saturate, and NaN becomes 0."""
    check(node)
    array, dtype = node.array(0), node.dtype()
    if kind_of(array.dtype) == "c" and kind_of(dtype) != "c":
        array = array.real
    if kind_of(dtype) == "b":
        return np.asarray(array != 0)
    if kind_of(dtype) != "i":
        return array.astype(dtype)
    return saturate(array, dtype) if kind_of(array.dtype) == "f" else wrap(array, dtype)


def _bitcast_convert(node: Node) -> Array | None:
    check(node)
    array, dtype, shape = node.array(0), node.dtype(), node.shape()
    if array.dtype == dtype:
        return array
    old, new = bits_of(array.dtype), bits_of(dtype)
    if "c" in (kind_of(array.dtype), kind_of(dtype)) and kind_of(array.dtype) != kind_of(dtype):
        raise Refused(f"complex numbers must stay complex, got {array.dtype.name} and {dtype.name}")
    expected = (
        array.shape
        if old == new
        else (*array.shape, old // new)
        if old > new
        else array.shape[:-1]
        if array.shape[-1:] == (new // old,)
        else None
    )
    if shape != expected:
        raise Refused(f"the result must have the bits of {list(array.shape)} {array.dtype.name}, got {list(shape)} {dtype.name}")
    if min(old, new) >= 8:
        return np.ascontiguousarray(array).view(dtype).reshape(shape)
    # An element of less than 8 bits takes a byte.
    if old < 8:
        plane = (array.astype(np.int64)[..., np.newaxis] >> np.arange(old)) & 1
    else:
        plane = np.unpackbits(np.ascontiguousarray(array).view(np.uint8).reshape(-1), bitorder="little").astype(np.int64)
    plane = plane.reshape(-1, new)
    if new < 8:
        return wrap(plane @ (1 << np.arange(new)), dtype).reshape(shape)
    return np.packbits(plane.astype(np.uint8), axis=-1, bitorder="little").reshape(-1).view(dtype).reshape(shape)


def _reduce_precision(node: Node) -> Array | None:
    """Round the mantissa; too large an exponent becomes an infinity, too small a one zero."""
    check(node)
    array, exponent, mantissa = node.array(0), node.integer("exponent_bits"), node.integer("mantissa_bits")
    if exponent < 1 or mantissa < 0:
        raise Refused(f"exponent_bits must be at least 1 and mantissa_bits at least 0, got {exponent} and {mantissa}")
    format_ = _FORMATS.get(array.dtype.name)
    if format_ is None:
        return None
    own_mantissa, own_exponent = format_
    # Python's integers would become int64.
    kind = np.dtype(f"uint{8 * array.dtype.itemsize}").type
    bits = np.ascontiguousarray(array).view(kind).reshape(array.shape)
    if mantissa < own_mantissa:
        last = 1 << own_mantissa - mantissa
        # The last digit that stays. If there is no other one, it is the first digit, which is 1 but in the smallest numbers.
        digit = (bits & kind(last if mantissa else (1 << own_mantissa + own_exponent) - last)) != 0
        bits = (bits + digit.astype(kind) + kind((last >> 1) - 1)) & ~kind(last - 1)
    if exponent < own_exponent:
        sign = bits & kind(1 << own_mantissa + own_exponent)
        all_ones = ((1 << own_exponent) - 1) << own_mantissa
        bias, reduced = (1 << own_exponent - 1) - 1, (1 << exponent - 1) - 1
        field = bits & kind(all_ones)
        infinite = sign | kind(all_ones)
        bits, is_small = np.where(field > (bias + reduced) << own_mantissa, infinite, bits), field <= (bias - reduced) << own_mantissa
        bits = np.where(is_small, sign, bits)
    return np.where(np.isnan(array), array if mantissa else array.dtype.type(np.inf), bits.view(array.dtype))


FOLDS: Mapping[str, Fold] = {
    "stablehlo.bitcast_convert": _bitcast_convert,
    "stablehlo.convert": _convert,
    "stablehlo.reduce_precision": _reduce_precision,
}
