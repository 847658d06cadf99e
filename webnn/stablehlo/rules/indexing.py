"""Operations that gather windows at indices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.importing.moving import broadcast, slice_operand
from webnn.importing.steps import Result, product
from webnn.importing.values import make_uniform
from webnn.stablehlo.indexed import Windows, find_gathered
from webnn.stablehlo.indices import add_places, find_parts, limit_index
from webnn.stablehlo.node import Node
from webnn.stablehlo.rules import Rule

__all__ = ["RULES"]


def _gather(node: Node) -> Result:
    """Map to gather along one dimension. The starts of windows are clamped, so that the windows lie in the operand.

    If windows start elsewhere along several dimensions, a reshape makes them one, after a transpose if they do not follow each other. So
    do batching dimensions. Dimensions that windows have as a whole take no indices. `stablehlo#gather`.
    """
    return _gather_windows(node, node.integers("slice_sizes"))


def _dynamic_gather(node: Node) -> Result:
    """Map as gather; the sizes of the windows must be known. `stablehlo#dynamic_gather`."""
    return _gather_windows(node, node.known_integers(2, "slice_sizes"))


def _gather_windows(node: Node, sizes: Sequence[int]) -> Result:
    windows = find_gathered(node, sizes)
    shape = node.fit(windows.outside)
    if 0 in shape:
        return make_uniform(shape, node.dtype())
    fixed = [windows.shape[axis] if axis in windows.mapped or axis in windows.batching else size for axis, size in enumerate(windows.sizes)]
    operand = slice_operand(node, node.operand(0), [0] * len(fixed), fixed)
    merged = [axis for axis, size in enumerate(windows.sizes) if size < fixed[axis]]
    if not merged:
        return broadcast(node, node.reshape(operand, [windows.sizes[axis] for axis in windows.kept]), windows.offsets, shape)
    places = _find_places(node, windows, merged)
    # The dimensions that are left, with those that become one next to each other.
    order = sorted({*windows.kept, *merged})
    first = order.index(merged[0])
    if order[first : first + len(merged)] != merged:
        operand = node.reshape(operand, [fixed[axis] for axis in order])
        moved = [*merged, *(axis for axis in order if axis not in merged)]
        operand = node.transpose(operand, [order.index(axis) for axis in moved])
        order, first = moved, 0
    before, behind = order[:first], order[first + len(merged) :]
    operand = node.reshape(
        operand, [*(fixed[axis] for axis in before), product([fixed[axis] for axis in merged]), *(fixed[axis] for axis in behind)]
    )
    found = node.builder.gather(operand, places, axis=first)
    # The dimensions of what was gathered: those of the batch count from -1 down.
    batch = [-1 - place for place in range(len(windows.batch))]
    labels = [*before, *batch, *(axis for axis in merged if axis not in windows.dropped), *behind]
    kept, rest = iter(windows.kept), iter(batch)
    wanted = [next(kept if axis in windows.offsets else rest) for axis in range(len(shape))]
    return node.transpose(found, [labels.index(label) for label in wanted])


def _find_places(node: Node, windows: Windows, merged: Sequence[int]) -> MLOperand:
    """Return the places to gather from along the dimensions that are made one: [batch..., window...]."""
    index = node.value(1)
    parts = [part for part, axis in enumerate(windows.mapped) if axis in merged]
    known = np.zeros([1] * len(windows.batch) + [len(windows.mapped)], np.int64) if not parts else None
    if index.array is not None:
        known = windows.vectors(index.array).clip(0, windows.limits)
    if known is not None:
        return node.constant(windows.known_places(node, known, merged).astype(np.int32))
    vectors = find_parts(node, windows, node.operand(1), parts)
    if len(merged) == 1 and windows.sizes[merged[0]] == 1 and vectors.descriptor.dataType != "uint64":
        # gather clamps indices that are too large itself.
        if vectors.descriptor.dataType != "uint32":
            vectors = node.builder.max(vectors, node.scalar(0, vectors))
        return node.reshape(vectors, [*windows.batch, *[1 for axis in merged if axis not in windows.dropped]])
    limits = [windows.limits[part] for part in parts]
    starts = limit_index(node, vectors, limits if len(limits) > 1 else limits[0])
    return add_places(node, windows, starts, parts, merged)


RULES: Mapping[str, Rule] = {"stablehlo.dynamic_gather": _dynamic_gather, "stablehlo.gather": _gather}
