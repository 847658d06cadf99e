"""Translations for ONNX Runtime's WebGPU provider, measured with its plug-in 0.4.0.

`tools.evidence.provider_faults.webgpu` has a program in plain ONNX Runtime for each fault that is named here.
It has most kernels for float32, float16, int32 and uint32. Of uint8 and booleans it has the casts and few other kernels, so int32 carries
uint8 where it has none. It casts nothing from or to int8 and uint64, and nothing from int64: what computes with these leaves it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from webnn.builder.onnx.conv import conv2d
from webnn.builder.onnx.devices.forms import clamp_floats, softsign, where
from webnn.builder.onnx.emitter import BOOL, Emit, Emitter, Op, Translation
from webnn.builder.onnx.quantization import dequantize
from webnn.builder.onnx.reduction import merge_axes
from webnn.builder.onnx.resample import resample2d
from webnn.validation.descriptor import FLOAT_TYPES, DataType, Types

__all__ = ["change_rows"]

#: Operations without kernels for uint8 whose results are those of int32, cast back.
_WIDENED = (
    *("add", "concat", "cumulativeSum", "max", "min", "mul", "pad", "reduceMax", "reduceMin", "relu", "split", "sub", "tile"),
    *("transpose",),
)
_COMPARISONS = ("equal", "greater", "greaterOrEqual", "lesser", "lesserOrEqual", "notEqual")
#: The types of which it has no `Slice`, but `Gather`.
_GATHERED: tuple[DataType, ...] = ("int32", "uint32", "uint8")


def _arg(emit: Emit, types: Types, e: Emitter, op: Op) -> str | Sequence[str]:
    # `ArgMax` and `ArgMin` make int64, which nothing casts back: look for the extreme, and take the least or the greatest of its places.
    dtype, output = op.type("input"), op.outputs[0]
    if dtype not in types:
        return emit(e, op)
    value, shape = merge_axes(e, op), op.shape("input")
    last = bool(getattr(op.options, "selectLastIndex", False))
    axes = [op.arguments["axis"]] if "axis" in op.arguments else (op.options.axes if op.options.axes is not None else range(len(shape)))
    count = int(np.prod([shape[axis] for axis in axes], dtype=np.int64))
    extreme = e.node("ReduceMax" if op.name == "argMax" else "ReduceMin", [value, e.ints([1])], keepdims=1)
    places = e.literal(np.arange(count, dtype=np.int32)[:, None])
    # Nothing equals a NaN: then the place is the other end of the axis.
    found = e.node("Where", [e.node("Equal", [value, extreme]), places, e.scalar(0 if last else count - 1, "int32")])
    result = e.reshape(e.node("ReduceMax" if last else "ReduceMin", [found, e.ints([1])], keepdims=0), output.dimensions)
    return result if output.dataType == "int32" else e.cast(result, output.dataType)


def _clamp(emit: Emit, e: Emitter, op: Op) -> str | Sequence[str]:
    # Its `Clip` makes the lower bound of a NaN; `Max` and `Min` keep it.
    return clamp_floats(e, op) if op.type("input") in FLOAT_TYPES else emit(e, op)


def _compare(emit: Emit, e: Emitter, op: Op) -> str | Sequence[str]:
    if op.type("a") == "uint8":
        op.inputs = {name: e.cast(value, "int32") for name, value in op.inputs.items()}
    return emit(e, op)


def _logical_not(e: Emitter, op: Op) -> str:
    # There is no `Equal` of uint8.
    return e.cast(e.node("Not", [e.cast(op["a"], BOOL)]), "uint8")


def _logical_or(e: Emitter, op: Op) -> str:
    # There is no `Or`, but `And`.
    neither = e.node("And", [e.node("Not", [e.cast(op[name], BOOL)]) for name in ("a", "b")])
    return e.cast(e.node("Not", [neither]), "uint8")


def _logical_xor(e: Emitter, op: Op) -> str:
    # There is no `Xor`, and no `Equal` of booleans.
    a, b = (e.cast(e.cast(op[name], BOOL), "int32") for name in ("a", "b"))
    return e.cast(e.node("Not", [e.node("Equal", [a, b])]), "uint8")


def _sign(emit: Emit, e: Emitter, op: Op) -> str | Sequence[str]:
    # There is no `Sign`.
    if op.type("input") != "int32":
        return emit(e, op)
    zero = e.scalar(0, "int32")
    above, below = (e.cast(e.node(op_type, [op["input"], zero]), "int32") for op_type in ("Greater", "Less"))
    return e.node("Sub", [above, below])


def _slice(emit: Emit, e: Emitter, op: Op) -> str | Sequence[str]:
    # There is no `Slice` of integers.
    value = op["input"]
    if op.type("input") not in _GATHERED:
        return emit(e, op)
    shape, sizes = op.shape("input"), op.arguments["sizes"]
    strides = (op.options and op.options.strides) or [1] * len(shape)
    for axis, (start, size, stride) in enumerate(zip(op.arguments["starts"], sizes, strides, strict=True)):
        if size != shape[axis] or stride != 1:
            value = e.node("Gather", [value, e.literal(np.arange(start, start + size, stride, dtype=np.int32))], axis=axis)
    return value


def _reverse(emit: Emit, e: Emitter, op: Op) -> str | Sequence[str]:
    # As above.
    value, shape = op["input"], op.shape("input")
    if op.type("input") not in _GATHERED:
        return emit(e, op)
    for axis in range(len(shape)) if op.options.axes is None else op.options.axes:
        if shape[axis] > 1:
            value = e.node("Gather", [value, e.literal(np.arange(shape[axis], dtype=np.int32)[::-1])], axis=axis)
    return value


def _subtract(e: Emitter, minuend: str, subtrahend: str, dataType: DataType) -> str:
    # A difference of 32-bit integers needs 33 bits. Both halves of a difference are exact in float32, and the sum rounds once.
    def halves(value: str) -> tuple[str, str]:
        high = e.node("Div", [value, e.scalar(2**16, dataType)])
        low = e.node("Sub", [value, e.node("Mul", [high, e.scalar(2**16, dataType)])])
        return e.cast(high, "float32"), e.cast(low, "float32")

    high, low = (e.node("Sub", list(pair)) for pair in zip(halves(minuend), halves(subtrahend), strict=True))
    return e.node("Add", [e.node("Mul", [high, e.scalar(2**16, "float32")]), low])


def _widen(row: Translation) -> Translation:
    """Return a row that carries uint8 by int32."""
    return replace(row, carry={**row.carry, "uint8": "int32"})


def change_rows(rows: Mapping[str, Translation]) -> dict[str, Translation]:
    """Return the rows that differ from those of the CPU provider."""
    args = {
        name: Translation(
            # The exact form of floating-point numbers finds a NaN.
            emit=partial(_arg, rows[name].emit, ("int32", "uint32")),
            fast=partial(_arg, rows[name].fast or rows[name].emit, ("float32", "int32", "uint32")),
            carry={"float16": "float32", "uint8": "int32"},
        )
        for name in ("argMax", "argMin")
    }
    return {
        **{name: _widen(rows[name]) for name in _WIDENED},
        **args,
        **{name: replace(rows[name], emit=partial(_compare, rows[name].emit)) for name in _COMPARISONS},
        # Its kernel misses 6 units in the last place.
        "batchNormalization": replace(rows["batchNormalization"], fast=None),
        "clamp": _widen(replace(rows["clamp"], emit=partial(_clamp, rows["clamp"].emit))),
        # Its `DequantizeLinear` with blocks computes wrong values for one dimension.
        # `Conv` takes a filter as large as the input for a product, and forgets padding at the ends.
        "conv2d": replace(rows["conv2d"], emit=partial(conv2d, covers=False)),
        "dequantizeLinear": replace(rows["dequantizeLinear"], emit=partial(dequantize, subtract=_subtract, least=2)),
        "logicalNot": replace(rows["logicalNot"], emit=_logical_not),
        "logicalOr": replace(rows["logicalOr"], emit=_logical_or),
        "logicalXor": replace(rows["logicalXor"], emit=_logical_xor),
        # The linear mode of its `Resize` takes the last two axes only; it computes wrong values for others.
        "resample2d": replace(rows["resample2d"], emit=partial(resample2d, upper=False, linear=((2, 3),))),
        "reverse": replace(rows["reverse"], emit=partial(_reverse, rows["reverse"].emit)),
        "sign": replace(rows["sign"], emit=partial(_sign, rows["sign"].emit), carry={"float16": "float32", "uint8": "int32"}),
        "slice": replace(rows["slice"], emit=partial(_slice, rows["slice"].emit)),
        # There is no `Softsign`.
        "softsign": replace(rows["softsign"], emit=softsign, kernel=""),
        # There is no `Equal` of uint8, and its `Where` keeps a negative zero.
        "where": replace(rows["where"], emit=where, carry={"uint8": "int32", "uint64": "int64"}),
    }
