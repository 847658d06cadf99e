"""Operations that an earlier draft does not have, made of those that it has."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from webnn.builder.graph_builder import GraphBuilder
from webnn.builder.operand import MLOperand
from webnn.builder.places import find_positions
from webnn.validation.descriptor import FLOAT_FORMATS, FLOAT_TYPES, integer_range, is_float
from webnn.validation.drafts.delta import NoCounterpartError
from webnn.validation.numbers import cast

__all__ = ["DECOMPOSITIONS", "LoweredCall"]

#: The most comparisons of places with indices in a scatter whose indices are not constant.
_MOST_COMPARISONS = 1 << 24
#: From these numbers on, all floating-point numbers are integers.
_ALL_INTEGERS = {name: 2.0 ** (form.bits - 1) for name, form in FLOAT_FORMATS.items()}


@dataclass(frozen=True, slots=True)
class LoweredCall:
    """A call of an operation. Of the builder's operations, only those of the earlier draft may be called."""

    builder: GraphBuilder
    inputs: tuple[MLOperand, ...]
    arguments: Mapping[str, Any]
    options: Mapping[str, Any]

    def scalar(self, number: float, like: MLOperand) -> MLOperand:
        """Return a scalar constant of an operand's type."""
        return self.builder.constant(like.descriptor.dataType, number)

    def array(self, values: Any, dataType: str = "int32") -> MLOperand:
        """Return a constant."""
        array = np.ascontiguousarray(values, dataType)
        descriptor: Any = {"dataType": dataType, "shape": list(np.shape(values))}
        return self.builder.constant(descriptor, array)


def _logical(combine: str, *, negated: bool) -> Callable[[LoweredCall], MLOperand]:
    """Combine truth values: those of the operands, which may be any numbers, or their negations."""

    def rule(call: LoweredCall) -> MLOperand:
        builder = call.builder
        false = [builder.logicalNot(x) for x in call.inputs]
        combined: MLOperand = getattr(builder, combine)(*false)
        return builder.logicalNot(combined) if negated else combined

    return rule


def _of_int64(make: Callable[[GraphBuilder, MLOperand, MLOperand], MLOperand]) -> Callable[[LoweredCall], MLOperand | None]:
    """Make the operation of int64, which the earlier draft does not take, from its zero."""

    def rule(call: LoweredCall) -> MLOperand | None:
        (x,) = call.inputs
        return make(call.builder, x, call.scalar(0, x)) if x.descriptor.dataType == "int64" else None

    return rule


def _sign(call: LoweredCall) -> MLOperand:
    (x,), builder = call.inputs, call.builder
    zero = call.scalar(0, x)
    # The sign of NaN is 0.
    below = builder.where(builder.lesser(x, zero), call.scalar(-1, x), zero)
    return builder.where(builder.greater(x, zero), call.scalar(1, x), below)


def _round_even(call: LoweredCall) -> MLOperand:
    (x,), builder = call.inputs, call.builder
    half, one = call.scalar(0.5, x), call.scalar(1, x)
    below = builder.floor(x)
    rest = builder.sub(x, below)
    halved = builder.mul(below, half)
    is_odd = builder.lesser(builder.floor(halved), halved)
    up = builder.add(below, one)
    tie = builder.where(is_odd, up, below)
    rounded = builder.where(builder.greater(rest, half), up, builder.where(builder.equal(rest, half), tie, below))
    # A zero has the sign of the number.
    rounded = builder.where(builder.equal(rounded, call.scalar(0, x)), builder.mul(x, call.scalar(0, x)), rounded)
    is_integer = builder.greaterOrEqual(builder.abs(x), call.scalar(_ALL_INTEGERS[x.descriptor.dataType], x))
    return builder.where(is_integer, x, rounded)


def _reverse(call: LoweredCall) -> MLOperand:
    (x,) = call.inputs
    shape = x.descriptor.dimensions
    axes = call.options.get("axes")
    for axis in range(len(shape)) if axes is None else axes:
        if shape[axis] > 1:
            x = call.builder.gather(x, call.array(np.arange(shape[axis])[::-1]), axis=axis)
    return x if x is not call.inputs[0] else call.builder.identity(x)


def _slice(call: LoweredCall) -> MLOperand | None:
    strides = call.options.get("strides") or ()
    if all(stride == 1 for stride in strides):
        return None
    (x,) = call.inputs
    x = call.builder.slice(x, list(call.arguments["starts"]), list(call.arguments["sizes"]))
    for axis, stride in enumerate(strides):
        if stride > 1:
            x = call.builder.gather(x, call.array(np.arange(0, x.descriptor.dimensions[axis], stride)), axis=axis)
    return x


