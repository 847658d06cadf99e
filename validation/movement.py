"""Operations that move elements or change their type: cast, concat, pad, reshape, where and their kin."""

from __future__ import annotations

import math
from functools import partial
from typing import Annotated, ClassVar, Literal

from webnn.validation import webidl
from webnn.validation.data_type import convertDataType
from webnn.validation.descriptor import DataType, OperandDescriptor, Shape
from webnn.validation.dictionary import Boolean, Dictionary, Enumeration, Float, Long, UnsignedLong, UnsignedLongSequence
from webnn.validation.operation import Argument, Call, Operation
from webnn.validation.shapes import bidirectionally_broadcast, unidirectionally_broadcast

__all__ = [
    "OPERATIONS",
    "PadOptions",
    "SliceOptions",
    "SplitOptions",
    "TransposeOptions",
    "TriangularOptions",
    "cast",
    "concat",
    "expand",
    "pad",
    "reshape",
    "slice",
    "split",
    "transpose",
    "triangular",
    "where",
]

PaddingMode = Annotated[Literal["constant", "edge", "reflection", "symmetric"], Enumeration("MLPaddingMode")]


class PadOptions(Dictionary):
    """``MLPadOptions``, `#dictdef-mlpadoptions`."""

    #: A mirror may add more elements than the axis has, and mirrors again.
    mirrors_again: ClassVar[bool] = True

    mode: PaddingMode = "constant"
    value: Float = 0.0


class SliceOptions(Dictionary):
    """``MLSliceOptions``, `#dictdef-mlsliceoptions`."""

    strides: UnsignedLongSequence | None = None


class SplitOptions(Dictionary):
    """``MLSplitOptions``, `#dictdef-mlsplitoptions`."""

    axis: UnsignedLong = 0


class TransposeOptions(Dictionary):
    """``MLTransposeOptions``, `#dictdef-mltransposeoptions`."""

    permutation: UnsignedLongSequence | None = None


class TriangularOptions(Dictionary):
    """``MLTriangularOptions``, `#dictdef-mltriangularoptions`."""

    upper: Boolean = True
    diagonal: Long = 0


def _convertSplits(value: object) -> int | tuple[int, ...]:
    """Convert to ``([EnforceRange] unsigned long or sequence<[EnforceRange] unsigned long>)``."""
    if webidl.isIterable(value):
        return webidl.unsignedLongs(value)
    return webidl.enforceRangeUnsignedLong(value)


def _check_count(call: Call, argument: str, count: int) -> None:
    """Check that a number of operands is a *valid tensor count*, `#valid-tensor-count`."""
    if count > call.revision.max_tensor_count:
        raise call.error(argument, f"must be at most {call.revision.max_tensor_count}", count, rule="limit")


def cast(call: Call, input: OperandDescriptor, type: DataType) -> OperandDescriptor:
    """Validate ``cast``, `#api-mlgraphbuilder-cast`."""
    # 2.2. The output has the input's shape and the target type. (The draft copies the input's type: see docs/spec-issues.md.)
    return call.output(type, input.dimensions)


def concat(call: Call, inputs: tuple[OperandDescriptor, ...], axis: int) -> OperandDescriptor:
    """Validate ``concat``, `#api-mlgraphbuilder-concat`."""
    # [2; 2026-06: 3] There is an input.
    if not inputs:
        raise call.error("inputs", "must have at least 1 element", [], rule="length")
    # [2026-06: 3] There are not too many.
    _check_count(call, "inputs", len(inputs))
    # 3. The first one decides type and rank.
    first = inputs[0]
    # [4; 2026-06: 5] The axis is one of its axes.
    if axis >= first.rank:
        raise call.error("axis", f"must be less than the rank of inputs[0], {first.rank}", axis, rule="axis")
    # 5.-8. The joined size starts with the first one's.
    size = first.dimensions[axis]
    before, after = first.dimensions[:axis], first.dimensions[axis + 1 :]
    for index, input in enumerate(inputs[1:], 1):
        argument = f"inputs[{index}]"
        # [9.2; 2026-06: 8.2] Each input has the first one's type.
        call.check_same_type(argument, input, "inputs[0]", first)
        # [9.3; 2026-06: 8.3] Each input has the first one's rank.
        if input.rank != first.rank:
            raise call.error(argument, f"must have the rank of inputs[0], {first.rank}", list(input.dimensions), rule="rank")
        # [9.4.1; 2026-06: 8.4.1] Away from the axis, each input has the first one's sizes.
        if input.dimensions[:axis] != before or input.dimensions[axis + 1 :] != after:
            wanted = ", ".join(map(str, [*before, "any", *after]))
            raise call.error(
                argument, f"must have the shape of inputs[0] but for axis {axis}, [{wanted}]", list(input.dimensions), rule="shape"
            )
        # 9.4.2.1. Its part of the joined size.
        size += input.dimensions[axis]
    # [9.4.2.2; 2026-06: 8.4.2.2] The joined size is a valid dimension.
    return call.output(first.dataType, (*before, size, *after))


