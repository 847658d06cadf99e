"""Element-wise unary operations."""

from __future__ import annotations

from webnn.builder.onnx.emitter import Emitter, Op, Translation
from webnn.validation.descriptor import CARRIERS, ML_DTYPES

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
    "roundEven": "Round",
    "sin": "Sin",
    "sqrt": "Sqrt",
    "tan": "Tan",
}


def _kernel(e: Emitter, op: Op) -> str:
    return e.node(_KERNELS[op.name], [op["input"]])


def _identity(e: Emitter, op: Op) -> str:
    return e.node("Identity", [op["input"]])


def _sign(e: Emitter, op: Op) -> str:
    value, dtype = op["input"], op.type("input")
    if dtype != "float32":
        return e.node("Sign", [value])
    # The engine's `Sign` of NaN is NaN; it is neither above nor below zero. This is not slower.
    zero = e.scalar(0, dtype)
    above, below = (e.cast(e.node(op_type, [value, zero]), dtype) for op_type in ("Greater", "Less"))
    return e.node("Sub", [above, below])


TRANSLATIONS = {
    **{name: Translation(emit=_kernel, carry={"float16": "float32"}, elementwise=True, kernel=kernel) for name, kernel in _KERNELS.items()},
    # `Identity` takes no small integers.
    "identity": Translation(emit=_identity, carry=CARRIERS, native=ML_DTYPES, elementwise=True),
    "sign": Translation(emit=_sign, carry={"float16": "float32"}, elementwise=True),
}
