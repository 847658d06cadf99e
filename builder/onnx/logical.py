"""Element-wise logical operations: the engine compares into booleans, WebNN into uint8."""

from __future__ import annotations

from webnn.builder.onnx.emitter import Emitter, Op, Translation

__all__ = ["TRANSLATIONS"]

_KERNELS = {
    "equal": "Equal",
    "greater": "Greater",
    "greaterOrEqual": "GreaterOrEqual",
    "lesser": "Less",
    "lesserOrEqual": "LessOrEqual",
}


def _compare(e: Emitter, op: Op) -> str:
    return e.cast(e.node(_KERNELS[op.name], [op["a"], op["b"]]), "uint8")


def _logicalNot(e: Emitter, op: Op) -> str:
    return e.cast(e.node("Equal", [op["a"], e.scalar(0, "uint8")]), "uint8")


TRANSLATIONS = {
    # A float16 and the float32 of the same value compare alike.
    **{name: Translation(emit=_compare, carry={"float16": "float32"}, elementwise=True) for name in _KERNELS},
    "logicalNot": Translation(emit=_logicalNot, elementwise=True),
}
