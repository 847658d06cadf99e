"""Reductions `#api-mlgraphbuilder-reduce`, cumulativeSum, argMin and argMax `#api-mlgraphbuilder-argminmax`.

Absent axes mean all of them. An empty list reduces nothing: each element is reduced on its own, so that
reduceL1 gives |x| and reduceLogSum ln(x). Integers are summed and multiplied exactly, then wrap modulo
2^bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._numbers import Array, axes_or, exact, typed


def reduceL1(input: Array, *, axes: list[int] | None = None, keepDimensions: bool = False) -> Array:
    """Compute sum(|x|)."""
    return _reduce(lambda row: np.sum(np.abs(row)), input, axes, keepDimensions)


def reduceL2(input: Array, *, axes: list[int] | None = None, keepDimensions: bool = False) -> Array:
    """Compute sqrt(sum(x^2))."""
    return _reduce(lambda row: np.sqrt(np.sum(row * row)), input, axes, keepDimensions)


def reduceLogSum(input: Array, *, axes: list[int] | None = None, keepDimensions: bool = False) -> Array:
    """Compute ln(sum(x)); NaN for a negative sum."""
    return _reduce(lambda row: np.log(np.sum(row)), input, axes, keepDimensions)


def reduceLogSumExp(input: Array, *, axes: list[int] | None = None, keepDimensions: bool = False) -> Array:
    """Compute ln(sum(exp(x))), evaluated as m + ln(sum(exp(x - m))) with m the maximum if that is finite."""

    def fold(row: Array) -> Any:
        shift = np.max(row) if np.isfinite(np.max(row)) else 0.0
        return shift + np.log(np.sum(np.exp(row - shift)))

    return _reduce(fold, input, axes, keepDimensions)


def reduceMax(input: Array, *, axes: list[int] | None = None, keepDimensions: bool = False) -> Array:
    """Select the maximum; NaN if any value is."""
    return _reduce(np.max, input, axes, keepDimensions)


def reduceMean(input: Array, *, axes: list[int] | None = None, keepDimensions: bool = False) -> Array:
    """Compute sum(x) / count(x)."""
    return _reduce(np.mean, input, axes, keepDimensions)


def reduceMin(input: Array, *, axes: list[int] | None = None, keepDimensions: bool = False) -> Array:
    """Select the minimum; NaN if any value is."""
    return _reduce(np.min, input, axes, keepDimensions)


def reduceProduct(input: Array, *, axes: list[int] | None = None, keepDimensions: bool = False) -> Array:
    """Compute the product of all values."""
    return _reduce(np.prod, input, axes, keepDimensions)


def reduceSum(input: Array, *, axes: list[int] | None = None, keepDimensions: bool = False) -> Array:
    """Compute sum(x)."""
    return _reduce(np.sum, input, axes, keepDimensions)


def reduceSumSquare(input: Array, *, axes: list[int] | None = None, keepDimensions: bool = False) -> Array:
    """Compute sum(x^2)."""
    return _reduce(lambda row: np.sum(row * row), input, axes, keepDimensions)


def cumulativeSum(input: Array, axis: int, *, exclusive: bool = False, reversed: bool = False) -> Array:
    """Compute the sum of all values up to each one along the axis, `#api-mlgraphbuilder-cumulativesum`.

    The sums of integers are exact, then wrap. Exclusive: without the value itself, so that the first sum is 0. Reversed: from the last
    value to the first.
    """
    rows = np.moveaxis(exact(input), axis, -1)
    rows = rows[..., ::-1] if reversed else rows
    sums = np.zeros_like(rows)
    for index in range(rows.shape[-1]):
        sums[..., index] = rows[..., : index if exclusive else index + 1].sum(-1)
    sums = sums[..., ::-1] if reversed else sums
    return typed(np.moveaxis(sums, -1, axis), input.dtype)


def argMin(
    input: Array,
    *,
    axes: list[int] | None = None,
    keepDimensions: bool = False,
    selectLastIndex: bool = False,
) -> Array:
    """Find the index (int64) of the least value along the axes; see `_arg_reduce`."""
    return _arg_reduce(np.min, input, axes, keepDimensions, selectLastIndex)


def argMax(
    input: Array,
    *,
    axes: list[int] | None = None,
    keepDimensions: bool = False,
    selectLastIndex: bool = False,
) -> Array:
    """Find the index (int64) of the greatest value along the axes; see `_arg_reduce`."""
    return _arg_reduce(np.max, input, axes, keepDimensions, selectLastIndex)


def _reduce(fold: Callable[[Array], Any], input: Array, axes: list[int] | None, keepDimensions: bool) -> Array:
    """Fold each set of values that differ only in their position along the axes.

    Args:
        fold: From the set, a 1-D array of float64 or of Python integers, to one value.
        input: The tensor.
        axes: The reduced axes, or None for all.
        keepDimensions: Whether reduced dimensions stay, with size 1.
    """
    values = np.array([fold(row) for row in _rows(exact(input), axes)], dtype=exact(input).dtype)
    return typed(values, input.dtype).reshape(_reduced_shape(input, axes, keepDimensions))


def _arg_reduce(
    extreme: Callable[[Array], Any],
    input: Array,
    axes: list[int] | None,
    keepDimensions: bool,
    selectLastIndex: bool,
) -> Array:
    """Find where the extreme value of each set stands.

    Several axes are counted as one, the highest axis number running fastest, in whatever order they are
    listed. Of equal values the first is found, or the last with `selectLastIndex`. NaN counts as the extreme.
    """
    indices = []
    for row in _rows(input, axes):
        value = extreme(row)
        (found,) = np.nonzero(np.isnan(row) if np.isnan(value) else row == value)
        indices.append(found[-1] if selectLastIndex else found[0])
    return np.array(indices, dtype=np.int64).reshape(_reduced_shape(input, axes, keepDimensions))


def _rows(x: Array, axes: list[int] | None) -> Array:
    """Return the sets to reduce as the rows of a matrix, in the order of the output's elements."""
    reduced = axes_or(axes, range(x.ndim))
    kept = [axis for axis in range(x.ndim) if axis not in reduced]
    rows = int(np.prod([x.shape[axis] for axis in kept], dtype=np.int64))
    return x.transpose(kept + sorted(reduced)).reshape(rows, -1)


def _reduced_shape(x: Array, axes: list[int] | None, keepDimensions: bool) -> list[int]:
    """Calculate the reduction output sizes: reduced dimensions become 1, or are dropped."""
    reduced = axes_or(axes, range(x.ndim))
    if keepDimensions:
        return [1 if axis in reduced else size for axis, size in enumerate(x.shape)]
    return [size for axis, size in enumerate(x.shape) if axis not in reduced]
