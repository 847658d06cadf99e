"""The operations of dynamic-shapes: their validators, rows, limits and reference, and what each becomes once all shapes are known."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from webnn.proposals.dynamic_shapes.sizes import Size
from webnn.validation import movement, webidl
from webnn.validation.binary import binary
from webnn.validation.descriptor import OperandDescriptor, Types, is_float
from webnn.validation.dictionary import Dictionary, FloatSequence, Operand, UnsignedLong, UnsignedLongSequence
from webnn.validation.drafts import find_revision
from webnn.validation.drafts.limits import Limits, OperandLimits, with_rows
from webnn.validation.errors import NotSupportedError
from webnn.validation.movement import PadOptions, SliceOptions, SplitOptions
from webnn.validation.operation import Argument, Call, Operation
from webnn.validation.resample import InterpolationMode
from webnn.validation.tiling import tile

__all__ = ["OPERATIONS", "STATIC", "VALUE_OPERANDS", "ValuedDescriptor", "add_limits", "make_reference"]

_ANCHOR = "#api-mlgraphbuilder"
_DRAFT = find_revision("2026-06").operations
#: The data types of the operands whose elements are sizes, and of those of ``range``.
_SIZES: Types = ("int32", "uint32", "int64", "uint64")
_STEPS: Types = ("float32", *_SIZES)
#: The operands that are read when shapes are inferred, by operation.
VALUE_OPERANDS: Mapping[str, tuple[str, ...]] = {
    "range": ("start", "limit", "delta"),
    "reshapeDynamic": ("newShape",),
    "expandDynamic": ("newShape",),
    "sliceDynamic": ("starts", "sizes"),
    "padDynamic": ("beginningPadding", "endingPadding"),
    "splitDynamic": ("splits",),
    "resample2dDynamic": ("sizes",),
    "tileDynamic": ("repetitions",),
}


@dataclass(frozen=True, slots=True)
class ValuedDescriptor(OperandDescriptor):
    """The descriptor of an operand whose elements, in row-major order, count: numbers, and sizes that are not known yet."""

    values: tuple[Any, ...] = ()


def _values(call: Call, argument: str, operand: OperandDescriptor) -> tuple[int, ...]:
    """Return the elements of a list of sizes."""
    assert isinstance(operand, ValuedDescriptor)  # `DynamicBuilder._connect` gives each operand of `VALUE_OPERANDS` its elements
    if operand.rank != 1:
        raise call.error(argument, "must be 1-D", f"{operand.rank}-D {list(operand.dimensions)}")
    if any(value < 0 for value in operand.values):
        raise call.error(argument, "must not be negative in any element", list(operand.values))
    return operand.values


# Options.


class SqueezeOptions(Dictionary):
    """``MLSqueezeOptions``."""

    axes: UnsignedLongSequence | None = None


class ReshapeTo2dOptions(Dictionary):
    """``MLReshapeTo2dOptions``."""

    axis: UnsignedLong = 1


class SliceDynamicOptions(Dictionary):
    """``MLSliceDynamicOptions``."""

    strides: UnsignedLongSequence | None = None


class Resample2dDynamicOptions(Dictionary):
    """``MLResample2dDynamicOptions``."""

    mode: InterpolationMode = "nearest-neighbor"
    scales: FloatSequence | None = None
    sizes: Operand | None = None
    axes: UnsignedLongSequence | None = None


# Validators.


def _shape(call: Call, input: OperandDescriptor) -> OperandDescriptor:
    return call.output("uint32", (input.rank,))


def _range(call: Call, start: OperandDescriptor, limit: OperandDescriptor, delta: OperandDescriptor) -> OperandDescriptor:
    call.check_same_type("limit", limit, "start", start)
    call.check_same_type("delta", delta, "start", start)
    numbers = []
    for argument, operand in (("start", start), ("limit", limit), ("delta", delta)):
        assert isinstance(operand, ValuedDescriptor)  # as in `_values`
        if operand.rank > 1 or len(operand.values) != 1:
            raise call.error(argument, "must have one element", list(operand.dimensions))
        numbers.append(operand.values[0])
    first, last, step = numbers
    if step == 0:
        raise call.error("delta", "must not be 0")
    return call.output(start.dataType, (_count(first, last, step),))


def _count(first: Any, last: Any, step: Any) -> Any:
    """Return how many steps lead from one number up to another one, without that."""
    if all(isinstance(each, int | Size) for each in (first, last, step)):
        count = -((first - last) // step)
    else:
        quotient = (float(last) - float(first)) / float(step)
        # NaN and infinities lead nowhere: a dimension of this size is refused.
        count = math.ceil(quotient) if math.isfinite(quotient) else 0
    return count if count > 0 else 0


def _squeeze(call: Call, input: OperandDescriptor, options: SqueezeOptions) -> OperandDescriptor:
    if options.axes is None:
        return call.output(input.dataType, tuple([size for size in input.dimensions if size != 1]))
    _check_axes(call, "options.axes", options.axes, input.rank, "input")
    for axis in options.axes:
        if input.dimensions[axis] != 1:
            raise call.error("options.axes", f"must name axes of size 1, but axis {axis} has the size {input.dimensions[axis]}")
    return call.output(input.dataType, tuple([size for axis, size in enumerate(input.dimensions) if axis not in options.axes]))


def _unsqueeze(call: Call, input: OperandDescriptor, axes: tuple[int, ...]) -> OperandDescriptor:
    _check_axes(call, "axes", axes, input.rank + len(axes), "the output")
    rest = iter(input.dimensions)
    return call.output(input.dataType, tuple([1 if axis in axes else next(rest) for axis in range(input.rank + len(axes))]))


def _check_axes(call: Call, argument: str, axes: tuple[int, ...], rank: int, whose: str) -> None:
    if len(set(axes)) != len(axes):
        raise call.error(argument, "must be different from each other", list(axes))
    if any(axis >= rank for axis in axes):
        raise call.error(argument, f"must be less than the rank of {whose}, {rank}, in each element", list(axes))


def _reshape_to_2d(call: Call, input: OperandDescriptor, options: ReshapeTo2dOptions) -> OperandDescriptor:
    if options.axis > input.rank:
        raise call.error("options.axis", f"must be at most the rank of input, {input.rank}", options.axis)
    return call.output(input.dataType, (math.prod(input.dimensions[: options.axis]), math.prod(input.dimensions[options.axis :])))


def _reshape(call: Call, input: OperandDescriptor, newShape: OperandDescriptor) -> OperandDescriptor:
    return movement.reshape(call, input, _values(call, "newShape", newShape))


def _expand(call: Call, input: OperandDescriptor, newShape: OperandDescriptor) -> OperandDescriptor:
    return movement.expand(call, input, _values(call, "newShape", newShape))


def _slice(
    call: Call, input: OperandDescriptor, starts: OperandDescriptor, sizes: OperandDescriptor, options: SliceDynamicOptions
) -> OperandDescriptor:
    static = SliceOptions(strides=options.strides)
    return movement.slice(call, input, _values(call, "starts", starts), _values(call, "sizes", sizes), static)


def _pad(call: Call, input: OperandDescriptor, beginning: OperandDescriptor, ending: OperandDescriptor) -> OperandDescriptor:
    before, behind = _values(call, "beginningPadding", beginning), _values(call, "endingPadding", ending)
    return movement.pad(call, input, before, behind, PadOptions())


def _split(call: Call, input: OperandDescriptor, splits: OperandDescriptor, options: SplitOptions) -> tuple[OperandDescriptor, ...]:
    if any(not isinstance(size, int) for size in splits.dimensions):
        raise call.error("splits", "must have a length that is known when the graph is built", list(splits.dimensions))
    return movement.split(call, input, _values(call, "splits", splits), options)


def _resample(call: Call, input: OperandDescriptor, options: Resample2dDynamicOptions) -> OperandDescriptor:
    sizes = None if options.sizes is None else _values(call, "options.sizes", options.sizes)
    row = _DRAFT["resample2d"]
    assert row.options is not None  # its row has a model
    static = row.options.model_construct(mode=options.mode, scales=options.scales, sizes=sizes, axes=options.axes)
    output: OperandDescriptor = row.infer(call, input, static)  # type: ignore[assignment]  # it has one output
    return output


def _tile(call: Call, input: OperandDescriptor, repetitions: OperandDescriptor) -> OperandDescriptor:
    return tile(call, input, _values(call, "repetitions", repetitions))


# Rows.


def _modulus_translation(name: str) -> Callable[[], Any]:
    def load() -> Any:
        # Imported lazily because it loads onnx.
        from webnn.builder.onnx.emitter import Translation  # noqa: PLC0415

        return Translation(emit=_emit_modulus, carry={"float16": "float32"}, elementwise=name == "modulusFloor")

    return load


def _emit_modulus(e: Any, op: Any) -> Any:
    dataType = op.type("a")
    floors = op.name == "modulusFloor"
    a, b = op["a"], op["b"]
    if not is_float(dataType):
        return _emit_integers(e, a, b, dataType, fmod=0 if floors else 1)
    # The remainder of truncation is exact. Where it has the other sign than the divisor, the divisor is added.
    rest = e.node("Mod", [a, b], fmod=1)
    if not floors:
        return rest
    differs = e.node("Less", [e.node("Mul", [e.node("Sign", [rest]), e.node("Sign", [b])]), e.scalar(0, dataType)])
    return e.node("Where", [differs, e.node("Add", [rest, b]), rest])


def _emit_integers(e: Any, a: Any, b: Any, dataType: Any, fmod: int) -> Any:
    """Emit the remainder of integers: by 0 it is the dividend."""
    one, zero = e.scalar(1, dataType), e.node("Equal", [b, e.scalar(0, dataType)])
    if dataType.startswith("u"):
        # As for `div`: `Where` has no kernel for uint64.
        rest = e.node("Mod", [a, e.node("Max", [b, one])], fmod=fmod)
        return e.node("Add", [rest, e.node("Mul", [a, e.cast(zero, dataType)])])
    # The quotient of the smallest number and -1 would be too large.
    negates = e.node("Equal", [b, e.scalar(-1, dataType)])
    rest = e.node("Mod", [a, e.node("Where", [e.node("Or", [zero, negates]), one, b])], fmod=fmod)
    return e.node("Where", [zero, a, rest])


def _refuse(name: str) -> Any:
    raise NotSupportedError(
        f"{name}: the operation becomes one of the draft when its graph is built, and has no translation", operation=name
    )


def _row(name: str, infer: Callable[..., Any], *operands: str, **rest: Any) -> Operation:
    return Operation(name=name, anchor=_ANCHOR, operands=operands, infer=infer, **{"translation": partial(_refuse, name), **rest})


OPERATIONS = (
    _row("shape", _shape, "input"),
    _row("range", _range, "start", "limit", "delta"),
    _row("modulusFloor", binary, "a", "b", translation=_modulus_translation("modulusFloor")),
    _row("modulusTruncate", binary, "a", "b", translation=_modulus_translation("modulusTruncate")),
    _row("squeeze", _squeeze, "input", options=SqueezeOptions),
    _row("unsqueeze", _unsqueeze, "input", arguments=(Argument("axes", webidl.unsignedLongs),)),
    _row("reshapeTo2d", _reshape_to_2d, "input", options=ReshapeTo2dOptions),
    _row("reshapeDynamic", _reshape, "input", "newShape"),
    _row("expandDynamic", _expand, "input", "newShape"),
    _row("sliceDynamic", _slice, "input", "starts", "sizes", options=SliceDynamicOptions),
    _row("padDynamic", _pad, "input", "beginningPadding", "endingPadding"),
    _row("splitDynamic", _split, "input", "splits", options=SplitOptions),
    _row("resample2dDynamic", _resample, "input", options=Resample2dDynamicOptions),
    _row("tileDynamic", _tile, "input", "repetitions"),
)

# Limits.

#: The operations of the draft whose inputs and outputs have the same types and ranks.
_LIKE = {
    "modulusFloor": "div",
    "modulusTruncate": "div",
    "squeeze": "reshape",
    "unsqueeze": "reshape",
    "reshapeTo2d": "reshape",
    **{f"{name}Dynamic": name for name in ("reshape", "expand", "slice", "pad", "split", "resample2d", "tile")},
}


def add_limits(limits: Limits | None) -> Limits | None:
    """Add the limits of the operations."""
    if limits is None:
        return None
    sizes = OperandLimits(data_types=_SIZES, ranks=(1, 1), required_data_types=("int32",), required_ranks=(1, 1))
    steps = OperandLimits(data_types=_STEPS, ranks=(0, 1), required_data_types=("int32",), required_ranks=(0, 1))
    shape = OperandLimits(data_types=("uint32",), ranks=(1, 1), required_data_types=("uint32",), required_ranks=(1, 1), output=True)
    rows: dict[str, dict[str, OperandLimits]] = {}
    for name, like in _LIKE.items():
        values = dict.fromkeys(VALUE_OPERANDS.get(name, ()), sizes)
        if name == "resample2dDynamic":
            values = {"sizes": replace(sizes, option=True)}
        inputs = {each: row for each, row in limits.operations[like].items() if not row.output}
        rows[name] = {**inputs, **values, **{each: row for each, row in limits.operations[like].items() if row.output}}
    rows["shape"] = {"input": limits.operations["identity"]["input"], "output": shape}
    rows["range"] = {
        **dict.fromkeys(VALUE_OPERANDS["range"], steps),
        "output": OperandLimits(
            data_types=_STEPS, ranks=(1, 1), required_data_types=("int32",), required_ranks=(1, 1), same_type_as="start", output=True
        ),
    }
    return with_rows(limits, rows)


# The reference.


def make_reference() -> Mapping[str, Callable[..., Any]]:
    """Return the operations in NumPy; operands that are sizes are arrays, too."""
    from webnn.reference.operations import operations_of  # noqa: PLC0415 (few programs compute with the reference)

    draft = operations_of("2026-06")

    def listed(name: str) -> Callable[..., Any]:
        def function(input: Any, *lists: Any, **options: Any) -> Any:
            return draft[name](input, *[[int(each) for each in values] for values in lists], **options)

        return function

    def resample(input: Any, *, sizes: Any = None, **options: Any) -> Any:
        return draft["resample2d"](input, sizes=None if sizes is None else [int(each) for each in sizes], **options)

    return {
        "shape": lambda x: np.array(x.shape, np.uint32),
        "range": _compute_range,
        "modulusFloor": lambda a, b: _modulus(np.mod, a, b),
        "modulusTruncate": lambda a, b: _modulus(np.fmod, a, b),
        "squeeze": lambda x, *, axes=None: np.squeeze(x, None if axes is None else tuple(axes)),
        "unsqueeze": lambda x, axes: np.expand_dims(x, tuple(axes)),
        "reshapeTo2d": lambda x, *, axis=1: x.reshape(math.prod(x.shape[:axis]), math.prod(x.shape[axis:])),
        **{f"{name}Dynamic": listed(name) for name in ("reshape", "expand", "slice", "pad", "split", "tile")},
        "resample2dDynamic": resample,
    }


def _compute_range(start: Any, limit: Any, delta: Any) -> Any:
    first, last, step = (each.reshape(-1)[0].item() for each in (start, limit, delta))
    return np.array([first + step * index for index in range(_count(first, last, step))], start.dtype)


def _modulus(function: Callable[..., Any], a: Any, b: Any) -> Any:
    if a.dtype.kind == "f":
        return np.asarray(function(a.astype(np.float64), b.astype(np.float64))).astype(a.dtype)
    # By 0 it is the dividend; by -1 it is 0, of the smallest number, too.
    return np.where(b == 0, a, function(a, np.where((b == 0) | (b == -1), 1, b).astype(a.dtype))).astype(a.dtype)


#: For each operation the one of the draft that computes the same once all shapes are known, and a function that makes its arguments of the
#: output's shape and of the elements of `VALUE_OPERANDS`.
STATIC: Mapping[str, tuple[str, Callable[..., tuple[Any, ...]]]] = {
    **dict.fromkeys(["squeeze", "unsqueeze", "reshapeTo2d", "reshapeDynamic"], ("reshape", lambda output, *_: (output,))),
    **{f"{name}Dynamic": (name, lambda _, *values: values) for name in ("expand", "slice", "pad", "split", "tile")},
    "resample2dDynamic": ("resample2d", lambda *_: ()),
}