def _tile(call: LoweredCall) -> MLOperand:
    (x,), builder = call.inputs, call.builder
    for axis, count in enumerate(call.arguments["repetitions"]):
        if count > 1:
            shape = list(x.descriptor.dimensions)
            behind = [count, *shape[axis:]]
            x = builder.expand(builder.reshape(x, [*shape[:axis], 1, *shape[axis:]]), [*shape[:axis], *behind])
            x = builder.reshape(x, [*shape[:axis], count * shape[axis], *shape[axis + 1 :]])
    return x if x is not call.inputs[0] else builder.identity(x)


def _pad(call: LoweredCall) -> MLOperand | None:
    (x,), value = call.inputs, call.options.get("value", 0)
    if call.options.get("mode", "constant") != "constant" or not _needs_concat(value, x.descriptor.dataType):
        return None
    scalar = call.scalar(value, x)
    for axis, sizes in enumerate(zip(call.arguments["beginningPadding"], call.arguments["endingPadding"], strict=True)):
        if any(sizes):
            shape = list(x.descriptor.dimensions)
            before, after = ([call.builder.expand(scalar, [*shape[:axis], size, *shape[axis + 1 :]])] if size else [] for size in sizes)
            x = call.builder.concat([*before, x, *after], axis)
    return x if x is not call.inputs[0] else call.builder.identity(x)


def _clamp(call: LoweredCall) -> MLOperand | None:
    """The bounds of integers are cast to their type; in the earlier draft they are single-precision numbers between integers."""
    result, dataType = call.inputs[0], call.inputs[0].descriptor.dataType
    given = {name: bound for name in ("minValue", "maxValue") if (bound := call.options.get(name)) is not None}
    bounds = {name: cast(bound, dataType) for name, bound in given.items()}
    if is_float(dataType) or all(given[name] == bound == int(np.float32(bound)) for name, bound in bounds.items()):
        return None
    if "minValue" in bounds:
        result = call.builder.max(result, call.scalar(bounds["minValue"], result))
    if "maxValue" in bounds:
        result = call.builder.min(result, call.scalar(bounds["maxValue"], result))
    return result


def _needs_concat(value: float, dataType: str) -> bool:
    """Tell whether the earlier draft's option, a finite number of single precision, cannot have a value."""
    return not math.isfinite(value) or (dataType not in FLOAT_TYPES and int(np.float32(value)) != int(value))


def _arg_min_max(operation: str) -> Callable[[LoweredCall], MLOperand | None]:
    def rule(call: LoweredCall) -> MLOperand | None:
        if call.options.get("outputDataType", "int32") == "int64":
            return None
        options = {**call.options, "outputDataType": "int64"}
        return call.builder.cast(getattr(call.builder, operation)(call.inputs[0], call.arguments["axis"], options), "int32")

    return rule


def _cumulative_sum(call: LoweredCall) -> MLOperand:
    """Add each element's neighbour, then that two places away, four, and so on."""
    (x,), axis = call.inputs, call.arguments["axis"]
    shape, is_reversed = list(x.descriptor.dimensions), bool(call.options.get("reversed", False))
    zero = call.scalar(0, x)

    def shift(x: MLOperand, count: int) -> MLOperand:
        """Move the elements along the axis; zeros come in."""
        zeros = call.builder.expand(zero, [*shape[:axis], count, *shape[axis + 1 :]])
        starts = [0] * len(shape)
        starts[axis] = count if is_reversed else 0
        kept = call.builder.slice(x, starts, [*shape[:axis], shape[axis] - count, *shape[axis + 1 :]])
        return call.builder.concat([kept, zeros] if is_reversed else [zeros, kept], axis)

    if call.options.get("exclusive", False):
        if shape[axis] == 1:
            # The result does not depend on the input, but an input of the graph stays one.
            return call.builder.where(call.array(0, "uint8"), x, zero)
        x = shift(x, 1)
    count = 1
    while count < shape[axis]:
        x = call.builder.add(x, shift(x, count))
        count *= 2
    return x if x is not call.inputs[0] else call.builder.identity(x)