def expand(call: Call, input: OperandDescriptor, newShape: Shape) -> OperandDescriptor:
    """Validate ``expand``, `#api-mlgraphbuilder-expand`."""
    # [4.1; 2026-06: 3.1] Each dimension of the input is kept, or stretched if it is 1.
    if unidirectionally_broadcast(input.dimensions, newShape) is None:
        raise call.error("newShape", f"must be a shape to which {list(input.dimensions)} broadcasts", list(newShape), rule="broadcast")
    # [2026-06: 4] The rank is one that the output may have.
    return call.output(input.dataType, newShape)


def _check_mirror(call: Call, argument: str, padding: tuple[int, ...], shape: Shape) -> None:
    """Check that each axis has more elements than a mirror adds to it."""
    for axis, (count, size) in enumerate(zip(padding, shape, strict=True)):
        if count and count >= size:
            raise call.error(f"{argument}[{axis}]", f"must be less than the size of axis {axis}, {size}", count)


def pad(
    call: Call, input: OperandDescriptor, beginningPadding: tuple[int, ...], endingPadding: tuple[int, ...], options: PadOptions
) -> OperandDescriptor:
    """Validate ``pad``, `#api-mlgraphbuilder-pad`."""
    # [2; 2026-06: -] The input is not a scalar. (Since 2026-06 it may be one, without padding.)
    call.check_rank("input", input)
    # [3] There is one number before each axis,
    call.check_size("beginningPadding", beginningPadding, input.rank)
    # [3] and one behind it.
    call.check_size("endingPadding", endingPadding, input.rank)
    if options.mode == "reflection" and not options.mirrors_again:
        # [2026-06: 6.1.1] A mirror needs as many elements beside the first one as it adds.
        _check_mirror(call, "beginningPadding", beginningPadding, input.dimensions)
        # [2026-06: 6.1.2] The mirror needs as many elements beside the last one, too.
        _check_mirror(call, "endingPadding", endingPadding, input.dimensions)
    # 5. The padded sizes.
    outputShape = tuple(sum(sizes) for sizes in zip(beginningPadding, input.dimensions, endingPadding, strict=True))
    # [6; 2026-06: 7] Every dimension of the output is valid.
    return call.output(input.dataType, outputShape)


def reshape(call: Call, input: OperandDescriptor, newShape: Shape) -> OperandDescriptor:
    """Validate ``reshape``, `#api-mlgraphbuilder-reshape-method`."""
    # [4; 2026-06: 6] Every dimension of the new shape is valid. (The conversion refused those above the range.)
    call.check_sizes("newShape", newShape)
    # [6; 2026-06: 8] The number of elements stays.
    if math.prod(newShape) != input.element_count:
        raise call.error(
            "newShape", f"must have {input.element_count} elements, as {list(input.dimensions)} has", list(newShape), rule="shape"
        )
    # [2026-06: 3] The rank is one that the output may have.
    return call.output(input.dataType, newShape)


