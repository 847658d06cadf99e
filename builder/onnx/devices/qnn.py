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
from webnn.builder.onnx.pooling import average_pool, max_pool
from webnn.builder.onnx.quantization import dequantize_in_steps
from webnn.builder.onnx.recurrent import STEPS
from webnn.builder.onnx.resample import resample2d
from webnn.validation.descriptor import FLOAT_TYPES, DataType, OperandDescriptor, Shape
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


def _gather(emit: Emit, e: Emitter, op: Op) -> str | Sequence[str]:
    # A session with a `Gather` of float32 fails; one with `GatherND` does not.
    shape, axis, indices = op.shape("input"), op.options.axis, op.shape("indices")
    if op.type("input") != "float32":
        return emit(e, op)
    order = [axis, *(each for each in range(len(shape)) if each != axis)]
    if "indices" in op.constants:
        places = emit_indices(e, op, shape[axis : axis + 1], wide=True)
    else:
        # A session with a cast to float64 fails, and so does one with a `Clip` of int64. Here int64 has 32 bits anyway.
        size = shape[axis]
        places = e.node("Max", [e.cast(op["indices"], "int32"), e.scalar(-size, "int32")])
        places = e.cast(e.node("Min", [places, e.scalar(size - 1, "int32")]), "int64")
    # With indices of five dimensions, `GatherND` ends the process; in a list of them, it is wrong for slices of several dimensions.
    isLarge = len(indices) >= _RANK
    places = e.reshape(places, [math.prod(indices), 1] if isLarge else [*indices, 1])
    result = e.node("GatherND", [e.transpose(op["input"], order), places])
    if isLarge:
        result = e.reshape(result, [*indices, *[shape[each] for each in order[1:]]])
    # The dimensions of the indices come first: they belong in the place of the axis.
    rank = len(indices)
    return e.transpose(result, [*range(rank, rank + axis), *range(rank), *range(rank + axis, rank + len(shape) - 1)])


def _count_up(emit: Emit, e: Emitter, op: Op) -> str | Sequence[str]:
    # A negative index counts from the start where it is not a constant.
    if "indices" not in op.constants and op.type("indices") != "uint32":
        size, zero = op.shape("input")[op.options.axis], e.scalar(0, "int32")
        places = e.node("Max", [e.cast(op["indices"], "int32"), e.scalar(-size, "int32")])
        fromEnd = e.node("Add", [places, e.scalar(size, "int32")])
        op.inputs["indices"] = e.node("Where", [e.node("Less", [places, zero]), fromEnd, places])
        op.carried = {**op.carried, "indices": "int32"}
    return emit(e, op)


def _unsigned(emit: Emit, e: Emitter, op: Op) -> str | Sequence[str]:
    # It takes the integers of a `QuantizeLinear` to int8 for uint8. So uint8 numbers that are 128 larger are in their place; only a node
    # that wants int8 gets that, and leaves the device.
    types: dict[str, DataType] = {name: "uint8" for name in ("input", "zeroPoint") if name in op.inputs and op.type(name) == "int8"}
    if not types or (op.name == "dequantizeLinear" and "input" in op.constants):
        return emit(e, op)
    for name in types:
        value = op.constants.get(name)
        if value is None:
            op.inputs[name] = e.unsigned(op[name], len(op.shape(name)))
        else:
            op.inputs[name] = e.weight(f"{op[name]}+128", (value.astype(np.int16) + 128).astype(np.uint8))
    op.carried = {**op.carried, **types}
    (output,) = op.outputs
    if output.dataType != "int8":
        return emit(e, op)
    op.outputs = (OperandDescriptor("uint8", output.dimensions),)
    result = emit(e, op)
    assert isinstance(result, str)  # the only output
    return e.signed(result)


def _dequantize(emit: Emit, e: Emitter, op: Op) -> str | Sequence[str]:
    # `DequantizeLinear` behind `QuantizeLinear` gives back the numbers that were quantized, neither rounded nor with its own scale, and it
    # leaves the device behind a cast. The difference is one of int32: a session that has it as float32 fails.
    if op.type("input") != "uint8" or op.operands["input"]._operator is None:
        return emit(e, op)
    names = ("input", "zeroPoint")
    op.inputs |= {name: e.cast(op[name], "int32") for name in names}
    op.carried = {**op.carried, **dict.fromkeys(names, "int32")}
    return dequantize_in_steps(e, op, subtract=lambda e, minuend, subtrahend, _: e.cast(e.node("Sub", [minuend, subtrahend]), "float32"))


