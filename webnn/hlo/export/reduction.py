"""Reductions, running sums, and the positions of extreme values."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from webnn.hlo.export.emitter import Emitter, Tensor, is_float
from webnn.hlo.export.rule import ELEMENTS, Op, Rule, wide
from webnn.hlo.types import DTYPES
from webnn.validation.descriptor import extreme

__all__ = ["RULES"]

_FLOAT32_MAX = float(np.finfo(np.float32).max)


def _axes(op: Op) -> list[int]:
    """Return the axes to reduce, ascending."""
    if "axis" in op.arguments:
        return [op.arguments["axis"]]
    axes = op.options.axes
    return list(range(len(op["input"].shape))) if axes is None else sorted(axes)


def _abs(e: Emitter, x: Tensor) -> Tensor:
    return x if x.element.startswith("ui") else e.unary("abs", x)


_Step = Callable[[Emitter, Tensor], Tensor]


def _same(_: Emitter, x: Tensor) -> Tensor:
    return x


def _fold(name: str, before: _Step = _same, after: _Step = _same) -> Callable[[Emitter, Op], Tensor]:
    """Make a rule: a step for each element, a reduction, and a step for each result."""

    def emit(e: Emitter, op: Op) -> Tensor:
        x = op["input"]
        return after(e, e.reduce(before(e, x), name, _initial(name, x.element), _axes(op), keep=op.options.keepDimensions))

    return emit


def _initial(name: str, element: str) -> float:
    """Return the number that changes nothing."""
    if name in ("add", "multiply"):
        return int(name == "multiply")
    return extreme(DTYPES[element], largest=name == "minimum")


def _mean(e: Emitter, op: Op) -> Tensor:
    x, axes = op["input"], _axes(op)
    return e.reduce(x, "add", 0, axes, keep=op.options.keepDimensions) / math.prod([x.shape[axis] for axis in axes])


def _l2(e: Emitter, op: Op) -> Tensor:
    # Without an axis the square could overflow.
    return _fold("add", lambda _, x: x * x, lambda e, x: e.unary("sqrt", x))(e, op) if _axes(op) else _abs(e, op["input"])


def _log_sum_exp(e: Emitter, op: Op) -> Tensor:
    x, axes = op["input"], _axes(op)
    if not axes:
        return x
    # The greatest element is taken out. An infinite one is made finite: infinity minus infinity would be NaN.
    greatest = e.clamp(e.reduce(x, "maximum", -math.inf, axes, keep=True), -_FLOAT32_MAX, _FLOAT32_MAX)
    total = e.reduce(e.unary("exponential", x - greatest), "add", 0, axes, keep=True)
    return e.reshape(e.unary("log", total) + greatest, op.outputs[0].dimensions)


def _arg(e: Emitter, op: Op) -> Tensor:
    x, output = op["input"], op.outputs[0]
    axes, index = _axes(op), ELEMENTS[output.dataType]
    kept = [axis for axis in range(len(x.shape)) if axis not in axes]
    # Several axes are counted as one.
    count = math.prod([x.shape[axis] for axis in axes])
    x = e.reshape(e.transpose(x, kept + axes), [*[x.shape[axis] for axis in kept], count])
    # Since 2026-06 the draft does not say which of several is found: the first one here too.
    last = getattr(op.options, "selectLastIndex", False)
    greater, name = ("GT", "maximum") if op.name == "argMax" else ("LT", "minimum")

    def choose(e: Emitter, a: Tensor, i: Tensor, b: Tensor, j: Tensor) -> Sequence[Tensor]:
        """Choose the more extreme of two elements; NaN is more extreme than all others; of two that are equal, the first or the last."""
        is_more, is_equal = e.compare(greater, a, b), e.compare("EQ", a, b)
        if is_float(a.element):
            a_nan, b_nan = e.compare("NE", a, a), e.compare("NE", b, b)
            is_more = (is_more | a_nan) & ~b_nan
            is_equal = is_equal | (a_nan & b_nan)
        first = is_more | (is_equal & e.compare("GT" if last else "LT", i, j))
        return [e.select(first, a, b), e.select(first, i, j)]

    body = e.body([((), x.element), ((), index)] * 2, choose)
    # The index at the beginning loses against all others.
    initial = [e.full(_initial(name, x.element), x.element), e.full(-1 if last else extreme(DTYPES[index], largest=True), index)]
    operands = [x, e.iota(x.shape, len(kept), index), *initial]
    results = [(x.shape[:-1], x.element), (x.shape[:-1], index)]
    _, found = e.ops("reduce", operands, results, {"dimensions": (len(kept),)}, [body])
    return e.reshape(found, output.dimensions)


def _cumulative_sum(e: Emitter, op: Op) -> Tensor:
    x, axis, options = op["input"], op.arguments["axis"], op.options
    size, zeros = x.shape[axis], [0] * len(x.shape)
    if options.exclusive:
        # Each element moves on by one place.
        shift = [int(each == axis) for each in range(len(x.shape))]
        back = [-each for each in shift]
        x = e.pad(x, back, shift, 0) if options.reversed else e.pad(x, shift, back, 0)
    window = [size if each == axis else 1 for each in range(len(x.shape))]
    around = (0, size - 1) if options.reversed else (size - 1, 0)
    padding = [around if each == axis else (zero, zero) for each, zero in enumerate(zeros)]
    return e.reduce_window(x, "add", 0, window, padding)


RULES = {
    "argMax": Rule(emit=_arg),
    "argMin": Rule(emit=_arg),
    "cumulativeSum": wide(_cumulative_sum),
    "reduceL1": wide(_fold("add", before=_abs)),
    "reduceL2": wide(_l2),
    "reduceLogSum": wide(_fold("add", after=lambda e, x: e.unary("log", x))),
    "reduceLogSumExp": wide(_log_sum_exp),
    "reduceMax": Rule(emit=_fold("maximum")),
    "reduceMean": wide(_mean),
    "reduceMin": Rule(emit=_fold("minimum")),
    "reduceProduct": wide(_fold("multiply")),
    "reduceSum": wide(_fold("add")),
    "reduceSumSquare": wide(_fold("add", before=lambda _, x: x * x)),
}
