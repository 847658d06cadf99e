"""Tensors reversed and repeated: `#api-mlgraphbuilder-reverse-method`, `#api-mlgraphbuilder-tile`.

Elements are copied, bit for bit.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from webnn.reference.numbers import Array, Operation, axes_or, named

__all__ = ["OPERATIONS"]


def reverse(input: Array, *, axes: list[int] | None = None) -> Array:
    """Reverse the order along the axes, all of them by default."""
    reversed: Array = np.flip(input, tuple(axes_or(axes, range(input.ndim)))).copy()
    return reversed


def tile(input: Array, repetitions: list[int]) -> Array:
    """Put copies of the input beside each other along each axis."""
    for axis, count in enumerate(repetitions):
        input = np.concatenate([input] * count, axis) if count else input.take([], axis)
    return input.copy()


OPERATIONS: Mapping[str, Operation] = named(reverse, tile)
