"""Gather and scatter: this draft has `gather` alone."""

from __future__ import annotations

import numpy as np

from ._numbers import Array


def gather(input: Array, indices: Array, *, axis: int = 0) -> Array:
    """Take the slices of the input that the indices name along an axis: `#api-mlgraphbuilder-gather`.

    output[a..., i..., b...] = input[a..., indices[i...], b...] with a... before and b... after the axis. With
    N the size of the axis, an index is clamped to [-N, N - 1], then a negative one counts from the end.
    """
    size = input.shape[axis]
    clamped = [min(max(int(index), -size), size - 1) for index in indices.ravel()]
    positions = [index + size if index < 0 else index for index in clamped]
    return np.asarray(np.take(input, np.array(positions, dtype=np.intp).reshape(indices.shape), axis=axis))
