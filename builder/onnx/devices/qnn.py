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
from webnn.builder.onnx.devices import picks
from webnn.builder.onnx.devices.forms import clamp_floats, softsign
from webnn.builder.onnx.devices.ranks import carry, merge_axis, merge_elementwise, merge_matmul, merge_reduction
from webnn.builder.onnx.emitter import Emit, Emitter, Op, Translation
from webnn.builder.onnx.gather_scatter import emit_indices
from webnn.builder.onnx.movement import pad
from webnn.builder.onnx.padding import pad_with_parts
from webnn.builder.onnx.pooling import average_pool, l2_pool, max_pool
from webnn.builder.onnx.quantization import dequantize_in_steps
from webnn.builder.onnx.recurrent import STEPS
from webnn.builder.onnx.resample import resample2d
from webnn.validation.descriptor import FLOAT_TYPES, DataType, OperandDescriptor
from webnn.validation.normalization import layer_axes
from webnn.validation.numbers import integer_bounds

__all__ = ["change_rows"]

#: The most dimensions for which the kernels are right.
_RANK = 4
_CONNECTIVES = {"logicalAnd": "And", "logicalOr": "Or", "logicalXor": "Xor"}
_SIGN = 2**63
#: The fraction of a power of two.
_HALF = 0.5
#: The smallest normal float32.
_SMALLEST = 2.0**-126


def _truth(e: Emitter, value: str) -> str:
    # A cast to booleans keeps the bits of integers, and there is no comparison of uint8.
    return e.elementwise("Greater", [e.cast(value, "int32"), e.scalar(0, "int32")])


def _connect(e: Emitter, op: Op) -> str:
    return e.cast(e.node(_CONNECTIVES[op.name], [_truth(e, op["a"]), _truth(e, op["b"])]), "uint8")


def _logical_not(e: Emitter, op: Op) -> str:
    return e.cast(e.node("Not", [_truth(e, op["a"])]), "uint8")


def _where(e: Emitter, op: Op) -> str | Sequence[str]:
    # A session with a `Where` of float32 fails.
    _, first, _ = op.inputs
    return picks.where(_plain_where, _truth, e, op) if op.type(first) == "float32" else _plain_where(e, op)


def _plain_where(e: Emitter, op: Op) -> str:
    _, first, second = op.inputs
    return e.node("Where", [_truth(e, op["condition"]), op[first], op[second]])


def _gather(emit: Emit, e: Emitter, op: Op) -> str | Sequence[str]:
    # A session with a `Gather` of float32 fails; one with `GatherND` does not.
    shape, axis, indices = op.shape("input"), op.options.axis, op.shape("indices")
    if op.type("input") != "float32":
        return emit(e, op)
    if shape[axis] == 1:
        rest = [size for each, size in enumerate(shape) if each != axis]
        result = e.reshape(_repeat(e, op["input"], math.prod(indices), math.prod(rest)), [*indices, *rest])
        return e.transpose(result, _place_indices(axis, len(indices), len(rest)))
    order = [axis, *(each for each in range(len(shape)) if each != axis)]
    if "indices" in op.constants:
        places = emit_indices(e, op, shape[axis : axis + 1], wide=True)
    else:
        # A session with a cast to float64 fails, and so does one with a `Clip` of int64. Here int64 has 32 bits anyway.
        size = shape[axis]
        places = e.node("Max", [e.cast(op["indices"], "int32"), e.scalar(-size, "int32")])
        places = e.cast(e.node("Min", [places, e.scalar(size - 1, "int32")]), "int64")
    # With five dimensions, `GatherND` leaves the device or ends the process: it gets rows, and a list of places.
    rest = [shape[each] for each in order[1:]]
    rows = e.transpose(op["input"], order)
    rows = rows if len(rest) == 1 else e.reshape(rows, [shape[axis], math.prod(rest)])
    result = e.node("GatherND", [rows, e.reshape(places, [math.prod(indices), 1])])
    result = result if len(rest) == len(indices) == 1 else e.reshape(result, [*indices, *rest])
    return e.transpose(result, _place_indices(axis, len(indices), len(rest)))


def _place_indices(axis: int, rank: int, others: int) -> list[int]:
    # The dimensions of the indices come first: they belong in the place of the axis.
    return [*range(rank, rank + axis), *range(rank), *range(rank + axis, rank + others)]


