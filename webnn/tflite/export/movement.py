"""Operations that move elements or change their type."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from webnn.hlo.export.emitter import Tensor, is_float
from webnn.hlo.export.graph import RULES as SHARED
from webnn.hlo.export.rule import ELEMENTS, Op
from webnn.tflite.export.emitter import LiteEmitter

__all__ = ["RULES"]

_REFLECT = 0


def _cast(e: LiteEmitter, op: Op) -> Tensor:
    """Convert elements. The operator holds numbers in the range of integers, as docs/numerics.md says; only NaN differs."""
    x, target = op["input"], ELEMENTS[op.outputs[0].dataType]
    if is_float(x.element) and not is_float(target):
        e.note("cast: NaN becomes the greatest integer, not 0")
    if target == "f16" and not is_float(x.element):
        x = e.convert(x, "f32")
    if is_float(x.element) or is_float(target):
        return e.convert(x, target)
    return e.widen(x, target)


def _expand(e: LiteEmitter, op: Op) -> Tensor:
    return e.broadcast(op["input"], op.outputs[0].dimensions)


def _pad(e: LiteEmitter, op: Op) -> Tensor | Sequence[Tensor]:
    x, low, high = op["input"], op.arguments["beginningPadding"], op.arguments["endingPadding"]
    if op.options.mode != "reflection":
        return SHARED["pad"].emit(e, op)
    paddings = e.ints(*[each for pair in zip(low, high, strict=True) for each in pair], shape=(len(low), 2))
    return e.act("MIRROR_PAD", [x], op.outputs[0].dimensions, paddings, Mode=_REFLECT)


def _tile(e: LiteEmitter, op: Op) -> Tensor:
    x, shape = op["input"], op.outputs[0].dimensions
    return x if x.shape == shape else e.act("TILE", [x], shape, e.ints(*op.arguments["repetitions"]))


def _triangular(e: LiteEmitter, op: Op) -> Tensor:
    x, options = op["input"], op.options
    above = np.arange(x.shape[-1]) - np.arange(x.shape[-2])[:, None]
    mask = above >= options.diagonal if options.upper else above <= options.diagonal
    if e.semantics.get("triangularMask") == "multiply" and is_float(x.element):
        return x * e.convert(e.constant(mask), x.element)
    return e.select(e.constant(mask), x, 0)


def _where(e: LiteEmitter, op: Op) -> Tensor:
    condition, first, second = op.inputs
    return e.select(e.convert(condition, "i1"), first, second)


RULES: Mapping[str, Callable[[LiteEmitter, Op], Tensor | Sequence[Tensor]]] = {
    "cast": _cast,
    "expand": _expand,
    "pad": _pad,
    "tile": _tile,
    "triangular": _triangular,
    "where": _where,
}
