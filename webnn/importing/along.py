"""Elements at computed positions along a dimension, and the coordinates of elements.

Chromium 153 refuses `gatherElements` and `scatterElements` on TFLite if the indices are computed. It takes `gather` and `scatterND`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.importing.steps import Steps, product
from webnn.importing.values import Array

__all__ = ["find_coordinates", "invert_order", "put", "take_along"]


def find_coordinates(steps: Steps, shape: Sequence[int], axes: Sequence[int]) -> Array:
    """Return the coordinates along some axes of each place of a shape: [shape..., axes], int32. Too many are refused."""
    steps.spend(np.dtype(np.int32).itemsize * product(shape) * len(axes))
    planes = [np.arange(shape[axis], dtype=np.int32).reshape([-1 if each == axis else 1 for each in range(len(shape))]) for axis in axes]
    return np.stack([np.broadcast_to(plane, shape) for plane in planes], -1)


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
    if before * behind == 1:
        return positions
    # The offsets are computed in int32, which they fit.
    steps.spend(np.dtype(np.int32).itemsize * before * behind)
    offsets = steps.positions(before).reshape(-1, 1, 1) * np.int32(size * behind) + steps.positions(behind)
    return builder.add(positions, steps.constant(offsets))
