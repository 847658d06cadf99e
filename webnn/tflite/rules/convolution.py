"""Operators with windows, and products of matrices. WebNN has the layouts of convolutions: nhwc, and for filters ohwi and ihwo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from webnn.builder.operand import MLOperand
from webnn.importing.steps import Result
from webnn.importing.values import Refused
from webnn.importing.windows import Pool, Window, pool
from webnn.tflite.node import Node, Rules
from webnn.tflite.schema import names_of

__all__ = ["RULES", "place", "shapes_of", "transpose_convolve", "trim"]


def place(window: Window, padding: str) -> Window:
    """Return a window with its padding: with SAME there is one place for each stride; an odd element is behind."""
    total = max(window.missing, 0) if padding == "SAME" else 0
    return replace(window, low=total // 2, high=total - total // 2)


def trim(window: Window, padding: str, count: int) -> tuple[int, int]:
    """Return what is taken away in front and behind of the result of a transposed convolution: behind it may be negative.

    ``window`` is that of the convolution whose transpose it is, and ``count`` the number of its places.
    """
    low = place(window, padding).low
    return low, (count - 1) * window.stride + window.reach - low - window.size


def _padding_of(node: Node) -> str:
    """Return the padding that the options name."""
    padding = node.option("Padding", 0)
    if padding not in names_of("Padding"):
        raise Refused(f"Padding must be SAME or VALID, got {padding}")
    return names_of("Padding")[padding]


def _make_windows(node: Node, sizes: Sequence[int], counts: Sequence[int]) -> list[Window]:
    """Return windows over two or three dimensions with the strides and dilations of the options, without padding."""
    return [
        Window(size=size, count=count, stride=node.integer(f"Stride{axis}", 1), dilation=node.integer(f"Dilation{axis}Factor", 1, 1))
        for axis, size, count in zip("DHW"[-len(sizes) :], sizes, counts, strict=True)
    ]


def _read_windows(node: Node, sizes: Sequence[int], counts: Sequence[int]) -> list[Window]:
    """Return windows of some numbers of elements over dimensions, placed as the options say."""
    if min(counts, default=1) < 1:
        raise Refused(f"the window must have at least one element in each dimension, got {list(counts)}")
    placed = [place(window, _padding_of(node)) for window in _make_windows(node, sizes, counts)]
    if min(window.places for window in placed) < 1:
        padded, reach = [each.padded for each in placed], [each.reach for each in placed]
        raise Refused(f"the window must fit into the padded input, {padded}, got {reach}")
    return placed


def shapes_of(node: Node, x: int, filter: int, rank: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the shapes of the input and the filter, by their indices; refuse another number of dimensions."""
    shapes = node.value(x).shape, node.value(filter).shape
    if {*map(len, shapes)} != {rank}:
        raise Refused(f"the input and the filter must have {rank} dimensions, got {' and '.join(str(list(each)) for each in shapes)}")
    return shapes


def _groups(channels: int, divisor: int) -> int:
    """Return the number of groups of input channels."""
    if not divisor or channels % divisor:
        raise Refused(f"the input channels of the filter must divide those of the input, {channels}, got {divisor}")
    return channels // divisor


def _convolve(node: Node, layout: str) -> MLOperand:
    shape, kernel = shapes_of(node, 0, 1, 4)
    windows = _read_windows(node, shape[1:3], kernel[1:3])
    options: Any = {
        "inputLayout": "nhwc",
        "filterLayout": layout,
        "padding": [number for window in windows for number in (window.low, window.high)],
        "strides": [window.stride for window in windows],
        "dilations": [window.dilation for window in windows],
        # Each channel may be a group.
        "groups": shape[3] if layout == "ihwo" else _groups(shape[3], kernel[3]),
    }
    if node.given(2):
        options["bias"] = node.operand(2)
    given = node.tensors[1]
    by_channel = given is not None and given.quantization is not None and given.quantization.scales.size > 1
    x = node.rounded(0, 1, asymmetric=by_channel)
    return node.activate(node.builder.conv2d(x, node.operand(1), options))


def transpose_convolve(node: Node, x: int, trims: Sequence[tuple[int, int]], strides: Sequence[int]) -> MLOperand:
    """Map to convTranspose2d of the input ``x`` and the filter, which is the input 1. A bias is behind both.

    ``trims`` are what is taken away in front and behind of each dimension.
    """
    options: Any = {
        "inputLayout": "nhwc",
        "filterLayout": "ohwi",
        "padding": [number for low, high in trims for number in (low, max(high, 0))],
        "outputPadding": [max(-high, 0) for _, high in trims],
        "strides": list(strides),
    }
    if node.given(max(x, 1) + 1):
        options["bias"] = node.operand(max(x, 1) + 1)
    return node.builder.convTranspose2d(node.operand(x), node.operand(1), options)


def _transposed_windows(node: Node, rank: int) -> tuple[list[Window], list[tuple[int, int]]]:
    """Return the windows of a transposed convolution, and what is taken away in front and behind of each dimension of its result."""
    wanted = node.known_integers(0, "the shape of the output")
    shape, kernel = shapes_of(node, 2, 1, rank)
    if len(wanted) != rank:
        raise Refused(f"the shape of the output must have {rank} dimensions, got {wanted}")
    windows = _make_windows(node, wanted[1:-1], kernel[1:-1] if rank == 4 else kernel[:3])
    return windows, [trim(window, _padding_of(node), count) for window, count in zip(windows, shape[1:-1], strict=True)]


def _transpose_conv(node: Node) -> MLOperand:
    """Map to convTranspose2d. The shape of the output must be known."""
    windows, trims = _transposed_windows(node, 4)
    return node.activate(transpose_convolve(node, 2, trims, [each.stride for each in windows]))


