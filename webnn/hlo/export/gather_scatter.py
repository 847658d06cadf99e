"""Operations that pick or replace elements by index.

An index along an axis of size N is clamped to [-N, N - 1], then a negative one counts from the end: docs/numerics.md. StableHLO gets
only indices that are inside the axis. It leaves open which one of several updates of one place wins.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from webnn.hlo.attributes import GatherDimensionNumbers, ScatterDimensionNumbers
from webnn.hlo.export.emitter import Emitter, Tensor
from webnn.hlo.export.rule import Op, Rule
from webnn.hlo.types import DTYPES

__all__ = ["RULES", "axis_positions", "coordinates"]


def _positions(e: Emitter, op: Op, sizes: Sequence[int]) -> Tensor:
    """Return the positions that the indices mean: of one axis, or of as many as the last dimension of the indices has elements."""
    indices, known = op["indices"], op.constants.get("indices")
    dtype = np.dtype(DTYPES[indices.element])
    limits = np.array(sizes[0] if len(set(sizes)) == 1 else sizes, dtype)
    if known is not None:
        whole = known.astype(np.int64)
        if ((whole >= 0) & (whole < limits)).all():
            return indices
    ends = [e.constant(np.asarray(each)) for each in (limits - dtype.type(1), limits)]
    last, size = [e.broadcast(each, indices.shape) for each in ends]
    if dtype.kind == "u":
        return e.minimum(indices, last)
    inside = e.minimum(e.maximum(indices, -size), last)
    return e.select(e.compare("LT", inside, 0), inside + size, inside)


def axis_positions(e: Emitter, op: Op) -> Tensor:
    """Return the coordinates of each place of the indices, with the positions that they mean along the axis."""
    axis = op.options.axis
    positions = _positions(e, op, op["input"].shape[axis : axis + 1])
    shape = [*positions.shape, 1]
    parts = [e.iota(shape, each, positions.element) for each in range(len(positions.shape))]
    parts[axis] = e.reshape(positions, shape)
    return e.concatenate(parts, len(positions.shape))


def _gather(e: Emitter, op: Op) -> Tensor:
    axis = op.options.axis
    return e.take(op["input"], _positions(e, op, op["input"].shape[axis : axis + 1]), axis)


def _pick(e: Emitter, op: Op, coordinates: Tensor) -> Tensor:
    """Take the slices that leading coordinates name."""
    x, shape = op["input"], op.outputs[0].dimensions
    *places, depth = coordinates.shape
    numbers = GatherDimensionNumbers(
        offset_dims=tuple(range(len(places), len(shape))),
        collapsed_slice_dims=tuple(range(depth)),
        start_index_map=tuple(range(depth)),
        index_vector_dim=len(places),
    )
    return e.gather(x, coordinates, numbers, [1] * depth + list(x.shape[depth:]), shape)


def _put(e: Emitter, op: Op, coordinates: Tensor) -> Tensor:
    """Put updates at leading coordinates."""
    x, updates = op["input"], op["updates"]
    *places, depth = coordinates.shape
    numbers = ScatterDimensionNumbers(
        update_window_dims=tuple(range(len(places), len(updates.shape))),
        inserted_window_dims=tuple(range(depth)),
        scatter_dims_to_operand_dims=tuple(range(depth)),
        index_vector_dim=len(places),
    )
    return e.scatter(x, coordinates, updates, numbers)


def coordinates(e: Emitter, op: Op) -> Tensor:
    """Return the indices as the positions that they mean: of as many leading axes as their last dimension has elements."""
    return _positions(e, op, op["input"].shape[: op["indices"].shape[-1]])


RULES = {
    "gather": Rule(emit=_gather),
    "gatherElements": Rule(emit=lambda e, op: _pick(e, op, axis_positions(e, op))),
    "gatherND": Rule(emit=lambda e, op: _pick(e, op, coordinates(e, op))),
    "scatterElements": Rule(emit=lambda e, op: _put(e, op, axis_positions(e, op))),
    "scatterND": Rule(emit=lambda e, op: _put(e, op, coordinates(e, op))),
}
