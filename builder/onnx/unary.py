"""Element-wise unary operations."""

from __future__ import annotations

from webnn.builder.onnx.emitter import Emitter, Op, Translation

__all__ = ["TRANSLATIONS"]

_KERNELS = {
    "abs": "Abs",
    "ceil": "Ceil",
    "cos": "Cos",
    "erf": "Erf",
    "exp": "Exp",
    "floor": "Floor",
    "log": "Log",
    "neg": "Neg",
    "reciprocal": "Reciprocal",
    "sin": "Sin",
    "sqrt": "Sqrt",
    "tan": "Tan",
}


def _kernel(e: Emitter, op: Op) -> str:
    return e.node(_KERNELS[op.name], [op["input"]])


def _identity(e: Emitter, op: Op) -> str:
    return e.node("Identity", [op["input"]])


TRANSLATIONS = {
    **{name: Translation(emit=_kernel, carry={"float16": "float32"}, elementwise=True) for name in _KERNELS},
    "identity": Translation(emit=_identity, elementwise=True),
}
