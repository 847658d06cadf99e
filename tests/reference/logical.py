"""Element-wise logical operations: `#api-mlgraphbuilder-logical`.

The output is uint8, 0 or 1. Two inputs are broadcast in both directions. A comparison with NaN is 0.
"""

from __future__ import annotations

import numpy as np

from ._numbers import Array


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


def logicalNot(a: Array) -> Array:
    """Return 1 for zero and 0 for any other value."""
    return np.asarray(np.equal(a, 0), dtype=np.uint8)