def _repeat(e: Emitter, value: str, count: int, size: int) -> str:
    # A `GatherND` whose indices have one place to choose from reads others.
    return e.node("Tile", [e.reshape(value, [1, size]), e.ints([count, 1])])


def _gather_nd(emit: Emit, e: Emitter, op: Op) -> str | Sequence[str]:
    shape, indices, result = op.shape("input"), op.shape("indices"), op.outputs[0].dimensions
    depth = indices[-1]
    if math.prod(shape[:depth]) == 1:
        return e.reshape(_repeat(e, op["input"], math.prod(indices[:-1]), math.prod(shape[depth:])), result)
    if max(len(shape), len(indices), len(result)) <= _RANK:
        return emit(e, op)
    # As for `gather`: rows, and a list of places.
    op.inputs = {**op.inputs, "indices": e.reshape(op["indices"], [math.prod(indices[:-1]), depth])}
    places = e.reshape(emit_indices(e, op, shape[:depth], wide=True), [math.prod(indices[:-1]), depth])
    rows = e.reshape(op["input"], [*shape[:depth], math.prod(shape[depth:])])
    return e.reshape(e.node("GatherND", [rows, places]), result)


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


def _pad(
    e: Emitter, value: str, shape: Sequence[int], dtype: DataType, beginning: Sequence[int], ending: Sequence[int], number: float
) -> str:
    padded = pad_with_parts(e, value, shape, dtype, beginning, ending, number)
    # A `MaxPool` in "nhwc" takes the parts for zeros if they are infinities, unless there are two nodes between.
    if padded == value or not math.isinf(number):
        return padded
    sizes = [before + size + after for before, size, after in zip(beginning, shape, ending, strict=True)]
    return e.node("Reshape", [e.node("Reshape", [padded, e.ints([math.prod(sizes)])]), e.ints(sizes)])


def _relu(emit: Emit, e: Emitter, op: Op) -> str | Sequence[str]:
    dtype = op.type("input")
    return emit(e, op) if dtype in FLOAT_TYPES else _clip(emit, e, op, 0, int(np.iinfo(dtype).max))


def _elu(e: Emitter, op: Op) -> str:
    # A session with `Elu` of float32 fails.
    zero, one = e.scalar(0, "float32"), e.scalar(1, "float32")
    below = e.node("Sub", [e.node("Exp", [e.node("Min", [op["input"], zero])]), one])
    above, alpha = e.node("Max", [op["input"], zero]), op.options.alpha
    if alpha != 1:
        # One with a product in this place fails, too.
        below = e.node("Div", [below, e.scalar(1 / alpha if alpha else math.inf, "float32")])
    return e.node("Add", [above, below])


def _div(emit: Emit, e: Emitter, op: Op, *, rounds: bool) -> str | Sequence[str]:
    # A session with a `Div` before a `Softmax` and a `MatMul` fails: attention has that. A product rounds twice, but for powers of two.
    divisor = op.constants.get("b")
    if divisor is None or op.type("b") != "float32" or divisor.size != 1:
        return emit(e, op)
    number = float(divisor.item())
    factor = 1 / number if number else math.inf
    isRight = rounds or abs(math.frexp(number)[0]) == _HALF
    if not isRight or not all(_SMALLEST <= abs(each) <= 1 / _SMALLEST for each in (number, factor)):
        return emit(e, op)
    return e.node("Mul", [op["a"], e.literal(np.full(op.shape("b"), factor, np.float32))])


def _gemm(e: Emitter, op: Op) -> str:
    # `Gemm` takes some factors and forms of `c` only.
    options = op.options
    a, b = (e.transpose(op[name], [1, 0]) if flag else op[name] for name, flag in (("a", options.aTranspose), ("b", options.bTranspose)))
    value = e.node("MatMul", [a, b])
    if options.alpha != 1:
        value = e.node("Mul", [value, e.scalar(options.alpha, "float32")])
    if "c" not in op.inputs:
        return value
    added = op["c"] if options.beta == 1 else e.node("Mul", [op["c"], e.scalar(options.beta, "float32")])
    return e.node("Add", [value, added])


