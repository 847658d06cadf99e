"""Tensors reversed and repeated: `#api-mlgraphbuilder-reverse-method`, `#api-mlgraphbuilder-tile`."""

from __future__ import annotations

from webnn.validation import webidl
from webnn.validation.descriptor import OperandDescriptor
from webnn.validation.dictionary import Dictionary, UnsignedLongSequence
from webnn.validation.operation import Argument, Call, Operation

__all__ = ["OPERATIONS", "ReverseOptions", "reverse", "tile"]


class ReverseOptions(Dictionary):
    """``MLReverseOptions``, `#dictdef-mlreverseoptions`."""

    axes: UnsignedLongSequence | None = None


def reverse(call: Call, input: OperandDescriptor, options: ReverseOptions) -> OperandDescriptor:
    """Validate ``reverse``, `#api-mlgraphbuilder-reverse-method`."""
    # 5. All axes by default.
    axes = tuple(range(input.rank)) if options.axes is None else options.axes
    # [2026-06: 6] No axis is listed twice,
    if len(set(axes)) != len(axes):
        raise call.error("options.axes", "must be different from each other", list(axes), rule="different")
    # [2026-06: 6] and each one is the input's.
    if any(axis >= input.rank for axis in axes):
        raise call.error("options.axes", f"must be less than the rank of input, {input.rank}", list(axes), rule="axis")
    return input


def tile(call: Call, input: OperandDescriptor, repetitions: tuple[int, ...]) -> OperandDescriptor:
    """Validate ``tile``, `#api-mlgraphbuilder-tile`."""
    # [2026-06: 3] There is one number for each dimension.
    call.check_size("repetitions", repetitions, input.rank)
    # [2026-06: 4] No dimension vanishes.
    call.check_sizes("repetitions", repetitions)
    # 5.-6. The repeated sizes.
    outputShape = tuple(size * count for size, count in zip(input.dimensions, repetitions, strict=True))
    # 7. The output is one that the implementation supports.
    return call.output(input.dataType, outputShape)


OPERATIONS = (
    Operation(name="reverse", anchor="#api-mlgraphbuilder-reverse-method", operands=("input",), infer=reverse, options=ReverseOptions),
    Operation(
        name="tile",
        anchor="#api-mlgraphbuilder-tile",
        operands=("input",),
        infer=tile,
        arguments=(Argument("repetitions", webidl.sequence(webidl.unsignedLong)),),
    ),
)
