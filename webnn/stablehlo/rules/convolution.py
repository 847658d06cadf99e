"""Convolutions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from webnn.importing.products import largest, multiply_matrices
from webnn.importing.steps import Result
from webnn.importing.values import Refused, Value, carrier, make_uniform
from webnn.importing.windows import Window, roll, unroll
from webnn.stablehlo.convolving import Convolution, Labelled, Labels, read_convolution
from webnn.stablehlo.node import Node
from webnn.stablehlo.rules import Rule
from webnn.stablehlo.tensors import convert, cut, join, permute, reshape, tell, wrap
from webnn.stablehlo.windows import pad_windows

__all__ = ["RULES"]

#: The layouts of conv2d, by what the dimensions mean.
_INPUTS: Mapping[Labels, str] = {("b", "f", 0, 1): "nchw", ("b", 0, 1, "f"): "nhwc"}
_KERNELS: Mapping[Labels, str] = {("o", "i", 0, 1): "oihw", (0, 1, "i", "o"): "hwio", ("o", 0, 1, "i"): "ohwi", ("i", 0, 1, "o"): "ihwo"}
#: The layouts of convTranspose2d, whose kernel takes the result of the convolution.
_TRANSPOSED: Mapping[Labels, str] = {("i", "o", 0, 1): "iohw", (0, 1, "o", "i"): "hwoi", ("o", 0, 1, "i"): "ohwi"}
#: The most elements of a kernel of integers, and the largest first dimension of a kernel of three dimensions.
_MOST_PARTS = 1024


def _convolution(node: Node) -> Result:
    """Map to conv2d, in the layout that the operands have if that is one of WebNN's; one that dilates its input to convTranspose2d.

    Fewer than two spatial dimensions get others of size 1. Of more, the first ones are unrolled (`webnn.importing.windows`). Groups of
    batches become groups of features. Integers whose sums are exact in float32 are computed in that, others as a matrix product.
    `stablehlo#convolution`.
    """
    return _convolve(node, read_convolution(node))


def _dynamic_conv(node: Node) -> Result:
    """Map as a convolution whose padding is known. `stablehlo#dynamic_conv`."""
    node.expect(3)
    count = node.value(0).rank - 2
    if node.value(2).shape != (count, 2):
        raise Refused(f"the padding must have the shape {[count, 2]}, got {list(node.value(2).shape)}")
    numbers = node.known_integers(2, "the padding")
    return _convolve(node, read_convolution(node, list(zip(numbers[::2], numbers[1::2], strict=True))))


def _convolve(node: Node, convolution: Convolution) -> Result:
    input, kernel = convolution.input, convolution.kernel
    dtype = node.dtype()
    if 0 in node.shape() or not input.value.size or not kernel.value.size:
        return make_uniform(node.shape(), dtype)
    if dtype.kind == "f":
        names = {carrier(each) for each in (dtype, input.value.dtype, kernel.value.dtype)}
        found = _convolve_floats(node, _convert(node, convolution, np.dtype(np.float32 if names != {"float16"} else np.float16)))
    else:
        count = kernel.value.size // kernel.size("o")
        if dtype != np.bool_ and count * largest(input.value.dtype) * largest(kernel.value.dtype) <= 1 << 24:
            found = _convolve_floats(node, _convert(node, convolution, np.dtype(np.float32)))
            wide = np.dtype(np.int64 if dtype.itemsize == 8 else np.int32)
            found = replace(found, value=tell(node.builder.cast(node.operand_of(found.value), carrier(wide)), wide, found.value))
        else:
            found = _convolve_integers(node, convolution.flip(node), dtype)
    # Dimensions that were added have size 1.
    kept = [label for label in found.labels if label in convolution.output]
    narrow = Labelled(reshape(node, found.value, [found.size(label) for label in kept]), tuple(kept))
    return node.operand_of(narrow.arrange(node, convolution.output).value)


def _convert(node: Node, convolution: Convolution, dtype: np.dtype[Any]) -> Convolution:
    input, kernel = (replace(each, value=convert(node, each.value, dtype)) for each in (convolution.input, convolution.kernel))
    return replace(convolution, input=input, kernel=kernel)


def _zero(convolution: Convolution) -> Value:
    return Value.known(np.zeros((), convolution.input.value.dtype))


def _convolve_floats(node: Node, convolution: Convolution) -> Labelled:
    """Return a convolution of floating-point numbers."""
    if len(convolution.windows) > 2:
        return _unroll(node, convolution.flip(node))
    convolution = convolution.with_spatial(node, 2)
    if any(window.base > 1 for window in convolution.windows):
        found = _transpose(node, convolution)
        if found is not None:
            return found
    input, convolution = _arrange_input(node, convolution.flip(node))
    kernel = convolution.kernel
    if kernel.labels not in _KERNELS:
        kernel = kernel.arrange(node, ("o", "i", 0, 1))
    options: dict[str, Any] = {
        "padding": [number for window in convolution.windows for number in (window.low, window.high)],
        "strides": [window.stride for window in convolution.windows],
        "dilations": [window.dilation for window in convolution.windows],
        "groups": convolution.groups,
    }
    operand = node.builder.conv2d(
        node.operand_of(input.value),
        node.operand_of(kernel.value),
        inputLayout=_INPUTS[input.labels],  # type: ignore[arg-type]
        filterLayout=_KERNELS[kernel.labels],  # type: ignore[arg-type]
        **options,
    )
    return Labelled(tell(operand, input.value.dtype, input.value, kernel.value), input.labels)


def _layout(input: Labelled, output: Labels) -> Labels:
    """Return the layout to compute in: that of the input, or else that of the result."""
    for labels in (input.labels, output):
        if labels in _INPUTS:
            return labels
    return ("b", "f", 0, 1)


def _arrange_input(node: Node, convolution: Convolution) -> tuple[Labelled, Convolution]:
    """Bring the input into a layout of WebNN's, with elements put between its own, and without those that negative padding cuts off."""
    input = convolution.input.arrange(node, _layout(convolution.input, convolution.output))
    apart: list[Window] = []
    left: list[Window] = []
    for window in convolution.windows:
        if window.base > 1 or min(window.low, window.high) < 0:
            apart.append(window)
            left.append(replace(window, size=window.padded, base=1, low=0, high=0))
        else:
            apart.append(Window(size=window.size, count=1))
            left.append(window)
    spread = [apart[label] if isinstance(label, int) else Window(size=input.size(label), count=1) for label in input.labels]
    value = pad_windows(node, input.value, _zero(convolution), spread)
    return Labelled(value, input.labels), replace(convolution, windows=left)


