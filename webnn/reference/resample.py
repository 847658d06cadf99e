"""Resampling."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from webnn.reference.numbers import Array, Operation, idl_float, named, typed, wide

__all__ = ["OPERATIONS", "resample2d"]


def resample2d(
    input: Array,
    *,
    mode: str = "nearest-neighbor",
    scales: list[float] | None = None,
    sizes: list[int] | None = None,
    axes: list[int] | None = None,
) -> Array:
    """Resample two dimensions: `#api-mlgraphbuilder-resample2d-method`.

    The draft leaves the sampling open; this is ONNX Resize with half-pixel centres. Output position i samples
    the input at (i + 0.5) / scale - 0.5, clamped to the input. The scale is the option's, or output size /
    input size with `sizes`. "nearest-neighbor" takes the nearest element, the lower one of two; "linear"
    interpolates between the two neighbours, along each axis in turn. Coordinates are exact fractions.

    Output sizes: `sizes`, or floor(input size * scale).
    """
    x = wide(input)
    for index, axis in enumerate(axes or [2, 3]):
        size = x.shape[axis]
        if sizes is not None:
            scale = Fraction(sizes[index], size or 1)
        else:
            scale = Fraction(1) if scales is None else Fraction(idl_float(scales[index]))
        slices = []
        for i in range(math.floor(size * scale)):
            at = min(max((i + Fraction(1, 2)) / scale - Fraction(1, 2), Fraction(0)), Fraction(size - 1))
            below = math.floor(at)
            above = min(below + 1, size - 1)
            share = _nearest(at - below) if mode == "nearest-neighbor" else float(at - below)
            slices.append(_between(x.take(below, axis), x.take(above, axis), share))
        x = np.stack(slices, axis=axis) if slices else x.take([], axis)
    return typed(x, input.dtype)


def _nearest(share: Fraction) -> float:
    """Round a fraction of 1 to 0 or 1, a half to 0."""
    return 1.0 if share > Fraction(1, 2) else 0.0


def _between(below: Any, above: Any, share: float) -> Any:
    """Interpolate; a neighbour without weight does not count, even if it is infinite or NaN."""
    if share in (0.0, 1.0):
        return above if share else below
    return (1 - share) * below + share * above


OPERATIONS: Mapping[str, Operation] = named(resample2d)
