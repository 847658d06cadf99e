"""Where the elements of a resized dimension lie in the original one, and what each original element counts for them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from webnn.importing.values import Array

__all__ = ["Rounding", "Sampling", "Taps", "cubic", "half_pixel", "linear"]

#: How a position between two elements is rounded: halves down, halves up, always down, always up.
Rounding: TypeAlias = Literal["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]


@dataclass(frozen=True)
class Sampling:
    """Positions in a dimension, one for each element of the resized one: `first` + index * `step`. The first one may lie outside.

    The step is exact, so that no rounding decides between two elements that are equally near.
    """

    size: int
    count: int
    step: Fraction
    first: Fraction

    @cached_property
    def _positions(self) -> tuple[Array, Array, int]:
        """The elements below the positions, and the distances from them, in units of 1 / the last number."""
        unit = math.lcm(self.step.denominator, self.first.denominator)
        step, first = int(self.step * unit), int(self.first * unit)
        fits = abs(step) * self.count + abs(first) + self.size * unit < 1 << 62
        numerators = np.arange(self.count, dtype=np.int64 if fits else object) * step + first
        below = numerators // unit
        return below.astype(np.int64), numerators - below * unit, unit

    @property
    def is_identity(self) -> bool:
        """Each position is that of the element with the same index."""
        return self.count == self.size and self.first == 0 and (self.step == 1 or self.count == 1)

    @property
    def outside(self) -> Array:
        """Which positions lie outside of the dimension."""
        below, rest, _ = self._positions
        found: Array = (below < 0) | (below + (rest > 0) > self.size - 1)
        return found.astype(np.bool_)

    def same_line(self, other: Sampling) -> bool:
        """Tell whether interpolation between the nearest two elements gives the same with other positions."""
        if self.size == 1:
            return True
        return self.first == other.first and (self.step == other.step or self.count == 1)

    def nearest(self, rounding: Rounding) -> Array:
        """Return the index of the element at each position."""
        below, rest, unit = self._positions
        if rounding == "floor":
            above = rest < 0
        elif rounding == "ceil":
            above = rest > 0
        else:
            above = 2 * rest > unit if rounding == "round_prefer_floor" else 2 * rest >= unit
        found: Array = np.clip(below + above.astype(np.int64), 0, self.size - 1)
        return found

    @property
    def has_ties(self) -> bool:
        """A position lies in the middle between two elements."""
        below, rest, unit = self._positions
        return bool(np.any((2 * rest == unit) & (below >= 0) & (below < self.size - 1)))

    def taps(self, kernel: Callable[[Array], Array], radius: int, stretch: float, *, exclude: bool) -> Taps:
        """Return the elements around each position, with their weights: of a kernel that is 0 from a radius on, by stretched distances.

        With ``exclude``, elements outside do not count; otherwise the nearest one inside counts for them.
        """
        below, rest, unit = self._positions
        reach = math.ceil(radius * stretch)
        offsets = np.arange(1 - reach, reach + 1)[:, None]
        share = (rest / unit).astype(np.float64)
        weights = kernel(np.abs(offsets - share) / stretch)
        indices = below + offsets
        if exclude:
            weights = weights * ((indices >= 0) & (indices < self.size))
        return Taps(self.size, np.clip(indices, 0, self.size - 1), weights / weights.sum(axis=0))


def half_pixel(size: int, count: int) -> Sampling:
    """Return the positions of `resample2d`: both dimensions cover the same length, and the positions are the centres of elements."""
    step = Fraction(size, count)
    return Sampling(size, count, step, (step - 1) / 2)


@dataclass(frozen=True, slots=True)
class Taps:
    """Elements of a dimension and their weights: arrays of [elements of a position, positions]."""

    size: int
    indices: Array
    weights: Array

    def matrix(self) -> Array:
        """Return the weights as a matrix: [positions, size]."""
        matrix = np.zeros((self.indices.shape[1], self.size))
        np.add.at(matrix, (np.arange(self.indices.shape[1])[None, :], self.indices), self.weights)
        return matrix


def linear(distance: Array) -> Array:
    """Return the weights of linear interpolation."""
    weights: Array = np.maximum(0, 1 - distance)
    return weights


def cubic(a: float) -> Callable[[Array], Array]:
    """Return the kernel of cubic interpolation with a coefficient."""

    def kernel(distance: Array) -> Array:
        inner = ((a + 2) * distance - (a + 3)) * distance**2 + 1
        outer = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
        return np.where(distance <= 1, inner, np.where(distance < 2, outer, 0.0))

    return kernel
