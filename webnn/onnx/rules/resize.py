"""Resizing.

`resample2d` takes the positions of half pixels. Other positions are tables that are computed at import: indices to gather, or weights that
are a matrix to multiply by. Dimensions are resized one after the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import cast

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.importing.steps import Result, normalize_axes, product
from webnn.importing.values import Array, Refused
from webnn.onnx.node import Node
from webnn.onnx.sampling import Rounding, Sampling, Taps, cubic, half_pixel, linear

__all__ = ["RULES"]

#: The longest dimension of a result.
_LONGEST = 1 << 22
#: The most elements that the results of a dimension are weighted sums of: four for each, if the kernel is not stretched.
_MOST_TAPS = 4 * _LONGEST
#: A matrix of more elements is replaced by the sum of gathered elements, if there are few for each result.
_LARGE_MATRIX = 1 << 20
_FEW_TAPS = 16
#: The most elements of a matrix.
_MOST_ELEMENTS = 1 << 26

_TRANSFORMATIONS = (
    "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize",
)  # fmt: skip
_ROUNDINGS = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


@dataclass(frozen=True, slots=True)
class _Plan:
    """How one dimension is resized to ``count`` elements: positions are mapped by ``scale``, about count / size.

    tf_crop_and_resize takes the part from ``start`` to ``end``, with the whole dimension from 0 to 1.
    """

    size: int
    count: int
    scale: Fraction
    start: Fraction = Fraction(0)
    end: Fraction = Fraction(1)

    def sample(self, transformation: str) -> Sampling:
        """Return the positions of the result's elements."""
        size, count, scale = self.size, self.count, self.scale
        step = 1 / scale
        first = Fraction(0)
        if transformation == "tf_half_pixel_for_nn":
            # A dimension that keeps its size keeps its elements.
            first = step / 2 if scale != 1 else first
        elif transformation == "align_corners":
            step = (size - 1) / (size * scale - 1) if size * scale != 1 else Fraction(0)
        elif transformation == "tf_crop_and_resize":
            length = (self.end - self.start) * (size - 1)
            step = length / (count - 1) if count > 1 else Fraction(0)
            first = self.start * (size - 1) + (0 if count > 1 else length / 2)
        elif transformation != "asymmetric" and (transformation != "pytorch_half_pixel" or count > 1):
            first = (step - 1) / 2
            if transformation == "half_pixel_symmetric":
                first += (size - count / scale) / 2
        return Sampling(size, count, step, first)


def _resize(node: Node) -> Result:
    """Map to resample2d where the positions are the same, otherwise to gather or to matmul with constants.

    Scales, sizes and the region of interest must be known. Linear and cubic resizing of integers is refused. Where matmul is used, a NaN
    or an infinity in the input counts for its whole row.
    """
    old = node.operator == "Upsample" or node.version < 11
    mode = node.choice("mode", "nearest", ("nearest", "linear") if old else ("nearest", "linear", "cubic"))
    transformation = "asymmetric"
    if not old:
        transformation = node.choice("coordinate_transformation_mode", "half_pixel", _TRANSFORMATIONS)
    x = node.operand(0)
    if mode != "nearest" and not node.is_float(x):
        raise Refused(f"{mode} resizing needs floating-point numbers, got {node.value(0).dtype.name}: engines round it in different ways")
    plans = _plans(node, transformation, old=old)
    samplings = {axis: plan.sample(transformation) for axis, plan in plans.items()}
    changed = {axis: each for axis, each in samplings.items() if not each.is_identity}
    if not changed:
        return node.value(0)
    if mode == "nearest":
        result = _nearest(node, x, changed, plans, old=old)
    else:
        result = _interpolate(node, x, changed, plans, mode)
    if transformation != "tf_crop_and_resize":
        return result
    rank = len(node.value(0).shape)
    masks = [each.outside.reshape([-1 if index == axis else 1 for index in range(rank)]) for axis, each in changed.items()]
    outside = reduce(np.logical_or, masks)
    if not outside.any():
        return result
    return node.builder.where(node.constant(outside), node.scalar(node.number("extrapolation_value", 0.0), result), result)