def _unroll(node: Node, operator: str, x: int, windows: Sequence[Window], edges: Sequence[tuple[int, int]], **attributes: Any) -> MLOperand:
    """Map as ONNX's operator, which unrolls the depth. The bias is behind the input ``x`` and the filter."""
    y = node.one(
        operator,
        [
            node.transpose(node.operand(x), (0, 4, 1, 2, 3)),
            node.transpose(node.operand(1), (4, 3, 0, 1, 2)),
            node.value(max(x, 1) + 1) if node.given(max(x, 1) + 1) else None,
        ],
        strides=[each.stride for each in windows],
        dilations=[each.dilation for each in windows],
        pads=[low for low, _ in edges] + [max(high, 0) for _, high in edges],
        **attributes,
    )
    return node.activate(node.transpose(node.operand_of(y), (0, 2, 3, 4, 1)))


def _conv_3d(node: Node) -> MLOperand:
    """Unroll the depth."""
    shape, kernel = shapes_of(node, 0, 1, 5)
    windows = _read_windows(node, shape[1:4], kernel[:3])
    return _unroll(node, "Conv", 0, windows, [(each.low, each.high) for each in windows], group=_groups(shape[4], kernel[3]))


def _transpose_conv_3d(node: Node) -> MLOperand:
    """Unroll the depth. The shape of the output must be known."""
    windows, trims = _transposed_windows(node, 5)
    return _unroll(node, "ConvTranspose", 2, windows, trims, output_padding=[max(-high, 0) for _, high in trims])


# Pooling and resizing.


def _slide(node: Node, operation: Pool, x: MLOperand) -> MLOperand:
    """Pool the height and the width as the options say."""
    shape = node.image()
    windows = _read_windows(node, shape[1:3], [node.integer("FilterHeight", 1), node.integer("FilterWidth", 1)])
    return pool(node, operation, x, [Window(size=shape[0], count=1), *windows, Window(size=shape[3], count=1)])


def _l2_pool(node: Node) -> MLOperand:
    """Take the root of the average of the squares."""
    x = node.operand(0)
    return node.activate(node.builder.sqrt(_slide(node, "averagePool2d", node.builder.mul(x, x))))


def _resize(node: Node, mode: str, **rounding: str) -> Result:
    node.image()
    corners, half = node.flag("AlignCorners"), node.flag("HalfPixelCenters")
    if corners and half:
        raise Refused("AlignCorners and HalfPixelCenters must not both be set")
    positions = "align_corners" if corners else "half_pixel" if half else "asymmetric"
    if half and mode == "nearest":
        positions = "tf_half_pixel_for_nn"
    sizes = node.known_integers(1, "the size")
    return node.one(
        "Resize", [node.value(0), None, None, sizes], mode=mode, coordinate_transformation_mode=positions, axes=[1, 2], **rounding
    )


# Matrices.


def _fully_connected(node: Node) -> MLOperand:
    """Map to gemm."""
    x, weights = node.value(0), node.value(1)
    if weights.rank != 2 or not weights.size or x.size % weights.shape[1]:
        raise Refused(f"the weights must have 2 dimensions, of which the last one divides {x.size} elements, got {list(weights.shape)}")
    if node.option("WeightsFormat", 0):
        raise Refused("shuffled weights are not supported")
    rows, (outputs, inputs) = x.size // weights.shape[1], weights.shape
    rounded = node.rounded(0, 1, asymmetric=node.flag("AsymmetricQuantizeInputs"))
    options: Any = {"bTranspose": True, **({"c": node.operand(2)} if node.given(2) else {})}
    y = node.activate(node.builder.gemm(node.reshape(rounded, [rows, inputs]), node.operand(1), options))
    return node.reshape(y, [*x.shape[:-1], outputs]) if node.flag("KeepNumDims") and x.rank and x.shape[-1] == inputs else y


def _batch_matmul(node: Node) -> Result:
    """Map to matmul of matrices, which may be transposed first."""
    operands = [node.operand(index) for index in range(2)]
    for index, name in enumerate(("AdjX", "AdjY")):
        rank = node.value(index).rank
        if rank < 2:
            raise Refused(f"the matrices must have at least 2 dimensions, got {list(node.value(index).shape)}")
        if node.flag(name):
            operands[index] = node.transpose(operands[index], [*range(rank - 2), rank - 1, rank - 2])
    return node.one("MatMul", operands)


RULES: Rules = {
    "AVERAGE_POOL_2D": lambda node: node.activate(_slide(node, "averagePool2d", node.operand(0))),
    "BATCH_MATMUL": _batch_matmul,
    "CONV_2D": lambda node: _convolve(node, "ohwi"),
    "CONV_3D": _conv_3d,
    "CONV_3D_TRANSPOSE": _transpose_conv_3d,
    "DEPTHWISE_CONV_2D": lambda node: _convolve(node, "ihwo"),
    "EMBEDDING_LOOKUP": lambda node: node.one("Gather", [node.value(1), node.value(0)], axis=0),
    "FULLY_CONNECTED": _fully_connected,
    "L2_POOL_2D": _l2_pool,
    "MAX_POOL_2D": lambda node: node.activate(_slide(node, "maxPool2d", node.operand(0))),
    "RESIZE_BILINEAR": lambda node: _resize(node, "linear"),
    # Positions are rounded down, with AlignCorners to the nearest one.
    "RESIZE_NEAREST_NEIGHBOR": lambda node: _resize(
        node, "nearest", nearest_mode="round_prefer_ceil" if node.flag("AlignCorners") else "floor"
    ),
    "TRANSPOSE_CONV": _transpose_conv,
}
