"""The places of elements that operations read: indices, samples, and padding that repeats elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

__all__ = ["PAD_MODES", "clamp_indices", "find_padding", "find_positions", "find_samples"]

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
#: NumPy's names of the padding modes that repeat elements, by those of WebNN and ONNX. Padding larger than the axis repeats again.
PAD_MODES: Mapping[str, Any] = MappingProxyType(
    {"reflection": "reflect", **{name: name for name in ("edge", "reflect", "symmetric", "wrap")}}
)


def clamp_indices(indices: Array, sizes: int | Sequence[int]) -> Array:
    """Return indices clamped to -N .. N - 1 as int64; N is one size, or the size for each element of the last dimension."""
    limits = np.array(sizes, np.int64)
    return np.asarray(np.clip(indices.astype(np.int64), -limits, limits - 1)).reshape(indices.shape)


def find_positions(indices: Array, sizes: int | Sequence[int]) -> Array:
    """Return the positions of indices: each is clamped as by `clamp_indices`, then a negative one counts from the end."""
    clamped = clamp_indices(indices, sizes)
    return np.where(clamped < 0, clamped + np.array(sizes, np.int64), clamped)


def find_padding(before: int, size: int, after: int, mode: str) -> Array:
    """Return the index of the element at each place of a padded axis."""
    return np.pad(np.arange(size, dtype=np.int64), (before, after), PAD_MODES[mode])


def find_samples(size: int, count: int, scale: Fraction) -> tuple[Array, Array, int]:
    """Return for each position of a resampled axis the element below and the sample's distance from it, in units of 1 / the last result.

    Output position i samples the input at (i + 1/2) / scale - 1/2, clamped to the input.
    """
    # Integers of 64 bits suffice: numerator and denominator of a float32 times the length of a table fit.
    whole = 2 * scale.numerator
    position = (2 * np.arange(count, dtype=np.int64) + 1) * scale.denominator - scale.numerator
    position = np.clip(position, 0, (size - 1) * whole)
    below = position // whole
    return below, position - below * whole, whole
