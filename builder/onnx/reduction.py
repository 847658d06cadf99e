"""Reductions, running sums, and the positions of extreme values.

Measured with ONNX Runtime's CPU provider: ``ReduceSum``, ``ReduceMean``, ``ReduceMax`` and ``ReduceMin`` are fast along any axes,
``ReduceL1``, ``ReduceL2``, ``ReduceSumSquare`` and ``ReduceLogSum`` take 4 to 15 times as long as an elementwise node and ``ReduceSum``,
unless all dimensions are reduced: then they take half as long.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from webnn.builder.onnx.branch import choose
from webnn.builder.onnx.emitter import Emitter, Op, Translation
from webnn.builder.onnx.integer import combine
from webnn.validation.descriptor import Shape

__all__ = ["TRANSLATIONS", "merge_axes"]

_FLOAT32 = np.finfo(np.float32)

#: The node before the sum, and the one behind it.
_SUMS = {
    "reduceL1": ("Abs", ""),
    "reduceL2": ("Square", "Sqrt"),
    "reduceLogSum": ("", "Log"),
    "reduceSum": ("", ""),
    "reduceSumSquare": ("Square", ""),
}
#: The node if no dimension is reduced; the other operations return the input. "Abs" for L2: the square might overflow.
_UNREDUCED = {"reduceL1": "Abs", "reduceL2": "Abs", "reduceLogSum": "Log", "reduceSumSquare": "Square"}


def _axes(op: Op) -> list[int]:
    """Return the axes to reduce, ascending."""
    if "axis" in op.arguments:
        return [op.arguments["axis"]]
    axes = op.options.axes
    return list(range(len(op.shape("input")))) if axes is None else sorted(axes)


def _apply(e: Emitter, op_type: str, value: str) -> str:
    """Emit an elementwise node; "Square", which ONNX lacks, is a product, and an empty name emits nothing."""
    if op_type == "Square":
        return e.elementwise("Mul", [value, value])
    return e.elementwise(op_type, [value]) if op_type else value


def _reduce(e: Emitter, op: Op, op_type: str, value: str, *, keep: bool | None = None) -> str:
    """Emit a reduction of the operator's axes; it keeps them if the operator does, unless ``keep`` says otherwise."""
    keep = op.options.keepDimensions if keep is None else keep
    return e.reduce(op_type, value, len(op.shape("input")), _axes(op), keep=keep)


def _fold(e: Emitter, op_type: str, value: str, op: Op) -> str:
    """Reduce integers exactly: halve each axis again and again, and combine the halves element by element.

    The engine's integer reductions accumulate in double and saturate, and have no kernel for uint32 and uint64; its elementwise ones are
    right and wrap for every type. ``MatMul`` with ones is exact too, but up to 7 times as slow along a leading axis.
    """
    for axis in _axes(op):
        size = int(op.shape("input")[axis])
        odd: list[str] = []
        while size > 1:
            half, rest = divmod(size, 2)
            sizes = [half, half, 1] if rest else [half, half]
            first, second, *single = e.nodes("Split", [value, e.ints(sizes)], len(sizes), axis=axis)
            value = combine(e, op_type, first, second, op.type("input"))
            odd += single
            size = half
        for single_value in odd:
            value = combine(e, op_type, value, single_value, op.type("input"))
    return e.reshape(value, op.outputs[0].dimensions)


def _sum(e: Emitter, op: Op) -> str:
    before, after = _SUMS[op.name]
    value = op["input"]
    axes = _axes(op)
    if op.type("input") != "float32":
        # The absolute value of an unsigned integer is itself.
        value = value if before == "Abs" and op.type("input").startswith("u") else _apply(e, before, value)
        return _fold(e, "Add", value, op)
    if not axes:
        return _apply(e, _UNREDUCED.get(op.name, ""), value)
    total = _reduce(e, op, "ReduceSum", _apply(e, before, value))
    return _apply(e, after, total)


def _mean(e: Emitter, op: Op) -> str:
    axes = _axes(op)
    return _reduce(e, op, "ReduceMean", op["input"]) if axes else op["input"]


def _fast_mean(e: Emitter, op: Op) -> str:
    """Emit a mean of height and width as pooling: the engine has it in its blocked layout and for quantized numbers, too."""
    shape, last = op.shape("input"), [2, 3]
    view = e.view(op["input"], len(shape))
    if len(shape) == 4 and all(shape) and op.options.keepDimensions and _axes(op) == last and [*view.permutation] == [0, 1, *last]:
        return e.node("GlobalAveragePool", [view.source])
    return _mean(e, op)


def _product(e: Emitter, op: Op) -> str:
    if op.type("input") != "float32":
        return _fold(e, "Mul", op["input"], op)
    axes = _axes(op)
    return _reduce(e, op, "ReduceProd", op["input"]) if axes else op["input"]


def _log_sum_exp(e: Emitter, op: Op) -> str:
    axes = _axes(op)
    value = op["input"]
    if not axes:
        return value
    # The engine's own kernel loses NaN beside infinities, and takes 2 to 5 times as long. A maximum that is infinite is made finite:
    # infinity minus infinity would be NaN. Whether the maximum sees a NaN does not matter, the sum of the exponentials does.
    maximum = e.node(
        "Clip",
        [
            _reduce(e, op, "ReduceMax", value, keep=True),
            e.scalar(float(_FLOAT32.min), "float32"),
            e.scalar(float(_FLOAT32.max), "float32"),
        ],
    )
    total = _reduce(e, op, "ReduceSum", e.node("Exp", [e.node("Sub", [value, maximum])]), keep=True)
    result = e.node("Add", [e.node("Log", [total]), maximum])
    return result if op.options.keepDimensions else e.reshape(result, op.outputs[0].dimensions)


