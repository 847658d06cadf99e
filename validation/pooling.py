"""Pooling: `#api-mlgraphbuilder-pool2d`."""

from __future__ import annotations

from typing import Annotated, Literal

from webnn.validation.conv import conv_output_size, input_sizes
from webnn.validation.descriptor import OperandDescriptor
from webnn.validation.dictionary import Dictionary, Enumeration, InputLayout, UnsignedLongSequence
from webnn.validation.operation import Call, Operation

__all__ = ["OPERATIONS", "Pool2dOptions", "pool2d"]

RoundingType = Annotated[Literal["floor", "ceil"], Enumeration("MLRoundingType")]


class Pool2dOptions(Dictionary):
    """``MLPool2dOptions``, `#dictdef-mlpool2doptions`."""

    windowDimensions: UnsignedLongSequence | None = None
    padding: UnsignedLongSequence | None = None
    strides: UnsignedLongSequence | None = None
    dilations: UnsignedLongSequence | None = None
    layout: InputLayout = "nchw"
    roundingType: RoundingType = "floor"
    outputSizes: UnsignedLongSequence | None = None


def pool2d(call: Call, input: OperandDescriptor, options: Pool2dOptions) -> OperandDescriptor:
    """*Create pooling operation*, `#mlgraphbuilder-pooling-op`."""
    # [3; 2026-06: 4] The input's data type is one of those that the operation allows.
    call.check_type("input", input)
    # [4; 2026-06: 5] The input is 4-D.
    call.check_rank("input", input)
    batches, channels, inputHeight, inputWidth = input_sizes(options.layout, input.dimensions)
    if options.windowDimensions is not None:
        # [5; 2026-06: 8] The window has two dimensions.
        call.check_size("options.windowDimensions", options.windowDimensions, 2)
        # [2026-06: 9] No dimension of the window is 0. It holds in all drafts: see docs/spec-issues.md.
        call.check_no_zero("options.windowDimensions", options.windowDimensions)
    # 6. The window is the whole input by default.
    windowHeight, windowWidth = options.windowDimensions or (inputHeight, inputWidth)
    # 7. No padding by default. (The draft also drops it where outputSizes is given: see docs/spec-issues.md.)
    padding = (0, 0, 0, 0) if options.padding is None else options.padding
    # [8; 2026-06: 11] Padding has four elements.
    call.check_size("options.padding", padding, 4)
    # 9. Strides are 1 by default.
    strides = (1, 1) if options.strides is None else options.strides
    # [10; 2026-06: 13] There are two strides.
    call.check_size("options.strides", strides, 2)
    # [11; 2026-06: 14] No stride is 0.
    call.check_no_zero("options.strides", strides)
    if options.outputSizes is not None:
        # [12.1; 2026-06: 15.1] There are two output sizes. (The next step compares them with the strides: see docs/spec-issues.md.)
        call.check_size("options.outputSizes", options.outputSizes, 2)
    # 13. Dilations are 1 by default.
    dilations = (1, 1) if options.dilations is None else options.dilations
    # [14; 2026-06: 17] There are two dilations.
    call.check_size("options.dilations", dilations, 2)
    # [15; 2026-06: 18] No dilation is 0.
    call.check_no_zero("options.dilations", dilations)
    # 17. The output's height and width, rounded down and up.
    heights = conv_output_size(inputHeight, windowHeight, padding[:2], strides[0], dilations[0])
    widths = conv_output_size(inputWidth, windowWidth, padding[2:], strides[1], dilations[1])
    floor, ceil = zip(heights, widths, strict=True)
    # [2026-06: 20.3.2] Output sizes that are given must be one of the two.
    if options.outputSizes not in (None, floor, ceil):
        wanted = f"must be {list(floor)}" if floor == ceil else f"must be {list(floor)} or {list(ceil)}"
        raise call.error("options.outputSizes", wanted, list(options.outputSizes or ()))
    outputHeight, outputWidth = options.outputSizes or (floor if options.roundingType == "floor" else ceil)
    # 17. The output's shape by the input's layout.
    if options.layout == "nchw":
        outputShape = (batches, channels, outputHeight, outputWidth)
    else:
        outputShape = (batches, outputHeight, outputWidth, channels)
    # [18; 2026-06: 20.5] Every dimension of the output is valid.
    return call.output(input.dataType, outputShape)


OPERATIONS = tuple(
    Operation(name=name, anchor="#api-mlgraphbuilder-pool2d", operands=("input",), infer=pool2d, options=Pool2dOptions)
    for name in ("averagePool2d", "l2Pool2d", "maxPool2d")
)
