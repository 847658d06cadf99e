"""Translations for Qualcomm's QNN provider with its Hexagon backend, measured with the simulator of plug-in 2.7.0."""

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
