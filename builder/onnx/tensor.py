"""Operations that move elements or change their type."""

from __future__ import annotations

from webnn.builder.onnx.emitter import Emitter, Op, Translation

__all__ = ["TRANSLATIONS"]


def _split(e: Emitter, op: Op) -> list[str]:
    axis = op.options.axis
    sizes = e.ints([output.dimensions[axis] for output in op.outputs])
    return e.nodes("Split", [op["input"], sizes], len(op.outputs), axis=axis)


TRANSLATIONS = {"split": Translation(emit=_split)}
