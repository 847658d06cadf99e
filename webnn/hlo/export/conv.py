"""Convolutions. Layouts are dimension numbers: nothing is transposed but the filters of transposed convolutions in groups."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from webnn.hlo.attributes import ConvDimensionNumbers
from webnn.hlo.export.emitter import Emitter, Tensor
from webnn.hlo.export.matmul import PRECISION
from webnn.hlo.export.rule import Op, RuleError, wide
from webnn.validation.conv import input_sizes

__all__ = ["RULES"]


def _convolution(
    e: Emitter, op: Op, filter: Tensor, layout: str, *, strides: Sequence[int], padding: Sequence[tuple[int, int]], spread: Sequence[int]
) -> Tensor:
    """Append a convolution with the options that both operations share, and the sum with the bias.

    The layout has the letters "o", "i", "h" and "w"; outputs of groups follow each other. The padding may be negative.
    """
    options, shape = op.options, op.outputs[0].dimensions
    batch, channel, height, width = [options.inputLayout.index(letter) for letter in "nchw"]
    numbers = ConvDimensionNumbers(
        input_batch_dimension=batch,
        input_feature_dimension=channel,
        input_spatial_dimensions=(height, width),
        kernel_input_feature_dimension=layout.index("i"),
        kernel_output_feature_dimension=layout.index("o"),
        kernel_spatial_dimensions=(layout.index("h"), layout.index("w")),
        output_batch_dimension=batch,
        output_feature_dimension=channel,
        output_spatial_dimensions=(height, width),
    )
    attributes = {
        "window_strides": tuple(strides),
        "padding": np.array(padding, np.int64),
        "lhs_dilation": tuple(spread),
        "rhs_dilation": tuple(options.dilations or (1, 1)),
        "window_reversal": (False, False),
        "dimension_numbers": numbers,
        "feature_group_count": options.groups,
        "batch_group_count": 1,
        "precision_config": PRECISION,
    }
    result = e.op("convolution", [op["input"], filter], shape, filter.element, attributes)
    bias = op.get("bias")
    return result if bias is None else result + e.broadcast(bias, shape, [channel])


def _conv2d(e: Emitter, op: Op) -> Tensor:
    options = op.options
    top, bottom, left, right = options.padding or (0, 0, 0, 0)
    strides = options.strides or (1, 1)
    return _convolution(e, op, op["filter"], options.filterLayout, strides=strides, padding=[(top, bottom), (left, right)], spread=(1, 1))


def _conv_transpose2d(e: Emitter, op: Op) -> Tensor:
    options, filter, layout, groups = op.options, op["filter"], op.options.filterLayout, op.options.groups
    _, channels, *sizes = input_sizes(options.inputLayout, op["input"].shape)
    _, _, *outputs = input_sizes(options.inputLayout, op.outputs[0].dimensions)
    if channels % groups:
        raise RuleError(f"must have input channels that can be split into the groups, got {channels} channels and {groups} groups")
    spatial = [layout.index("h"), layout.index("w")]
    windows = [filter.shape[axis] for axis in spatial]
    strides, dilations = options.strides or (1, 1), options.dilations or (1, 1)
    begins = (options.padding or (0, 0, 0, 0))[::2]
    padding = []
    for size, output, window, stride, dilation, begin in zip(sizes, outputs, windows, strides, dilations, begins, strict=True):
        # The input is spread by the stride, and padded so that the window meets it from its first element on; the end follows.
        reach, spread = (window - 1) * dilation, (size - 1) * stride + 1
        padding.append((reach - begin, output + begin - spread))
    filter = e.reverse(filter, [axis for axis in spatial if filter.shape[axis] > 1])
    if groups > 1:
        filter, layout = _join_groups(e, filter, layout, groups), "oihw"
    return _convolution(e, op, filter, layout, strides=(1, 1), padding=padding, spread=strides)


def _join_groups(e: Emitter, filter: Tensor, layout: str, groups: int) -> Tensor:
    """Bring a filter, whose inputs are those of all groups and whose outputs those of one, to "oihw" with the outputs of all groups."""
    filter = e.transpose(filter, [layout.index(letter) for letter in "iohw"])
    inputs, outputs, *window = filter.shape
    filter = e.transpose(e.reshape(filter, [groups, inputs // groups, outputs, *window]), [0, 2, 1, 3, 4])
    return e.reshape(filter, [groups * outputs, inputs // groups, *window])


RULES = {"conv2d": wide(_conv2d), "convTranspose2d": wide(_conv_transpose2d)}
