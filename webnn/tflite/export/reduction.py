"""Reductions that LiteRT has operators for, running sums, and the positions of extreme values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from webnn.hlo.export import graph
from webnn.hlo.export.emitter import Tensor
from webnn.hlo.export.rule import ELEMENTS, Op
from webnn.tflite.export.emitter import LiteEmitter
from webnn.tflite.export.program import TYPES
from webnn.tflite.schema import load_schema

__all__ = ["RULES"]


def _axes(op: Op) -> list[int]:
    if "axis" in op.arguments:
        return [op.arguments["axis"]]
    axes = op.options.axes
    return list(range(len(op["input"].shape))) if axes is None else sorted(axes)


def _mean(e: LiteEmitter, op: Op) -> Tensor:
    axes = _axes(op)
    return e.reduced("MEAN", op["input"], axes, keep=op.options.keepDimensions) if axes else op["input"]


def _arg(e: LiteEmitter, op: Op, code: str) -> Tensor:
    """Find positions; those along several axes are counted as one. Of equal elements it is the first, or the last one if a draft asks."""
    x, output, axes = op["input"], op.outputs[0], _axes(op)
    kept = [axis for axis in range(len(x.shape)) if axis not in axes]
    if len(axes) == 1:
        axis, line = axes[0], x
    else:
        axis = len(kept)
        line = e.reshape(e.transpose(x, kept + axes), [*[x.shape[each] for each in kept], math.prod(x.shape[each] for each in axes)])
    last = getattr(op.options, "selectLastIndex", False)
    if last:
        line = e.reverse(line, [axis])
    element = ELEMENTS[output.dataType]
    shape = [size for each, size in enumerate(line.shape) if each != axis]
    index = element if element in ("i32", "i64") else "i64"
    kind = getattr(load_schema().TensorType, TYPES[index])
    found = e.act(code, [line], shape, e.ints(axis), result=index, OutputType=kind)
    if last:
        found = (line.shape[axis] - 1) - found
    return e.reshape(e.widen(found, element), output.dimensions)


def _cumulative_sum(e: LiteEmitter, op: Op) -> Tensor:
    x, options = op["input"], op.options
    axis = e.constant(np.array(op.arguments["axis"], np.int32))
    return e.act("CUMSUM", [x], x.shape, axis, Exclusive=options.exclusive, Reverse=options.reversed)


def _log_sum_exp(e: LiteEmitter, op: Op) -> Tensor | Sequence[Tensor]:
    if not e.semantics:
        return graph.RULES["reduceLogSumExp"].emit(e, op)
    # As Chromium, also without axes: exponentials of large numbers overflow.
    total = e.reduced("SUM", e.unary("exponential", op["input"]), _axes(op), keep=op.options.keepDimensions)
    return e.unary("log", total)


def _l2(e: LiteEmitter, op: Op) -> Tensor | Sequence[Tensor]:
    if not e.semantics or _axes(op):
        return graph.RULES["reduceL2"].emit(e, op)
    # As Chromium: the root of the square is rounded.
    return e.unary("sqrt", op["input"] * op["input"])


RULES: Mapping[str, Callable[[LiteEmitter, Op], Tensor | Sequence[Tensor]]] = {
    "argMax": lambda e, op: _arg(e, op, "ARG_MAX"),
    "argMin": lambda e, op: _arg(e, op, "ARG_MIN"),
    "cumulativeSum": _cumulative_sum,
    "reduceL2": _l2,
    "reduceLogSumExp": _log_sum_exp,
    "reduceMean": _mean,
}
