"""Reductions, `#api-mlgraphbuilder-reduce`, running sums and the positions of extreme values, `#api-mlgraphbuilder-argminmax`."""

from __future__ import annotations

from webnn.validation import webidl
from webnn.validation.descriptor import OperandDescriptor, Shape, integer_range
from webnn.validation.dictionary import Boolean, DataTypeMember, Dictionary, UnsignedLongSequence
from webnn.validation.operation import Argument, Call, Operation

__all__ = [
    "OPERATIONS",
    "ArgMinMaxOfAxisOptions",
    "ArgMinMaxOptions",
    "CumulativeSumOptions",
    "ReduceOptions",
    "arg_min_max",
    "arg_min_max_of_axis",
    "cumulative_sum",
    "reduce",
    "reduction_output_sizes",
]


class ReduceOptions(Dictionary):
    """``MLReduceOptions``, `#dictdef-mlreduceoptions`."""

    axes: UnsignedLongSequence | None = None
    keepDimensions: Boolean = False


class ArgMinMaxOptions(Dictionary):
    """``MLArgMinMaxOptions``, `#dictdef-mlargminmaxoptions`."""

    axes: UnsignedLongSequence | None = None
    keepDimensions: Boolean = False
    selectLastIndex: Boolean = False


class ArgMinMaxOfAxisOptions(Dictionary):
    """``MLArgMinMaxOptions`` where the axis is an argument."""

    keepDimensions: Boolean = False
    outputDataType: DataTypeMember = "int32"


class CumulativeSumOptions(Dictionary):
    """``MLCumulativeSumOptions``, `#dictdef-mlcumulativesumoptions`."""

    exclusive: Boolean = False
    reversed: Boolean = False


def reduction_output_sizes(call: Call, inputShape: Shape, axes: tuple[int, ...] | None, keepDimensions: bool) -> Shape:
    """*Calculate reduction output sizes*, `#mlgraphbuilder-calculate-reduction-output-sizes`."""
    # 1. The rank.
    inputRank = len(inputShape)
    # 2. All axes by default.
    if axes is None:
        axes = tuple(range(inputRank))
    # [3] No axis is listed twice,
    if len(set(axes)) != len(axes):
        raise call.error("options.axes", "must be different from each other", list(axes), rule="different")
    # [3] and each one is the input's.
    if any(axis >= inputRank for axis in axes):
        raise call.error("options.axes", f"must be less than the rank of input, {inputRank}", list(axes), rule="axis")
    # 4. Reduced dimensions are kept with size 1,
    if keepDimensions:
        return tuple(1 if axis in axes else size for axis, size in enumerate(inputShape))
    # 5. or are removed.
    return tuple(size for axis, size in enumerate(inputShape) if axis not in axes)


def reduce(call: Call, input: OperandDescriptor, options: ReduceOptions) -> OperandDescriptor:
    """*Create reduce operation*, `#mlgraphbuilder-reduce-op`; since 2026-06 *create reduction operation*."""
    # [3; 2026-06: 4] The input's data type is one of those that the operation allows.
    call.check_type("input", input)
    # [4; 2026-06: 5] Each dimension of the output is valid.
    outputShape = reduction_output_sizes(call, input.dimensions, options.axes, options.keepDimensions)
    return call.output(input.dataType, outputShape)


def arg_min_max(call: Call, input: OperandDescriptor, options: ArgMinMaxOptions) -> OperandDescriptor:
    """*Create argMin/argMax operation*, `#mlgraphbuilder-argminmax-op`."""
    # [3] Each dimension of the output is valid.
    outputShape = reduction_output_sizes(call, input.dimensions, options.axes, options.keepDimensions)
    return call.output("int64", outputShape)


def arg_min_max_of_axis(call: Call, input: OperandDescriptor, axis: int, options: ArgMinMaxOfAxisOptions) -> OperandDescriptor:
    """*Create an argMin/argMax operation* where the axis is an argument, `#mlgraphbuilder-argminmax-op`."""
    # [2026-06: 4] The axis is one of the input's.
    if axis >= input.rank:
        raise call.error("axis", f"must be less than the rank of input, {input.rank}", axis, rule="axis")
    # [2026-06: 5] The output's type is an integer type that holds positions.
    allowed = call.revision.data_types[call.operation]["output"]
    if options.outputDataType not in allowed:
        raise call.error("options.outputDataType", f"must be one of {list(allowed)}", options.outputDataType, rule="type")
    # [2026-06: 6] The output's type holds the size of the axis.
    _, largest = integer_range(options.outputDataType)
    if input.dimensions[axis] > largest:
        raise call.error(
            "options.outputDataType", f"must hold the size of axis {axis}, {input.dimensions[axis]}", options.outputDataType, rule="type"
        )
    # [2026-06: 7] Each dimension of the output is valid.
    outputShape = reduction_output_sizes(call, input.dimensions, (axis,), options.keepDimensions)
    return call.output(options.outputDataType, outputShape)


def cumulative_sum(call: Call, input: OperandDescriptor, axis: int, options: CumulativeSumOptions) -> OperandDescriptor:
    """Validate ``cumulativeSum``, `#api-mlgraphbuilder-cumulativesum`."""
    # [2026-06: 4] The axis is one of the input's.
    if axis >= input.rank:
        raise call.error("axis", f"must be less than the rank of input, {input.rank}", axis, rule="axis")
    return input


OPERATIONS = (
    *(
        Operation(name=name, anchor="#api-mlgraphbuilder-reduce", operands=("input",), infer=reduce, options=ReduceOptions)
        for name in (
            "reduceL1",
            "reduceL2",
            "reduceLogSum",
            "reduceLogSumExp",
            "reduceMax",
            "reduceMean",
            "reduceMin",
            "reduceProduct",
            "reduceSum",
            "reduceSumSquare",
        )
    ),
    *(
        Operation(name=name, anchor="#api-mlgraphbuilder-argminmax", operands=("input",), infer=arg_min_max, options=ArgMinMaxOptions)
        for name in ("argMin", "argMax")
    ),
    Operation(
        name="cumulativeSum",
        anchor="#api-mlgraphbuilder-cumulativesum",
        operands=("input",),
        infer=cumulative_sum,
        arguments=(Argument("axis", webidl.unsignedLong),),
        options=CumulativeSumOptions,
    ),
)
