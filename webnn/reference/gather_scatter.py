"""Gather and scatter. Elements are copied, bit for bit.

An index along an axis of size N is clamped to [-N, N - 1], then a negative one counts from the end.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from webnn.builder.places import find_positions
from webnn.reference.numbers import Array, Operation, named

__all__ = ["OPERATIONS", "find_coordinates", "find_grid"]


def find_grid(indices: Array, axis: int, size: int) -> tuple[Array, ...]:
    """Return the coordinates of each place of the indices, along one axis the positions that they mean."""
    coordinates: list[Array] = list(np.indices(indices.shape, sparse=True))
    coordinates[axis] = find_positions(indices, size)
    return tuple(coordinates)


def find_coordinates(indices: Array, shape: Sequence[int]) -> tuple[Array, ...]:
    """Return the leading coordinates that the last dimension of the indices holds."""
    return tuple(find_positions(indices[..., k], shape[k]) for k in range(indices.shape[-1]))


def _put(output: Array, coordinates: tuple[Array, ...], updates: Array) -> Array:
    """Put updates at leading coordinates; where several have one place, the last one counts."""
    leading = output.shape[: len(coordinates)]
    places = np.ravel_multi_index(np.broadcast_arrays(*coordinates), leading).ravel() if leading else np.zeros(1, np.int64)
    # NumPy promises no order of assignments: of each place, only the last update is assigned.
    places, last = np.unique(places[::-1], return_index=True)
    rest = output.shape[len(leading) :]
    slices = updates.reshape(math.prod(updates.shape[: updates.ndim - len(rest)]), *rest)[::-1]
    flat = output.reshape(math.prod(leading), *rest)
    flat[places] = slices[last]
    return flat.reshape(output.shape)


def gather(input: Array, indices: Array, *, axis: int = 0) -> Array:
    """Take the slices of the input that the indices name along an axis: `#api-mlgraphbuilder-gather`.

    output[a..., i..., b...] = input[a..., indices[i...], b...] with a... before and b... after the axis.
    """
    return np.asarray(np.take(input, find_positions(indices, input.shape[axis]), axis=axis))


def gatherElements(input: Array, indices: Array, *, axis: int = 0) -> Array:
    """Take the elements of the input that the indices name along an axis: `#api-mlgraphbuilder-gatherelements`.

    output[a..., i, b...] = input[a..., indices[a..., i, b...], b...] with a... before and b... after the axis.
    """
    return np.asarray(input[find_grid(indices, axis, input.shape[axis])])


def scatterElements(input: Array, indices: Array, updates: Array, *, axis: int = 0) -> Array:
    """Put updates in place of the elements that the indices name along an axis: `#api-mlgraphbuilder-scatterelements`.

    output[a..., indices[a..., i, b...], b...] = updates[a..., i, b...], the last one counts.
    """
    return _put(input.copy(), find_grid(indices, axis, input.shape[axis]), updates)


def gatherND(input: Array, indices: Array) -> Array:
    """Take the slices of the input that the coordinates name: `#api-mlgraphbuilder-gathernd`.

    output[i..., b...] = input[indices[i...]..., b...].
    """
    return np.array(input[find_coordinates(indices, input.shape)])


def scatterND(input: Array, indices: Array, updates: Array) -> Array:
    """Put updates in place of the slices that the coordinates name: `#api-mlgraphbuilder-scatternd`.

    output[indices[i...]..., b...] = updates[i..., b...], the last one counts.
    """
    return _put(input.copy(), find_coordinates(indices, input.shape), updates)


OPERATIONS: Mapping[str, Operation] = named(gather, gatherElements, gatherND, scatterElements, scatterND)
