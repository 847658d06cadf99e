"""Convolutions: `#api-mlgraphbuilder-conv2d` and `#api-mlgraphbuilder-convtranspose2d`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import PlainValidator

from webnn.validation import webidl
from webnn.validation.descriptor import OperandDescriptor, Shape
from webnn.validation.dictionary import Dictionary, InputLayout, Operand, UnsignedLong, UnsignedLongSequence
from webnn.validation.operation import Call, Operation

__all__ = ["OPERATIONS", "Conv2dOptions", "conv2d", "conv_output_size", "input_sizes"]

Conv2dFilterLayout = Annotated[
    Literal["oihw", "hwio", "ohwi", "ihwo"],
    PlainValidator(webidl.enumeration("MLConv2dFilterOperandLayout", ("oihw", "hwio", "ohwi", "ihwo"))),
]


class Conv2dOptions(Dictionary):
    """``MLConv2dOptions``, `#dictdef-mlconv2doptions`."""

    padding: UnsignedLongSequence | None = None
    strides: UnsignedLongSequence | None = None
    dilations: UnsignedLongSequence | None = None
    groups: UnsignedLong = 1
    inputLayout: InputLayout = "nchw"
    filterLayout: Conv2dFilterLayout = "oihw"
    bias: Operand | None = None


def conv_output_size(inputSize: int, filterSize: int, padding: tuple[int, ...], stride: int, dilation: int) -> tuple[int, int]:
    """*Calculate conv output size*, as floor and ceiling; ``padding`` is what lies before and behind."""
    effectiveFilterSize = (filterSize - 1) * dilation + 1
    span = inputSize - effectiveFilterSize + sum(padding)
    return span // stride + 1, -(-span // stride) + 1


def input_sizes(layout: str, shape: Shape) -> tuple[int, int, int, int]:
    """Return batches, channels, height and width of a 4-D input in ``"nchw"`` or ``"nhwc"``."""
    if layout == "nchw":
        batches, channels, height, width = shape
    else:
        batches, height, width, channels = shape
    return batches, channels, height, width


def conv2d(call: Call, input: OperandDescriptor, filter: OperandDescriptor, options: Conv2dOptions) -> OperandDescriptor:
    """Validate ``conv2d``, `#api-mlgraphbuilder-conv2d`.

    Args:
        call: The call.
        input: The input, 4-D in ``options.inputLayout``.
        filter: The filter, 4-D in ``options.filterLayout``.
        options: The converted options.

    Returns:
        The output, in the layout of the input.

    Raises:
        WebNNTypeError: A step fails.
    """
    # 2. The input is of a floating-point type.
    call.check_type("input", input)
    # 3. The input is 4-D.
    call.check_rank("input", input)
    # 4. The filter is 4-D.
    call.check_rank("filter", filter)
    # 5. The filter has the input's type.
    call.check_same_type("filter", filter, "input", input)
    # 6. No padding by default.
    padding = (0, 0, 0, 0) if options.padding is None else options.padding
    # 7. Padding has four elements.
    call.check_size("options.padding", padding, 4)
    # 8. Strides are 1 by default.
    strides = (1, 1) if options.strides is None else options.strides
    # 9. There are two strides.
    call.check_size("options.strides", strides, 2)
    # 10. No stride is 0.
    call.check_no_zero("options.strides", strides)
    # 11. Dilations are 1 by default.
    dilations = (1, 1) if options.dilations is None else options.dilations
    # 12. There are two dilations.
    call.check_size("options.dilations", dilations, 2)
    # 13. No dilation is 0.
    call.check_no_zero("options.dilations", dilations)
    # 14. There is at least one group.
    if options.groups == 0:
        raise call.error("options.groups", "must be greater than 0", 0)
    # 15.1.-2. The input's sizes by its layout.
    batches, inputChannels, inputHeight, inputWidth = input_sizes(options.inputLayout, input.dimensions)
    # 15.3.-4. The filter's sizes by its layout.
    sizes = dict(zip(options.filterLayout, filter.dimensions, strict=True))
    outputChannels, filterInputChannels = sizes["o"], sizes["i"]
    # 15.5. The groups divide the input channels evenly.
    if inputChannels % options.groups != 0:
        raise call.error("options.groups", f"must divide the {inputChannels} input channels evenly", options.groups)
    # 15.6. The filter takes the channels of one group.
    if inputChannels // options.groups != filterInputChannels:
        raise call.error(
            "filter",
            f"must have {inputChannels // options.groups} input channels ({inputChannels} channels of the input "
            f"in {options.groups} groups)",
            filterInputChannels,
        )
    if options.bias is not None:
        # 15.7.1. The bias has one value for each output channel.
        call.check_shape("options.bias", options.bias, (outputChannels,))
        # 15.7.2. The bias has the input's type.
        call.check_same_type("options.bias", options.bias, "input", input)
    # 15.8. The output's height and width, rounded down.
    outputHeight, _ = conv_output_size(inputHeight, sizes["h"], padding[:2], strides[0], dilations[0])
    outputWidth, _ = conv_output_size(inputWidth, sizes["w"], padding[2:], strides[1], dilations[1])
    # 15.9. The output's shape by the input's layout.
    if options.inputLayout == "nchw":
        outputShape = (batches, outputChannels, outputHeight, outputWidth)
    else:
        outputShape = (batches, outputHeight, outputWidth, outputChannels)
    # 15.10. Every dimension of it is valid.
    return call.output(input.dataType, outputShape)


OPERATIONS = (
    Operation(
        name="conv2d",
        anchor="#api-mlgraphbuilder-conv2d",
        operands=("input", "filter"),
        infer=conv2d,
        options=Conv2dOptions,
        members=("bias",),
    ),
)