def _relu(emit: Emit, e: Emitter, op: Op) -> str | Sequence[str]:
    dtype = op.type("input")
    return emit(e, op) if dtype in FLOAT_TYPES else _clip(emit, e, op, 0, int(np.iinfo(dtype).max))


def _elu(e: Emitter, op: Op) -> str:
    # A session with `Elu` of float32 fails.
    zero, one = e.scalar(0, "float32"), e.scalar(1, "float32")
    below = e.node("Sub", [e.node("Exp", [e.node("Min", [op["input"], zero])]), one])
    return e.node("Add", [e.node("Max", [op["input"], zero]), e.node("Mul", [below, e.scalar(op.options.alpha, "float32")])])


def _gelu(e: Emitter, op: Op) -> str:
    # A session with `Gelu` of float32 fails, and most other orders of these nodes do. Only `Erf` leaves the device.
    value = op["input"]
    half = e.node("Mul", [value, e.scalar(0.5, "float32")])
    error = e.node("Erf", [e.node("Mul", [value, e.scalar(math.sqrt(0.5), "float32")])])
    return e.node("Add", [half, e.node("Mul", [half, error])])


def _clamp(emit: Emit, e: Emitter, op: Op, *, nan: bool) -> str | Sequence[str]:
    # `Clip` drops NaN and infinities, and compares integers as float32. `Max` and `Min` of float32 and of int32 are right, but a session
    # with both behind a convolution fails: so if NaN need not be kept, two bounds are a `Clip`.
    dtype, options = op.type("input"), op.options
    if dtype in FLOAT_TYPES:
        bounds = [bound for bound in (options.minValue, options.maxValue) if bound is not None and math.isfinite(bound)]
        return emit(e, op) if len(bounds) == 2 and not nan else clamp_floats(e, op)
    return _clip(emit, e, op, *integer_bounds(options.minValue, options.maxValue, dtype))


def _clip(emit: Emit, e: Emitter, op: Op, low: int, high: int) -> str | Sequence[str]:
    dtype = op.type("input")
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
        # Its padding counts.
        "averagePool2d": replace(rows["averagePool2d"], emit=partial(average_pool, counts=False)),
        # Its kernel misses 6 units in the last place.
        "batchNormalization": replace(rows["batchNormalization"], fast=None),
        # `Min` of float16 drops NaN.
        "clamp": replace(
            rows["clamp"],
            emit=partial(_clamp, rows["clamp"].emit, nan=True),
            fast=partial(_clamp, rows["clamp"].emit, nan=False),
            carry={"float16": "float32"},
        ),
        # `ConvTranspose` leaves the memory of its output padding as it was.
        "convTranspose2d": replace(rows["convTranspose2d"], emit=partial(conv_transpose2d, extends=False)),
        "dequantizeLinear": replace(rows["dequantizeLinear"], emit=partial(_unsigned, partial(_dequantize, rows["dequantizeLinear"].emit))),
        "elu": replace(rows["elu"], emit=_elu),
        # Between casts from and to float16, `Floor` and `Ceil` move whole numbers to the next one. They take float16.
        **{name: replace(rows[name], carry={}) for name in ("ceil", "floor")},
        "gather": replace(rows["gather"], emit=partial(_gather, partial(_count_up, rows["gather"].emit))),
        **{name: replace(rows[name], emit=partial(_count_up, rows[name].emit)) for name in ("gatherElements", "scatterElements")},
        "gelu": replace(rows["gelu"], emit=_gelu),
        "hardSigmoid": replace(rows["hardSigmoid"], emit=_hard_sigmoid),
        "instanceNormalization": replace(rows["instanceNormalization"], emit=_instance_normalization, fast=None),
        "layerNormalization": replace(
            rows["layerNormalization"], emit=partial(_layer_normalization, rows["layerNormalization"].emit), fast=None
        ),
        "logicalNot": replace(rows["logicalNot"], emit=_logical_not),
        **{name: replace(rows[name], emit=_connect) for name in _CONNECTIVES},
        # Its padding at the beginning counts as zeros.
        "maxPool2d": replace(rows["maxPool2d"], emit=partial(_unsigned, partial(max_pool, padding=False))),
        "quantizeLinear": replace(rows["quantizeLinear"], emit=partial(_unsigned, rows["quantizeLinear"].emit)),
        "relu": replace(rows["relu"], emit=partial(_relu, rows["relu"].emit), kernel=""),
        # The nearest mode of its `Resize` takes the upper one of two elements that are equally near.
        "resample2d": replace(rows["resample2d"], emit=partial(resample2d, upper=False, lower=False)),
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