def _extreme(e: Emitter, op: Op, *, nan: bool) -> str:
    value, axes, type = op["input"], _axes(op), op.type("input")
    op_type = "ReduceMax" if op.name == "reduceMax" else "ReduceMin"
    if not axes:
        return value
    if type in ("uint32", "uint64", "int64"):
        return _fold(e, op_type.removeprefix("Reduce"), value, op)
    result = _reduce(e, op, op_type, value)
    if type != "float32" or not nan:
        return result
    # Whether the engine's maximum sees a NaN depends on where it lies. A sum of absolute values is NaN exactly if one of them is.
    if len(axes) == len(op.shape("input")):
        total = _reduce(e, op, "ReduceL1", value)
    else:
        total = _reduce(e, op, "ReduceSum", e.elementwise("Abs", [value]))
    return e.elementwise("Where", [e.elementwise("IsNaN", [total]), total, result])


def merge_axes(e: Emitter, op: Op) -> str:
    """Bring a value to 3-D, with all the reduced axes as the middle one."""
    shape: Shape = op.shape("input")
    axes = _axes(op)
    kept = [axis for axis in range(len(shape)) if axis not in axes]
    count = math.prod(shape[axis] for axis in axes)
    first = axes[0] if axes else 0
    value = op["input"]
    if axes == list(range(first, first + len(axes))):
        before, behind = math.prod(shape[:first]), math.prod(shape[first + len(axes) :])
    else:
        value = e.transpose(value, kept + axes)
        before, behind = math.prod(shape[axis] for axis in kept), 1
    return e.reshape(value, [before, count, behind])


def _first_nan(e: Emitter, op_type: str, value: str, last: int) -> str:
    """Emit the positions of extreme values along axis 1, where a NaN counts as the extreme one."""
    # Whether the engine finds a NaN depends on where it lies: look for the first (or last) one, and see whether it is one.
    nan = e.node("IsNaN", [value])
    found = e.node("ArgMax", [e.cast(nan, "uint8")], axis=1, select_last_index=last)
    result = e.node(op_type, [value], axis=1, select_last_index=last)
    return e.node("Where", [e.node("GatherElements", [nan, found], axis=1), found, result])


def _arg(e: Emitter, op: Op, *, nan: bool) -> str:
    op_type = "ArgMax" if op.name == "argMax" else "ArgMin"
    # Since 2026-06 the draft does not say which of several is found: the first one here too.
    last = int(getattr(op.options, "selectLastIndex", False))
    value = merge_axes(e, op)
    if op.type("input") == "uint64":
        # There is no kernel for it; with the highest bit flipped, int64 orders the values in the same way.
        value = e.cast(e.node("BitwiseXor", [value, e.literal(np.array(2**63, np.uint64))]), "int64")

    def plain() -> str:
        return e.node(op_type, [value], axis=1, select_last_index=last)

    if nan and op.type("input") == "float32":
        # A sum of absolute values is NaN exactly if one of them is.
        hasNaN = e.node("IsNaN", [e.node("ReduceL1", [value], keepdims=0)])
        result = choose(e, hasNaN, lambda: _first_nan(e, op_type, value, last), plain, "int64")
    else:
        result = plain()
    result = e.reshape(result, op.outputs[0].dimensions)
    return result if op.outputs[0].dataType == "int64" else e.cast(result, op.outputs[0].dataType)


def _cumulative_sum(e: Emitter, op: Op) -> str:
    view = e.view(op["input"], len(op.shape("input")))
    axis = e.scalar(view.permutation[op.arguments["axis"]], "int64")
    options = op.options
    result = e.node("CumSum", [view.source, axis], exclusive=int(options.exclusive), reverse=int(options.reversed))
    return e.transpose(result, view.permutation)


TRANSLATIONS: dict[str, Translation] = {
    **{name: Translation(emit=_sum, carry={"float16": "float32"}) for name in _SUMS},
    "reduceLogSumExp": Translation(emit=_log_sum_exp, carry={"float16": "float32"}),
    **{
        name: Translation(emit=partial(_extreme, nan=True), fast=partial(_extreme, nan=False), carry={"float16": "float32"})
        for name in ("reduceMax", "reduceMin")
    },
    "reduceMean": Translation(emit=_mean, fast=_fast_mean, carry={"float16": "float32"}),
    "reduceProduct": Translation(emit=_product, carry={"float16": "float32"}),
    # There is no kernel for uint32; the output is of a type of its own and not cast back.
    **{
        name: Translation(emit=partial(_arg, nan=True), fast=partial(_arg, nan=False), carry={"float16": "float32", "uint32": "int64"})
        for name in ("argMin", "argMax")
    },
    # Its integers wrap. There are no kernels for unsigned ones, but modulo 2^bits they add alike, and the casts keep the bits.
    "cumulativeSum": Translation(emit=_cumulative_sum, carry={"float16": "float32", "uint32": "int32", "uint64": "int64"}),
}