def _plans(node: Node, transformation: str, *, old: bool) -> dict[int, _Plan]:
    """Read how each dimension is resized."""
    shape = node.value(0).shape
    axes = normalize_axes("axes", node.integers("axes", range(len(shape))), len(shape))
    sizes = [shape[axis] for axis in axes]
    if node.has("scales"):
        scales: list[float] | None = node.numbers("scales")
    else:
        scales = _numbers(node, 1 if old else 2, "the scales")
    wanted = None if old else _numbers(node, 3, "the sizes")
    if (scales is None) == (wanted is None):
        raise Refused("either the scales or the sizes must be given", "" if scales is None else "leave one of them empty")
    parts = [(Fraction(0), Fraction(1))] * len(axes)
    if transformation == "tf_crop_and_resize":
        region = _numbers(node, 1, "the region of interest")
        if region is None or len(region) != 2 * len(axes):
            raise Refused(f"the region of interest must have {2 * len(axes)} numbers, got {region}")
        parts = [(Fraction(start), Fraction(end)) for start, end in zip(region[: len(axes)], region[len(axes) :], strict=True)]
    if scales is not None:
        if len(scales) != len(axes) or not all(0 < scale < math.inf for scale in scales):
            raise Refused(f"the scales must be {len(axes)} finite numbers greater than 0, got {scales}")
        plans = [_scale(size, scale, part) for size, scale, part in zip(sizes, scales, parts, strict=True)]
    else:
        counts = [int(count) for count in wanted or ()]
        if len(counts) != len(axes) or min(counts, default=1) < 1:
            raise Refused(f"the sizes must be {len(axes)} numbers of at least 1, got {counts}")
        factors = [Fraction(count, size) for size, count in zip(sizes, counts, strict=True)]
        policy = node.choice("keep_aspect_ratio_policy", "stretch", ("stretch", "not_larger", "not_smaller"))
        if policy != "stretch" and factors:
            factors = [(min if policy == "not_larger" else max)(factors)] * len(factors)
            counts = [math.floor(size * factor + Fraction(1, 2)) for size, factor in zip(sizes, factors, strict=True)]
        plans = [
            _Plan(size, count, factor, start, end) for size, count, factor, (start, end) in zip(sizes, counts, factors, parts, strict=True)
        ]
    for plan in plans:
        if not 1 <= plan.count <= _LONGEST:
            raise Refused(f"the sizes of the result must be from 1 to {_LONGEST}, got {[each.count for each in plans]}")
    return dict(zip(axes, plans, strict=True))


def _scale(size: int, scale: float, part: tuple[Fraction, Fraction]) -> _Plan:
    """Return the plan of a scale. A rounded quotient of sizes is replaced by the exact quotient."""
    start, end = part
    # In float32, as in ONNX's own inference, which does not count the region of interest either.
    with np.errstate(over="ignore"):
        count = int(min(np.floor(np.float32(size) * np.float32(scale)), 2.0 * _LONGEST))
    exact = Fraction(count, size)
    return _Plan(size, count, exact if np.float32(exact) == np.float32(scale) else Fraction(scale), start, end)


def _numbers(node: Node, index: int, what: str) -> list[float] | None:
    """Return the elements of an input that must be known; None if it is not given, or empty."""
    if not node.given(index) or node.value(index).size == 0:
        return None
    numbers = [float(each) for each in node.known(index, what).reshape(-1)]
    if not all(map(math.isfinite, numbers)):
        raise Refused(f"{what} must be finite, got {numbers}")
    return numbers


def _nearest(node: Node, x: MLOperand, changed: Mapping[int, Sampling], plans: Mapping[int, _Plan], *, old: bool) -> MLOperand:
    rounding = "floor" if old else node.choice("nearest_mode", "round_prefer_floor", _ROUNDINGS)
    tables: dict[int, Array] = {}
    native: list[int] = []
    for axis, sampling in changed.items():
        # Until opset 10, ONNX Runtime rounds up in dimensions that shrink.
        indices = sampling.nearest(cast("Rounding", "ceil" if old and plans[axis].scale < 1 else rounding))
        centres = half_pixel(sampling.size, sampling.count)
        # Devices differ about elements that are equally near.
        if node.is_float(x) and not centres.has_ties and np.array_equal(indices, centres.nearest("round_prefer_floor")):
            native.append(axis)
        elif not np.array_equal(indices, np.arange(sampling.size)):
            tables[axis] = indices.astype(np.int32)
    for axis in sorted(tables, key=lambda axis: changed[axis].step, reverse=True):
        x = node.builder.gather(x, node.constant(tables[axis]), axis=axis)
    return _resample(node, x, "nearest-neighbor", {axis: changed[axis].count for axis in native})


