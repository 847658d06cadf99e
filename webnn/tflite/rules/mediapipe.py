"""MediaPipe's own operators: pooling with the places of the maxima, transposed convolutions with a bias, and transforms of landmarks.

Their options are structures of C, or FlexBuffers.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.importing.moving import slice_operand
from webnn.importing.steps import Result
from webnn.importing.values import Refused
from webnn.importing.windows import Window, pool
from webnn.tflite.node import Node
from webnn.tflite.rules.convolution import transpose_convolve
from webnn.tflite.windows import place

__all__ = ["RULES"]

#: The most elements of a window whose places are looked for, and the most landmarks of a box.
_MOST_TAPS, _MOST_LANDMARKS = 256, 1 << 16
#: Places in windows are numbers with this fraction, which rounding down takes away.
_SHIFT = 0.1
#: The version of operators on landmarks that models have; an older one had other options.
_VERSION = 2


def _numbers(node: Node, count: int) -> tuple[int, ...]:
    """Read options that are a structure of C: integers of 32 bits, of which the first one is a padding."""
    custom = node.operator.custom
    if len(custom) < 4 * count:
        raise Refused(f"the custom options must have {4 * count} bytes, got {len(custom)}")
    padding, *numbers = struct.unpack_from(f"<{count}i", custom)
    if padding not in (1, 2) or min(numbers) < 1:
        raise Refused(f"the custom options must be SAME or VALID, and sizes of at least 1, got {padding} and {numbers}")
    return padding, *numbers


def _padding(number: int) -> str:
    return "SAME" if number == 1 else "VALID"


def _transpose_conv(node: Node) -> Result:
    """Map to convTranspose2d."""
    padding, *strides = _numbers(node, 3)
    filter, shape = node.value(1).shape, node.value(0).shape
    if len(filter) != 4 or len(shape) != 4:
        raise Refused(f"the input and the filter must have 4 dimensions, got {list(shape)} and {list(filter)}")
    totals = [0, 0]
    if padding == 1:
        totals = [
            max(0, count - (size - 1) % stride - 1) for count, size, stride in zip(filter[1:3], shape[1:3], strides[::-1], strict=True)
        ]
    trims = [(total // 2, total - total // 2) for total in totals]
    return transpose_convolve(node, node.operand(0), node.operand(1), node.operand(2), trims, strides[::-1])


def _max_pool(node: Node) -> list[Result]:
    """Map to maxPool2d. The places of the maxima are found by comparing with each element of the window."""
    builder, x = node.builder, node.operand(0)
    padding, stride_x, stride_y, width, height = _numbers(node, 5)
    shape = node.value(0).shape
    if len(shape) != 4 or height * width > _MOST_TAPS:
        raise Refused(
            f"the input must have 4 dimensions, and the window at most {_MOST_TAPS} elements, got {list(shape)} and {height * width}"
        )
    windows = [
        place(Window(size=size, count=count, stride=stride), _padding(padding))
        for size, count, stride in zip(shape[1:3], (height, width), (stride_y, stride_x), strict=True)
    ]
    greatest = pool(node, "maxPool2d", x, [Window(size=shape[0], count=1), *windows, Window(size=shape[3], count=1)])
    if any(window.low or window.high for window in windows):
        low, high = ([0, *(getattr(window, name) for window in windows), 0] for name in ("low", "high"))
        x = builder.pad(x, low, high, value=-np.inf)
    sizes = greatest.descriptor.dimensions
    # The first of equal maxima comes last.
    found = builder.expand(node.scalar(height * width - 1 + _SHIFT, "float32"), list(sizes))
    for tap in reversed(range(height * width - 1)):
        starts = [0, tap // width, tap % width, 0]
        part = slice_operand(node, x, starts, sizes, [1, *(window.stride for window in windows), 1])
        found = builder.where(builder.equal(part, greatest), node.scalar(tap + _SHIFT, "float32"), found)
    return [greatest, found]


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


class _Plane:
    """Points and vectors: each coordinate is an operand of its own."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self._builder = node.builder

    def combine(self, *terms: tuple[float | MLOperand, MLOperand]) -> MLOperand:
        """Return the sum of products."""
        found: MLOperand | None = None
        for factor, x in terms:
            product = self._builder.mul(self.node.scalar(factor, x) if isinstance(factor, float) else factor, x)
            found = product if found is None else self._builder.add(found, product)
        assert found is not None
        return found

    def direction(self, dx: MLOperand, dy: MLOperand) -> tuple[MLOperand, MLOperand]:
        """Return the cosine and the sine of the angle of a vector; that of zeros is 0."""
        builder, length = self._builder, self._builder.sqrt(self.combine((dx, dx), (dy, dy)))
        none = builder.equal(length, self.node.scalar(0, length))
        zero, one = self.node.scalar(0, length), self.node.scalar(1, length)
        return builder.where(none, one, builder.div(dx, length)), builder.where(none, zero, builder.div(dy, length))


