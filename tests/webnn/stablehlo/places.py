"""Gathering and scattering in the words of the specification, window by window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.webnn.stablehlo.programs import Array
from webnn.hlo.attributes import GatherDimensionNumbers, ScatterDimensionNumbers

__all__ = ["X", "gather", "make_indices", "scatter"]

X = np.arange(3 * 4 * 5, dtype=np.float32).reshape(3, 4, 5) + 1


def make_indices(random: np.random.Generator, *shape: int) -> Array:
    """Return indices of which some are out of range."""
    return random.integers(-2, 7, shape).astype(np.int32)


def _starts(
    numbers: Any, mapped: Sequence[int], batching: Sequence[int], batches: Sequence[int], indices: Array, place: Sequence[int], rank: int
) -> list[int]:
    """Return where the window of one place of the batch starts."""
    vector = numbers.index_vector_dim
    index: list[Any] = list(place)
    index.insert(vector, slice(None))
    parts = np.atleast_1d(indices[tuple(index[: indices.ndim])])
    start = [0] * rank
    for part, axis in zip(parts, mapped, strict=True):
        start[axis] = int(part)
    for axis, each in zip(batching, batches, strict=True):
        start[axis] = index[each]
    return start


def gather(x: Array, indices: Array, numbers: GatherDimensionNumbers, sizes: Sequence[int]) -> Array:
    """Gather windows one by one."""
    batch = [size for axis, size in enumerate(indices.shape) if axis != numbers.index_vector_dim]
    dropped = (*numbers.collapsed_slice_dims, *numbers.operand_batching_dims)
    kept = [size for axis, size in enumerate(sizes) if axis not in dropped]
    others = [axis for axis in range(len(batch) + len(kept)) if axis not in numbers.offset_dims]
    shape = [0] * (len(batch) + len(kept))
    for axes, given in ((others, batch), (numbers.offset_dims, kept)):
        for axis, size in zip(axes, given, strict=True):
            shape[axis] = size
    result = np.zeros(shape, x.dtype)
    batching, batches = numbers.operand_batching_dims, numbers.start_indices_batching_dims
    for place in np.ndindex(*batch):
        start = _starts(numbers, numbers.start_index_map, batching, batches, indices, place, x.ndim)
        start = [min(max(first, 0), given - size) for first, given, size in zip(start, x.shape, sizes, strict=True)]
        window = x[tuple([slice(first, first + size) for first, size in zip(start, sizes, strict=True)])].reshape(kept)
        where: list[Any] = [slice(None)] * len(shape)
        for axis, each in zip(others, place, strict=True):
            where[axis] = each
        result[tuple(where)] = window
    return result


def scatter(x: Array, indices: Array, updates: Array, numbers: ScatterDimensionNumbers, function: Any) -> Array:
    """Update windows one by one; those that do not lie in the input are left out."""
    result = x.copy()
    dropped = (*numbers.inserted_window_dims, *numbers.input_batching_dims)
    others = [axis for axis in range(updates.ndim) if axis not in numbers.update_window_dims]
    kept = iter(numbers.update_window_dims)
    sizes = [1 if axis in dropped else updates.shape[next(kept)] for axis in range(x.ndim)]
    batching, batches = numbers.input_batching_dims, numbers.scatter_indices_batching_dims
    for place in np.ndindex(*[updates.shape[axis] for axis in others]):
        start = _starts(numbers, numbers.scatter_dims_to_operand_dims, batching, batches, indices, place, x.ndim)
        if any(not 0 <= first <= given - size for first, given, size in zip(start, x.shape, sizes, strict=True)):
            continue
        where: list[Any] = [slice(None)] * updates.ndim
        for axis, each in zip(others, place, strict=True):
            where[axis] = each
        window = tuple([slice(first, first + size) for first, size in zip(start, sizes, strict=True)])
        result[window] = function(result[window], updates[tuple(where)].reshape(sizes))
    return result
