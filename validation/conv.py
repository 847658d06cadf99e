"""Convolutions: `#api-mlgraphbuilder-conv2d` and `#api-mlgraphbuilder-convtranspose2d`."""

from __future__ import annotations

from typing import Annotated, Literal

from webnn.validation.descriptor import OperandDescriptor, Shape
from webnn.validation.dictionary import Dictionary, Enumeration, InputLayout, Operand, UnsignedLong, UnsignedLongSequence
from webnn.validation.operation import Call, Operation

__all__ = [
    "OPERATIONS",
    "Conv2dOptions",
    "ConvTranspose2dOptions",
    "conv2d",
    "convTranspose2d",
    "conv_output_size",
    "conv_transpose_output_size",
    "input_sizes",
]

Conv2dFilterLayout = Annotated[Literal["oihw", "hwio", "ohwi", "ihwo"], Enumeration("MLConv2dFilterOperandLayout")]

ConvTranspose2dFilterLayout = Annotated[Literal["iohw", "hwoi", "ohwi"], Enumeration("MLConvTranspose2dFilterOperandLayout")]


class Conv2dOptions(Dictionary):
    """``MLConv2dOptions``, `#dictdef-mlconv2doptions`."""

    padding: UnsignedLongSequence | None = None
    strides: UnsignedLongSequence | None = None
    dilations: UnsignedLongSequence | None = None
    groups: UnsignedLong = 1
    inputLayout: InputLayout = "nchw"
    filterLayout: Conv2dFilterLayout = "oihw"
    bias: Operand | None = None


class ConvTranspose2dOptions(Dictionary):
    """``MLConvTranspose2dOptions``, `#dictdef-mlconvtranspose2doptions`."""

    padding: UnsignedLongSequence | None = None
    strides: UnsignedLongSequence | None = None
    dilations: UnsignedLongSequence | None = None
    outputPadding: UnsignedLongSequence | None = None
    outputSizes: UnsignedLongSequence | None = None
    groups: UnsignedLong = 1
    inputLayout: InputLayout = "nchw"
    filterLayout: ConvTranspose2dFilterLayout = "iohw"
    bias: Operand | None = None


def conv_output_size(inputSize: int, filterSize: int, padding: tuple[int, ...], stride: int, dilation: int) -> tuple[int, int]:
    """*Calculate conv output size*, as floor and ceiling; ``padding`` is what lies before and behind."""
    effectiveFilterSize = (filterSize - 1) * dilation + 1
    span = inputSize - effectiveFilterSize + sum(padding)
    return span // stride + 1, -(-span // stride) + 1


def conv_transpose_output_size(
    inputSize: int, filterSize: int, padding: tuple[int, ...], stride: int, dilation: int, outputPadding: int = 0
) -> int:
    """*Calculate convtranspose output size*; ``padding`` is what is cut off before and behind."""
    effectiveFilterSize = (filterSize - 1) * dilation + 1
    return (inputSize - 1) * stride + effectiveFilterSize - sum(padding) + outputPadding


def input_sizes(layout: str, shape: Shape) -> tuple[int, int, int, int]:
    """Return batches, channels, height and width of a 4-D input in ``"nchw"`` or ``"nhwc"``."""
    if layout == "nchw":
        batches, channels, height, width = shape
    else:
        batches, height, width, channels = shape
    return batches, channels, height, width


def _check_window(call: Call, options: Conv2dOptions | ConvTranspose2dOptions) -> tuple[Shape, Shape, Shape]:
    """Check the options that place the filter, steps 6 to 13 of both operations. Return padding, strides and dilations."""
    # 6. No padding by default.
    padding = (0, 0, 0, 0) if options.padding is None else options.padding
    # [a] Padding has four elements.
    call.check_size("options.padding", padding, 4)
    # 8. Strides are 1 by default.
    strides = (1, 1) if options.strides is None else options.strides
    # [b] There are two strides.
    call.check_size("options.strides", strides, 2)
    # [c] No stride is 0.
    call.check_no_zero("options.strides", strides)
    # 11. Dilations are 1 by default.
    dilations = (1, 1) if options.dilations is None else options.dilations
    # [d] There are two dilations.
    call.check_size("options.dilations", dilations, 2)
    # [e] No dilation is 0.
    call.check_no_zero("options.dilations", dilations)
    return padding, strides, dilations


