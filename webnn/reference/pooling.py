"""Pooling operations: `#api-mlgraphbuilder-pool2d`.

Size of each spatial output dimension, unless `outputSizes` gives it (rounded as `roundingType` says):

    1 + (input - ((window - 1) * dilation + 1) + beginning padding + ending padding) / stride

A window takes elements of the input only: its positions in the padding, and beyond it, do not count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypedDict, Unpack

import numpy as np

from webnn.reference.numbers import Array, Operation, is_float, named, wide
from webnn.validation.conv import conv_output_size
from webnn.validation.descriptor import extreme
from webnn.validation.windows import pooling_axes

__all__ = ["OPERATIONS"]

#: From the results so far of all windows, [batches, channels, height, width], and something about each window to new results.
Fold = Callable[[Array, Array], Any]


class Pool2dOptions(TypedDict, total=False):
    """`MLPool2dOptions`; the defaults are those of `_pool`."""

    windowDimensions: list[int]
    padding: list[int]
    strides: list[int]
    dilations: list[int]
    layout: str
    roundingType: str
    outputSizes: list[int]


def averagePool2d(input: Array, **options: Unpack[Pool2dOptions]) -> Array:
    """Compute the mean of the window's elements; NaN if it holds none."""
    return _pool(input, np.add, 0.0, **options, finish=lambda total, count: total / count)


def l2Pool2d(input: Array, **options: Unpack[Pool2dOptions]) -> Array:
    """Compute the square root of the sum of the squares of the window's elements."""
    return _pool(input, lambda total, x: total + x * x, 0.0, **options, finish=lambda total, _: np.sqrt(total))


def maxPool2d(input: Array, **options: Unpack[Pool2dOptions]) -> Array:
    """Select the maximum of the window's elements, exact for every type.

    A window with a NaN gives NaN, which means "unspecified" here (docs/numerics.md). A window without
    elements gives the type's lowest value (-inf for floats).
    """
    lowest = extreme(input.dtype.name, largest=False)
    return _pool(input, np.maximum, lowest, **options, finish=lambda greatest, _: greatest)


def _pool(input: Array, fold: Fold, neutral: float, *, finish: Fold, **options: Any) -> Array:
    """Fold the elements of each window: one position in the window after the other, for all windows at once.

    The neutral number is the first result, and in the padding. ``finish`` gets the last result and the number of elements of each window.
    """
    layout, round_up = options.get("layout", "nchw"), options.get("roundingType", "floor") == "ceil"
    x = wide(input) if is_float(input) else input
    if layout == "nhwc":
        x = x.transpose(0, 3, 1, 2)
    *_, height, width = x.shape
    window = options.get("windowDimensions") or [height, width]
    pads = options.get("padding") or [0, 0, 0, 0]
    stride, dilation = (options.get(name) or [1, 1] for name in ("strides", "dilations"))
    sizes = options.get("outputSizes") or [
        conv_output_size(x.shape[2 + d], window[d], tuple(pads[2 * d : 2 * d + 2]), stride[d], dilation[d])[round_up] for d in (0, 1)
    ]
    axes = pooling_axes("nchw", x.shape, [*x.shape[:2], *sizes], window, pads, stride, dilation)
    # Windows may reach beyond the padding: where sizes are rounded up, or given.
    around = [(axis.begin, axis.end) for axis in axes]
    present = np.pad(np.ones([height, width], dtype=np.int64), around)
    x = np.pad(x, [(0, 0), (0, 0), *around], constant_values=neutral)
    output = np.full([*x.shape[:2], *sizes], neutral, dtype=x.dtype)
    count = np.zeros(sizes, dtype=np.int64)
    for r, s in np.ndindex(*window):
        start = r * dilation[0], s * dilation[1]
        rows, columns = (slice(start[d], start[d] + (sizes[d] - 1) * stride[d] + 1, stride[d]) for d in (0, 1))
        output = fold(output, x[..., rows, columns])
        count += present[rows, columns]
    output = finish(output, count)
    if layout == "nhwc":
        output = output.transpose(0, 2, 3, 1)
    return np.asarray(output, input.dtype)


OPERATIONS: Mapping[str, Operation] = named(averagePool2d, l2Pool2d, maxPool2d)
