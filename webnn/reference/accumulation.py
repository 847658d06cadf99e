"""Sums with an accumulator of float16, term by term: the value "float16" of the switch `accumulation`.

Each term is rounded to float16 and added to the accumulator, which is rounded after each addition. Everything is float64 between.
"""

from __future__ import annotations

import numpy as np

from webnn.reference.numbers import Array, Wide, wide

__all__ = ["accumulate_in_float16", "add_in_float16", "multiply_in_float16"]


def _half(x: Array) -> Wide:
    return wide(x.astype(np.float16))


def add_in_float16(rows: Array) -> Wide:
    """Add up the last dimension."""
    total = np.zeros(rows.shape[:-1])
    for column in range(rows.shape[-1]):
        total = _half(total + _half(rows[..., column]))
    return total


def accumulate_in_float16(total: Wide, a: Wide, b: Wide) -> Wide:
    """Add the product of the matrices [..., M, K] and [..., K, N], rounded to float16, to a total; K ascends."""
    a, b = _half(a), _half(b)
    for index in range(a.shape[-1]):
        total = _half(total + _half(a[..., index, np.newaxis] * b[..., index, np.newaxis, :]))
    return total


def multiply_in_float16(a: Wide, b: Wide) -> Wide:
    """Multiply the matrices [..., M, K] and [..., K, N], rounded to float16."""
    batches = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return accumulate_in_float16(np.zeros([*batches, a.shape[-2], b.shape[-1]]), a, b)
