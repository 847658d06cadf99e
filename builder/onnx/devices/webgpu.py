"""Translations for ONNX Runtime's WebGPU provider, measured with its plug-in 0.4.0.

It has most kernels for float32, float16, int32 and uint32, few for uint8 and booleans, and nearly none for int8 and 64 bits.
"""

from __future__ import annotations

from collections.abc import Mapping

from webnn.builder.onnx.emitter import Emitter, Op, Translation

__all__ = ["change_rows"]


def _logical_not(e: Emitter, op: Op) -> str:
    # There is no `Equal` of uint8.
    return e.cast(e.node("Not", [e.cast(op["a"], "bool")]), "uint8")


def change_rows(rows: Mapping[str, Translation]) -> dict[str, Translation]:
    """Return the rows that differ from those of the CPU provider."""
    del rows
    return {"logicalNot": Translation(emit=_logical_not, elementwise=True)}
