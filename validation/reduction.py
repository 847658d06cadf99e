"""Reductions, `#api-mlgraphbuilder-reduce`, and the positions of extreme values, `#api-mlgraphbuilder-argminmax`."""

from __future__ import annotations

from webnn.validation.descriptor import OperandDescriptor, Shape
from webnn.validation.dictionary import Boolean, Dictionary, UnsignedLongSequence
from webnn.validation.operation import Call, Operation

__all__ = ["OPERATIONS", "ArgMinMaxOptions", "ReduceOptions", "arg_min_max", "reduce", "reduction_output_sizes"]


class ReduceOptions(Dictionary):
    """``MLReduceOptions``, `#dictdef-mlreduceoptions`."""

    axes: UnsignedLongSequence | None = None
    keepDimensions: Boolean = False


class ArgMinMaxOptions(Dictionary):
    """``MLArgMinMaxOptions``, `#dictdef-mlargminmaxoptions`."""

    axes: UnsignedLongSequence | None = None
    keepDimensions: Boolean = False
    selectLastIndex: Boolean = False


def reduction_output_sizes(call: Call, inputShape: Shape, axes: tuple[int, ...] | None, keepDimensions: bool) -> Shape:
    """*Calculate reduction output sizes*, `#mlgraphbuilder-calculate-reduction-output-sizes`.

    Raises:
        WebNNTypeError: An axis is listed twice, or is none of the input's.
    """
    # 1. The rank.
    inputRank = len(inputShape)
    # 2. All axes by default.
    if axes is None:
        axes = tuple(range(inputRank))
    # 3. No axis is listed twice,
    if len(set(axes)) != len(axes):
        raise call.error("options.axes", "must be different from each other", list(axes))
    # 3. and each one is the input's.
    if any(axis >= inputRank for axis in axes):
        raise call.error("options.axes", f"must be less than the rank of input, {inputRank}", list(axes))
    # 4. Reduced dimensions stay with size 1,
    if keepDimensions:
        return tuple(1 if axis in axes else size for axis, size in enumerate(inputShape))
    # 5. or go.
    return tuple(size for axis, size in enumerate(inputShape) if axis not in axes)


def reduce(call: Call, input: OperandDescriptor, options: ReduceOptions) -> OperandDescriptor:
    """*Create reduce operation*, `#mlgraphbuilder-reduce-op`.

    Args:
        call: The call.
        input: The input, of a type that the revision's table allows and any shape.
        options: The converted options.

    Returns:
        The input's type and the reduced shape.

    Raises:
        WebNNTypeError: A step fails.
    """
    # 3. The input's data type is one of those that the operation allows.
    call.check_type("input", input)
    # 4. The output's shape.
    outputShape = reduction_output_sizes(call, input.dimensions, options.axes, options.keepDimensions)
    return call.output(input.dataType, outputShape)


def arg_min_max(call: Call, input: OperandDescriptor, options: ArgMinMaxOptions) -> OperandDescriptor:
    """*Create argMin/argMax operation*, `#mlgraphbuilder-argminmax-op`.

    Args:
        call: The call.
        input: The input, of any type and shape.
        options: The converted options.

    Returns:
        int64 and the reduced shape.

    Raises:
        WebNNTypeError: A step fails.
    """
    # 3. The output's shape.
    outputShape = reduction_output_sizes(call, input.dimensions, options.axes, options.keepDimensions)
    return call.output("int64", outputShape)


OPERATIONS = (
    *(
        Operation(
            name=name,
            anchor="#api-mlgraphbuilder-reduce",
            operands=("input",),
            infer=reduce,
            options=ReduceOptions,
        )
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
        Operation(
            name=name,
            anchor="#api-mlgraphbuilder-argminmax",
            operands=("input",),
            infer=arg_min_max,
            options=ArgMinMaxOptions,
        )
        for name in ("argMin", "argMax")
    ),
)
