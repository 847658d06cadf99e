"""MediaPipe's own operators: pooling with the places of the maxima, transposed convolutions with a bias, and transforms of landmarks.

Their options are structures of C, or FlexBuffers.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.importing.steps import Result
from webnn.importing.values import Refused
from webnn.importing.windows import Window, locate_maxima, pool
from webnn.tflite.node import Node, Rules
from webnn.tflite.rules.convolution import place, shapes_of, transpose_convolve

__all__ = ["RULES"]

#: The most elements of a window, and fields of options; the most landmarks of a box.
_MOST_TAPS, _MOST_LANDMARKS = 256, 1 << 16
#: Places in windows are numbers with this fraction, which rounding down takes away.
_SHIFT = 0.1
#: The version of operators on landmarks that models have; an older one had other options.
_VERSION = 2


def _numbers(node: Node, count: int) -> tuple[Any, ...]:
    """Read options that are a structure of C, integers of 32 bits: a padding, and numbers of at least 1."""
    custom = node.operator.custom
    if len(custom) < 4 * count:
        raise Refused(f"the custom options must have {4 * count} bytes, got {len(custom)}")
    padding, *numbers = struct.unpack_from(f"<{count}i", custom)
    if padding not in (1, 2) or min(numbers) < 1:
        raise Refused(f"the custom options must be SAME or VALID, and sizes of at least 1, got {padding} and {numbers}")
    return "SAME" if padding == 1 else "VALID", *numbers


def _transpose_conv(node: Node) -> Result:
    """Map to convTranspose2d."""
    padding, *strides = _numbers(node, 3)
    shape, filter = shapes_of(node, 0, 1, 4)
    sides = zip(shape[1:3], filter[1:3], strides[::-1], strict=True)
    windows = [place(Window(size=size, count=count, stride=stride), padding) for size, count, stride in sides]
    trims = [(window.low, window.high) for window in windows]
    return transpose_convolve(node, 0, trims, strides[::-1])


def _max_pool(node: Node) -> list[Result]:
    """Map to maxPool2d. The places of the maxima are found by comparing with each element of the window."""
    padding, stride_x, stride_y, width, height = _numbers(node, 5)
    sides = zip(node.image(), (1, height, width, 1), (1, stride_y, stride_x, 1), strict=True)
    windows = [place(Window(size=size, count=count, stride=stride), padding) for size, count, stride in sides]
    greatest = pool(node, "maxPool2d", node.operand(0), windows)
    places = locate_maxima(node, node.operand(0), greatest, windows, lambda tap: node.scalar(tap[1] * width + tap[2] + _SHIFT, "float32"))
    return [greatest, places]


def _max_unpool(node: Node) -> Result:
    """Put each element at its place among zeros. The windows must not overlap."""
    builder, x = node.builder, node.operand(0)
    _, stride_x, stride_y, width, height = _numbers(node, 5)
    shape = node.value(0).shape
    if len(shape) != 4 or (stride_x, stride_y) != (width, height) or height * width > _MOST_TAPS:
        raise Refused(f"the window must be as large as its strides, got {[height, width]} and {[stride_y, stride_x]}")
    places, zero = builder.floor(node.operand(1)), node.scalar(0, x)
    batches, rows, columns, channels = shape
    parts = [
        node.reshape(builder.where(builder.equal(places, node.scalar(tap, places)), x, zero), [batches * rows, columns, 1, channels])
        for tap in range(height * width)
    ]
    joined = node.reshape(builder.concat(parts, 2), [batches * rows, columns, height, width * channels])
    return node.reshape(node.transpose(joined, [0, 2, 1, 3]), [batches, rows * height, columns * width, channels])


# Landmarks.


def _fields(node: Node, names: Sequence[str], vector: str = "") -> dict[str, Any]:
    """Read options that are FlexBuffers: numbers, and a vector of integers. A missing number is 0."""
    if node.operator.version != _VERSION:
        raise Refused(f"the operator must be of version {_VERSION}, got {node.operator.version}")
    from flatbuffers import flexbuffers  # noqa: PLC0415 (few models have such operators)

    try:
        fields = flexbuffers.GetRoot(bytearray(node.operator.custom)).AsMap
        keys = {*fields.Keys.Value} if len(fields) <= _MOST_TAPS else set()
        found: dict[str, Any] = {name: fields[name].AsFloat if name in keys else 0.0 for name in names}
        if vector:
            given = fields[vector].AsTypedVector if fields[vector].IsTypedVector else fields[vector].AsVector
            if len(given) > _MOST_LANDMARKS:
                raise ValueError(f"{len(given)} landmarks")
            found[vector] = [int(given[index].AsInt) for index in range(len(given))]
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, struct.error) as error:
        raise Refused(f"the custom options must be FlexBuffers with {', '.join(filter(None, (*names, vector)))}, got {error}") from None
    if not all(map(math.isfinite, [found[name] for name in names])):
        raise Refused(f"the custom options must be finite, got {found}")
    return found


def _landmarks_to_matrix(node: Node) -> Result:
    """Compute the transform of the box around some landmarks, which is turned so that two of them lie in a direction."""
    names = ("left_rotation_idx", "right_rotation_idx", "target_rotation_radians", "output_height", "output_width", "scale_x", "scale_y")
    fields, shape = _fields(node, names, "subset_idxs"), node.value(0).shape
    left, right, target, height, width, *scales = (fields[name] for name in names)
    box = [*dict.fromkeys(fields["subset_idxs"])]
    if len(shape) != 3 or shape[0] != 1 or shape[2] != 3 or not box or not all(0 <= each < shape[1] for each in (*box, left, right)):
        raise Refused(f"the landmarks must be [1, n, 3], with those that the options name, got {list(shape)}")
    if min(height, width) < 1:
        raise Refused(f"output_height and output_width must be at least 1, got {height} and {width}")
    builder, sizes = node.builder, np.array([[width, height]], np.float32)
    points = builder.slice(node.reshape(node.operand(0), shape[1:]), [0, 0], [shape[1], 2])
    first, last, corners = (builder.gather(points, node.constant(np.array(each, np.int32))) for each in ([int(left)], [int(right)], box))
    way = builder.sub(last, first)
    length = builder.reduceL2(way, axes=[1], keepDimensions=True)
    # The direction of no way is that of x.
    zero, ahead = node.scalar(0, length), node.constant(np.array([[1, 0]], np.float32))
    direction = builder.where(builder.equal(length, zero), ahead, builder.div(way, length))
    cos, sin = math.cos(target), math.sin(target)
    spread = node.constant(np.array([[cos, sin, -sin, cos], [sin, -cos, cos, sin]], np.float32))
    # The box is turned by this matrix from the right, and back by its transpose.
    turn = node.reshape(builder.matmul(direction, spread), [2, 2])
    turned = builder.matmul(corners, turn)
    most, least = builder.reduceMax(turned, axes=[0], keepDimensions=True), builder.reduceMin(turned, axes=[0], keepDimensions=True)
    center = builder.mul(builder.add(most, least), node.scalar(0.5, most))
    shares = builder.mul(builder.sub(most, least), node.constant(np.array([scales], np.float32) / sizes))
    scaled = builder.mul(turn, shares)
    shift = builder.sub(builder.gemm(turn, center, bTranspose=True), builder.gemm(scaled, node.constant(sizes / 2), bTranspose=True))
    rows = builder.concat([scaled, node.constant(np.zeros((2, 1), np.float32)), shift], 1)
    return node.reshape(builder.concat([rows, node.constant(np.eye(4, dtype=np.float32)[2:])], 0), [1, 4, 4])


def _affine(node: Node) -> tuple[MLOperand, MLOperand]:
    """Return the part of a transform that turns and scales x and y, [2, 2], from the right, and what it adds, [1, 2]."""
    if node.value(1).shape != (1, 4, 4):
        raise Refused(f"the transform must be [1, 4, 4], got {list(node.value(1).shape)}")
    columns = node.transpose(node.reshape(node.operand(1), [4, 4]), [1, 0])
    return node.builder.slice(columns, [0, 0], [2, 2]), node.builder.slice(columns, [3, 0], [1, 2])


def _transform_landmarks(node: Node) -> Result:
    """Transform x and y of landmarks; z stays."""
    shape = node.value(0).shape
    if node.operator.version != _VERSION or len(shape) != 3 or shape[2] not in (2, 3):
        raise Refused(f"the operator must be of version {_VERSION}, and the landmarks [n, m, 2] or [n, m, 3], got {list(shape)}")
    builder, (turn, shift), count = node.builder, _affine(node), shape[0] * shape[1]
    x = node.reshape(node.operand(0), [count, shape[2]])
    moved = builder.add(builder.matmul(builder.slice(x, [0, 0], [count, 2]), turn), shift)
    if shape[2] == 3:
        moved = builder.concat([moved, builder.slice(x, [0, 2], [count, 1])], 1)
    return node.reshape(moved, shape)


def _transform_tensor(node: Node) -> Result:
    """Interpolate between the nearest four elements at transformed places; outside of the input it is 0."""
    fields, shape = _fields(node, ("output_height", "output_width")), node.value(0).shape
    rows, columns = int(fields["output_height"]), int(fields["output_width"])
    if len(shape) != 4 or shape[0] != 1 or not 1 <= rows * columns <= 1 << 24 or min(rows, columns) < 1:
        raise Refused(
            f"the input must be [1, height, width, channels], and the result not be empty, got {list(shape)} and {[rows, columns]}"
        )
    builder, (turn, shift), (_, height, width, channels) = node.builder, _affine(node), shape
    grid = np.stack(np.meshgrid(np.arange(columns) + 0.5, np.arange(rows) + 0.5), -1).reshape(-1, 2).astype(np.float32)
    places = builder.sub(builder.add(builder.matmul(node.constant(grid), turn), shift), node.scalar(0.5, "float32"))
    limits = node.constant(np.array([width - 1, height - 1], np.float32))
    nearest = builder.min(builder.max(places, node.scalar(0, places)), limits)
    inside = builder.reduceMin(node.cast(builder.equal(places, nearest), "int32"), axes=[1], keepDimensions=True)
    low = builder.floor(nearest)
    shares = builder.sub(nearest, low)
    pixels = node.reshape(node.operand(0), [height * width, channels])
    parts = []
    for corner in np.ndindex(2, 2):
        offset = np.array(corner, np.float32)
        element = builder.min(builder.add(low, node.constant(offset)), limits)
        flat = builder.matmul(element, node.constant(np.array([[1], [width]], np.float32)))
        found = builder.gather(pixels, node.cast(node.reshape(flat, [rows * columns]), "int32"), axis=0)
        weights = builder.abs(builder.sub(shares, node.constant(1 - offset)))
        parts.append(builder.mul(found, builder.reduceProduct(weights, axes=[1], keepDimensions=True)))
    result = reduce(builder.add, parts)
    masked = builder.where(node.cast(inside, "uint8"), result, node.scalar(0, result))
    return node.reshape(masked, [1, rows, columns, channels])


RULES: Rules = {
    "CUSTOM.Convolution2DTransposeBias": _transpose_conv,
    "CUSTOM.Landmarks2TransformMatrix": _landmarks_to_matrix,
    "CUSTOM.MaxPoolingWithArgmax2D": _max_pool,
    "CUSTOM.MaxUnpooling2D": _max_unpool,
    "CUSTOM.TransformLandmarks": _transform_landmarks,
    "CUSTOM.TransformTensorBilinear": _transform_tensor,
}
