"""Convolutions.

`conv2d` and `convTranspose2d` have two spatial dimensions. One dimension gets a second one of size 1. Of three or more, the first ones are
unrolled (`webnn.importing.windows`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.builder.options import MLConv2dOptions, MLConvTranspose2dOptions
from webnn.importing.products import EXACT
from webnn.importing.steps import Result, product
from webnn.importing.values import Refused, Value
from webnn.importing.windows import Window, pad_zeros, roll, unroll
from webnn.onnx.node import Node
from webnn.onnx.quantized import per_axis, subtract_zero
from webnn.onnx.windows import crop, read_windows, spatial_sizes

__all__ = ["RULES", "convolve"]

#: The largest difference of two 8-bit integers.
_LARGEST = 255
#: The largest magnitude of the halves of such a difference.
_HALF = 16


def _shape(operand: MLOperand) -> list[int]:
    return list(operand.descriptor.dimensions)


def _filter_windows(node: Node) -> list[Window]:
    """Read the windows of a convolution, whose kernel is the filter's."""
    sizes = spatial_sizes(node)
    shape = node.value(1).shape
    kernel = list(shape[2:])
    if len(shape) != len(sizes) + 2:
        raise Refused(f"the filter must have {len(sizes) + 2} dimensions, as the input, got the shape {list(shape)}")
    if node.integers("kernel_shape", kernel) != kernel:
        raise Refused(f"kernel_shape must be the filter's, {kernel}, got {node.integers('kernel_shape')}")
    return read_windows(node, sizes, kernel)


def convolve(node: Node, x: MLOperand, filter: MLOperand, bias: MLOperand | None) -> MLOperand:
    """Convolve [batches, channels, ...] in float32 or float16 with the attributes of Conv.

    The filter is [output channels, channels of a group, ...], the bias [output channels].
    """
    return _convolve(node, x, filter, _filter_windows(node), node.integer("group", 1, least=1), bias)


def _convolve(node: Node, x: MLOperand, filter: MLOperand, windows: Sequence[Window], groups: int, bias: MLOperand | None) -> MLOperand:
    x, windows = crop(node, x, windows)
    if len(windows) > 2:
        x, filter = unroll(node, x, windows[0], groups), _unroll_filter(node, filter)
        return roll(node, _convolve(node, x, filter, windows[1:], groups, bias), windows[0].places)
    height, width = windows if len(windows) == 2 else (Window(size=1, count=1), *windows)
    options: MLConv2dOptions = {
        "padding": [height.low, height.high, width.low, width.high],
        "strides": [height.stride, width.stride],
        "dilations": [height.dilation, width.dilation],
        "groups": groups,
    }
    if bias is not None:
        options["bias"] = bias
    result = node.builder.conv2d(_two(node, x), _two(node, filter), options)
    return node.reshape(result, _shape(result)[:2] + _shape(result)[4 - len(windows) :])


def _two(node: Node, operand: MLOperand) -> MLOperand:
    """Give an operand two spatial dimensions if it has one."""
    shape = _shape(operand)
    return node.reshape(operand, [*shape[:2], 1, *shape[2:]]) if len(shape) == 3 else operand


def _unroll_filter(node: Node, filter: MLOperand) -> MLOperand:
    """Make the first spatial dimension of a filter of `conv2d` a part of its input channels."""
    outputs, inputs, kernel, *rest = _shape(filter)
    moved = node.transpose(node.reshape(filter, [outputs, inputs, kernel, product(rest)]), [0, 2, 1, 3])
    return node.reshape(moved, [outputs, kernel * inputs, *rest])