def _places(call: LoweredCall, indices: MLOperand, sizes: Sequence[int]) -> MLOperand:
    """Return where in a flat tensor coordinates, [places..., parts], point: each is clamped, and counts from the end if it is negative."""
    builder, limits = call.builder, np.array(sizes)
    strides = np.cumprod([1, *reversed(sizes[1:])])[::-1]
    if indices._value is not None:
        return call.array(np.sum(find_positions(indices._value, sizes) * strides, axis=-1), "int32")
    signed = builder.cast(indices, "int64") if indices.descriptor.dataType == "uint32" else indices
    dataType = signed.descriptor.dataType
    clamped = builder.min(builder.max(signed, call.array(-limits, dataType)), call.array(limits - 1, dataType))
    is_negative = builder.lesser(clamped, call.scalar(0, clamped))
    counted = builder.where(is_negative, builder.add(clamped, call.array(limits, dataType)), clamped)
    return _sum_last(builder, builder.mul(counted, call.array(strides, dataType)))


def _sum_last(builder: GraphBuilder, x: MLOperand) -> MLOperand:
    """Add the elements of the last dimension one by one: the earlier draft does not sum all integers."""
    *shape, count = x.descriptor.dimensions
    parts = [builder.reshape(each, shape) for each in (builder.split(x, count, axis=len(shape)) if count > 1 else [x])]
    total = parts[0]
    for part in parts[1:]:
        total = builder.add(total, part)
    return total


def _along_axis(call: LoweredCall, input: MLOperand, indices: MLOperand) -> MLOperand:
    """Return where in a flat tensor indices along an axis point."""
    shape, axis = input.descriptor.dimensions, call.options.get("axis", 0)
    rank = len(shape)
    strides = np.cumprod([1, *reversed(shape[1:])])[::-1]
    grid = np.indices(indices.descriptor.dimensions)
    base = sum((grid[each] * strides[each] for each in range(rank) if each != axis), np.zeros(indices.descriptor.dimensions, np.int64))
    if indices._value is not None:
        return call.array(find_positions(indices._value, shape[axis]) * strides[axis] + base, "int32")
    places = _places(call, call.builder.reshape(indices, [*indices.descriptor.dimensions, 1]), [shape[axis]])
    dataType = places.descriptor.dataType
    scaled = call.builder.mul(places, call.scalar(int(strides[axis]), places))
    return call.builder.add(scaled, call.array(base, dataType))


def _gather_elements(call: LoweredCall) -> MLOperand:
    input, indices = call.inputs
    flat = call.builder.reshape(input, [math.prod(input.descriptor.dimensions)])
    return call.builder.gather(flat, _along_axis(call, input, indices), axis=0)


def _gather_nd(call: LoweredCall) -> MLOperand:
    input, indices = call.inputs
    shape, parts = input.descriptor.dimensions, indices.descriptor.dimensions[-1]
    flat = call.builder.reshape(input, [math.prod(shape[:parts]), *shape[parts:]])
    return call.builder.gather(flat, _places(call, indices, shape[:parts]), axis=0)


def _scatter_elements(call: LoweredCall) -> MLOperand:
    input, indices, updates = call.inputs
    return _scatter(call, input, _along_axis(call, input, indices), updates, 1)


def _scatter_nd(call: LoweredCall) -> MLOperand:
    input, indices, updates = call.inputs
    shape, parts = input.descriptor.dimensions, indices.descriptor.dimensions[-1]
    return _scatter(call, input, _places(call, indices, shape[:parts]), updates, math.prod(shape[parts:]))


def _scatter(call: LoweredCall, input: MLOperand, places: MLOperand, updates: MLOperand, width: int) -> MLOperand:
    """Put rows of updates in the places of rows of the input; of several for one place, the last one counts."""
    builder, shape = call.builder, input.descriptor.dimensions
    rows, count = math.prod(shape) // width, math.prod(places.descriptor.dimensions)
    old, new = builder.reshape(input, [rows, width]), builder.reshape(updates, [count, width])
    if places._value is not None:
        source = np.arange(rows)
        # NumPy assigns in this order, too.
        source[places._value.reshape(-1)] = np.arange(rows, rows + count)
        return builder.reshape(builder.gather(builder.concat([old, new], 0), call.array(source), axis=0), list(shape))
    if rows * count > _MOST_COMPARISONS:
        raise NoCounterpartError(f"{count} updates of {rows} places are more than {_MOST_COMPARISONS} comparisons")
    dataType = places.descriptor.dataType
    hits = builder.equal(builder.reshape(places, [count, 1]), call.array(np.arange(rows).reshape(1, rows), dataType))
    # Which update counts for each place; none is -1.
    last = builder.reduceMax(builder.where(hits, call.array(np.arange(count).reshape(count, 1)), call.array(-1)), axes=[0])
    taken = builder.gather(new, builder.max(last, call.array(0)), axis=0)
    is_kept = builder.reshape(builder.lesser(last, call.array(0)), [rows, 1])
    return builder.reshape(builder.where(is_kept, old, taken), list(shape))


