"""Convolutions."""

from __future__ import annotations

from typing import Any

import numpy as np

from webnn.builder.onnx.emitter import Emitter, Op, Translation
from webnn.validation.conv import conv_transpose_output_size, input_sizes
from webnn.validation.errors import OperationError, label_prefix

__all__ = ["TRANSLATIONS", "arrange_filter", "conv2d", "conv_attributes", "conv_transpose2d"]


def arrange_filter(e: Emitter, value: str, options: Any, wanted: str = "oihw") -> str:
    """Bring a filter to the one layout that the engine knows; a transposed constant is folded when the session is made."""
    return e.transpose(value, [options.filterLayout.index(axis) for axis in wanted])


def conv_attributes(options: Any) -> dict[str, Any]:
    """Return the attributes of a convolution from the options of `conv2d`."""
    beginningHeight, endingHeight, beginningWidth, endingWidth = options.padding or (0, 0, 0, 0)
    return {
        "pads": [beginningHeight, beginningWidth, endingHeight, endingWidth],
        "strides": options.strides or (1, 1),
        "dilations": options.dilations or (1, 1),
        "group": options.groups,
    }


def conv2d(e: Emitter, op: Op, *, covers: bool = True) -> str:
    """Emit ``conv2d``.

    ``covers`` says whether the provider's node is right where the filter is as large as the input, and padding lies at the ends only.
    """
    options = op.options
    value, attributes = e.from_layout(op["input"], options.inputLayout), conv_attributes(options)
    pads, sizes = attributes["pads"], [*input_sizes(options.inputLayout, op.shape("input"))]
    filterSizes = [op.shape("filter")[options.filterLayout.index(axis)] for axis in "hw"]
    if not covers and any(pads[2:]) and not any(pads[:2]) and filterSizes == sizes[2:]:
        # The engine would put a `Pad` back into the convolution.
        for axis, end in ((2, pads[2]), (3, pads[3])):
            if end:
                zeros = e.literal(np.zeros([end if each == axis else size for each, size in enumerate(sizes)], np.float32))
                value = e.node("Concat", [value, zeros], axis=axis)
                sizes[axis] += end
        attributes["pads"] = [0] * 4
    inputs = [value, arrange_filter(e, op["filter"], options), op.get("bias")]
    return e.to_layout(e.node("Conv", inputs, **attributes), options.inputLayout)


def conv_transpose2d(e: Emitter, op: Op, *, extends: bool = True) -> str:
    """Emit ``convTranspose2d``; ``extends`` says whether the provider's node is right with an output padding."""
    options = op.options
    _, inputChannels, *inputSizes = input_sizes(options.inputLayout, op.shape("input"))
    if inputChannels % options.groups != 0:
        # The draft and web-platform-tests accept such an operation, but it has no meaning. The engine would refuse it late, at run time.
        prefix = label_prefix(op.label)
        raise OperationError(
            f"{prefix}build: convTranspose2d cannot split {inputChannels} input channels into {options.groups} groups",
            operation=op.name,
            label=op.label,
            rule="divisible",
        )
    _, _, *outputSizes = input_sizes(options.inputLayout, op.outputs[0].dimensions)
    filterSizes = [op.shape("filter")[options.filterLayout.index(axis)] for axis in "hw"]
    padding = options.padding or (0, 0, 0, 0)
    strides, dilations = options.strides or (1, 1), options.dilations or (1, 1)
    # The validated output sizes minus the calculated ones: at least 0 and less than the stride, as the engine requires.
    outputPadding = [
        outputSizes[d] - conv_transpose_output_size(inputSizes[d], filterSizes[d], padding[2 * d : 2 * d + 2], strides[d], dilations[d])
        for d in (0, 1)
    ]
    ends, bias, added = [padding[1], padding[3]], op.get("bias"), (0, 0)
    if not extends:
        # An output padding takes back padding; what is beyond the padding is 0, and the bias.
        taken = [min(each) for each in zip(outputPadding, ends, strict=True)]
        ends = [end - less for end, less in zip(ends, taken, strict=True)]
        added = (outputPadding[0] - taken[0], outputPadding[1] - taken[1])
        outputPadding = [0, 0]
    result = e.node(
        "ConvTranspose",
        [
            e.from_layout(op["input"], options.inputLayout),
            arrange_filter(e, op["filter"], options, "iohw"),
            None if any(added) else bias,
        ],
        pads=[padding[0], padding[2], *ends],
        strides=strides,
        dilations=dilations,
        output_padding=outputPadding,
        group=options.groups,
    )
    if any(added):
        result = e.node("Pad", [result, e.ints([0] * 6 + [*added]), e.scalar(0, "float32")])
        result = result if bias is None else e.node("Add", [result, e.reshape(bias, [1, -1, 1, 1])])
    return e.to_layout(result, options.inputLayout)


TRANSLATIONS = {
    "conv2d": Translation(emit=conv2d, carry={"float16": "float32"}),
    "convTranspose2d": Translation(emit=conv_transpose2d, carry={"float16": "float32"}),
}
