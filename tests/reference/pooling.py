"""Pooling operations: `#api-mlgraphbuilder-pool2d`.

Size of each spatial output dimension, unless `outputSizes` gives it (rounded as `roundingType` says):

    1 + (input - ((window - 1) * dilation + 1) + beginning padding + ending padding) / stride

A window takes elements of the input only: its positions in the padding, and beyond it, do not count.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypedDict, Unpack

import numpy as np

from ._numbers import Array, is_float, wide

#: From the elements of a window, [batches, channels, elements], to [batches, channels].
Fold = Callable[[Array], Any]


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
    return _pool(lambda window: window.sum(axis=-1) / window.shape[-1], input, **options)


def l2Pool2d(input: Array, **options: Unpack[Pool2dOptions]) -> Array:
    """Compute the square root of the sum of the squares of the window's elements."""
    return _pool(lambda window: np.sqrt((window * window).sum(axis=-1)), input, **options)


def maxPool2d(input: Array, **options: Unpack[Pool2dOptions]) -> Array:
    """Select the maximum of the window's elements, exact for every type.

    A window with a NaN gives NaN, which stands for "unspecified" here (docs/numerics.md). A window without
    elements gives the type's lowest value (-inf for floats).
    """
    lowest = -math.inf if is_float(input) else np.iinfo(input.dtype).min
    return _pool(lambda window: np.maximum.reduce(window, axis=-1, initial=lowest), input, **options)


def _pool(
    fold: Fold,
    input: Array,
    *,
    windowDimensions: list[int] | None = None,
    padding: list[int] | None = None,
    strides: list[int] | None = None,
    dilations: list[int] | None = None,
    layout: str = "nchw",
    roundingType: str = "floor",
    outputSizes: list[int] | None = None,
) -> Array:
    x = wide(input) if is_float(input) else input
    if layout == "nhwc":
        x = x.transpose(0, 3, 1, 2)
    batches, channels, height, width = x.shape
    window = windowDimensions or [height, width]
    pads = padding or [0, 0, 0, 0]
    stride = strides or [1, 1]
    dilation = dilations or [1, 1]
    sizes = outputSizes or [
        _quotient(height - (window[0] - 1) * dilation[0] - 1 + pads[0] + pads[1], stride[0], roundingType) + 1,
        _quotient(width - (window[1] - 1) * dilation[1] - 1 + pads[2] + pads[3], stride[1], roundingType) + 1,
    ]
    output = np.empty([batches, channels, *sizes], dtype=x.dtype)
    for i in range(sizes[0]):
        rows = _positions(i * stride[0] - pads[0], window[0], dilation[0], height)
        for j in range(sizes[1]):
            columns = _positions(j * stride[1] - pads[2], window[1], dilation[1], width)
            output[:, :, i, j] = fold(x[:, :, rows][..., columns].reshape(batches, channels, -1))
    if layout == "nhwc":
        output = output.transpose(0, 2, 3, 1)
    return output.astype(input.dtype)


def _positions(start: int, count: int, dilation: int, size: int) -> list[int]:
    """Return the positions of a window along one dimension that lie within the input."""
    return [p for p in range(start, start + count * dilation, dilation) if 0 <= p < size]


def _quotient(span: int, stride: int, roundingType: str) -> int:
    return span // stride if roundingType == "floor" else -(-span // stride)