def _spread_blocks(call: LoweredCall, x: MLOperand, shape: Sequence[int]) -> MLOperand:
    """Repeat each element along an axis as often as its block is long, unless the axis broadcasts."""
    builder = call.builder
    for axis, size in enumerate(shape):
        sizes = list(x.descriptor.dimensions)
        if sizes[axis] not in (1, size):
            wide = builder.reshape(x, [*sizes[: axis + 1], 1, *sizes[axis + 1 :]])
            wide = builder.expand(wide, [*sizes[: axis + 1], size // sizes[axis], *sizes[axis + 1 :]])
            x = builder.reshape(wide, [*sizes[:axis], size, *sizes[axis + 1 :]])
    return x


def _dequantize(call: LoweredCall) -> MLOperand:
    builder, shape = call.builder, call.inputs[0].descriptor.dimensions
    input, scale, zero = call.inputs[0], *(_spread_blocks(call, each, shape) for each in call.inputs[1:])
    dataType = scale.descriptor.dataType
    if input.descriptor.dataType in ("int32", "uint32"):
        raise NoCounterpartError(f"its input is {input.descriptor.dataType}, of which single precision does not have all differences")
    return builder.mul(builder.sub(builder.cast(input, dataType), builder.cast(zero, dataType)), scale)


def _quantize(call: LoweredCall) -> MLOperand:
    builder, shape = call.builder, call.inputs[0].descriptor.dimensions
    input, scale, zero = call.inputs[0], *(_spread_blocks(call, each, shape) for each in call.inputs[1:])
    dataType, wanted = input.descriptor.dataType, zero.descriptor.dataType
    if wanted in ("int32", "uint32"):
        raise NoCounterpartError(f"its result is {wanted}, of which single precision does not have all sums")
    if is_float(wanted):
        raise NoCounterpartError(f"its result is {wanted}, which is not an integer type")
    rounded = _round_even(LoweredCall(builder, (builder.div(input, scale),), {}, {}))
    least, most = integer_range(wanted)
    # Before the sum, too: it may be larger than a number of half precision.
    rounded = builder.clamp(rounded, minValue=least - most, maxValue=most - least)
    total = builder.clamp(builder.add(rounded, builder.cast(zero, dataType)), minValue=least, maxValue=most)
    return builder.cast(total, wanted)


#: The replacements for calls of a draft in the one before it. None: the call stays as it is, or has no counterpart.
DECOMPOSITIONS: Mapping[str, Mapping[str, Callable[[LoweredCall], MLOperand | None]]] = {
    "2026-06": {
        "abs": _of_int64(lambda b, x, zero: b.max(x, b.sub(zero, x))),
        "argMax": _arg_min_max("argMax"),
        "argMin": _arg_min_max("argMin"),
        "clamp": _clamp,
        "cumulativeSum": _cumulative_sum,
        "dequantizeLinear": _dequantize,
        "gatherElements": _gather_elements,
        "gatherND": _gather_nd,
        "isInfinite": lambda call: call.builder.equal(call.builder.abs(call.inputs[0]), call.scalar(math.inf, call.inputs[0])),
        "isNaN": lambda call: call.builder.logicalNot(call.builder.equal(call.inputs[0], call.inputs[0])),
        "logicalAnd": _logical("max", negated=True),
        "logicalOr": _logical("min", negated=True),
        "logicalXor": _logical("equal", negated=True),
        "neg": _of_int64(lambda b, x, zero: b.sub(zero, x)),
        "notEqual": lambda call: call.builder.logicalNot(call.builder.equal(call.inputs[0], call.inputs[1])),
        "pad": _pad,
        "quantizeLinear": _quantize,
        "relu": _of_int64(lambda b, x, zero: b.max(x, zero)),
        "reverse": _reverse,
        "roundEven": _round_even,
        "scatterElements": _scatter_elements,
        "scatterND": _scatter_nd,
        "sign": _sign,
        "slice": _slice,
        "tile": _tile,
    }
}
