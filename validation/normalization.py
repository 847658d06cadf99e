"""Normalizations: `#api-mlgraphbuilder-batchnorm`, `#api-mlgraphbuilder-instancenorm` and `#api-mlgraphbuilder-layernorm`."""

from __future__ import annotations

from webnn.validation.descriptor import OperandDescriptor, Shape
from webnn.validation.dictionary import Dictionary, Float, InputLayout, Operand, UnsignedLong, UnsignedLongSequence
from webnn.validation.operation import Call, Operation

__all__ = [
    "OPERATIONS",
    "BatchNormalizationOptions",
    "InstanceNormalizationOptions",
    "LayerNormalizationOptions",
    "batchNormalization",
    "instanceNormalization",
    "layerNormalization",
    "layer_axes",
]


class BatchNormalizationOptions(Dictionary):
    """``MLBatchNormalizationOptions``, `#dictdef-mlbatchnormalizationoptions`."""

    scale: Operand | None = None
    bias: Operand | None = None
    axis: UnsignedLong = 1
    epsilon: Float = 1e-5


class InstanceNormalizationOptions(Dictionary):
    """``MLInstanceNormalizationOptions``, `#dictdef-mlinstancenormalizationoptions`."""

    scale: Operand | None = None
    bias: Operand | None = None
    epsilon: Float = 1e-5
    layout: InputLayout = "nchw"


class LayerNormalizationOptions(Dictionary):
    """``MLLayerNormalizationOptions``, `#dictdef-mllayernormalizationoptions`."""

    scale: Operand | None = None
    bias: Operand | None = None
    axes: UnsignedLongSequence | None = None
    epsilon: Float = 1e-5


def _check_features(call: Call, argument: str, operand: OperandDescriptor, input: OperandDescriptor, axis: int) -> None:
    """Check an operand that has one value for each index of an axis: the input's type, then its shape."""
    # [a] Each operand beside the input has the input's type.
    call.check_same_type(argument, operand, "input", input)
    # [b] Each operand beside the input has one dimension, the size of the axis.
    call.check_shape(argument, operand, (input.dimensions[axis],))


def _check_parameter(call: Call, argument: str, operand: OperandDescriptor, input: OperandDescriptor, axes: Shape) -> None:
    """Check an operand that has one dimension for each of some axes: the input's type, then its rank."""
    # [a] Each operand beside the input has the input's type.
    call.check_same_type(argument, operand, "input", input)
    # [b] Scale and bias have as many dimensions as there are axes.
    if operand.rank != len(axes):
        raise call.error(argument, f"must have one dimension for each of the axes {list(axes)}", list(operand.dimensions), rule="shape")


def batchNormalization(
    call: Call, input: OperandDescriptor, mean: OperandDescriptor, variance: OperandDescriptor, options: BatchNormalizationOptions
) -> OperandDescriptor:
    """Validate ``batchNormalization``, `#api-mlgraphbuilder-batchnorm`."""
    axis = options.axis
    # [2; 2026-06: 3] The input is of a floating-point type.
    call.check_type("input", input)
    # [3; 2026-06: 4] The axis is one of the input's.
    if axis >= input.rank:
        raise call.error("options.axis", f"must be less than the rank of input, {input.rank}", axis, rule="axis")
    # [4, 5; 2026-06: 5, 6] The mean has the input's type and one value for each feature.
    _check_features(call, "mean", mean, input, axis)
    # [6, 7; 2026-06: 7, 8] So has the variance.
    _check_features(call, "variance", variance, input, axis)
    # [8.1, 8.2; 2026-06: 10.1, 10.2] So has the scale.
    if options.scale is not None:
        _check_features(call, "options.scale", options.scale, input, axis)
    # [9.1, 9.2; 2026-06: 11.1, 11.2] So has the bias.
    if options.bias is not None:
        _check_features(call, "options.bias", options.bias, input, axis)
    return input


def instanceNormalization(call: Call, input: OperandDescriptor, options: InstanceNormalizationOptions) -> OperandDescriptor:
    """Validate ``instanceNormalization``, `#api-mlgraphbuilder-instancenorm`."""
    # [2; 2026-06: 3] The input is of a floating-point type.
    call.check_type("input", input)
    # [3; 2026-06: 4] The input is 4-D.
    call.check_rank("input", input)
    # 4. The axis of the channels.
    axis = 1 if options.layout == "nchw" else 3
    # [5.1, 5.2; 2026-06: 7.1, 7.2] The scale has the input's type and one value for each channel.
    if options.scale is not None:
        _check_features(call, "options.scale", options.scale, input, axis)
    # [6.1, 6.2; 2026-06: 8.1, 8.2] So has the bias.
    if options.bias is not None:
        _check_features(call, "options.bias", options.bias, input, axis)
    return input


def layer_axes(axes: Shape | None, rank: int) -> Shape:
    """Return the axes of ``layerNormalization``: those given, or all but the first."""
    return tuple(range(1, rank)) if axes is None else axes


def layerNormalization(call: Call, input: OperandDescriptor, options: LayerNormalizationOptions) -> OperandDescriptor:
    """Validate ``layerNormalization``, `#api-mlgraphbuilder-layernorm`."""
    # [2; 2026-06: 3] The input is of a floating-point type.
    call.check_type("input", input)
    # 3. All axes but the first by default.
    axes = layer_axes(options.axes, input.rank)
    # [4; 2026-06: 5] No axis is listed twice.
    if len(set(axes)) != len(axes):
        raise call.error("options.axes", "must not contain an axis twice", list(axes), rule="different")
    # [4; 2026-06: 5] Each axis is one of the input's.
    if any(axis >= input.rank for axis in axes):
        raise call.error("options.axes", f"must be less than the rank of input, {input.rank}, in each element", list(axes), rule="axis")
    # [5.1, 5.2; 2026-06: 7.1, 7.2] The scale has the input's type and one dimension for each axis.
    if options.scale is not None:
        _check_parameter(call, "options.scale", options.scale, input, axes)
    # [6.1, 6.2; 2026-06: 8.1, 8.2] So has the bias.
    if options.bias is not None:
        _check_parameter(call, "options.bias", options.bias, input, axes)
    wanted = tuple(input.dimensions[axis] for axis in axes)
    # [7.4.1; 2026-06: 9.4.1] The scale's dimensions are those of the input along the axes, in the order of the axes.
    if options.scale is not None:
        call.check_shape("options.scale", options.scale, wanted)
    # [7.5.1; 2026-06: 9.5.1] The bias's dimensions are those of the input along the axes, too.
    if options.bias is not None:
        call.check_shape("options.bias", options.bias, wanted)
    return input


OPERATIONS = (
    Operation(
        name="batchNormalization",
        anchor="#api-mlgraphbuilder-batchnorm",
        operands=("input", "mean", "variance"),
        infer=batchNormalization,
        options=BatchNormalizationOptions,
    ),
    Operation(
        name="instanceNormalization",
        anchor="#api-mlgraphbuilder-instancenorm",
        operands=("input",),
        infer=instanceNormalization,
        options=InstanceNormalizationOptions,
    ),
    Operation(
        name="layerNormalization",
        anchor="#api-mlgraphbuilder-layernorm",
        operands=("input",),
        infer=layerNormalization,
        options=LayerNormalizationOptions,
    ),
)