def _check_bias(call: Call, bias: OperandDescriptor | None, input: OperandDescriptor, outputChannels: int) -> None:
    """Check the bias, steps 15.7 and 19.7."""
    if bias is not None:
        # [a] The bias has one value for each output channel.
        call.check_shape("options.bias", bias, (outputChannels,))
        # [b] The bias has the input's type.
        call.check_same_type("options.bias", bias, "input", input)


def _output(call: Call, input: OperandDescriptor, layout: str, channels: int, height: int, width: int) -> OperandDescriptor:
    """Make the output's descriptor by the input's layout, steps 15.9 to 15.13 and 19.10 to 19.14."""
    batches = input.dimensions[0]
    return call.output(input.dataType, (batches, channels, height, width) if layout == "nchw" else (batches, height, width, channels))


def conv2d(call: Call, input: OperandDescriptor, filter: OperandDescriptor, options: Conv2dOptions) -> OperandDescriptor:
    """Validate ``conv2d``, `#api-mlgraphbuilder-conv2d`."""
    # [2; 2026-06: 3] The input is of a floating-point type.
    call.check_type("input", input)
    # [3; 2026-06: 4] The input is 4-D.
    call.check_rank("input", input)
    # [4; 2026-06: 5] The filter is 4-D.
    call.check_rank("filter", filter)
    # [5; 2026-06: 6] The filter has the input's type.
    call.check_same_type("filter", filter, "input", input)
    # [7, 9, 10, 12, 13; 2026-06: 8, 10, 11, 13, 14] Padding, strides and dilations.
    padding, strides, dilations = _check_window(call, options)
    # [14; 2026-06: 15] There is at least one group.
    if options.groups == 0:
        raise call.error("options.groups", "must be greater than 0", 0)
    # 15.1.-2. The input's sizes by its layout.
    _, inputChannels, inputHeight, inputWidth = input_sizes(options.inputLayout, input.dimensions)
    # 15.3.-4. The filter's sizes by its layout.
    sizes = dict(zip(options.filterLayout, filter.dimensions, strict=True))
    outputChannels, filterInputChannels = sizes["o"], sizes["i"]
    # [15.5; 2026-06: 16.5] The groups divide the input channels evenly.
    if inputChannels % options.groups != 0:
        raise call.error("options.groups", f"must divide the {inputChannels} input channels evenly", options.groups, rule="divisible")
    # [15.6; 2026-06: 16.6] The filter takes the channels of one group.
    if inputChannels // options.groups != filterInputChannels:
        raise call.error(
            "filter",
            f"must have {inputChannels // options.groups} input channels ({inputChannels} channels of the input "
            f"in {options.groups} groups)",
            filterInputChannels,
            rule="shape",
        )
    # [2026-06: 16.7] Each group has the same number of output channels. It holds in all drafts: see docs/spec-issues.md.
    if outputChannels % options.groups != 0:
        raise call.error("options.groups", f"must divide the {outputChannels} output channels evenly", options.groups, rule="divisible")
    # [15.7.1, 15.7.2; 2026-06: 16.8.1, 16.8.2] The bias.
    _check_bias(call, options.bias, input, outputChannels)
    # 15.8. The output's height and width, rounded down.
    outputHeight, _ = conv_output_size(inputHeight, sizes["h"], padding[:2], strides[0], dilations[0])
    outputWidth, _ = conv_output_size(inputWidth, sizes["w"], padding[2:], strides[1], dilations[1])
    # [15.10; 2026-06: 16.12] The output's shape; every dimension of it is valid.
    return _output(call, input, options.inputLayout, outputChannels, outputHeight, outputWidth)