def _unroll_transposed_filter(node: Node, filter: MLOperand, groups: int) -> MLOperand:
    """Make the first spatial dimension of a filter of `convTranspose2d`, from its end, a part of the input channels of each group."""
    inputs, outputs, kernel, *rest = _shape(filter)
    filter = node.reshape(filter, [groups, inputs // groups, outputs, kernel, product(rest)])
    if kernel > 1:
        filter = node.builder.reverse(filter, axes=[3])
    return node.reshape(node.transpose(filter, [0, 3, 1, 2, 4]), [kernel * inputs, outputs, *rest])


def _conv(node: Node) -> MLOperand:
    """Map to conv2d."""
    return convolve(node, node.operand(0), node.operand(1), node.operand(2) if node.given(2) else None)


def _conv_integer(node: Node) -> MLOperand | Value:
    """Map to conv2d in float32, in which integers up to 2 ** 24 are exact. Larger sums need numbers cut into halves of 4 bits."""
    builder = node.builder
    windows, groups = _filter_windows(node), node.integer("group", 1, least=1)
    x, filter = (_subtract_zero(node, index, axis) for index, axis in ((0, 1), (1, 0)))
    weight = _weight(node)
    inputs, filters = [(x, 1)], [(filter, 1)]
    if _LARGEST * weight > EXACT:
        filters = _halves(node, filter)
        weight = _HALF * product(node.value(1).shape[1:])
    if _LARGEST * weight > EXACT:
        inputs = _halves(node, x)
    if len(inputs) > 1 and _HALF * weight > EXACT:
        raise Refused(f"the filter must have at most {EXACT // _HALF**2} elements for each output channel, got {weight // _HALF}")
    sums = [(_convolve(node, left, right, windows, groups, None), high * low) for left, high in inputs for right, low in filters]
    if len(sums) == 1:
        return node.as_integers(sums[0][0])
    parts = [(builder.cast(part, "int32"), factor) for part, factor in sums]
    return reduce(builder.add, [builder.mul(part, node.scalar(factor, part)) if factor > 1 else part for part, factor in parts])


def _subtract_zero(node: Node, index: int, axis: int) -> MLOperand:
    """Return the integers of an input less their zero point, which comes two inputs later: one number, or one for each index of an axis."""
    shape = node.value(index).shape
    zero = node.value(index + 2) if node.given(index + 2) else None
    name = f"the zero point of {'xw'[index]}"
    return subtract_zero(node, node.operand(index), zero, per_axis(name, () if zero is None else zero.shape, shape, axis))


def _weight(node: Node) -> int:
    """Return the most that an input of 1 everywhere can give: the sum of the filter's magnitudes, or more if that is exact, too."""
    array, point = node.value(1).array, node.value(3).array if node.given(3) else np.zeros((), np.int64)
    most = _LARGEST * product(node.value(1).shape[1:])
    if array is None or point is None or _LARGEST * most <= EXACT:
        return most
    if point.size not in (1, array.shape[0]):
        raise Refused(f"the zero point of the filter must have 1 or {array.shape[0]} elements, got {list(point.shape)}")
    # The differences of integers of 8 bits.
    differences = np.subtract(array, point.reshape([-1, *[1] * (array.ndim - 1)]), dtype=np.int16)
    return int(np.abs(differences, out=differences).reshape(array.shape[0], -1).sum(axis=1, dtype=np.int64).max())


def _halves(node: Node, operand: MLOperand) -> list[tuple[MLOperand, int]]:
    """Cut integers into multiples of 16 and remainders, both of a magnitude of at most 16; return them with their factors."""
    builder = node.builder
    high = builder.floor(builder.mul(operand, node.scalar(1 / _HALF, operand)))
    return [(high, _HALF), (builder.sub(operand, builder.mul(high, node.scalar(_HALF, operand))), 1)]


def _conv_transpose(node: Node) -> MLOperand:
    """Map to convTranspose2d."""
    windows = _filter_windows(node)
    count = len(windows)
    extras = node.integers("output_padding", [0] * count)
    if len(extras) != count or min(extras) < 0:
        raise Refused(f"output_padding must have {count} numbers of at least 0, got {extras}")
    auto = node.text("auto_pad", "NOTSET")
    if node.has("output_shape") or auto.startswith("SAME"):
        outputs = node.integers("output_shape", [window.size * window.stride for window in windows])
        # Some exporters give batches and channels, too.
        outputs = outputs[2:] if len(outputs) == count + 2 else outputs
        if len(outputs) != count or min(outputs) < 1:
            raise Refused(f"output_shape must have {count} numbers of at least 1, got {outputs}")
        windows = [
            replace(window, low=_front(_full(window) + extra - output, upper=auto == "SAME_UPPER"))
            for window, extra, output in zip(windows, extras, outputs, strict=True)
        ]
    else:
        outputs = [_full(window) - window.low - window.high + extra for window, extra in zip(windows, extras, strict=True)]
        if min(outputs) < 1:
            raise Refused(f"pads must leave an output of at least one element, got the sizes {outputs}")
    places = [_place(window, extra, output) for window, extra, output in zip(windows, extras, outputs, strict=True)]
    bias = node.operand(2) if node.given(2) else None
    return _transpose_convolve(node, node.operand(0), node.operand(1), places, node.integer("group", 1, least=1), bias)


def _full(window: Window) -> int:
    """Return the size of a transposed convolution's output of which nothing is cut off."""
    return (window.size - 1) * window.stride + window.reach


def _front(total: int, *, upper: bool) -> int:
    """Return what is cut off in front, of a total of both ends."""
    total = max(0, total)
    return total // 2 if upper else total - total // 2


@dataclass(frozen=True, slots=True)
class _Place:
    """One dimension of a transposed convolution: the paddings of the window are what is cut off, and the output padding is ``extra``.

    ``grown`` zeros are added behind the input, so that there is no negative padding.
    """

    window: Window
    extra: int
    grown: int
    output: int


def _place(window: Window, extra: int, output: int) -> _Place:
    """Find the padding that gives an output of a size, with an output padding if it can be."""
    end = _full(window) - window.low - output
    extra = min(max(extra, -end), window.stride - 1)
    grown = max(0, -((end + extra) // window.stride))
    return _Place(replace(window, high=end + extra + grown * window.stride), extra, grown, output)


def _transpose_convolve(
    node: Node, x: MLOperand, filter: MLOperand, places: Sequence[_Place], groups: int, bias: MLOperand | None
) -> MLOperand:
    builder = node.builder
    if len(places) > 2:
        window, output = places[0].window, places[0].output
        # A convolution by the filter from its end, of elements that lie a stride apart between zeros.
        high = output + window.low - (window.size - 1) * window.stride - 1
        apart = replace(window, stride=1, base=window.stride, low=window.reach - 1 - window.low, high=high)
        x, filter = unroll(node, x, apart, groups), _unroll_transposed_filter(node, filter, groups)
        return roll(node, _transpose_convolve(node, x, filter, places[1:], groups, bias), output)
    for axis, place in enumerate(places, 2):
        x = pad_zeros(node, x, axis, 0, place.grown)
    height, width = places if len(places) == 2 else (_Place(Window(size=1, count=1), 0, 0, 1), *places)
    options: MLConvTranspose2dOptions = {
        "padding": [height.window.low, height.window.high, width.window.low, width.window.high],
        "strides": [height.window.stride, width.window.stride],
        "dilations": [height.window.dilation, width.window.dilation],
        "groups": groups,
    }
    if height.extra or width.extra:
        options["outputPadding"] = [height.extra, width.extra]
    if bias is not None:
        options["bias"] = bias
    result = builder.convTranspose2d(_two(node, x), _two(node, filter), options)
    return node.reshape(result, _shape(result)[:2] + _shape(result)[4 - len(places) :])


def _col2im(node: Node) -> MLOperand:
    """Map to convTranspose2d of each channel by itself, with a filter that moves each element of a block to its place.

    The shapes of image and block must be known.
    """
    image, block = node.known_integers(1, "the shape of the image"), node.known_integers(2, "the shape of the block")
    shape, elements = node.value(0).shape, product(block)
    if len(image) != len(block) or not image or min(image + block) < 1 or elements > EXACT:
        raise Refused(f"the shapes of image and block must have as many numbers, of at least 1, got {image} and {block}")
    windows = read_windows(node, image, block)
    counts = [window.places for window in windows]
    if len(shape) != 3 or shape[1] % elements or min(counts) < 1 or product(counts) != shape[2]:
        raise Refused(f"the input must have the shape [batches, channels * {elements}, {product(counts)}], got {list(shape)}")
    channels = shape[1] // elements
    node.spend(2 * np.dtype(np.float32).itemsize * elements * max(elements, shape[1]))
    filter = np.eye(elements, dtype=np.float32).astype(node.value(0).dtype).reshape([elements, 1, *block])
    filter = np.tile(filter, [channels, 1, *[1] * len(block)])
    places = [_place(replace(window, size=count), 0, size) for window, count, size in zip(windows, counts, image, strict=True)]
    x = node.reshape(node.operand(0), [shape[0], shape[1], *counts])
    return _transpose_convolve(node, x, node.constant(filter), places, channels, None)


RULES: Mapping[str, Callable[[Node], Result]] = {
    "Col2Im": _col2im,
    "Conv": _conv,
    "ConvInteger": _conv_integer,
    "ConvTranspose": _conv_transpose,
}
