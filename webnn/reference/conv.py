"""Convolutions: `#api-mlgraphbuilder-conv2d` and `#api-mlgraphbuilder-convtranspose2d`.

`padding` is [beginning height, ending height, beginning width, ending width]; strides, dilations and output
sizes are [height, width]. Each position of the filter is one matrix product over the channels of a group, for all places at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

import numpy as np

from webnn.reference.numbers import Array, Operation, Wide, named, typed, wide
from webnn.validation.conv import conv_output_size, conv_transpose_output_size

__all__ = ["OPERATIONS"]

#: Adds the product of two matrices to a total.
Accumulate: TypeAlias = Callable[[Wide, Wide, Wide], Wide]


def _accumulate(total: Wide, a: Wide, b: Wide) -> Wide:
    return total + a @ b


def conv2d(
    input: Array,
    filter: Array,
    *,
    padding: list[int] | None = None,
    strides: list[int] | None = None,
    dilations: list[int] | None = None,
    groups: int = 1,
    inputLayout: str = "nchw",
    filterLayout: str = "oihw",
    bias: Array | None = None,
    accumulate: Accumulate = _accumulate,
) -> Array:
    """Slide the filter over the input padded with zeros.

    y[n, o, p, q] = bias[o] + sum over i, r, s of
                    x[n, i, p * stride + r * dilation, q * stride + s * dilation] * w[o, i, r, s]

    with i over the input channels of o's group. Each output dimension has the size
    floor(1 + (input - ((filter - 1) * dilation + 1) + beginning padding + ending padding) / stride).
    """
    top, bottom, left, right = padding or [0, 0, 0, 0]
    stride = strides or [1, 1]
    dilation = dilations or [1, 1]
    x = _to(wide(input), inputLayout, "nchw")
    if top or bottom or left or right:
        x = np.pad(x, [(0, 0), (0, 0), (top, bottom), (left, right)])
    w = _to(wide(filter), filterLayout, "oihw")
    sizes = [conv_output_size(x.shape[2 + d], w.shape[2 + d], (), stride[d], dilation[d])[0] for d in (0, 1)]
    # [batches, groups, channels of a group, ...] and [groups, output channels of a group, input channels, ...]
    x = x.reshape(x.shape[0], groups, x.shape[1] // groups, *x.shape[2:])
    w = w.reshape(groups, w.shape[0] // groups, *w.shape[1:])
    output = np.zeros([x.shape[0], *w.shape[:2], sizes[0] * sizes[1]])
    for factor, rows, columns in _taps(w, sizes, stride, dilation):
        output = accumulate(output, factor, x[..., rows, columns].reshape(*x.shape[:3], sizes[0] * sizes[1]))
    return typed(_to(_biased(output.reshape(x.shape[0], groups * w.shape[1], *sizes), bias), "nchw", inputLayout), input.dtype)


def convTranspose2d(
    input: Array,
    filter: Array,
    *,
    padding: list[int] | None = None,
    strides: list[int] | None = None,
    dilations: list[int] | None = None,
    outputPadding: list[int] | None = None,
    outputSizes: list[int] | None = None,
    groups: int = 1,
    inputLayout: str = "nchw",
    filterLayout: str = "iohw",
    bias: Array | None = None,
    accumulate: Accumulate = _accumulate,
) -> Array:
    """Add the filter, times each input element, to the output at that element's place.

    y[n, o, p * stride + r * dilation - top, q * stride + s * dilation - left] += x[n, i, p, q] * w[i, o, r, s]

    with i over the input channels of o's group and top, left the beginning padding; what falls outside the
    output is dropped; then the bias is added. Each output dimension has the size given by `outputSizes`, or
    (input - 1) * stride + (filter - 1) * dilation + 1 - beginning padding - ending padding + outputPadding.
    """
    top, bottom, left, right = padding or [0, 0, 0, 0]
    stride = strides or [1, 1]
    dilation = dilations or [1, 1]
    extra = outputPadding or [0, 0]
    x = _to(wide(input), inputLayout, "nchw")
    w = _to(wide(filter), filterLayout, "iohw")
    places = x.shape[2:]
    full = [conv_transpose_output_size(places[d], w.shape[2 + d], (), stride[d], dilation[d]) for d in (0, 1)]
    sizes = outputSizes or [full[0] - top - bottom + extra[0], full[1] - left - right + extra[1]]
    # [batches, groups, channels of a group, places] and [groups, output channels of a group, input channels, ...]
    x = x.reshape(x.shape[0], groups, x.shape[1] // groups, places[0] * places[1])
    w = w.reshape(groups, w.shape[0] // groups, *w.shape[1:]).swapaxes(1, 2)
    # The canvas holds every product, and the whole output from (top, left) on.
    canvas = np.zeros([x.shape[0], *w.shape[:2], max(full[0], top + sizes[0]), max(full[1], left + sizes[1])])
    for factor, rows, columns in _taps(w, places, stride, dilation):
        there = canvas[..., rows, columns]
        before = there.reshape(*there.shape[:3], there.shape[3] * there.shape[4])
        canvas[..., rows, columns] = accumulate(before, factor, x).reshape(there.shape)
    output = canvas[..., top : top + sizes[0], left : left + sizes[1]]
    return typed(_to(_biased(output.reshape(x.shape[0], groups * w.shape[1], *sizes), bias), "nchw", inputLayout), input.dtype)


def _taps(w: Wide, places: tuple[int, ...] | list[int], stride: list[int], dilation: list[int]) -> Iterator[tuple[Wide, slice, slice]]:
    """Yield the matrices at the positions in the filter, [..., height, width], with the rows and columns that they meet at the places."""
    # NumPy multiplies matrices fast only if their elements lie side by side.
    matrices = np.ascontiguousarray(np.moveaxis(w, (-2, -1), (0, 1)))
    for r, s in np.ndindex(w.shape[-2:]):
        start = r * dilation[0], s * dilation[1]
        rows, columns = (slice(start[d], start[d] + (places[d] - 1) * stride[d] + 1, stride[d]) for d in (0, 1))
        yield matrices[r, s], rows, columns


def _to(x: Wide, layout: str, wanted: str) -> Wide:
    """Permute the dimensions, each named by a letter, from one layout to another."""
    return x.transpose([layout.index(letter) for letter in wanted])


def _biased(y: Wide, bias: Array | None) -> Wide:
    return y if bias is None else y + wide(bias).reshape(1, -1, 1, 1)


OPERATIONS: Mapping[str, Operation] = named(conv2d, convTranspose2d)
