"""Reductions `#api-mlgraphbuilder-reduce`, cumulativeSum, argMin and argMax `#api-mlgraphbuilder-argminmax`.

Absent axes mean all of them. An empty list reduces nothing: each element is reduced on its own, so that
reduceL1 gives |x| and reduceLogSum ln(x). Integers wrap modulo 2^bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from webnn.reference.numbers import Array, Operation, axes_or, exact, named, typed
from webnn.validation.descriptor import extreme

__all__ = ["OPERATIONS", "argMax", "argMin"]


#: Adds up the rows of a matrix.
Add: TypeAlias = Callable[[Array], Array]
#: From the sets of values, the rows of a matrix of float64 or of integers, to one value for each.
Fold: TypeAlias = Callable[[Array], Any]


def _add(rows: Array) -> Array:
    return np.asarray(np.sum(rows, axis=-1))


def _log_sum_exp(rows: Array, add: Add) -> Any:
    """Evaluate m + ln(sum(exp(x - m))) with m the maximum if that is finite."""
    greatest = np.max(rows, axis=-1, keepdims=True, initial=-np.inf)
    shift = np.where(np.isfinite(greatest), greatest, 0.0)
    return shift[..., 0] + np.log(add(np.exp(rows - shift)))


def cumulativeSum(input: Array, axis: int, *, exclusive: bool = False, reversed: bool = False) -> Array:
    """Compute the sum of all values up to each one along the axis, `#api-mlgraphbuilder-cumulativesum`.

    Sums of integers wrap. Exclusive: without the value itself, so that the first sum is 0. Reversed: from the last value to the first.
    """
    rows = np.moveaxis(exact(input), axis, -1)
    rows = rows[..., ::-1] if reversed else rows
    sums = np.zeros_like(rows)
    if exclusive:
        np.cumsum(rows[..., :-1], -1, out=sums[..., 1:])
    else:
        np.cumsum(rows, -1, out=sums)
    sums = sums[..., ::-1] if reversed else sums
    return typed(np.moveaxis(sums, -1, axis), input.dtype)


def argMin(input: Array, *, axes: list[int] | None = None, keepDimensions: bool = False, selectLastIndex: bool = False) -> Array:
    """Find the index (int64) of the least value along the axes; see `_arg_reduce`."""
    return _arg_reduce(np.argmin, input, axes, keepDimensions, selectLastIndex)


def argMax(input: Array, *, axes: list[int] | None = None, keepDimensions: bool = False, selectLastIndex: bool = False) -> Array:
    """Find the index (int64) of the greatest value along the axes; see `_arg_reduce`."""
    return _arg_reduce(np.argmax, input, axes, keepDimensions, selectLastIndex)


def _reduce(fold: Fold, input: Array, *, axes: list[int] | None = None, keepDimensions: bool = False) -> Array:
    """Fold each set of values that differ only in their position along the axes, by default all."""
    return typed(fold(_rows(exact(input), axes)), input.dtype).reshape(_reduced_shape(input, axes, keepDimensions))


def _sum(
    fold: Callable[[Array, Add], Any], input: Array, *, axes: list[int] | None = None, keepDimensions: bool = False, add: Add = _add
) -> Array:
    """Fold each set of values by a sum."""
    return _reduce(lambda rows: fold(rows, add), input, axes=axes, keepDimensions=keepDimensions)


def reduceMax(input: Array, *, axes: list[int] | None = None, keepDimensions: bool = False) -> Array:
    """Select the maximum; NaN if any value is. Without a value it is the smallest one of the type."""
    lowest = extreme(input.dtype.name, largest=False)
    return _reduce(lambda rows: np.max(rows, axis=-1, initial=lowest), input, axes=axes, keepDimensions=keepDimensions)


def reduceMin(input: Array, *, axes: list[int] | None = None, keepDimensions: bool = False) -> Array:
    """Select the minimum; NaN if any value is. Without a value it is the largest one of the type."""
    highest = extreme(input.dtype.name, largest=True)
    return _reduce(lambda rows: np.min(rows, axis=-1, initial=highest), input, axes=axes, keepDimensions=keepDimensions)


def _arg_reduce(find: Callable[..., Any], input: Array, axes: list[int] | None, keepDimensions: bool, selectLastIndex: bool) -> Array:
    """Find the position of the extreme value of each set.

    Several axes are counted as one, the highest axis number running fastest, in whatever order they are
    listed. Of equal values the first is found, or the last with `selectLastIndex`. NaN counts as the extreme.
    """
    rows = _rows(input, axes)
    # Of several extremes, and of several NaN, NumPy finds the first.
    indices = rows.shape[-1] - 1 - find(rows[:, ::-1], axis=-1) if selectLastIndex else find(rows, axis=-1)
    return np.asarray(indices, dtype=np.int64).reshape(_reduced_shape(input, axes, keepDimensions))


def _rows(x: Array, axes: list[int] | None) -> Array:
    """Return the sets to reduce as the rows of a matrix, in the order of the output's elements."""
    reduced = axes_or(axes, range(x.ndim))
    kept = [axis for axis in range(x.ndim) if axis not in reduced]
    rows, columns = (math.prod(x.shape[axis] for axis in axes) for axes in (kept, reduced))
    return x.transpose(kept + sorted(reduced)).reshape(rows, columns)


def _reduced_shape(x: Array, axes: list[int] | None, keepDimensions: bool) -> list[int]:
    """Calculate the reduction output sizes: reduced dimensions become 1, or are dropped."""
    reduced = axes_or(axes, range(x.ndim))
    if keepDimensions:
        return [1 if axis in reduced else size for axis, size in enumerate(x.shape)]
    return [size for axis, size in enumerate(x.shape) if axis not in reduced]


OPERATIONS: Mapping[str, Operation] = {
    **named(argMax, argMin, cumulativeSum, reduceMax, reduceMin),
    "reduceL1": partial(_sum, lambda rows, add: add(np.abs(rows))),
    "reduceL2": partial(_sum, lambda rows, add: np.sqrt(add(rows * rows))),
    # NaN for a negative sum
    "reduceLogSum": partial(_sum, lambda rows, add: np.log(add(rows))),
    "reduceLogSumExp": partial(_sum, _log_sum_exp),
    "reduceMean": partial(_sum, lambda rows, add: add(rows) / rows.shape[-1]),
    "reduceProduct": partial(_reduce, lambda rows: np.prod(rows, axis=-1)),
    "reduceSum": partial(_sum, lambda rows, add: add(rows)),
    "reduceSumSquare": partial(_sum, lambda rows, add: add(rows * rows)),
}
