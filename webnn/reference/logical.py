"""Element-wise logical operations: `#api-mlgraphbuilder-logical`.

The output is uint8, 0 or 1. Two inputs are broadcast in both directions. A comparison with NaN is 0, but for notEqual.
"""

from __future__ import annotations

import numpy as np

from webnn.reference.numbers import Array

__all__ = [
    "equal",
    "greater",
    "greaterOrEqual",
    "isInfinite",
    "isNaN",
    "lesser",
    "lesserOrEqual",
    "logicalAnd",
    "logicalNot",
    "logicalOr",
    "logicalXor",
    "notEqual",
]


def equal(a: Array, b: Array) -> Array:
    """Compare a = b; -0.0 equals 0.0."""
    return np.asarray(np.equal(a, b), dtype=np.uint8)


def greater(a: Array, b: Array) -> Array:
    """Compare a > b."""
    return np.asarray(np.greater(a, b), dtype=np.uint8)


def greaterOrEqual(a: Array, b: Array) -> Array:
    """Compare a >= b."""
    return np.asarray(np.greater_equal(a, b), dtype=np.uint8)


def lesser(a: Array, b: Array) -> Array:
    """Compare a < b."""
    return np.asarray(np.less(a, b), dtype=np.uint8)


def lesserOrEqual(a: Array, b: Array) -> Array:
    """Compare a <= b."""
    return np.asarray(np.less_equal(a, b), dtype=np.uint8)


def notEqual(a: Array, b: Array) -> Array:
    """Compare a != b; -0.0 equals 0.0, and NaN differs from everything, itself too."""
    return np.asarray(np.not_equal(a, b), dtype=np.uint8)


def isNaN(a: Array) -> Array:
    """Return 1 for NaN."""
    return np.asarray(np.isnan(a), dtype=np.uint8)


def isInfinite(a: Array) -> Array:
    """Return 1 for infinity of either sign."""
    return np.asarray(np.isinf(a), dtype=np.uint8)


def logicalAnd(a: Array, b: Array) -> Array:
    """Return 1 where both values are other than zero."""
    return np.asarray((a != 0) & (b != 0), dtype=np.uint8)


def logicalOr(a: Array, b: Array) -> Array:
    """Return 1 where at least one value is other than zero."""
    return np.asarray((a != 0) | (b != 0), dtype=np.uint8)


def logicalXor(a: Array, b: Array) -> Array:
    """Return 1 where exactly one value is other than zero."""
    return np.asarray((a != 0) ^ (b != 0), dtype=np.uint8)


def logicalNot(a: Array) -> Array:
    """Return 1 for zero and 0 for any other value."""
    return np.asarray(np.equal(a, 0), dtype=np.uint8)