def _reduce_product(e: Emitter, op: Op) -> str:
    # There is no `ReduceProd`: multiply the first half of the numbers with the second one, until one is left.
    shape = op.shape("input")
    axes = range(len(shape)) if op.options.axes is None else op.options.axes
    order, count = [*(axis for axis in range(len(shape)) if axis not in axes), *axes], math.prod(shape[axis] for axis in axes)
    value = e.reshape(e.transpose(op["input"], order), [math.prod(shape) // count, count])
    while count > 1:
        half = count // 2
        parts = [half, half, count % 2] if count % 2 else [half, half]
        first, second, *rest = e.nodes("Split", [value, e.ints(parts)], len(parts), axis=1)
        value = e.node("Mul", [first, second])
        value, count = e.node("Concat", [value, *rest], axis=1) if rest else value, half + len(rest)
    return e.reshape(value, op.outputs[0].dimensions)


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


def _normalize(e: Emitter, op: Op, order: Sequence[int], rows: Sequence[int], scale: Sequence[int], spread: Sequence[int]) -> str:
    """Emit the numbers less their mean, divided by their deviation, times the scale, with the bias.

    Args:
        e: The emitter.
        op: The operator.
        order: The dimensions of the input, in the order for the rows.
        rows: The shape for the computation, the last dimension of which is normalized. Sessions with several such dimensions fail, and so
            do those with a scale or a bias for another shape.
        scale: The dimensions of the scale and of the bias, in their order.
        spread: The shape of these that broadcasts with the rows.
    """
    value, dtype, last = e.reshape(e.transpose(op["input"], order), rows), op.type("input"), len(rows) - 1
    if dtype == "float16":
        ones = e.literal(np.ones(rows[-1], np.float16))
        value = e.node("LayerNormalization", [value, ones], axis=last, epsilon=op.options.epsilon)
    else:
        # `LayerNormalization` computes with the precision of float16.
        centred = e.node("Sub", [value, e.node("ReduceMean", [value, e.ints([last])], keepdims=1)])
        variance = e.node("ReduceMean", [e.node("Mul", [centred, centred]), e.ints([last])], keepdims=1)
        value = e.node("Div", [centred, e.node("Sqrt", [e.node("Add", [variance, e.scalar(op.options.epsilon, dtype)])])])
    for member, op_type in (("scale", "Mul"), ("bias", "Add")):
        if member in op.inputs:
            value = e.node(op_type, [value, e.reshape(e.transpose(op[member], scale), spread)])
    shape = op.shape("input")
    return e.transpose(e.reshape(value, [shape[axis] for axis in order]), sorted(range(len(shape)), key=order.__getitem__))


def _layer_normalization(emit: Emit, e: Emitter, op: Op) -> str | Sequence[str]:
    shape = op.shape("input")
    axes = layer_axes(op.options.axes, len(shape))
    if not axes:
        return emit(e, op)
    order = [*(axis for axis in range(len(shape)) if axis not in axes), *sorted(axes)]
    count = math.prod(shape[axis] for axis in axes)
    return _normalize(e, op, order, [math.prod(shape) // count, count], sorted(range(len(axes)), key=axes.__getitem__), [count])


def _instance_normalization(e: Emitter, op: Op) -> str:
    # `InstanceNormalization` fails when the session is made.
    order = [op.options.layout.index(axis) for axis in "nchw"]
    batches, channels, height, width = (op.shape("input")[axis] for axis in order)
    return _normalize(e, op, order, [batches, channels, height * width], [0], [channels, 1])


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


def _narrowed(row: Translation) -> Translation:
    """Return a row whose indices of int64 are int32, where they are not constants: a session with a cast to float64 fails."""

    def narrow(emit: Emit, e: Emitter, op: Op) -> str | Sequence[str]:
        if op.type("indices") == "int64" and "indices" not in op.constants:
            op.inputs = {**op.inputs, "indices": e.cast(op["indices"], "int32")}
            op.carried = {**op.carried, "indices": "int32"}
        return emit(e, op)

    return replace(row, emit=partial(narrow, row.emit), fast=None if row.fast is None else partial(narrow, row.fast))


def _of_floats(emit: Emit, other: Callable[[Emit, Emitter, Op], str | Sequence[str]]) -> Emit:
    """Return a function that emits an operator of float32 in another way than one of other types."""
    return lambda e, op: other(emit, e, op) if op.type("input") == "float32" else emit(e, op)


def _merged(row: Translation, merge: Callable[[Emit], Emit]) -> Translation:
    # A session with a cast of five dimensions before a `Reshape` fails: so the cast comes behind it.
    emit, fast = (None if each is None else merge(carry(each, row.carry)) for each in (row.emit, row.fast))
    return replace(row, emit=emit or row.emit, fast=fast, carry={}, kernel="")


def change_rows(rows: Mapping[str, Translation]) -> dict[str, Translation]:
    """Return the rows that differ from those of the CPU provider."""
    changed = {
        # Its padding counts. There is no `Pad` with axes.
        "averagePool2d": replace(rows["averagePool2d"], emit=partial(average_pool, counts=False, pad=_pad)),
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
        "div": replace(
            rows["div"], emit=partial(_div, rows["div"].emit, rounds=False), fast=partial(_div, rows["div"].emit, rounds=True), kernel=""
        ),
        "elu": replace(rows["elu"], emit=_elu),
        # Between casts from and to float16, `Floor` and `Ceil` move whole numbers to the next one. They take float16.
        **{name: replace(rows[name], carry={}) for name in ("ceil", "floor")},
        "gather": replace(rows["gather"], emit=partial(_gather, partial(_count_up, rows["gather"].emit))),
        # A session with `GatherElements` of float32 fails.
        "gatherElements": replace(
            rows["gatherElements"], emit=_of_floats(partial(_count_up, rows["gatherElements"].emit), picks.gather_elements)
        ),
        "gatherND": replace(rows["gatherND"], emit=partial(_gather_nd, rows["gatherND"].emit)),
        "gelu": replace(rows["gelu"], emit=_gelu),
        "gemm": replace(rows["gemm"], emit=_gemm),
        "hardSigmoid": replace(rows["hardSigmoid"], emit=_hard_sigmoid),
        "instanceNormalization": replace(rows["instanceNormalization"], emit=_instance_normalization, fast=None, carry={}),
        "l2Pool2d": replace(rows["l2Pool2d"], emit=partial(l2_pool, pad=_pad)),
        "layerNormalization": replace(
            rows["layerNormalization"], emit=partial(_layer_normalization, rows["layerNormalization"].emit), fast=None, carry={}
        ),
        "logicalNot": replace(rows["logicalNot"], emit=_logical_not),
        **{name: replace(rows[name], emit=_connect) for name in _CONNECTIVES},
        # Its padding at the beginning counts as zeros.
        "maxPool2d": replace(rows["maxPool2d"], emit=partial(_unsigned, partial(max_pool, padding=False, pad=_pad))),
        "pad": replace(rows["pad"], emit=_of_floats(partial(pad, with_constant=_pad), picks.pad)),
        "quantizeLinear": replace(rows["quantizeLinear"], emit=partial(_unsigned, rows["quantizeLinear"].emit)),
        "reduceProduct": replace(rows["reduceProduct"], emit=_reduce_product),
        "relu": replace(rows["relu"], emit=partial(_relu, rows["relu"].emit), kernel=""),
        # The nearest mode of its `Resize` takes the upper one of two elements that are equally near. Other axes than the last two leave.
        "resample2d": replace(rows["resample2d"], emit=partial(resample2d, upper=False, lower=False, turns=True)),
        "scatterElements": replace(rows["scatterElements"], emit=partial(_count_up, rows["scatterElements"].emit)),
        "slice": replace(rows["slice"], emit=partial(_slice, rows["slice"].emit)),
        # There is no `Softsign`.
        "softsign": replace(rows["softsign"], emit=softsign),
        # With the default activation functions, `GRU` and `LSTM` fail when the session is made. With others they leave the device; a cast
        # from float16 before one ends the process.
        **{name: replace(rows[name], emit=emit, fast=None) for name, emit in STEPS.items()},
        # There is no `Trilu`.
        "triangular": replace(rows["triangular"], emit=_of_floats(rows["triangular"].emit, picks.triangular)),
        "where": replace(rows["where"], emit=_where, carry={"uint64": "int64"}),
    }
    every = {**rows, **changed}
    elementwise = {name: _merged(row, partial(merge_elementwise, rank=_RANK)) for name, row in every.items() if row.elementwise}
    reductions = {name: _merged(row, partial(merge_reduction, rank=_RANK)) for name, row in every.items() if name.startswith("reduce")}
    product = {"matmul": _merged(rows["matmul"], partial(merge_matmul, rank=_RANK))}
    places = {name: _merged(rows[name], partial(merge_axis, rank=_RANK)) for name in ("argMax", "argMin")}
    indexed = {name: _narrowed(every[name]) for name in ("gatherElements", "gatherND", "scatterElements", "scatterND")}
    return {**changed, **indexed, **elementwise, **reductions, **product, **places}
