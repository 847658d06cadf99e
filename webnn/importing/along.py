"""Elements at computed positions along a dimension.

Chromium 153 refuses `gatherElements` and `scatterElements` on TFLite if the indices are computed. It takes `gather` and `scatterND`.
"""

from __future__ import annotations

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.importing.steps import Steps, product

__all__ = ["invert_order", "put", "take_along"]


def take_along(steps: Steps, operand: MLOperand, positions: MLOperand, axis: int) -> MLOperand:
    """Return what gatherElements returns, for positions in range, int32, whose other dimensions are those of the operand."""
    shape = positions.descriptor.dimensions
    wide = (product(shape[:axis]), operand.descriptor.dimensions[axis], product(shape[axis + 1 :]))
    places = _find_places(steps, steps.reshape(positions, [wide[0], shape[axis], wide[2]]), wide)
    found = steps.builder.gather(steps.reshape(operand, [product(wide)]), steps.reshape(places, [product(shape)]), axis=0)
    return steps.reshape(found, shape)


def invert_order(steps: Steps, ranks: MLOperand, positions: MLOperand) -> MLOperand:
    """Return where each element goes: [before, n, behind], int32, of ranks that differ along n. ``positions`` count along n."""
    before, size, behind = wide = ranks.descriptor.dimensions
    flat = [product(wide)]
    positions = steps.reshape(steps.builder.expand(positions, [before, size, behind]), flat)
    places = _find_places(steps, ranks, (before, size, behind))
    return steps.reshape(put(steps, positions, steps.reshape(places, flat), positions), wide)


def put(steps: Steps, operand: MLOperand, positions: MLOperand, updates: MLOperand) -> MLOperand:
    """Return what scatterElements returns, for operands with one dimension."""
    (count,) = positions.descriptor.dimensions
    return steps.builder.scatterND(operand, steps.reshape(positions, [count, 1]), updates)


def _find_places(steps: Steps, positions: MLOperand, shape: tuple[int, int, int]) -> MLOperand:
    """Return the places of elements among all: their positions along the middle dimension are [before, count, behind]."""
    builder, (before, size, behind) = steps.builder, shape
    if behind > 1:
        positions = builder.mul(positions, steps.scalar(behind, positions))
    offsets = np.arange(before).reshape(-1, 1, 1) * (size * behind) + np.arange(behind)
    return positions if offsets.size == 1 else builder.add(positions, steps.constant(offsets.astype(np.int32)))
