"""Integers for floating-point numbers: `#api-mlgraphbuilder-quantizelinear`, `#api-mlgraphbuilder-dequantizelinear`."""

from __future__ import annotations

import math

import numpy as np

from ._numbers import Array, typed


def pack(values: Array) -> Array:
    """Return the bytes of small integers: two elements in each, the first one in the low bits, zeros behind the last one."""
    bits = [int(value) & 15 for value in values.ravel()]
    bits += [0] * (len(bits) % 2)
    return np.array([low | high << 4 for low, high in zip(bits[::2], bits[1::2], strict=True)], np.uint8)


def unpack(data: Array, dataType: str, shape: tuple[int, ...]) -> Array:
    """Return the elements of small integers as int8, those of int4 with their sign, or as uint8."""
    bits = [part for byte in data.ravel() for part in (int(byte) & 15, int(byte) >> 4)]
    signed = [value - 16 if dataType == "int4" and value > 7 else value for value in bits]
    return np.array(signed[: math.prod(shape)], dataType.replace("4", "8")).reshape(shape)


def _upsampled(values: Array, shape: tuple[int, ...]) -> Array:
    """Repeat each element along each axis, as often as its block has elements."""
    for axis, size in enumerate(shape):
        values = np.repeat(values, size // values.shape[axis], axis)
    return values


def dequantizeLinear(input: Array, scale: Array, zeroPoint: Array) -> Array:
    """Return ``(input - zeroPoint) * scale``, of the scale's type.

    The difference is exact. It is rounded to float32, and so is its product with the scale; float16 is rounded once more.
    """
    difference = input.astype(np.int64) - _upsampled(zeroPoint, input.shape).astype(np.int64)
    product = difference.astype(np.float32) * _upsampled(scale, input.shape).astype(np.float32)
    return product.astype(scale.dtype)


def quantizeLinear(input: Array, scale: Array, zeroPoint: Array) -> Array:
    """Return ``round(input / scale) + zeroPoint``, of the zero point's type.

    The quotient is rounded to float32, then to the nearest integer, ties to even; the exact sum saturates. Of a quotient that is NaN any
    value of the type may come: here 0 does.
    """
    limits = np.iinfo(zeroPoint.dtype)
    quotient = input.astype(np.float32) / _upsampled(scale, input.shape).astype(np.float32)

    def saturated(rounded: float, zero: int) -> int:
        return 0 if np.isnan(rounded) else int(min(max(rounded + zero, limits.min), limits.max))

    rounded = np.rint(quotient).astype(np.float64)
    return typed(np.frompyfunc(saturated, 2, 1)(rounded, _upsampled(zeroPoint, input.shape).astype(object)), zeroPoint.dtype)