def slice(
    call: Call, input: OperandDescriptor, starts: tuple[int, ...], sizes: tuple[int, ...], options: SliceOptions | None = None
) -> OperandDescriptor:
    """Validate ``slice``, `#api-mlgraphbuilder-slice`; the draft 2024-06 has no options."""
    # [2; 2026-06: 3] No size is 0.
    call.check_sizes("sizes", sizes)
    # [3; 2026-06: 4] There is one start for each axis,
    call.check_size("starts", starts, input.rank)
    # [3; 2026-06: 4] and one size.
    call.check_size("sizes", sizes, input.rank)
    strides = None if options is None else options.strides
    if strides is not None:
        # [2026-06: 6.2] There is one stride for each axis.
        call.check_size("options.strides", strides, input.rank)
        # [2026-06: 9.5] No stride is 0.
        call.check_no_zero("options.strides", strides)
    for index, (start, size, extent) in enumerate(zip(starts, sizes, input.dimensions, strict=True)):
        # [4.2; 2026-06: 9.6] The slice starts inside the input.
        if start >= extent and (size or start > extent):
            raise call.error(f"starts[{index}]", f"must be less than the size of axis {index}, {extent}", start)
        # [4.3; 2026-06: 9.7] The slice ends inside the input.
        if start + size > extent:
            raise call.error(f"sizes[{index}]", f"must be at most {extent - start} behind the start {start} of axis {index}", size)
    # 5.1. The output's shape: each first element of a stride. (The draft 2024-06 copies the input's: see docs/spec-issues.md.)
    if strides is not None:
        sizes = tuple(-(-size // stride) for size, stride in zip(sizes, strides, strict=True))
    return call.output(input.dataType, sizes)


def split(call: Call, input: OperandDescriptor, splits: int | tuple[int, ...], options: SplitOptions) -> tuple[OperandDescriptor, ...]:
    """Validate ``split``, `#api-mlgraphbuilder-split`."""
    axis, shape = options.axis, input.dimensions
    # [3; 2026-06: 4] The axis is one of the input's.
    if axis >= len(shape):
        raise call.error("options.axis", f"must be less than the rank of input, {len(shape)}", axis, rule="axis")
    if isinstance(splits, int):
        # [4.1; 2026-06: 5.2, 5.1] There are parts, and they are of equal size. (The draft divides by 0 here: see docs/spec-issues.md.)
        if splits == 0 or shape[axis] % splits != 0:
            raise call.error("splits", f"must divide the size of axis {axis}, {shape[axis]}, evenly", splits, rule="divisible")
        # [2026-06: 5.1] There are not too many.
        _check_count(call, "splits", splits)
        sizes = (shape[axis] // splits,) * splits
    else:
        # [5.1; 2026-06: 6.2] No part is empty.
        call.check_sizes("splits", splits)
        # [5.2; 2026-06: 6.3] The parts make up the whole axis.
        if sum(splits) != shape[axis]:
            raise call.error("splits", f"must add up to the size of axis {axis}, {shape[axis]}", list(splits), rule="shape")
        # [2026-06: 6.1] There are not too many.
        _check_count(call, "splits", len(splits))
        sizes = splits
    return tuple(call.output(input.dataType, (*shape[:axis], size, *shape[axis + 1 :])) for size in sizes)


def transpose(call: Call, input: OperandDescriptor, options: TransposeOptions) -> OperandDescriptor:
    """Validate ``transpose``, `#api-mlgraphbuilder-transpose`."""
    # 1. By default the axes are reversed.
    if options.permutation is None:
        return call.output(input.dataType, input.dimensions[::-1])
    permutation, rank = options.permutation, input.rank
    # [2.1; 2026-06: 4.1] The permutation has one element for each axis.
    call.check_size("options.permutation", permutation, rank)
    # [2.2; 2026-06: 4.2] Each element of the permutation is an axis.
    if any(axis >= rank for axis in permutation):
        raise call.error(
            "options.permutation", f"must be less than the rank of input, {rank}, in each element", list(permutation), rule="axis"
        )
    # [2.3; 2026-06: 4.3] No axis occurs twice.
    if len(set(permutation)) != rank:
        raise call.error("options.permutation", "must not have an axis twice", list(permutation), rule="different")
    return call.output(input.dataType, tuple(input.dimensions[axis] for axis in permutation))


def triangular(call: Call, input: OperandDescriptor, options: TriangularOptions) -> OperandDescriptor:
    """Validate ``triangular``, `#api-mlgraphbuilder-triangular`."""
    # [1; 2026-06: 3] The input is a matrix, or a batch of them.
    call.check_rank("input", input)
    return input


def where(
    call: Call,
    condition: OperandDescriptor,
    trueValue: OperandDescriptor,
    falseValue: OperandDescriptor,
    names: tuple[str, str] = ("trueValue", "falseValue"),
) -> OperandDescriptor:
    """Validate ``where``, `#api-mlgraphbuilder-where`. The revision calls the two values by ``names``."""
    # [1; 2026-06: 3] The condition is of type uint8.
    call.check_type("condition", condition)
    # [2; 2026-06: 3] Both values have one type.
    first, second = names
    call.check_same_type(second, falseValue, first, trueValue)
    # [5.1; 2026-06: 4.1] The shapes of the values broadcast in both directions.
    values = bidirectionally_broadcast(trueValue.dimensions, falseValue.dimensions)
    if values is None:
        wanted = f"must broadcast with the shape of {first}, {list(trueValue.dimensions)}"
        raise call.error(second, wanted, list(falseValue.dimensions), rule="broadcast")
    # [6; 2026-06: 5.1] The shape of the condition broadcasts with theirs; it may stretch the output. (Until 2024-06 it may not: see
    # docs/spec-issues.md.)
    dimensions = bidirectionally_broadcast(condition.dimensions, values)
    if dimensions is None:
        raise call.error(
            "condition",
            f"must broadcast with the shape of {first} and {second}, {list(values)}",
            list(condition.dimensions),
            rule="broadcast",
        )
    return call.output(trueValue.dataType, dimensions)


OPERATIONS = (
    Operation(
        name="cast", anchor="#api-mlgraphbuilder-cast", operands=("input",), arguments=(Argument("type", convertDataType),), infer=cast
    ),
    Operation(
        name="concat",
        anchor="#api-mlgraphbuilder-concat",
        operands=("inputs",),
        variadic=True,
        arguments=(Argument("axis", webidl.enforceRangeUnsignedLong),),
        infer=concat,
    ),
    Operation(
        name="expand",
        anchor="#api-mlgraphbuilder-expand",
        operands=("input",),
        arguments=(Argument("newShape", webidl.unsignedLongs),),
        infer=expand,
    ),
    Operation(
        name="pad",
        anchor="#api-mlgraphbuilder-pad",
        operands=("input",),
        arguments=(Argument("beginningPadding", webidl.unsignedLongs), Argument("endingPadding", webidl.unsignedLongs)),
        infer=pad,
        options=PadOptions,
    ),
    Operation(
        name="reshape",
        anchor="#api-mlgraphbuilder-reshape-method",
        operands=("input",),
        arguments=(Argument("newShape", webidl.unsignedLongs),),
        infer=reshape,
    ),
    Operation(
        name="slice",
        anchor="#api-mlgraphbuilder-slice",
        operands=("input",),
        arguments=(Argument("starts", webidl.unsignedLongs), Argument("sizes", webidl.unsignedLongs)),
        infer=slice,
    ),
    Operation(
        name="split",
        anchor="#api-mlgraphbuilder-split",
        operands=("input",),
        arguments=(Argument("splits", _convertSplits),),
        infer=split,
        options=SplitOptions,
    ),
    Operation(name="transpose", anchor="#api-mlgraphbuilder-transpose", operands=("input",), infer=transpose, options=TransposeOptions),
    Operation(name="triangular", anchor="#api-mlgraphbuilder-triangular", operands=("input",), infer=triangular, options=TriangularOptions),
    Operation(
        name="where",
        anchor="#api-mlgraphbuilder-where",
        operands=("condition", "input", "other"),
        infer=partial(where, names=("input", "other")),
    ),
)