def _interpolate(node: Node, x: MLOperand, changed: Mapping[int, Sampling], plans: Mapping[int, _Plan], mode: str) -> MLOperand:
    kernel, radius = (linear, 1) if mode == "linear" else (cubic(node.number("cubic_coeff_a", -0.75)), 2)
    exclude = node.flag("exclude_outside", default=False)
    native: dict[int, int] = {}
    tables: dict[int, Taps] = {}
    for axis, sampling in changed.items():
        stretch = max(1.0, float(1 / plans[axis].scale)) if node.flag("antialias", default=False) else 1.0
        if 2 * radius * stretch * sampling.count > _MOST_TAPS:
            raise Refused(
                f"the results of a dimension must be sums of at most {_MOST_TAPS} elements in all, got {sampling.count} of {sampling.size}"
            )
        if mode == "linear" and stretch == 1 and sampling.same_line(half_pixel(sampling.size, sampling.count)):
            native[axis] = sampling.count
        else:
            tables[axis] = sampling.taps(kernel, radius, stretch, exclude=exclude)
    dataType = x.descriptor.dataType
    if tables:
        # Weights are not exact in float16.
        x = node.cast(x, "float32")
    for axis in sorted(tables, key=lambda axis: changed[axis].step, reverse=True):
        x = _weigh(node, x, axis, tables[axis])
    return node.cast(_resample(node, x, "linear", native), dataType)


def _weigh(node: Node, x: MLOperand, axis: int, taps: Taps) -> MLOperand:
    """Replace each element of a dimension by the sum of weighted elements."""
    builder, shape = node.builder, list(x.descriptor.dimensions)
    few, count = taps.indices.shape
    before, behind = shape[:axis], shape[axis + 1 :]
    if taps.size * count > _LARGE_MATRIX and few <= _FEW_TAPS:
        parts = [
            builder.mul(
                builder.gather(x, node.constant(indices.astype(np.int32)), axis=axis),
                node.constant(weights.astype(np.float32).reshape([-1, *[1] * len(behind)])),
            )
            for indices, weights in zip(taps.indices, taps.weights, strict=True)
        ]
        return reduce(builder.add, parts)
    if taps.size * count > _MOST_ELEMENTS:
        raise Refused(
            f"the sizes of a dimension and of its result must have a product of at most {_MOST_ELEMENTS}, got {taps.size * count}"
        )
    matrix = taps.matrix().astype(np.float32)
    if not behind:
        rows = node.reshape(x, [product(before), taps.size]) if len(shape) < 2 else x
        return node.reshape(builder.matmul(rows, node.constant(np.ascontiguousarray(matrix.T))), [*before, count])
    columns = x if len(behind) == 1 else node.reshape(x, [product(before), taps.size, product(behind)])
    return node.reshape(builder.matmul(node.constant(matrix), columns), [*before, count, *behind])


def _resample(node: Node, x: MLOperand, mode: str, counts: Mapping[int, int]) -> MLOperand:
    """Resize dimensions by resample2d, two neighbours at once."""
    left = sorted(counts)
    while left:
        axis = left.pop()
        pair = [axis]
        if left and left[-1] == axis - 1:
            pair = [left.pop(), axis]
        x = _resample_pair(node, x, mode, pair[0], [counts[each] for each in pair])
    return x


def _resample_pair(node: Node, x: MLOperand, mode: str, axis: int, sizes: Sequence[int]) -> MLOperand:
    """Resize one dimension, or it and the next one."""
    own = list(x.descriptor.dimensions)
    shape = own if len(own) > 1 else [1, *own]
    axis += len(shape) - len(own)
    if len(sizes) == 1 and axis + 1 < len(shape):
        sizes = [*sizes, shape[axis + 1]]
    elif len(sizes) == 1:
        axis -= 1
        sizes = [shape[axis], *sizes]
    behind = product(shape[axis + 2 :])
    pair = shape[axis : axis + 2]
    if len(shape) == 4 and axis > 0:
        four, axes = shape, [axis, axis + 1]
    elif behind == 1:
        four, axes = [1, product(shape[:axis]), *pair], [2, 3]
    else:
        four, axes = [product(shape[:axis]), *pair, behind], [1, 2]
    operation = cast("Callable[..., MLOperand]", node.builder.resample2d)
    result = operation(node.reshape(x, four), mode=mode, sizes=list(sizes), axes=axes)
    final = [*shape[:axis], *sizes, *shape[axis + 2 :]]
    return node.reshape(result, final[len(shape) - len(own) :])


RULES: Mapping[str, Callable[[Node], Result]] = {"Resize": _resize, "Upsample": _resize}
