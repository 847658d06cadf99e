"""Translations for Qualcomm's QNN provider with its Hexagon backend, measured with the simulator of plug-in 2.7.0.

`tools.evidence.provider_faults.qnn` has a program in plain ONNX Runtime for each fault that is named here.
It has most kernels for float32 and float16 up to four dimensions; with five, some compute wrong values and some end the process. Integers
saturate instead of wrapping, and those of 64 bits have 32.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from webnn.builder.onnx.conv import conv_transpose2d
from webnn.builder.onnx.devices.forms import clamp_floats, softsign
from webnn.builder.onnx.devices.ranks import merge_elementwise, merge_matmul, merge_reduction
from webnn.builder.onnx.emitter import Emit, Emitter, Op, Translation
from webnn.builder.onnx.gather_scatter import emit_indices
from webnn.builder.onnx.pooling import max_pool
from webnn.builder.onnx.recurrent import STEPS
from webnn.validation.descriptor import FLOAT_TYPES, Shape
from webnn.validation.normalization import layer_axes
from webnn.validation.numbers import integer_bounds

__all__ = ["change_rows"]

#: The most dimensions for which the kernels are right.
_RANK = 4
_CONNECTIVES = {"logicalAnd": "And", "logicalOr": "Or", "logicalXor": "Xor"}
_SIGN = 2**63


def _truth(e: Emitter, value: str) -> str:
    # A cast to booleans keeps the bits of integers, and there is no comparison of uint8.
    return e.elementwise("Greater", [e.cast(value, "int32"), e.scalar(0, "int32")])


def _connect(e: Emitter, op: Op) -> str:
    return e.cast(e.node(_CONNECTIVES[op.name], [_truth(e, op["a"]), _truth(e, op["b"])]), "uint8")


def _logical_not(e: Emitter, op: Op) -> str:
    return e.cast(e.node("Not", [_truth(e, op["a"])]), "uint8")


def _where(e: Emitter, op: Op) -> str:
    _, first, second = op.inputs
    condition, values = _truth(e, op["condition"]), [op[first], op[second]]
    if op.type(first) != "float32":
        return e.node("Where", [condition, *values])
    # A session with a `Where` of float32 fails. As float64 it leaves the device alone, not with the whole graph.
    return e.cast(e.node("Where", [condition, *[e.cast(value, "float64") for value in values]]), "float32")


def _gather(emit: Emit, e: Emitter, op: Op) -> str | Sequence[str]:
    # A session with a `Gather` of float32 fails; one with `GatherND` does not.
    shape, axis, indices = op.shape("input"), op.options.axis, op.shape("indices")
    if op.type("input") != "float32":
        return emit(e, op)
    order = [axis, *(each for each in range(len(shape)) if each != axis)]
    places = e.reshape(emit_indices(e, op, shape[axis : axis + 1], wide=True), [*indices, 1])
    result = e.node("GatherND", [e.transpose(op["input"], order), places])
    # The dimensions of the indices come first: they belong in the place of the axis.
    rank = len(indices)
    return e.transpose(result, [*range(rank, rank + axis), *range(rank), *range(rank + axis, rank + len(shape) - 1)])


def _elu(e: Emitter, op: Op) -> str:
    # A session with `Elu` of float32 fails.
    zero, one = e.scalar(0, "float32"), e.scalar(1, "float32")
    below = e.node("Sub", [e.node("Exp", [e.node("Min", [op["input"], zero])]), one])
    return e.node("Add", [e.node("Max", [op["input"], zero]), e.node("Mul", [below, e.scalar(op.options.alpha, "float32")])])


def _gelu(e: Emitter, op: Op) -> str:
    # A session with `Gelu` of float32 fails. In this order of nodes the engine does not make one; only `Erf` leaves the device.
    value, half = op["input"], e.scalar(0.5, "float32")
    error = e.node("Erf", [e.node("Mul", [value, e.scalar(math.sqrt(0.5), "float32")])])
    return e.node("Mul", [value, e.node("Add", [e.node("Mul", [error, half]), half])])


def _clamp(emit: Emit, e: Emitter, op: Op) -> str | Sequence[str]:
    # `Clip` drops NaN and infinities, and compares integers as float32. `Max` and `Min` of float32 and of int32 are right.
    dtype, options = op.type("input"), op.options
    if dtype in FLOAT_TYPES:
        return clamp_floats(e, op)
    low, high = integer_bounds(options.minValue, options.maxValue, dtype)
    if dtype == "int32":
        return e.node("Min", [e.node("Max", [op["input"], e.scalar(low, dtype)]), e.scalar(high, dtype)])
    if dtype != "int64":
        return emit(e, op)
    # Here int64 has 32 bits. Nothing takes uint64, so the CPU computes this. With the highest bit flipped, uint64 orders int64.
    flip = e.literal(np.array(_SIGN, np.uint64))
    bounds = [e.literal(np.array(bound + _SIGN, np.uint64)) for bound in (low, high)]
    clipped = e.node("Clip", [e.node("BitwiseXor", [e.cast(op["input"], "uint64"), flip]), *bounds])
    return e.cast(e.node("BitwiseXor", [clipped, flip]), "int64")


def _hard_sigmoid(e: Emitter, op: Op) -> str:
    # There is no `HardSigmoid` of float32.
    scaled = e.node("Add", [e.node("Mul", [op["input"], e.scalar(op.options.alpha, "float32")]), e.scalar(op.options.beta, "float32")])
    return e.node("Min", [e.node("Max", [scaled, e.scalar(0, "float32")]), e.scalar(1, "float32")])


def _standardize(e: Emitter, value: str, shape: Shape, axes: Sequence[int], epsilon: float) -> str:
    """Emit the numbers less their mean, divided by their deviation, along some axes."""
    # The square of what is centred along several axes makes no session: they become one.
    order = [*(axis for axis in range(len(shape)) if axis not in axes), *axes]
    count = math.prod(shape[axis] for axis in axes)
    rows = e.reshape(e.transpose(value, order), [math.prod(shape) // count, count])
    centred = e.node("Sub", [rows, e.node("ReduceMean", [rows, e.ints([1])], keepdims=1)])
    variance = e.node("ReduceMean", [e.node("Mul", [centred, centred]), e.ints([1])], keepdims=1)
    result = e.node("Div", [centred, e.node("Sqrt", [e.node("Add", [variance, e.scalar(epsilon, "float32")])])])
    return e.transpose(e.reshape(result, [shape[axis] for axis in order]), sorted(range(len(shape)), key=order.__getitem__))


def _scale(e: Emitter, op: Op, value: str, shape: Sequence[int], order: Sequence[int]) -> str:
    """Multiply with the scale and add the bias, both in the order and in the shape that broadcasts with the value."""
    for member, op_type in (("scale", "Mul"), ("bias", "Add")):
        if member in op.inputs:
            value = e.node(op_type, [value, e.reshape(e.transpose(op[member], order), shape)])
    return value


def _layer_normalization(emit: Emit, e: Emitter, op: Op) -> str | Sequence[str]:
    # `LayerNormalization` computes with the precision of float16.
    shape = op.shape("input")
    axes = layer_axes(op.options.axes, len(shape))
    if not axes:
        return emit(e, op)
    value = _standardize(e, op["input"], shape, axes, op.options.epsilon)
    spread = [size if axis in axes else 1 for axis, size in enumerate(shape)]
    return _scale(e, op, value, spread, sorted(range(len(axes)), key=axes.__getitem__))


def _instance_normalization(e: Emitter, op: Op) -> str:
    # `InstanceNormalization` fails when the session is made.
    layout = op.options.layout
    value = _standardize(e, op["input"], op.shape("input"), [layout.index(axis) for axis in "hw"], op.options.epsilon)
    return _scale(e, op, value, [-1 if axis == "c" else 1 for axis in layout], [0])


def _slice(emit: Emit, e: Emitter, op: Op) -> str | Sequence[str]:
    # With five dimensions, `Slice` ends the process: each axis is cut with what is before it, and what is behind it, as one dimension.
    shape, sizes = [*op.shape("input")], op.arguments["sizes"]
    if len(shape) <= _RANK:
        return emit(e, op)
    strides, value = (op.options and op.options.strides) or [1] * len(shape), op["input"]
    for axis, (start, size, stride) in enumerate(zip(op.arguments["starts"], sizes, strides, strict=True)):
        if size != shape[axis] or stride != 1:
            value = e.reshape(value, [math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])])
            value = e.node("Slice", [value, e.ints([start]), e.ints([start + size]), e.ints([1]), e.ints([stride])])
            shape[axis] = op.outputs[0].dimensions[axis]
    return e.reshape(value, shape)


def _merged(row: Translation, merge: Callable[[Emit], Emit]) -> Translation:
    return replace(row, emit=merge(row.emit), fast=None if row.fast is None else merge(row.fast), kernel="")


def change_rows(rows: Mapping[str, Translation]) -> dict[str, Translation]:
    """Return the rows that differ from those of the CPU provider."""
    changed = {
        # Its kernel misses 6 units in the last place.
        "batchNormalization": replace(rows["batchNormalization"], fast=None),
        # `Min` of float16 drops NaN.
        "clamp": replace(rows["clamp"], emit=partial(_clamp, rows["clamp"].emit), carry={"float16": "float32"}),
        # `ConvTranspose` leaves the memory of its output padding as it was.
        "convTranspose2d": replace(rows["convTranspose2d"], emit=partial(conv_transpose2d, extends=False)),
        "elu": replace(rows["elu"], emit=_elu),
        "gather": replace(rows["gather"], emit=partial(_gather, rows["gather"].emit)),
        "gelu": replace(rows["gelu"], emit=_gelu),
        "hardSigmoid": replace(rows["hardSigmoid"], emit=_hard_sigmoid),
        "instanceNormalization": replace(rows["instanceNormalization"], emit=_instance_normalization, fast=None),
        "layerNormalization": replace(
            rows["layerNormalization"], emit=partial(_layer_normalization, rows["layerNormalization"].emit), fast=None
        ),
        "logicalNot": replace(rows["logicalNot"], emit=_logical_not),
        **{name: replace(rows[name], emit=_connect) for name in _CONNECTIVES},
        # Its padding at the beginning counts as zeros.
        "maxPool2d": replace(rows["maxPool2d"], emit=partial(max_pool, padding=False)),
        "slice": replace(rows["slice"], emit=partial(_slice, rows["slice"].emit)),
        # There is no `Softsign`.
        "softsign": replace(rows["softsign"], emit=softsign),
        # With the default activation functions, `GRU` and `LSTM` fail when the session is made. With others they leave the device; a cast
        # from float16 before one ends the process.
        **{name: replace(rows[name], emit=emit, fast=None) for name, emit in STEPS.items()},
        "where": replace(rows["where"], emit=_where, carry={"uint64": "int64"}),
    }
    every = {**rows, **changed}
    elementwise = {name: _merged(row, partial(merge_elementwise, rank=_RANK)) for name, row in every.items() if row.elementwise}
    reductions = {name: _merged(row, partial(merge_reduction, rank=_RANK)) for name, row in every.items() if name.startswith("reduce")}
    product = {"matmul": _merged(rows["matmul"], partial(merge_matmul, rank=_RANK))}
    return {**changed, **elementwise, **reductions, **product}
