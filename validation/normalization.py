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
    call.check_same_type(argument, operand, "input", input)
    call.check_shape(argument, operand, (input.dimensions[axis],))


def batchNormalization(
    call: Call,
    input: OperandDescriptor,
    mean: OperandDescriptor,
    variance: OperandDescriptor,
    options: BatchNormalizationOptions,
) -> OperandDescriptor:
    """Validate ``batchNormalization``, `#api-mlgraphbuilder-batchnorm`.

    Args:
        call: The call.
        input: The input, at least 1-D.
        mean: The mean of each feature.
        variance: The variance of each feature.
        options: The converted options.

    Returns:
        The input's descriptor.

    Raises:
        WebNNTypeError: A step fails.
    """
    axis = options.axis
    # 2. The input is of a floating-point type.
    call.check_type("input", input)
    # 3. The axis is one of the input's.
    if axis >= input.rank:
        raise call.error("options.axis", f"must be less than the rank of input, {input.rank}", axis)
    # 4.-5. The mean has the input's type and one value for each feature.
    _check_features(call, "mean", mean, input, axis)
    # 6.-7. So has the variance.
    _check_features(call, "variance", variance, input, axis)
    # 8. So has the scale.
    if options.scale is not None:
        _check_features(call, "options.scale", options.scale, input, axis)
    # 9. So has the bias.
    if options.bias is not None:
        _check_features(call, "options.bias", options.bias, input, axis)
    return input


def instanceNormalization(call: Call, input: OperandDescriptor, options: InstanceNormalizationOptions) -> OperandDescriptor:
    """Validate ``instanceNormalization``, `#api-mlgraphbuilder-instancenorm`.

    Args:
        call: The call.
        input: The input, 4-D in ``options.layout``.
        options: The converted options.

    Returns:
        The input's descriptor.

    Raises:
        WebNNTypeError: A step fails.
    """
    # 2. The input is of a floating-point type.
    call.check_type("input", input)
    # 3. The input is 4-D.
    call.check_rank("input", input)
    # 4. The axis of the channels.
    axis = 1 if options.layout == "nchw" else 3
    # 5. The scale has the input's type and one value for each channel.
    if options.scale is not None:
        _check_features(call, "options.scale", options.scale, input, axis)
    # 6. So has the bias.
    if options.bias is not None:
        _check_features(call, "options.bias", options.bias, input, axis)
    return input


def layer_axes(axes: Shape | None, rank: int) -> Shape:
    """Return the axes of ``layerNormalization``: those given, or all but the first."""
    return tuple(range(1, rank)) if axes is None else axes


def layerNormalization(call: Call, input: OperandDescriptor, options: LayerNormalizationOptions) -> OperandDescriptor:
    """Validate ``layerNormalization``, `#api-mlgraphbuilder-layernorm`.

    Args:
        call: The call.
        input: The input, of any rank.
        options: The converted options.

    Returns:
        The input's descriptor.

    Raises:
        WebNNTypeError: A step fails.
    """
    # 2. The input is of a floating-point type.
    call.check_type("input", input)
    # 3. All axes but the first by default.
    axes = layer_axes(options.axes, input.rank)
    # 4. Each axis is one of the input's, and listed once.
    if len(set(axes)) != len(axes):
        raise call.error("options.axes", "must not contain an axis twice", list(axes))
    if any(axis >= input.rank for axis in axes):
        raise call.error("options.axes", f"must be less than the rank of input, {input.rank}, in each element", list(axes))
    parameters = (("options.scale", options.scale), ("options.bias", options.bias))
    # 5.-6. Scale and bias have the input's type and one dimension for each axis.
    for argument, parameter in parameters:
        if parameter is not None:
            call.check_same_type(argument, parameter, "input", input)
            if parameter.rank != len(axes):
                raise call.error(argument, f"must have one dimension for each of the axes {list(axes)}", list(parameter.dimensions))
    # 7. Their dimensions are those of the input along the axes, in the order of the axes.
    for argument, parameter in parameters:
        if parameter is not None:
            call.check_shape(argument, parameter, tuple(input.dimensions[axis] for axis in axes))
    return input


OPERATIONS = (
    Operation(
        name="batchNormalization",
        anchor="#api-mlgraphbuilder-batchnorm",
        operands=("input", "mean", "variance"),
        infer=batchNormalization,
        options=BatchNormalizationOptions,
        members=("scale", "bias"),
    ),
    Operation(
        name="instanceNormalization",
        anchor="#api-mlgraphbuilder-instancenorm",
        operands=("input",),
        infer=instanceNormalization,
        options=InstanceNormalizationOptions,
        members=("scale", "bias"),
    ),
    Operation(
        name="layerNormalization",
        anchor="#api-mlgraphbuilder-layernorm",
        operands=("input",),
        infer=layerNormalization,
        options=LayerNormalizationOptions,
        members=("scale", "bias"),
    ),
)
