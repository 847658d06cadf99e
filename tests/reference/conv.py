"""Convolutions: `#api-mlgraphbuilder-conv2d` and `#api-mlgraphbuilder-convtranspose2d`.

`padding` is [beginning height, ending height, beginning width, ending width]; strides, dilations and output
sizes are [height, width].
"""

from __future__ import annotations

import numpy as np

from ._numbers import Array, Wide, typed, wide


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
    x = np.pad(_to(wide(input), inputLayout, "nchw"), [(0, 0), (0, 0), (top, bottom), (left, right)])
    w = _to(wide(filter), filterLayout, "oihw")
    span = [(w.shape[2] - 1) * dilation[0] + 1, (w.shape[3] - 1) * dilation[1] + 1]
    sizes = [(x.shape[2 + d] - span[d]) // stride[d] + 1 for d in (0, 1)]
    output = np.empty([x.shape[0], w.shape[0], *sizes])
    for x_group, w_group, y_group in zip(
        np.split(x, groups, axis=1),
        np.split(w, groups, axis=0),
        np.split(output, groups, axis=1),
        strict=True,
    ):
        for p in range(sizes[0]):
            rows = slice(p * stride[0], p * stride[0] + span[0], dilation[0])
            for q in range(sizes[1]):
                columns = slice(q * stride[1], q * stride[1] + span[1], dilation[1])
                y_group[:, :, p, q] = np.einsum("nirs,oirs->no", x_group[:, :, rows, columns], w_group)
    return typed(_to(_biased(output, bias), "nchw", inputLayout), input.dtype)


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
    span = [(w.shape[2] - 1) * dilation[0] + 1, (w.shape[3] - 1) * dilation[1] + 1]
    full = [(x.shape[2 + d] - 1) * stride[d] + span[d] for d in (0, 1)]
    sizes = outputSizes or [full[0] - top - bottom + extra[0], full[1] - left - right + extra[1]]
    # The canvas holds every product, and the whole output from (top, left) on.
    canvas = np.zeros([x.shape[0], w.shape[1] * groups, max(full[0], top + sizes[0]), max(full[1], left + sizes[1])])
    for x_group, w_group, y_group in zip(
        np.split(x, groups, axis=1),
        np.split(w, groups, axis=0),
        np.split(canvas, groups, axis=1),
        strict=True,
    ):
        for p in range(x.shape[2]):
            rows = slice(p * stride[0], p * stride[0] + span[0], dilation[0])
            for q in range(x.shape[3]):
                columns = slice(q * stride[1], q * stride[1] + span[1], dilation[1])
                y_group[:, :, rows, columns] += np.einsum("ni,iors->nors", x_group[:, :, p, q], w_group)
    output = canvas[:, :, top : top + sizes[0], left : left + sizes[1]]
    return typed(_to(_biased(output, bias), "nchw", inputLayout), input.dtype)


def _to(x: Wide, layout: str, wanted: str) -> Wide:
    """Permute the dimensions, each named by a letter, from one layout to another."""
    return x.transpose([layout.index(letter) for letter in wanted])


def _biased(y: Wide, bias: Array | None) -> Wide:
    return y if bias is None else y + wide(bias).reshape(1, -1, 1, 1)
