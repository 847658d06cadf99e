"""Translations for Qualcomm's QNN provider with its Hexagon backend, measured with the simulator of plug-in 2.7.0.

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
from webnn.builder.onnx.pooling import max_pool
from webnn.builder.onnx.recurrent import STEPS
from webnn.validation.descriptor import FLOAT_TYPES
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
    return e.node("Where", [_truth(e, op["condition"]), op[first], op[second]])


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


def _standardize(e: Emitter, value: str, rank: int, axes: Sequence[int], epsilon: float) -> str:
    """Emit the numbers less their mean, divided by their deviation, along some axes."""
    centred = e.node("Sub", [value, e.reduce("ReduceMean", value, rank, axes, keep=True)])
    variance = e.reduce("ReduceMean", e.node("Mul", [centred, centred]), rank, axes, keep=True)
    return e.node("Div", [centred, e.node("Sqrt", [e.node("Add", [variance, e.scalar(epsilon, "float32")])])])


def _layer_normalization(emit: Emit, e: Emitter, op: Op) -> str | Sequence[str]:
    # `LayerNormalization` computes with the precision of float16.
    rank = len(op.shape("input"))
    axes = layer_axes(op.options.axes, rank)
    if not axes:
        return emit(e, op)
    value = _standardize(e, op["input"], rank, axes, op.options.epsilon)
    shape = [op.shape("input")[axis] if axis in axes else 1 for axis in range(rank)]
    order = sorted(range(len(axes)), key=axes.__getitem__)
    for member, op_type in (("scale", "Mul"), ("bias", "Add")):
        if member in op.inputs:
            value = e.node(op_type, [value, e.reshape(e.transpose(op[member], order), shape)])
    return value


def _instance_normalization(e: Emitter, op: Op) -> str:
    # `InstanceNormalization` fails when the session is made.
    layout = op.options.layout
    value = _standardize(e, op["input"], 4, [layout.index(axis) for axis in "hw"], op.options.epsilon)
    shape = [-1 if axis == "c" else 1 for axis in layout]
    for member, op_type in (("scale", "Mul"), ("bias", "Add")):
        if member in op.inputs:
            value = e.node(op_type, [value, e.reshape(op[member], shape)])
    return value


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
        # With an output padding, `ConvTranspose` repeats numbers.
        "convTranspose2d": replace(rows["convTranspose2d"], emit=partial(conv_transpose2d, extends=False)),
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
        "where": replace(rows["where"], emit=_where),
    }
    every = {**rows, **changed}
    elementwise = {name: _merged(row, partial(merge_elementwise, rank=_RANK)) for name, row in every.items() if row.elementwise}
    reductions = {name: _merged(row, partial(merge_reduction, rank=_RANK)) for name, row in every.items() if name.startswith("reduce")}
    product = {"matmul": _merged(rows["matmul"], partial(merge_matmul, rank=_RANK))}
    return {**changed, **elementwise, **reductions, **product}
