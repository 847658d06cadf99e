"""Translations with the semantics of other backends: one function for each value of a switch (`webnn.builder.semantics`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType

import numpy as np

from webnn.builder.onnx.accumulation import accumulate_float16
from webnn.builder.onnx.emitter import INT64_MIN, Emit, Emitter, Op, Translation
from webnn.builder.onnx.gather_scatter import emit_indices, slice_numbers
from webnn.builder.onnx.pooling import average_with_padding, fill_empty_windows, fill_unless_strided, l2_of_mean
from webnn.builder.onnx.reduction import merge_axes
from webnn.builder.onnx.resample import resample2d
from webnn.builder.semantics import SWITCHES, Semantics
from webnn.validation.descriptor import BITS, CARRIERS, DataType, integer_range, is_float

__all__ = ["vary"]

_Result = str | Sequence[str]


def _ignore_nan(emit: Emit, e: Emitter, op: Op) -> _Result:
    """Find the extreme of the numbers."""
    if op.type("input") != "float32":
        return emit(e, op)
    is_max = op.name == "argMax"
    value = merge_axes(e, op)
    nan = e.node("IsNaN", [value])
    numbers = e.node("Where", [nan, e.scalar(-math.inf if is_max else math.inf, "float32"), value])
    extreme = e.node("ReduceMax" if is_max else "ReduceMin", [numbers, e.ints([1])], keepdims=1)
    # A NaN is not an extreme, even beside nothing but infinities.
    found = e.node("And", [e.node("Equal", [numbers, extreme]), e.node("Not", [nan])])
    last = int(getattr(op.options, "selectLastIndex", False))
    result = e.node("ArgMax", [e.cast(found, "uint8")], axis=1, select_last_index=last)
    result = e.reshape(result, op.outputs[0].dimensions)
    return result if op.outputs[0].dataType == "int64" else e.cast(result, op.outputs[0].dataType)


def _target(op: Op) -> DataType:
    (target,) = op.arguments.values()
    return target  # type: ignore[no-any-return]  # an argument may be anything


def _as_float32(e: Emitter, op: Op) -> str:
    return op["input"] if op.type("input") == "float32" else e.cast(op["input"], "float32")


def _select(e: Emitter, condition: str, number: int, value: str, dataType: DataType) -> str:
    """Emit an integer where a condition holds, else a value; the engine has no `Where` for some types."""
    carrier = {"uint64": "int64", **CARRIERS}.get(dataType, dataType)
    if carrier == dataType:
        return e.elementwise("Where", [condition, e.scalar(number, dataType), value])
    fill = e.literal(np.array(number, np.uint64).astype(np.int64)) if dataType == "uint64" else e.scalar(number, carrier)
    return e.cast(e.elementwise("Where", [condition, fill, e.cast(value, carrier)]), dataType)


def _cast_nan(emit: Emit, e: Emitter, op: Op, *, largest: bool) -> _Result:
    """Make an end of the range of NaN."""
    target = _target(op)
    if not is_float(op.type("input")) or is_float(target):
        return emit(e, op)
    nan = e.elementwise("IsNaN", [_as_float32(e, op)])
    return _select(e, nan, integer_range(target)[largest], str(emit(e, op)), target)


def _cast_low_bits(emit: Emit, e: Emitter, op: Op) -> _Result:
    """Cast to a larger integer, the smallest one if it has no such number, and keep the low bits. NaN stays 0."""
    target = _target(op)
    if not is_float(op.type("input")) or is_float(target):
        return emit(e, op)
    wide: DataType = "int64" if target in ("uint32", "int64", "uint64") else "int32"
    low, high = integer_range(wide)
    value = _as_float32(e, op)
    # Both ends are numbers of float32.
    above = e.elementwise("GreaterOrEqual", [value, e.scalar(low, "float32")])
    inside = e.elementwise("And", [above, e.elementwise("Less", [value, e.scalar(high + 1, "float32")])])
    number = e.elementwise("Where", [inside, value, e.scalar(low, "float32")])
    number = e.elementwise("Where", [e.elementwise("IsNaN", [value]), e.scalar(0, "float32"), number])
    number = e.cast(number, wide)
    if target != wide:
        # The engine would join two casts in a row.
        bits = -1 if BITS[target] == BITS[wide] else 2 ** BITS[target] - 1
        number = e.elementwise("BitwiseAnd", [number, e.scalar(bits, wide)])
    return e.cast(number, target)


def _ignore_bound(emit: Emit, e: Emitter, op: Op) -> _Result:
    """Drop the bounds that are NaN."""
    bounds = {name: getattr(op.options, name) for name in ("minValue", "maxValue")}
    dropped = {name: None for name, bound in bounds.items() if bound is not None and math.isnan(bound)}
    op.options = op.options.model_copy(update=dropped)
    return emit(e, op)


def _prefer_maximum(emit: Emit, e: Emitter, op: Op) -> _Result:
    """Make every number the upper bound if the lower one is NaN."""
    low, high = op.options.minValue, op.options.maxValue
    if low is None or not math.isnan(low):
        return _ignore_bound(emit, e, op)
    bound = e.scalar(math.inf if high is None or math.isnan(high) else high, "float32")
    number = e.node("Where", [e.node("IsNaN", [op["input"]]), bound, op["input"]])
    return e.node("Clip", [number, bound, bound])


def _gather_zero(emit: Emit, e: Emitter, op: Op) -> _Result:
    """Put a zero behind each axis, and take it where an index is out of range."""
    shape = op.shape("input")
    axes = range(op.shape("indices")[-1]) if op.name == "gatherND" else (op.options.axis,)
    sizes = e.literal(np.array([shape[axis] for axis in axes], np.int64))
    indices = e.cast(op["indices"], "int64")
    inside = e.node("And", [e.node("Less", [indices, sizes]), e.node("GreaterOrEqual", [indices, e.node("Neg", [sizes])])])
    negative = e.node("Less", [indices, e.scalar(0, "int64")])
    places = e.node("Where", [negative, e.node("Add", [indices, sizes]), indices])
    places = e.node("Where", [inside, places, sizes])
    if not op.shape("indices"):
        places = e.reshape(places, [])
    input, dtype = op["input"], op.type("input")
    pads = [0] * len(shape) + [int(axis in axes) for axis in range(len(shape))]
    # The engine has no `Pad` for float16.
    carrier = "float32" if dtype == "float16" else dtype
    padded = e.node("Pad", [e.cast(input, carrier) if carrier != dtype else input, e.ints(pads), e.scalar(0, carrier)])
    kernel = {"gather": "Gather", "gatherElements": "GatherElements", "gatherND": "GatherND"}[op.name]
    attributes = {} if op.name == "gatherND" else {"axis": op.options.axis}
    result = e.node(kernel, [padded, places], **attributes)
    return e.cast(result, dtype) if carrier != dtype else result


def _all_zeros(emit: Emit, e: Emitter, op: Op, *, where: str) -> _Result:
    """Make the whole result 0 if a divisor is, or if an exponent is less than 0."""
    result, dtype = emit(e, op), op.type("b")
    if is_float(dtype):
        return result
    zeros = e.cast(e.node(where, [op["b"], e.scalar(0, dtype)]), "float32")
    none = e.node("Equal", [e.node("ReduceMax", [zeros], keepdims=0), e.scalar(0, "float32")])
    return e.node("Mul", [str(result), e.cast(none, dtype)])


def _second(emit: Emit, e: Emitter, op: Op) -> _Result:
    """Choose an operand by its place where one of the two is NaN."""
    result = emit(e, op)
    if not is_float(op.type("a")):
        return result
    chosen = op["a"] if op.shape("a")[-1:] in ((), (1,)) else op["b"]
    nan = e.node("Or", [e.node("IsNaN", [op["a"]]), e.node("IsNaN", [op["b"]])])
    return e.node("Where", [nan, chosen, str(result)])


def _upper_tie(emit: Emit, e: Emitter, op: Op) -> _Result:
    del emit
    return resample2d(e, op, upper=True)


def _reverse(e: Emitter, value: str, axis: int) -> str:
    return e.node("Slice", [value, e.ints([-1]), e.ints([INT64_MIN]), e.ints([axis]), e.ints([-1])])


def _scatter(e: Emitter, input: str, indices: str, updates: str, shape: Sequence[int], dtype: DataType, *, axis: int, adds: bool) -> str:
    """Emit ``ScatterElements``, with updates of this shape, of which the first one of several counts, or their sum."""
    if not adds:
        return e.node("ScatterElements", [input, _reverse(e, indices, axis), _reverse(e, updates, axis)], axis=axis)
    # The values that were there do not count.
    zeros = e.node("Expand", [e.scalar(0, dtype), e.ints(shape)])
    cleared = e.node("ScatterElements", [input, indices, zeros], axis=axis)
    return e.node("ScatterElements", [cleared, indices, updates], axis=axis, reduction="add")


def _scatter_duplicates(emit: Emit, e: Emitter, op: Op, *, adds: bool) -> _Result:
    del emit
    shape, places, updates, dtype = op.shape("input"), op.shape("indices"), op.shape("updates"), op.type("updates")
    if op.name == "scatterElements":
        axis = op.options.axis
        indices = emit_indices(e, op, shape[axis : axis + 1])
        return _scatter(e, op["input"], indices, op["updates"], updates, dtype, axis=axis, adds=adds)
    # Rows of a matrix, each with the number of its slice: `ScatterElements` has one thread, and so an order.
    sizes, count = shape[: places[-1]], math.prod(places[:-1])
    width = math.prod(shape[places[-1] :])
    numbers = slice_numbers(e, emit_indices(e, op, sizes, wide=True), sizes, count)
    rows = e.node("Expand", [e.reshape(numbers, [count, 1]), e.ints([count, width])])
    input, moved = e.reshape(op["input"], [math.prod(sizes), width]), e.reshape(op["updates"], [count, width])
    return e.reshape(_scatter(e, input, rows, moved, (count, width), dtype, axis=0, adds=adds), shape)


def _keep_nan(emit: Emit, e: Emitter, op: Op) -> _Result:
    result = emit(e, op)
    if not is_float(op.type("input")):
        return result
    return e.elementwise("Where", [e.elementwise("IsNaN", [op["input"]]), op["input"], str(result)])


def _multiply_mask(emit: Emit, e: Emitter, op: Op) -> _Result:
    if not is_float(op.type("input")):
        return emit(e, op)
    above = np.arange(op.shape("input")[-1]) - np.arange(op.shape("input")[-2])[:, np.newaxis]
    kept = above >= op.options.diagonal if op.options.upper else above <= op.options.diagonal
    return e.node("Mul", [op["input"], e.literal(kept.astype(np.float32))])


#: Emits an operator in another way, by means of the function that emits it by default.
Change = Callable[[Emit, Emitter, Op], _Result]
#: The function of each value other than the default. Of two for one operation, the later one wraps the other.
CHANGES: Mapping[tuple[str, str], Change] = MappingProxyType(
    {
        ("accumulation", "float16"): accumulate_float16,
        ("argMinMaxNaN", "ignore"): _ignore_nan,
        ("averagePool2dPadding", "sameOnly"): average_with_padding,
        ("castOutOfRange", "lowBits"): _cast_low_bits,
        ("castNaN", "largest"): partial(_cast_nan, largest=True),
        ("castNaN", "smallest"): partial(_cast_nan, largest=False),
        ("clampNaN", "ignore"): _ignore_bound,
        ("clampNaN", "maxValue"): _prefer_maximum,
        ("gatherOutOfRange", "zero"): _gather_zero,
        ("integerDivByZero", "zeros"): partial(_all_zeros, where="Equal"),
        ("integerNegativePower", "zeros"): partial(_all_zeros, where="Less"),
        ("l2Pool2dPadding", "sameMean"): l2_of_mean,
        ("maxPool2dEmptyWindow", "infinity"): partial(fill_empty_windows, fill=-math.inf),
        ("maxPool2dEmptyWindow", "zero"): partial(fill_empty_windows, fill=0),
        ("maxPool2dEmptyWindow", "zeroUnlessStrided"): fill_unless_strided,
        ("minMaxNaN", "second"): _second,
        ("resample2dTies", "upper"): _upper_tie,
        ("scatterDuplicates", "first"): partial(_scatter_duplicates, adds=False),
        ("scatterDuplicates", "sum"): partial(_scatter_duplicates, adds=True),
        ("signNaN", "nan"): _keep_nan,
        ("triangularMask", "multiply"): _multiply_mask,
    }
)


def vary(translations: Mapping[str, Translation], semantics: Semantics) -> dict[str, Translation]:
    """Return those of some translations that have other semantics than the default ones, changed."""
    changed: dict[str, Translation] = {}
    for (name, value), change in CHANGES.items():
        if (name, value) in semantics:
            for operation in translations.keys() & SWITCHES[name].operations:
                changed[operation] = _change(changed.get(operation, translations[operation]), change)
    return changed


def _emit(change: Change, emit: Emit, e: Emitter, op: Op) -> _Result:
    """Emit in another way, unless there are no elements."""
    shapes = [each.dimensions for each in (*op.outputs, *(operand.descriptor for operand in op.operands.values()))]
    return emit(e, op) if any(0 in shape for shape in shapes) else change(emit, e, op)


def _change(translation: Translation, change: Change) -> Translation:
    fast = translation.fast
    return replace(
        translation,
        emit=partial(_emit, change, translation.emit),
        fast=None if fast is None else partial(_emit, change, fast),
        # The functions compute in float32: the engine has not got all nodes in float16.
        carry={"float16": "float32", **translation.carry} if "float16" not in translation.native else translation.carry,
        kernel="",
    )
