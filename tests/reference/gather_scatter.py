"""Gather and scatter. Elements are copied, bit for bit.

An index along an axis of size N is clamped to [-N, N - 1], then a negative one counts from the end.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ._numbers import Array


def _position(index: int, size: int) -> int:
    """Return the position that an index means."""
    clamped = min(max(index, -size), size - 1)
    return clamped + size if clamped < 0 else clamped


def gather(input: Array, indices: Array, *, axis: int = 0) -> Array:
    """Take the slices of the input that the indices name along an axis: `#api-mlgraphbuilder-gather`.

    output[a..., i..., b...] = input[a..., indices[i...], b...] with a... before and b... after the axis.
    """
    positions = [_position(int(index), input.shape[axis]) for index in indices.ravel()]
    return np.asarray(np.take(input, np.array(positions, dtype=np.intp).reshape(indices.shape), axis=axis))


def _elements(shape: tuple[int, ...], indices: Array, axis: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yield each place of the indices, and the place in a tensor of that shape that the index there leads to."""
    for place in np.ndindex(indices.shape):
        yield place, (*place[:axis], _position(int(indices[place]), shape[axis]), *place[axis + 1 :])


def gatherElements(input: Array, indices: Array, *, axis: int = 0) -> Array:
    """Take the elements of the input that the indices name along an axis: `#api-mlgraphbuilder-gatherelements`.

    output[a..., i, b...] = input[a..., indices[a..., i, b...], b...] with a... before and b... after the axis.
    """
    output = np.empty(indices.shape, input.dtype)
    for place, source in _elements(input.shape, indices, axis):
        output[place] = input[source]
    return output


def scatterElements(input: Array, indices: Array, updates: Array, *, axis: int = 0) -> Array:
    """Put updates in place of the elements that the indices name along an axis: `#api-mlgraphbuilder-scatterelements`.

    output[a..., indices[a..., i, b...], b...] = updates[a..., i, b...], the last one counts.
    """
    output = input.copy()
    for place, target in _elements(input.shape, indices, axis):
        output[target] = updates[place]
    return output


def _slices(shape: tuple[int, ...], indices: Array) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yield each place of the coordinates, and the leading coordinates of the slice of a tensor of that shape that they name."""
    for place in np.ndindex(indices.shape[:-1]):
        yield place, tuple(_position(int(index), size) for index, size in zip(indices[place], shape, strict=False))


def gatherND(input: Array, indices: Array) -> Array:
    """Take the slices of the input that the coordinates name: `#api-mlgraphbuilder-gathernd`.

    output[i..., b...] = input[indices[i...]..., b...].
    """
    output = np.empty((*indices.shape[:-1], *input.shape[indices.shape[-1] :]), input.dtype)
    for place, source in _slices(input.shape, indices):
        output[place] = input[source]
    return output


def scatterND(input: Array, indices: Array, updates: Array) -> Array:
    """Put updates in place of the slices that the coordinates name: `#api-mlgraphbuilder-scatternd`.

    output[indices[i...]..., b...] = updates[i..., b...], the last one counts.
    """
    output = input.copy()
    for place, target in _slices(input.shape, indices):
        output[target] = updates[place]
    return output