def _transpose(node: Node, convolution: Convolution) -> Labelled | None:
    """Map a convolution that dilates its input to convTranspose2d; None if the padding is not one of that."""
    begins = [window.reach - 1 - window.low for window in convolution.windows]
    ends = [window.reach - 1 - window.high for window in convolution.windows]
    if any(
        window.stride > 1 or min(begin, end + window.base - 1) < 0
        for window, begin, end in zip(convolution.windows, begins, ends, strict=True)
    ):
        return None
    input = convolution.input.arrange(node, _layout(convolution.input, convolution.output))
    kernel = convolution.flip(node, (0, 1)).kernel
    groups = convolution.groups
    if groups > 1:
        kernel = kernel.arrange(node, ("o", "i", 0, 1))
        outer, inner, height, width = kernel.value.shape
        apart = permute(node, reshape(node, kernel.value, [groups, outer // groups, inner, height, width]), [0, 2, 1, 3, 4])
        kernel = Labelled(reshape(node, apart, [groups * inner, outer // groups, height, width]), ("i", "o", 0, 1))
    elif kernel.labels not in _TRANSPOSED:
        kernel = kernel.arrange(node, ("i", "o", 0, 1))
    operand = node.builder.convTranspose2d(
        node.operand_of(input.value),
        node.operand_of(kernel.value),
        padding=[number for begin, end in zip(begins, ends, strict=True) for number in (begin, max(end, 0))],
        strides=[window.base for window in convolution.windows],
        dilations=[window.dilation for window in convolution.windows],
        outputPadding=[max(-end, 0) for end in ends],
        groups=groups,
        inputLayout=_INPUTS[input.labels],  # type: ignore[arg-type]
        filterLayout=_TRANSPOSED[kernel.labels],  # type: ignore[arg-type]
    )
    return Labelled(tell(operand, input.value.dtype, input.value, kernel.value), input.labels)


def _unroll(node: Node, convolution: Convolution) -> Labelled:
    """Unroll the first spatial dimension, and convolve over the others."""
    window, rest = convolution.windows[0], convolution.windows[1:]
    if window.count > _MOST_PARTS:
        raise Refused(f"the first dimension of a kernel of {len(rest) + 1} dimensions must be at most {_MOST_PARTS}, got {window.count}")
    spatial, fewer = tuple(range(len(rest) + 1)), tuple(range(len(rest)))
    input = convolution.input.arrange(node, ("b", "f", *spatial)).value
    kernel = convolution.kernel.arrange(node, ("o", 0, "i", *spatial[1:])).value
    outer, count, inner, *sizes = kernel.shape
    labels: Labels = ("b", "f", *fewer)
    smaller = Convolution(
        Labelled(wrap(unroll(node, node.operand_of(input), window, convolution.groups), input), labels),
        Labelled(reshape(node, kernel, [outer, count * inner, *sizes]), ("o", "i", *fewer)),
        rest,
        convolution.groups,
        labels,
    )
    found = _convolve_floats(node, smaller).value
    return Labelled(wrap(roll(node, node.operand_of(found), window.places), found), ("b", "f", *spatial))


def _convolve_integers(node: Node, convolution: Convolution, dtype: np.dtype[Any]) -> Labelled:
    """Return a convolution as a product of matrices: the windows of the input beside each other, and the kernel."""
    spatial = tuple(range(len(convolution.windows)))
    input = convolution.input.arrange(node, ("b", "f", *spatial))
    kernel = convolution.kernel.arrange(node, ("o", "i", *spatial))
    batches, features, *_ = input.value.shape
    outer, inner, *counts = kernel.value.shape
    groups, places = convolution.groups, convolution.places
    if math.prod(counts) > _MOST_PARTS:
        raise Refused(f"a kernel of integers must have at most {_MOST_PARTS} elements for each pair of features, got {math.prod(counts)}")
    whole = [Window(size=size, count=1) for size in (batches, features)]
    value = pad_windows(node, input.value, _zero(convolution), [*whole, *convolution.windows])
    parts: list[Value] = []
    for offsets in itertools.product(*map(range, counts)):
        starts = [offset * window.dilation for offset, window in zip(offsets, convolution.windows, strict=True)]
        strides = [window.stride for window in convolution.windows]
        part = cut(node, value, [0, 0, *starts], [batches, features, *places], [1, 1, *strides])
        parts.append(reshape(node, part, [batches, groups, inner, 1, math.prod(places)]))
    patches = reshape(node, join(node, parts, 3), [batches, groups, inner * len(parts), math.prod(places)])
    weights = reshape(node, kernel.value, [1, groups, outer // groups, inner * len(parts)])
    found = tell(multiply_matrices(node, weights, patches, dtype), dtype, input.value, kernel.value)
    return Labelled(reshape(node, found, [batches, outer, *places]), ("b", "f", *spatial))


RULES: Mapping[str, Rule] = {"stablehlo.convolution": _convolution, "stablehlo.dynamic_conv": _dynamic_conv}
