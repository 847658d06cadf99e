"""Indices that are computed when the graph runs: brought into range, as int32."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.importing.steps import product
from webnn.importing.values import Refused
from webnn.stablehlo.indexed import Windows
from webnn.stablehlo.node import Node
from webnn.validation.descriptor import NUMPY_DTYPES

__all__ = ["add_places", "clamp_index", "find_parts", "limit_index", "widen_index"]

_MOST = np.iinfo(np.int32).max


def widen_index(node: Node, index: MLOperand) -> MLOperand:
    """Return indices in a type that the sizes of all dimensions fit into."""
    return node.cast(index, "int32") if index.descriptor.dataType in ("int8", "uint8", "int4", "uint4") else index


def clamp_index(node: Node, index: MLOperand, limits: int | Sequence[int]) -> MLOperand:
    """Clamp indices to 0 and a limit, or one for each part of the last dimension. Their type must be wide enough."""
    dataType = index.descriptor.dataType
    if not dataType.startswith("u"):
        index = node.builder.max(index, node.scalar(0, index))
    return node.builder.min(index, node.constant(np.array(limits, NUMPY_DTYPES[dataType])))


def limit_index(node: Node, index: MLOperand, limits: int | Sequence[int]) -> MLOperand:
    """Clamp indices, and return them as int32. They are clamped in their own type, because int32 may not hold them."""
    return node.cast(clamp_index(node, widen_index(node, index), limits), "int32")


def find_parts(node: Node, windows: Windows, index: MLOperand, parts: Sequence[int]) -> MLOperand:
    """Return some parts of index vectors, in their own type if it is wide enough: [batch..., parts], without the last dimension for one."""
    rank = index.descriptor.rank
    if windows.vector < rank:
        index = node.transpose(index, [*(axis for axis in range(rank) if axis != windows.vector), windows.vector])
    if len(parts) == 1:
        if len(windows.mapped) > 1:
            index = node.builder.slice(index, [*[0] * (rank - 1), parts[0]], [*windows.batch, 1])
        index = node.reshape(index, windows.batch)
    elif len(parts) < len(windows.mapped):
        index = node.builder.gather(index, node.constant(np.array(parts, np.int32)), axis=rank - 1)
    return widen_index(node, index)


def add_places(
    node: Node, windows: Windows, starts: MLOperand, parts: Sequence[int], merged: Sequence[int], is_inside: MLOperand | None = None
) -> MLOperand:
    """Return the places of the windows' elements along some dimensions that are made one: [batch..., window...].

    ``starts`` are parts of the index vectors in range, as `find_parts` returns them; ``parts`` says which ones. Windows with parts that
    have been out of range, by ``is_inside``, get the first place behind all.
    """
    builder = node.builder
    strides = windows.strides(merged)
    size = product([windows.shape[axis] for axis in merged])
    if size * (len(parts) + 1) > _MOST:
        raise Refused(f"the dimensions {list(merged)} together must have at most {_MOST // (len(parts) + 1)} indices, got {size}")
    weights = [strides.get(windows.mapped[part], 0) for part in parts]
    if weights != [1]:
        starts = builder.mul(starts, node.constant(np.array(weights if len(weights) > 1 else weights[0], np.int32)))
    if is_inside is not None:
        starts = builder.where(is_inside, starts, node.scalar(size, "int32"))
    if len(weights) > 1:
        starts = builder.reduceSum(starts, axes=[len(windows.batch)], keepDimensions=False)
    bases, steps = windows.bases(node, merged), windows.steps(node, merged)
    if bases.any():
        starts = builder.add(starts, node.constant(bases.astype(np.int32)))
    if steps.ndim:
        starts = node.reshape(starts, [*windows.batch, *[1] * steps.ndim])
    if steps.any():
        starts = builder.add(starts, node.constant(steps.astype(np.int32)))
    is_sum = len(parts) > 1 or bases.any() or steps.any()
    return builder.min(starts, node.scalar(size, "int32")) if is_inside is not None and is_sum else starts
