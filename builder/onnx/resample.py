"""Resampling."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from webnn.builder.onnx.emitter import Emitter, Op, Translation
from webnn.builder.onnx.values import View
from webnn.builder.places import find_samples
from webnn.validation.descriptor import is_float

__all__ = ["TRANSLATIONS", "resample2d"]

#: Beyond this size an axis is left to the engine's own float32 arithmetic: no tables of that length are made.
_LONGEST_TABLE = 2**22
#: The axes that the linear mode of the CPU provider takes: the last two, or those between batches and channels.
_LINEAR = ((1, 2), (2, 3))


@dataclass(frozen=True, slots=True)
class _Axis:
    """One axis that is resampled, from a size to a count of elements."""

    axis: int
    size: int
    count: int
    scale: Fraction

    @property
    def is_engine_exact(self) -> bool:
        """Tell whether float32 arithmetic chooses the right nearest element everywhere."""
        _, part, whole = find_samples(self.size, self.count, self.scale)
        margin = np.abs(2 * part - whole) / (2 * whole)
        rounded = Fraction(float(np.float32(self.scale))) != self.scale
        # A sample in the middle is safe if the scale is exact; one beside the middle, if it is farther away than an error can be.
        doubtful = margin < self.size * 2.0**-22
        return not doubtful[(margin > 0) | rounded].any()

    @property
    def has_ties(self) -> bool:
        """Tell whether a sample is in the middle between two elements."""
        _, part, whole = find_samples(self.size, self.count, self.scale)
        return bool((2 * part == whole).any())


def _with_resize(e: Emitter, op: Op, view: View, mode: str, axes: list[_Axis], *, sizes: bool, upper: bool) -> str:
    """Emit the engine's own operator, before the transpose of its input."""
    if sizes:
        extent = [None, None, e.ints(view.for_source(op.outputs[0].dimensions))]
    else:
        scales = np.ones(4, np.float32)
        for axis in axes:
            scales[view.permutation[axis.axis]] = axis.scale
        extent = [None, e.literal(scales)]
    # Twice as many elements are two of each, for which there is a kernel that takes a fifth of the time.
    doubled = mode == "nearest" and all(axis.scale == 2 for axis in axes)
    attributes = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"} if doubled else {}
    if upper and not doubled:
        attributes = {"nearest_mode": "round_prefer_ceil"}
    return e.transpose(e.node("Resize", [view.source, *extent], mode=mode, **attributes), view.permutation)


def _takes_linear(e: Emitter, view: View, axes: list[_Axis], taken: Collection[Sequence[int]]) -> bool:
    """Tell whether the engine's linear mode takes these axes.

    Its optimizer moves a transpose from before the node to behind it, even where the kernel then refuses the axes.
    """
    return tuple(sorted(view.permutation[axis.axis] for axis in axes)) in taken and not e.is_turned(view.source)


def _with_gather(e: Emitter, op: Op, mode: str, axes: list[_Axis], *, upper: bool) -> str:
    """Emit one axis after the other, from tables of exact positions."""
    value = op["input"]
    for axis in axes:
        below, part, whole = find_samples(axis.size, axis.count, axis.scale)
        if mode == "nearest":
            nearest = below + (2 * part >= whole if upper else 2 * part > whole)
            value = e.node("Gather", [value, e.literal(nearest)], axis=axis.axis)
            continue
        share = (part / whole).astype(np.float32).reshape([-1] + [1] * (3 - axis.axis))
        first = e.node("Gather", [value, e.literal(below)], axis=axis.axis)
        second = e.node("Gather", [value, e.literal(np.minimum(below + 1, axis.size - 1))], axis=axis.axis)
        value = e.node("Add", [e.node("Mul", [first, e.literal(1 - share)]), e.node("Mul", [second, e.literal(share)])])
    return value


def resample2d(
    e: Emitter,
    op: Op,
    *,
    upper: bool,
    linear: Collection[Sequence[int]] = _LINEAR,
    turns: bool = False,
    lower: bool = True,
) -> str:
    """Emit ``resample2d``. The nearest of two elements that are equally near is the lower one, or the upper one.

    ``linear`` has the axes that the engine's linear mode takes; ``turns`` says whether transposes make those of floats the last two, for
    both modes; ``lower`` says whether its nearest mode can choose the lower element.
    """
    options, shape, output = op.options, op.shape("input"), op.outputs[0].dimensions
    mode = "nearest" if options.mode == "nearest-neighbor" else "linear"
    upper = upper and mode == "nearest"
    indices = options.axes or (2, 3)
    sizes = options.sizes is not None or not options.maps_with_scales or max(output) > _LONGEST_TABLE
    if sizes:
        axes = [_Axis(axis, shape[axis], output[axis], Fraction(int(output[axis]), int(shape[axis]))) for axis in indices]
        right = True
    else:
        scales = options.scales or (1.0, 1.0)
        axes = [_Axis(axis, shape[axis], output[axis], Fraction(scale)) for axis, scale in zip(indices, scales, strict=True)]
        # The engine multiplies size and scale in float32, so 10 * 0.7 gives 7 elements instead of 6. If no size changes, it copies the
        # input, whatever the scales are.
        right = all(int(np.float32(axis.size) * np.float32(axis.scale)) == axis.count for axis in axes)
        right = right and (shape != output or all(axis.scale == 1 for axis in axes))
    if right and mode == "nearest" and max(output) <= _LONGEST_TABLE:
        right = all(axis.is_engine_exact and (lower or upper or not axis.has_ties) for axis in axes)
    view = e.view(op["input"], 4)
    if turns and right and is_float(op.operands["input"].descriptor.dataType):
        order = [*(axis for axis in range(4) if axis not in indices), *sorted(indices)]
        view = View(e.transpose(op["input"], order), tuple(map(order.index, range(4))))
    elif mode == "linear":
        right = right and _takes_linear(e, view, axes, linear)
    if right:
        result = _with_resize(e, op, view, mode, axes, sizes=sizes, upper=upper)
    else:
        result = _with_gather(e, op, mode, axes, upper=upper)
    # A value between two integers is rounded to the nearest one.
    return e.elementwise("Round", [result]) if mode == "linear" and not is_float(op.operands["input"].descriptor.dataType) else result


TRANSLATIONS = {
    # The engine's own kernels for integers drop the fraction.
    "resample2d": Translation(emit=partial(resample2d, upper=False), carry={"float16": "float32", "int8": "float32", "uint8": "float32"}),
}
