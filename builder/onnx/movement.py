"""Operations that move elements or change their type. Operations that do not move or change elements emit no node."""

from __future__ import annotations

import numpy as np

from webnn.builder.onnx.branch import choose
from webnn.builder.onnx.emitter import BOOL, Emitter, Op, Translation
from webnn.builder.onnx.padding import Pad, pad_with_node
from webnn.builder.places import find_padding
from webnn.validation.descriptor import CARRIERS, FLOAT_TYPES, ML_DTYPES, SMALL_TYPES, DataType, integer_range, is_float
from webnn.validation.shapes import bidirectionally_broadcast

__all__ = ["TRANSLATIONS", "pad"]


def _saturate(number: float, dataType: DataType) -> int:
    """Convert a finite number to an integer type: drop the fraction, then saturate."""
    low, high = integer_range(dataType)
    return min(max(int(number), low), high)


def _cast(e: Emitter, op: Op) -> str:
    """Emit ``cast``: the engine's own, except from floating point to integer: that must saturate and have a value for NaN."""
    value, source = op["input"], op.type("input")
    # Its name differs between the drafts.
    (target,) = op.arguments.values()
    if source == target:
        return value
    if not is_float(source) or is_float(target):
        # Measured: integers wrap, and every rounding is a single one to nearest, ties to even. (Integers go to float16 by way of
        # float32; those that are rounded there are too large for float16 anyway.) Integers go to low precision by way of float32.
        if target in ML_DTYPES and not is_float(source):
            value = e.cast(value, "float32")
        return e.cast(value, target)
    if source != "float32":
        value = e.cast(value, "float32")
    return _to_integer(e, value, target)


def _fast_cast(e: Emitter, op: Op) -> str:
    (target,) = op.arguments.values()
    # To small integers the engine's cast rounds, and large numbers wrap.
    return _cast(e, op) if target in SMALL_TYPES or op.type("input") == target else e.cast(op["input"], target)


def _to_integer(e: Emitter, value: str, target: DataType) -> str:
    """Emit the cast of a float32 value to an integer type. The engine's own result for NaN or large numbers depends on the CPU."""
    low, high = integer_range(target)
    # The largest float32 inside the type's range: for 32 and 64 bits it is not the end of the range.
    limit = np.float32(high)
    if int(limit) > high:
        limit = np.nextafter(limit, np.float32(0))
    clipped = e.node("Clip", [value, e.scalar(low, "float32"), e.scalar(float(limit), "float32")])
    # Maps NaN to 0; every number in the range is above `alpha`. `IsNaN` and `Where` take four times as long.
    inside = e.node("ThresholdedRelu", [clipped], alpha=float(np.nextafter(np.float32(low), np.float32(-np.inf))))
    if target in SMALL_TYPES:
        # The engine's cast from float32 to these types rounds to nearest.
        return e.cast(e.cast(inside, "int8"), target)
    if int(limit) == high:
        return e.cast(inside, target)

    def saturated() -> str:
        result, beyond = e.cast(inside, target), e.node("Greater", [value, e.scalar(float(limit), "float32")])
        if target == "uint64":
            # The engine has no `Where` for it: choose between the same bits as int64, in which -1 is the largest value.
            return e.cast(e.node("Where", [beyond, e.scalar(-1, "int64"), e.cast(result, "int64")]), target)
        return e.node("Where", [beyond, e.scalar(high, target), result])

    # `Where` takes twice as long as all the rest, so it is left out where no number needs it.
    reached = e.node("Equal", [e.node("ReduceMax", [inside], keepdims=0), e.scalar(float(limit), "float32")])
    return choose(e, reached, saturated, lambda: e.cast(inside, target), target)


def _concat(e: Emitter, op: Op) -> str:
    rank, axis = len(op.outputs[0].dimensions), op.arguments["axis"]
    views = [e.view(value, rank) for value in op.inputs.values()]
    permutations = {view.permutation for view in views}
    if len(permutations) > 1:
        return e.node("Concat", list(op.inputs.values()), axis=axis)
    (permutation,) = permutations
    sources = [view.source for view in views]
    result = sources[0] if len(sources) == 1 else e.node("Concat", sources, axis=permutation[axis])
    return e.transpose(result, permutation)


def _expand(e: Emitter, op: Op) -> str:
    newShape = op.arguments["newShape"]
    return op["input"] if newShape == op.shape("input") else e.node("Expand", [op["input"], e.ints(newShape)])


def _reshape(e: Emitter, op: Op) -> str:
    newShape, shape = op.arguments["newShape"], op.shape("input")
    if newShape == shape:
        return op["input"]
    return e.reshape(op["input"], newShape) if shape else e.spread(op["input"], newShape)


def _slice(e: Emitter, op: Op) -> str:
    starts, sizes, shape = op.arguments["starts"], op.arguments["sizes"], op.shape("input")
    strides = (op.options and op.options.strides) or [1] * len(shape)
    # The engine cannot slice a scalar, which has no axes to cut.
    cut = [axis for axis, size in enumerate(sizes) if size != shape[axis] or strides[axis] != 1]
    if not cut:
        return op["input"]
    begins = e.ints([starts[axis] for axis in cut])
    ends = e.ints([starts[axis] + sizes[axis] for axis in cut])
    steps = [strides[axis] for axis in cut]
    return e.node("Slice", [op["input"], begins, ends, e.ints(cut), e.ints(steps) if any(step != 1 for step in steps) else None])


