"""Operations that pick elements by index."""

from __future__ import annotations

from webnn.builder.onnx.emitter import Emitter, Op, Translation
from webnn.builder.onnx.integer import clip

__all__ = ["TRANSLATIONS"]


def _gather(e: Emitter, op: Op) -> str:
    axis = op.options.axis
    size = op.shape("input")[axis]
    indices, dtype = op["indices"], op.type("indices")
    low = 0 if dtype == "uint32" else -size
    known = op.constants.get("indices")
    if known is None or known.min() < low or known.max() >= size:
        # The engine refuses an index that is out of range.
        indices = clip(e, indices, low, size - 1, dtype)
    if dtype == "uint32":
        # The engine takes signed indices only; one that is in range fits, since no operand has 2^31 bytes.
        indices = e.cast(indices, "int32")
    return e.node("Gather", [op["input"], indices], axis=axis)


TRANSLATIONS = {"gather": Translation(emit=_gather)}
