"""Operators that sample an image at computed places."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product as combinations

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.importing.steps import Result, product
from webnn.importing.values import Refused
from webnn.onnx.node import Node

__all__ = ["RULES"]

#: The most elements of the constant places of a grid.
_MOST_ELEMENTS = 1 << 26
#: The most places of a region along a dimension.
_LONGEST = 1 << 16
#: The coefficient of cubic interpolation.
_CUBIC = -0.75


def _affine_grid(node: Node) -> MLOperand:
    """Multiply the places of the output, which are constants, by the matrices. The size must be known."""
    sizes = node.known_integers(1, "the size")
    theta = node.value(0).shape
    count = len(sizes) - 2
    if count not in (2, 3) or min(sizes) < 1 or product(sizes[2:]) > _MOST_ELEMENTS:
        raise Refused(f"the size must be 4 or 5 numbers of at least 1, and have at most {_MOST_ELEMENTS} places, got {sizes}")
    if theta != (sizes[0], count, count + 1):
        raise Refused(f"theta must have the shape {[sizes[0], count, count + 1]}, got {list(theta)}")
    align = node.flag("align_corners", default=False)
    if align and min(sizes[2:]) < 2:
        raise Refused(f"with align_corners, each dimension must have two places at least, got {sizes[2:]}")
    lines = [np.linspace(-1, 1, size) if align else (2 * np.arange(size) + 1) / size - 1 for size in sizes[2:]]
    places = [*reversed(np.meshgrid(*lines, indexing="ij")), np.ones(sizes[2:])]
    columns = np.stack([each.reshape(-1) for each in places], axis=1).astype(node.value(0).dtype)
    grid = node.builder.matmul(node.constant(columns), node.transpose(node.operand(0), [0, 2, 1]))
    return node.reshape(grid, [sizes[0], *sizes[2:], count])


@dataclass(frozen=True, slots=True)
class _Tap:
    """One element along a dimension, for each place, [batches, places, 1]: what it adds to the index in the flat image, and its weight.

    No weight is 1. ``inside`` tells whether it is inside; None if it always is.
    """

    index: MLOperand
    weight: MLOperand | None
    inside: MLOperand | None


def _grid_sample(node: Node) -> MLOperand:
    """Gather the elements around each place, and add them with their weights."""
    builder = node.builder
    mode = {"bilinear": "linear", "bicubic": "cubic"}.get(node.text("mode", "linear"), node.text("mode", "linear"))
    if mode not in ("nearest", "linear", "cubic"):
        raise Refused(f"the attribute mode must be one of linear, bilinear, nearest, cubic, bicubic, got {mode!r}")
    padding = node.choice("padding_mode", "zeros", ("zeros", "border", "reflection"))
    align = node.flag("align_corners", default=False)
    shape, grid = node.value(0).shape, node.value(1).shape
    sizes = shape[2:]
    if not 1 <= len(sizes) <= 3 or len(grid) != len(shape) or grid[0] != shape[0] or grid[-1] != len(sizes):
        raise Refused(f"the grid of an input {list(shape)} must have the shape [{shape[0]}, ..., {len(sizes)}], got {list(grid)}")
    batches, channels, plane, places = shape[0], shape[1], product(sizes), product(grid[1:-1])
    if max(sizes) >= 2**24 or batches * plane >= 2**31:
        raise Refused(f"the sizes of the input must be less than 2 ** 24, and their product less than 2 ** 31, got {list(shape)}")
    x = node.operand(0)
    if mode != "nearest":
        if not node.is_float(x):
            raise Refused(f"{mode} sampling needs floating-point numbers, got {node.value(0).dtype.name}")
        x = node.cast(x, "float32")
    rows = node.reshape(node.transpose(node.reshape(x, [batches, channels, plane]), [0, 2, 1]), [batches * plane, channels])
    normal = node.reshape(node.cast(node.operand(1), "float32"), [batches, places, len(sizes)])
    axes = []
    for axis, size in enumerate(sizes):
        # The coordinates of a place begin with that of the last dimension.
        column = builder.slice(normal, [0, 0, len(sizes) - 1 - axis], [batches, places, 1])
        axes.append(_taps(node, _unfold(node, column, size, align=align), mode, padding, size, product(sizes[axis + 1 :]), align=align))
    first = node.constant((np.arange(batches, dtype=np.int32) * plane).reshape(batches, 1, 1)) if batches > 1 else None
    parts = []
    for taps in combinations(*axes):
        index = reduce(builder.add, [*([] if first is None else [first]), *(tap.index for tap in taps)])
        part = builder.gather(rows, node.reshape(index, [batches, places]), axis=0)
        inside = [tap.inside for tap in taps if tap.inside is not None]
        if inside:
            part = builder.where(reduce(builder.logicalAnd, inside), part, node.scalar(0, part))
        weights = [tap.weight for tap in taps if tap.weight is not None]
        parts.append(builder.mul(part, reduce(builder.mul, weights)) if weights else part)
    total = reduce(builder.add, parts)
    return node.reshape(node.transpose(total, [0, 2, 1]), [batches, channels, *grid[1:-1]])


def _unfold(node: Node, normal: MLOperand, size: int, *, align: bool) -> MLOperand:
    """Turn coordinates from -1 to 1 into positions in a dimension."""
    builder = node.builder
    ahead = builder.add(normal, node.scalar(1, normal))
    if align:
        return builder.mul(ahead, node.scalar((size - 1) / 2, normal))
    return builder.sub(builder.mul(ahead, node.scalar(size / 2, normal)), node.scalar(0.5, normal))


def _reflect(node: Node, position: MLOperand, size: int, *, align: bool) -> MLOperand:
    """Reflect positions at the ends of a dimension, which are the first and the last element, or half an element beyond."""
    builder = node.builder
    low, length = (0.0, size - 1) if align else (-0.5, size)
    if length == 0:
        return builder.mul(position, node.scalar(0, position))
    way = builder.abs(builder.sub(position, node.scalar(low, position)))
    period = node.scalar(2 * length, position)
    rest = builder.sub(way, builder.mul(builder.floor(builder.div(way, period)), period))
    near = builder.min(rest, builder.sub(period, rest))
    return builder.add(near, node.scalar(low, position))


def _taps(node: Node, position: MLOperand, mode: str, padding: str, size: int, pitch: int, *, align: bool) -> Sequence[_Tap]:
    """Find the elements around positions in a dimension, and their weights."""
    builder = node.builder
    if mode == "nearest":
        position = builder.roundEven(position)
    if padding == "reflection":
        position = _reflect(node, position, size, align=align)
    else:
        # Farther away, all elements are the same: so the differences below stay finite.
        position = builder.clamp(position, minValue=-4, maxValue=size + 3)
    if mode == "nearest":
        return [_tap(node, position, None, padding, size, pitch)]
    below = builder.floor(position)
    share = builder.sub(position, below)
    taps = []
    for offset in (0, 1) if mode == "linear" else (-1, 0, 1, 2):
        element = builder.add(below, node.scalar(offset, below)) if offset else below
        if mode == "cubic" and padding == "reflection":
            element = _reflect(node, element, size, align=align)
        if mode == "cubic":
            weight = _cubic_weight(node, share, offset)
        else:
            weight = share if offset else builder.sub(node.scalar(1, share), share)
        taps.append(_tap(node, element, weight, padding, size, pitch))
    return taps


def _cubic_weight(node: Node, share: MLOperand, offset: int) -> MLOperand:
    """Return the weights of elements from the one before to the second one behind the element below."""
    builder = node.builder
    far = offset in (-1, 2)
    distance = share
    if offset:
        distance = builder.add(share, node.scalar(1, share)) if offset < 0 else builder.sub(node.scalar(offset, share), share)
    coefficients = [_CUBIC, -5 * _CUBIC, 8 * _CUBIC, -4 * _CUBIC] if far else [_CUBIC + 2, -(_CUBIC + 3), 0.0, 1.0]
    total = node.scalar(coefficients[0], distance)
    for coefficient in coefficients[1:]:
        total = builder.mul(total, distance)
        total = builder.add(total, node.scalar(coefficient, distance)) if coefficient else total
    return total


def _tap(node: Node, element: MLOperand, weight: MLOperand | None, padding: str, size: int, pitch: int) -> _Tap:
    clamped = node.builder.clamp(element, minValue=0, maxValue=size - 1)
    inside = node.builder.equal(clamped, element) if padding == "zeros" else None
    return _Tap(_index(node, clamped, pitch), weight, inside)


def _roi_align(node: Node) -> MLOperand:
    """Gather the elements around the places of each region, weigh and pool them. The number of places must be given: sampling_ratio."""
    builder = node.builder
    shape, regions = node.value(0).shape, node.value(1).shape
    ratio, height, width = node.integer("sampling_ratio", 0), node.integer("output_height", 1), node.integer("output_width", 1)
    if ratio < 1:
        raise Refused("sampling_ratio must be at least 1: 0 lets the computed size of a region determine the number of places")
    if len(shape) != 4 or len(regions) != 2 or regions[1] != 4 or node.value(2).shape != regions[:1] or min(height, width) < 1:
        raise Refused(
            "the inputs must have the shapes [batches, channels, height, width], [regions, 4] and [regions], and the output elements, "
            f"got {list(shape)}, {list(regions)} and {list(node.value(2).shape)}, and the output [{height}, {width}]"
        )
    batches, channels, *sizes = shape
    count = regions[0]
    if max(sizes) >= 2**24 or batches * product(sizes) >= 2**31 or max(height, width) * ratio > _LONGEST:
        raise Refused(f"the input must be smaller than 2 ** 31, and the places of a region along a dimension at most {_LONGEST}")
    mode = node.choice("mode", "avg", ("avg", "max"))
    half = (
        node.version >= 16
        and node.choice("coordinate_transformation_mode", "half_pixel", ("half_pixel", "output_half_pixel")) == "half_pixel"
    )
    x, rois = node.cast(node.operand(0), "float32"), node.cast(node.operand(1), "float32")
    rows = node.reshape(node.transpose(x, [0, 2, 3, 1]), [batches * product(sizes), channels])
    corners = builder.mul(rois, node.scalar(node.number("spatial_scale", 1.0), rois))
    if half:
        corners = builder.sub(corners, node.scalar(0.5, rois))
    axes = []
    for axis, places in enumerate((height * ratio, width * ratio)):
        # A region is the left, upper, right and lower end.
        start, end = (builder.slice(corners, [0, column], [count, 1]) for column in (1 - axis, 3 - axis))
        length = builder.sub(end, start)
        if not half:
            length = builder.max(length, node.scalar(1, length))
        steps = node.constant(((np.arange(places, dtype=np.float32) + 0.5) / places).reshape(1, places))
        position = builder.add(start, builder.mul(length, steps))
        position = node.reshape(position, [count, places, 1] if axis == 0 else [count, 1, places])
        axes.append(_region_taps(node, position, sizes[axis], product(sizes[axis + 1 :])))
    first = builder.mul(node.cast(node.operand(2), "int32"), node.scalar(product(sizes), "int32"))
    first = node.reshape(first, [count, 1, 1])
    parts = []
    (vertical, inside_rows), (horizontal, inside_columns) = axes
    for (row, share_row), (column, share_column) in combinations(vertical, horizontal):
        index = builder.add(builder.add(row, column), first)
        weight = builder.mul(share_row, share_column)
        parts.append(builder.mul(builder.gather(rows, index, axis=0), node.reshape(weight, [*weight.descriptor.dimensions, 1])))
    values = reduce(builder.add if mode == "avg" else builder.max, parts)
    inside = builder.logicalAnd(inside_rows, inside_columns)
    values = builder.where(node.reshape(inside, [*inside.descriptor.dimensions, 1]), values, node.scalar(0, values))
    if ratio > 1:
        pool = builder.averagePool2d if mode == "avg" else builder.maxPool2d
        values = pool(values, windowDimensions=[ratio, ratio], strides=[ratio, ratio], layout="nhwc")
    return node.transpose(values, [0, 3, 1, 2])


def _region_taps(node: Node, position: MLOperand, size: int, pitch: int) -> tuple[list[tuple[MLOperand, MLOperand]], MLOperand]:
    """Find the two elements around each position: what they add to the index, and their weights; then which positions count.

    Positions up to one element outside count, and are moved to the end.
    """
    builder = node.builder
    above, below = node.scalar(-1, position), node.scalar(size, position)
    inside = builder.logicalAnd(builder.greaterOrEqual(position, above), builder.lesserOrEqual(position, below))
    position = builder.clamp(position, minValue=0, maxValue=size - 1)
    lower = builder.floor(position)
    share = builder.sub(position, lower)
    upper = builder.min(builder.add(lower, node.scalar(1, lower)), node.scalar(size - 1, lower))
    rest = builder.sub(node.scalar(1, share), share)
    return [(_index(node, lower, pitch), rest), (_index(node, upper, pitch), share)], inside


def _index(node: Node, element: MLOperand, pitch: int) -> MLOperand:
    """Return what an element along a dimension adds to the index in the flat image."""
    index = node.cast(element, "int32")
    return node.builder.mul(index, node.scalar(pitch, index)) if pitch > 1 else index


RULES: Mapping[str, Callable[[Node], Result]] = {"AffineGrid": _affine_grid, "GridSample": _grid_sample, "RoiAlign": _roi_align}
