"""Convolutions, whose layouts WebNN has: nhwc, and for filters ohwi and ihwo."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from webnn.builder.operand import MLOperand
from webnn.importing.steps import Result
from webnn.importing.values import Refused
from webnn.importing.windows import Window
from webnn.tflite.node import Node
from webnn.tflite.windows import padding_of, read_windows, trim

__all__ = ["RULES", "transpose_convolve"]

#: The permutations to ONNX's order of dimensions, and back, of tensors and of filters with three spatial dimensions.
_FORWARD, _BACK, _FILTER, _TRANSPOSED_FILTER = (0, 4, 1, 2, 3), (0, 2, 3, 4, 1), (4, 3, 0, 1, 2), (4, 3, 0, 1, 2)


def _shapes(node: Node, x: int, filter: int, rank: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    shapes = node.value(x).shape, node.value(filter).shape
    if {*map(len, shapes)} != {rank}:
        raise Refused(f"the input and the filter must have {rank} dimensions, got {' and '.join(str(list(each)) for each in shapes)}")
    return shapes


def _convolve(node: Node, layout: str, groups: int, kernel: Sequence[int]) -> MLOperand:
    windows = read_windows(node, node.value(0).shape[1:3], kernel)
    options: Any = {
        "inputLayout": "nhwc",
        "filterLayout": layout,
        "padding": [number for window in windows for number in (window.low, window.high)],
        "strides": [window.stride for window in windows],
        "dilations": [window.dilation for window in windows],
        "groups": groups,
    }
    if node.given(2):
        options["bias"] = node.operand(2)
    given = node.tensors[1]
    by_channel = given is not None and given.quantization is not None and given.quantization.scales.size > 1
    x = node.rounded(0, 1, asymmetric=by_channel)
    return node.activate(node.builder.conv2d(x, node.operand(1), options))


def _conv(node: Node) -> MLOperand:
    """Map to conv2d. The channels may be in groups."""
    shape, kernel = _shapes(node, 0, 1, 4)
    if not kernel[3] or shape[3] % kernel[3]:
        raise Refused(f"the input channels of the filter must divide those of the input, {shape[3]}, got {kernel[3]}")
    return _convolve(node, "ohwi", shape[3] // kernel[3], kernel[1:3])


def _depthwise(node: Node) -> MLOperand:
    """Map to conv2d with a group for each channel."""
    shape, kernel = _shapes(node, 0, 1, 4)
    return _convolve(node, "ihwo", shape[3], kernel[1:3])


def transpose_convolve(
    node: Node, x: MLOperand, filter: MLOperand, bias: MLOperand | None, trims: Sequence[tuple[int, int]], strides: Sequence[int]
) -> MLOperand:
    """Map to convTranspose2d; ``trims`` are what is taken away in front and behind of each dimension."""
    options: Any = {
        "inputLayout": "nhwc",
        "filterLayout": "ohwi",
        "padding": [number for low, high in trims for number in (low, max(high, 0))],
        "outputPadding": [max(-high, 0) for _, high in trims],
        "strides": list(strides),
    }
    if bias is not None:
        options["bias"] = bias
    return node.builder.convTranspose2d(x, filter, options)


def _transposed_windows(node: Node, axes: str) -> list[Window]:
    wanted = node.known_integers(0, "the shape of the output")
    shape, kernel = _shapes(node, 2, 1, len(axes) + 2)
    if len(wanted) != len(shape):
        raise Refused(f"the shape of the output must have {len(shape)} dimensions, got {wanted}")
    counts = kernel[1:-1] if axes == "HW" else kernel[:3]
    return [
        Window(size=size, count=count, stride=node.integer(f"Stride{axis}", 1), dilation=node.integer(f"Dilation{axis}Factor", 1, 1))
        for axis, size, count in zip(axes, wanted[1:-1], counts, strict=True)
    ]


def _transpose_conv(node: Node) -> MLOperand:
    """Map to convTranspose2d. The shape of the output must be known."""
    windows = _transposed_windows(node, "HW")
    places = node.value(2).shape[1:3]
    trims = [trim(window, padding_of(node), count) for window, count in zip(windows, places, strict=True)]
    bias = node.operand(3) if node.given(3) else None
    return node.activate(transpose_convolve(node, node.operand(2), node.operand(1), bias, trims, [each.stride for each in windows]))


def _conv_3d(node: Node) -> MLOperand:
    """Unroll the depth."""
    shape, kernel = _shapes(node, 0, 1, 5)
    windows = read_windows(node, shape[1:4], kernel[:3], "DHW")
    if not kernel[3] or shape[4] % kernel[3]:
        raise Refused(f"the input channels of the filter must divide those of the input, {shape[4]}, got {kernel[3]}")
    inputs = [node.transpose(node.operand(0), _FORWARD), node.transpose(node.operand(1), _FILTER), node.value(2) if node.given(2) else None]
    y = node.one(
        "Conv",
        inputs,
        group=shape[4] // kernel[3],
        strides=[each.stride for each in windows],
        dilations=[each.dilation for each in windows],
        pads=[each.low for each in windows] + [each.high for each in windows],
    )
    return node.activate(node.transpose(node.operand_from(y), _BACK))


def _transpose_conv_3d(node: Node) -> MLOperand:
    """Unroll the depth. The shape of the output must be known."""
    windows = _transposed_windows(node, "DHW")
    trims = [trim(window, padding_of(node), count) for window, count in zip(windows, node.value(2).shape[1:4], strict=True)]
    inputs = [node.transpose(node.operand(2), _FORWARD), node.transpose(node.operand(1), _TRANSPOSED_FILTER)]
    y = node.one(
        "ConvTranspose",
        [*inputs, node.value(3) if node.given(3) else None],
        strides=[each.stride for each in windows],
        dilations=[each.dilation for each in windows],
        pads=[low for low, _ in trims] + [max(high, 0) for _, high in trims],
        output_padding=[max(-high, 0) for _, high in trims],
    )
    return node.activate(node.transpose(node.operand_from(y), _BACK))


RULES: Mapping[str, Callable[[Node], Result | list[Result]]] = {
    "CONV_2D": _conv,
    "CONV_3D": _conv_3d,
    "CONV_3D_TRANSPOSE": _transpose_conv_3d,
    "DEPTHWISE_CONV_2D": _depthwise,
    "TRANSPOSE_CONV": _transpose_conv,
}