def _landmarks_to_matrix(node: Node) -> Result:
    """Compute the transform of the box around some landmarks, which is turned so that two of them lie in a direction."""
    names = ("left_rotation_idx", "right_rotation_idx", "target_rotation_radians", "output_height", "output_width", "scale_x", "scale_y")
    fields, shape = _fields(node, names, "subset_idxs"), node.value(0).shape
    chosen = [int(fields[name]) for name in names[:2]]
    box = [*dict.fromkeys(fields["subset_idxs"])]
    if len(shape) != 3 or shape[0] != 1 or shape[2] != 3 or not box or not all(0 <= each < shape[1] for each in (*box, *chosen)):
        raise Refused(f"the landmarks must be [1, n, 3], with those that the options name, got {list(shape)}")
    height, width = fields["output_height"], fields["output_width"]
    if min(height, width) < 1:
        raise Refused(f"output_height and output_width must be at least 1, got {height} and {width}")
    builder, plane, x = node.builder, _Plane(node), node.reshape(node.operand(0), shape[1:])

    def pick(indices: Sequence[int], axis: int) -> MLOperand:
        column = builder.slice(x, [0, axis], [shape[1], 1])
        return builder.gather(column, node.constant(np.array(indices, np.int32)), axis=0)

    def difference(axis: int) -> MLOperand:
        return builder.sub(pick(chosen[1:], axis), pick(chosen[:1], axis))

    along, across = plane.direction(difference(0), difference(1))
    target = fields["target_rotation_radians"]
    cos = plane.combine((math.cos(target), along), (math.sin(target), across))
    sin = plane.combine((math.sin(target), along), (-math.cos(target), across))
    minus = builder.neg(sin)
    px, py = pick(box, 0), pick(box, 1)
    sides, centers = [], []
    for turned in (plane.combine((cos, px), (minus, py)), plane.combine((sin, px), (cos, py))):
        most, least = builder.reduceMax(turned, keepDimensions=True), builder.reduceMin(turned, keepDimensions=True)
        sides.append(builder.sub(most, least))
        centers.append(builder.mul(builder.add(most, least), node.scalar(0.5, most)))
    wide = builder.mul(sides[0], node.scalar(fields["scale_x"] / width, x))
    high = builder.mul(sides[1], node.scalar(fields["scale_y"] / height, x))
    rows = []
    for turn_x, turn_y in ((cos, sin), (minus, cos)):
        a, b = builder.mul(turn_x, wide), builder.mul(turn_y, high)
        shift = plane.combine((turn_x, centers[0]), (turn_y, centers[1]), (-width / 2, a), (-height / 2, b))
        rows += [a, b, node.constant(np.zeros((1, 1), np.float32)), shift]
    rest = node.constant(np.eye(4, dtype=np.float32)[2:].reshape(1, 8))
    return node.reshape(builder.concat([*rows, rest], 1), [1, 4, 4])


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
    corners: list[MLOperand] = []
    for down in range(2):
        sides = []
        for right in range(2):
            corner = builder.min(builder.add(low, node.constant(np.array([right, down], np.float32))), limits)
            flat = builder.matmul(corner, node.constant(np.array([[1], [width]], np.float32)))
            sides.append(builder.gather(pixels, node.cast(node.reshape(flat, [rows * columns]), "int32"), axis=0))
        corners.append(_blend(node, sides, builder.slice(shares, [0, 0], [rows * columns, 1])))
    result = _blend(node, corners, builder.slice(shares, [0, 1], [rows * columns, 1]))
    masked = builder.where(node.cast(inside, "uint8"), result, node.scalar(0, result))
    return node.reshape(masked, [1, rows, columns, channels])


def _blend(node: Node, pair: Sequence[MLOperand], share: MLOperand) -> MLOperand:
    builder = node.builder
    return builder.add(builder.mul(builder.sub(node.scalar(1, share), share), pair[0]), builder.mul(share, pair[1]))


RULES: Mapping[str, Callable[[Node], Result | list[Result]]] = {
    "CUSTOM.Convolution2DTransposeBias": _transpose_conv,
    "CUSTOM.Landmarks2TransformMatrix": _landmarks_to_matrix,
    "CUSTOM.MaxPoolingWithArgmax2D": _max_pool,
    "CUSTOM.MaxUnpooling2D": _max_unpool,
    "CUSTOM.TransformLandmarks": _transform_landmarks,
    "CUSTOM.TransformTensorBilinear": _transform_tensor,
}