def convTranspose2d(call: Call, input: OperandDescriptor, filter: OperandDescriptor, options: ConvTranspose2dOptions) -> OperandDescriptor:
    """Validate ``convTranspose2d``, `#api-mlgraphbuilder-convtranspose2d`."""
    # [2; 2026-06: 3] The input is 4-D.
    call.check_rank("input", input)
    # [3; 2026-06: 4] The input is of a floating-point type.
    call.check_type("input", input)
    # [4; 2026-06: 5] The filter is 4-D.
    call.check_rank("filter", filter)
    # [5; 2026-06: 6] The filter has the input's type.
    call.check_same_type("filter", filter, "input", input)
    # [7, 9, 10, 12, 13; 2026-06: 8, 10, 11, 13, 14] Padding, strides and dilations.
    padding, strides, dilations = _check_window(call, options)
    # 14. No output padding by default.
    outputPadding = (0, 0) if options.outputPadding is None else options.outputPadding
    # [15; 2026-06: 16] Output padding has two elements.
    call.check_size("options.outputPadding", outputPadding, 2)
    if options.outputSizes is not None:
        # [16.1; 2026-06: 17.1] There are two output sizes.
        call.check_size("options.outputSizes", options.outputSizes, 2)
    # [17.1; 2026-06: 18.1] Output padding, where it counts, is smaller than the stride.
    elif outputPadding[0] >= strides[0] or outputPadding[1] >= strides[1]:
        raise call.error("options.outputPadding", f"must be less than the strides, {list(strides)}", list(outputPadding))
    # [18; 2026-06: 19] There is at least one group.
    if options.groups == 0:
        raise call.error("options.groups", "must be greater than 0", 0)
    # 19.1.-2. The input's sizes by its layout.
    _, inputChannels, inputHeight, inputWidth = input_sizes(options.inputLayout, input.dimensions)
    # 19.3.-4. The filter's sizes by its layout.
    sizes = dict(zip(options.filterLayout, filter.dimensions, strict=True))
    # [19.5; 2026-06: 20.5] The filter takes the input's channels.
    if inputChannels != sizes["i"]:
        raise call.error("filter", f"must have {inputChannels} input channels, as the input", sizes["i"], rule="shape")
    # 19.6. Each group makes as many output channels as the filter has.
    outputChannels = sizes["o"] * options.groups
    # [19.7.1, 19.7.2; 2026-06: 20.8.1, 20.8.2] The bias.
    _check_bias(call, options.bias, input, outputChannels)
    # 19.8.-9. The output's height and width, given or calculated.
    lowest = (
        conv_transpose_output_size(inputHeight, sizes["h"], padding[:2], strides[0], dilations[0]),
        conv_transpose_output_size(inputWidth, sizes["w"], padding[2:], strides[1], dilations[1]),
    )
    if options.outputSizes is None:
        outputHeight, outputWidth = lowest[0] + outputPadding[0], lowest[1] + outputPadding[1]
    else:
        outputHeight, outputWidth = options.outputSizes
        # [2026-06: 20.11.2, 20.11.3] An output padding exists that gives the sizes. It holds in all drafts: see docs/spec-issues.md.
        if not (lowest[0] <= outputHeight < lowest[0] + strides[0] and lowest[1] <= outputWidth < lowest[1] + strides[1]):
            raise call.error(
                "options.outputSizes",
                f"must be at least {list(lowest)} and less than that plus the strides, {list(strides)}",
                list(options.outputSizes),
            )
    # [19.11; 2026-06: 20.13, 20.7] The output's shape; every dimension of it is valid.
    return _output(call, input, options.inputLayout, outputChannels, outputHeight, outputWidth)


OPERATIONS = (
    Operation(name="conv2d", anchor="#api-mlgraphbuilder-conv2d", operands=("input", "filter"), infer=conv2d, options=Conv2dOptions),
    Operation(
        name="convTranspose2d",
        anchor="#api-mlgraphbuilder-convtranspose2d",
        operands=("input", "filter"),
        infer=convTranspose2d,
        options=ConvTranspose2dOptions,
    ),
)
