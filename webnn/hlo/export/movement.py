"""Operations that move elements or change their type."""

from __future__ import annotations

import numpy as np

from webnn.builder.places import find_padding
from webnn.hlo.export.emitter import Emitter, Tensor, is_float
from webnn.hlo.export.rule import ELEMENTS, Op, Rule
from webnn.validation.descriptor import integer_range

__all__ = ["RULES"]


def _cast(e: Emitter, op: Op) -> Tensor:
    x, dataType = op["input"], op.outputs[0].dataType
    target = ELEMENTS[dataType]
    if not is_float(x.element):
        # By way of float32, integers are rounded to float16 once: those that float32 rounds are too large for float16.
        return e.convert(e.convert(x, "f32"), target) if target == "f16" else e.convert(x, target)
    if is_float(target):
        return e.convert(x, target)
    # StableHLO does not define the integers of NaN, and of numbers out of range.
    x = e.convert(x, "f32")
    low, high = integer_range(dataType)
    limit = np.float32(high)
    if int(limit) > high:
        limit = np.nextafter(limit, np.float32(0))
    inside = e.clamp(e.select(e.compare("NE", x, x), 0, x), low, float(limit))
    result = e.convert(inside, target)
    # The end of the range of 32 and 64 bits is not a float32.
    return result if int(limit) == high else e.select(e.compare("GT", x, float(limit)), high, result)


def _slice(e: Emitter, op: Op) -> Tensor:
    starts, sizes = op.arguments["starts"], op.arguments["sizes"]
    limits = [start + size for start, size in zip(starts, sizes, strict=True)]
    return e.slice(op["input"], starts, limits, op.options and op.options.strides)


def _split(e: Emitter, op: Op) -> list[Tensor]:
    axis, end = op.options.axis, 0
    parts = []
    for output in op.outputs:
        start, end = end, end + output.dimensions[axis]
        parts.append(e.cut(op["input"], axis, start, end))
    return parts


def _transpose(e: Emitter, op: Op) -> Tensor:
    permutation = op.options.permutation
    return e.transpose(op["input"], range(len(op["input"].shape))[::-1] if permutation is None else permutation)


def _triangular(e: Emitter, op: Op) -> Tensor:
    x = op["input"]
    matrix = x.shape[-2:]
    above = e.iota(matrix, 1, "i64") - e.iota(matrix, 0, "i64")
    return e.select(e.compare("GE" if op.options.upper else "LE", above, op.options.diagonal), x, e.full(0, x.element, x.shape))


def _pad(e: Emitter, op: Op) -> Tensor:
    x, options = op["input"], op.options
    paddings = list(zip(op.arguments["beginningPadding"], op.arguments["endingPadding"], strict=True))
    if options.mode == "constant":
        number = options.value
        if not is_float(x.element):
            low, high = integer_range(op.outputs[0].dataType)
            number = min(max(int(number), low), high)
        return e.pad(x, [before for before, _ in paddings], [after for _, after in paddings], number)
    for axis, (before, after) in enumerate(paddings):
        sources = find_padding(before, x.shape[axis], after, options.mode)
        parts = [x]
        if before:
            parts.insert(0, e.take(x, e.constant(sources[:before]), axis))
        if after:
            parts.append(e.take(x, e.constant(sources[-after:]), axis))
        x = e.concatenate(parts, axis)
    return x


def _where(e: Emitter, op: Op) -> Tensor:
    # The names of the two values differ between the drafts.
    condition, input, other = op.inputs
    return e.select(e.compare("NE", condition, 0), input, other)


RULES = {
    "cast": Rule(emit=_cast),
    "concat": Rule(emit=lambda e, op: e.concatenate(op.inputs, op.arguments["axis"])),
    "expand": Rule(emit=lambda e, op: e.broadcast(op["input"], op.outputs[0].dimensions)),
    "pad": Rule(emit=_pad),
    "reshape": Rule(emit=lambda e, op: e.reshape(op["input"], op.outputs[0].dimensions)),
    "slice": Rule(emit=_slice),
    "split": Rule(emit=_split),
    "transpose": Rule(emit=_transpose),
    "triangular": Rule(emit=_triangular),
    "where": Rule(emit=_where),
}
