"""Element-wise binary operations."""

from __future__ import annotations

from webnn.builder.onnx.emitter import Emitter, Op, Translation

__all__ = ["TRANSLATIONS"]

_RENAMES = {"add": "Add"}


def _rename(e: Emitter, op: Op) -> str:
    return e.node(_RENAMES[op.name], [op["a"], op["b"]])


TRANSLATIONS = {name: Translation(emit=_rename, carry={"float16": "float32"}) for name in _RENAMES}
