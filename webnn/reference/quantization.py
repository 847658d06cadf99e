"""Integers for floating-point numbers: `#api-mlgraphbuilder-quantizelinear`, `#api-mlgraphbuilder-dequantizelinear`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from webnn.reference.numbers import Array, Operation, is_float, named

__all__ = ["OPERATIONS"]


def _upsampled(values: Array, shape: tuple[int, ...]) -> Array:
    """Repeat each element along each axis, as often as its block has elements."""
    for axis, size in enumerate(shape):
        values = np.repeat(values, size // (values.shape[axis] or 1), axis)
    return values


def dequantizeLinear(input: Array, scale: Array, zeroPoint: Array) -> Array:
    """Return ``(input - zeroPoint) * scale``, of the scale's type.

    The difference is exact. It is rounded to float32, and so is its product with the scale; float16 is rounded once more.
    """
    kind = np.promote_types(scale.dtype, np.float32)
    exact = np.float64 if is_float(input) else np.int64
    difference = input.astype(exact) - _upsampled(zeroPoint, input.shape).astype(exact)
    return np.asarray(difference.astype(kind) * _upsampled(scale, input.shape).astype(kind), scale.dtype)


def quantizeLinear(input: Array, scale: Array, zeroPoint: Array) -> Array:
    """Return ``round(input / scale) + zeroPoint``, of the zero point's type.

    The quotient is rounded to float32, then to the nearest integer, ties to even; the exact sum saturates. Of a quotient that is NaN any
    value of the type may come: here 0 does.

    With a zero point of floating point, the quotient and the sum are rounded to float32 each.
    """
    if is_float(zeroPoint):
        kind = np.promote_types(input.dtype, np.float32)
        quotient = input.astype(kind) / _upsampled(scale, input.shape).astype(kind)
        return np.asarray(quotient + _upsampled(zeroPoint, input.shape).astype(kind))
    limits = np.iinfo(zeroPoint.dtype)
    quotient = input.astype(np.float32) / _upsampled(scale, input.shape).astype(np.float32)
    # Exact up to 2^53, far beyond the ends of every type here.
    sums = np.rint(quotient).astype(np.float64) + _upsampled(zeroPoint, input.shape)
    return np.asarray(np.where(np.isnan(sums), 0, np.clip(sums, limits.min, limits.max))).astype(zeroPoint.dtype)


OPERATIONS: Mapping[str, Operation] = named(dequantizeLinear, quantizeLinear)