def _split(e: Emitter, op: Op) -> list[str]:
    axis = op.options.axis
    if len(op.outputs) == 1:
        return [op["input"]]
    sizes = e.ints([output.dimensions[axis] for output in op.outputs])
    return e.nodes("Split", [op["input"], sizes], len(op.outputs), axis=axis)


def _transpose(e: Emitter, op: Op) -> str:
    permutation = op.options.permutation
    return e.transpose(op["input"], range(len(op.shape("input")))[::-1] if permutation is None else permutation)


def _triangular(e: Emitter, op: Op) -> str:
    rows, columns = op.shape("input")[-2:]
    # At the limits everything or nothing is kept; a diagonal beyond them has the same result.
    diagonal = min(max(op.options.diagonal, -rows), columns)
    return e.node("Trilu", [op["input"], e.scalar(diagonal, "int64")], upper=int(op.options.upper))


def pad(e: Emitter, op: Op, *, with_constant: Pad = pad_with_node) -> str:
    """Emit ``pad``."""
    view = e.view(op["input"], len(op.shape("input")))
    shape, beginning, ending = map(view.for_source, (op.shape("input"), op.arguments["beginningPadding"], op.arguments["endingPadding"]))
    if not any(beginning) and not any(ending):
        return op["input"]
    return e.transpose(_pad_source(e, op, view.source, shape, beginning, ending, with_constant), view.permutation)


def _pad_source(e: Emitter, op: Op, value: str, shape: list[int], beginning: list[int], ending: list[int], with_constant: Pad) -> str:
    dtype, mode = op.type("input"), op.options.mode
    if mode == "constant":
        number = op.options.value if is_float(dtype) else _saturate(op.options.value, dtype)
        return with_constant(e, value, shape, dtype, beginning, ending, number)
    if dtype != "float16":
        pads = e.ints([*beginning, *ending])
        if mode == "edge":
            return e.node("Pad", [value, pads], mode="edge")
        # The engine mirrors only once, and by less than the whole size.
        if mode == "reflection" and all(max(before, after) < size for before, size, after in zip(beginning, shape, ending, strict=True)):
            return e.node("Pad", [value, pads], mode="reflect")
    # `Gather` takes elements of all types from anywhere.
    for axis, (before, size, after) in enumerate(zip(beginning, shape, ending, strict=True)):
        sources = find_padding(before, size, after, mode)
        parts = [value]
        if before:
            parts.insert(0, e.node("Gather", [value, e.literal(sources[:before])], axis=axis))
        if after:
            parts.append(e.node("Gather", [value, e.literal(sources[-after:])], axis=axis))
        value = e.node("Concat", parts, axis=axis) if len(parts) > 1 else value
    return value


def _has_no_negative_zero(op: Op, argument: str) -> bool:
    """Tell whether an operand is known to hold no negative zero."""
    known = op.constants.get(argument)
    return known is not None and not np.any((known == 0) & np.signbit(known))


def _fills(op: Op, argument: str) -> bool:
    """Tell whether an operand has the output's shape once it is broadcast with the condition."""
    return bidirectionally_broadcast(op.shape("condition"), op.shape(argument)) == op.outputs[0].dimensions


def _where(e: Emitter, op: Op) -> str:
    # The names of the two values differ between the drafts.
    _, first, second = op.inputs
    condition, input, other, dtype = e.cast(op["condition"], BOOL), op[first], op[second], op.type(first)
    # The engine's `Where(c, a, b)` joins two selections, in each of which the rest is 0, with `a != 0 ? a : b`, so a negative zero in `a`
    # comes out as a positive one. If only `b`'s selection is broadcast along a row, `a` and `b` change roles.
    if dtype not in FLOAT_TYPES or (_has_no_negative_zero(op, first) and _fills(op, second)):
        return e.node("Where", [condition, input, other])
    # `Equal` instead of `Not`: the engine's optimizer would remove `Not` and exchange the operands.
    negated = e.node("Equal", [op["condition"], e.scalar(0, "uint8")])
    if _has_no_negative_zero(op, second) and _fills(op, first):
        return e.node("Where", [negated, other, input])
    # Choose each value, as the last operand, or 1. The product of both is the chosen value.
    one = e.scalar(1, dtype)
    return e.node("Mul", [e.node("Where", [negated, one, input]), e.node("Where", [condition, one, other])])


TRANSLATIONS = {
    "cast": Translation(emit=_cast, fast=_fast_cast, native=ML_DTYPES, elementwise=True),
    # `Concat` and `Reshape` take no small integers.
    "concat": Translation(emit=_concat, carry=CARRIERS, native=("bfloat16",)),
    "expand": Translation(emit=_expand),
    "pad": Translation(emit=pad),
    "reshape": Translation(emit=_reshape, carry=CARRIERS, native=ML_DTYPES),
    "slice": Translation(emit=_slice, native=("bfloat16",)),
    "split": Translation(emit=_split, native=("bfloat16",)),
    "transpose": Translation(emit=_transpose, native=ML_DTYPES),
    # 32-bit carriers for 32 bits, 64-bit ones for 64: a cast between signed and unsigned keeps the bits.
    "triangular": Translation(
        emit=_triangular, carry={"float16": "float32", "uint32": "int32", "uint64": "int64", "int8": "int32", "uint8": "int32"}
    ),
    "where": Translation(emit=_where, carry={"float16": "float32", "uint64": "int64"}, primary=1, fixed=("condition",)),
}
