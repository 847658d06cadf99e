"""Padding: `#api-mlgraphbuilder-pad`. Its row is among those of `webnn.validation.tensor`."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import PlainValidator

from webnn.validation import webidl
from webnn.validation.descriptor import OperandDescriptor, Shape
from webnn.validation.dictionary import Dictionary, Float
from webnn.validation.operation import Call

__all__ = ["PadOptions", "pad"]

PaddingMode = Annotated[
    Literal["constant", "edge", "reflection", "symmetric"],
    PlainValidator(webidl.enumeration("MLPaddingMode", ("constant", "edge", "reflection", "symmetric"))),
]


class PadOptions(Dictionary):
    """``MLPadOptions``, `#dictdef-mlpadoptions`."""

    #: A mirror may add more elements than the axis has, and mirrors again.
    mirrors_again: ClassVar[bool] = True

    mode: PaddingMode = "constant"
    value: Float = 0.0


def _check_mirror(call: Call, argument: str, padding: tuple[int, ...], shape: Shape) -> None:
    """Check that each axis has more elements than a mirror adds to it."""
    for axis, (count, size) in enumerate(zip(padding, shape, strict=True)):
        if count >= size:
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
        # [2026-06: 6.1.1] A mirror needs as many elements beside the first one,
        _check_mirror(call, "beginningPadding", beginningPadding, input.dimensions)
        # [2026-06: 6.1.2] and as many beside the last.
        _check_mirror(call, "endingPadding", endingPadding, input.dimensions)
    # 5. The padded sizes.
    outputShape = tuple(sum(sizes) for sizes in zip(beginningPadding, input.dimensions, endingPadding, strict=True))
    # [6; 2026-06: 7] Every dimension of the output is valid.
    return call.output(input.dataType, outputShape)
