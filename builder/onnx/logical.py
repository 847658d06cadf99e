"""Element-wise logical operations: the engine compares into booleans, WebNN into uint8."""

from __future__ import annotations

from webnn.builder.onnx.emitter import BOOL, Emitter, Op, Translation

__all__ = ["TRANSLATIONS"]

_KERNELS = {
    "equal": "Equal",
    "greater": "Greater",
    "greaterOrEqual": "GreaterOrEqual",
    "lesser": "Less",
    "lesserOrEqual": "LessOrEqual",
}
_CONNECTIVES = {"logicalAnd": "And", "logicalOr": "Or", "logicalXor": "Xor"}
_CLASSES = {"isInfinite": "IsInf", "isNaN": "IsNaN"}


def _compare(e: Emitter, op: Op) -> str:
    return e.cast(e.node(_KERNELS[op.name], [op["a"], op["b"]]), "uint8")


def _notEqual(e: Emitter, op: Op) -> str:
    return e.cast(e.node("Not", [e.node("Equal", [op["a"], op["b"]])]), "uint8")


def _connect(e: Emitter, op: Op) -> str:
    # Cast to a boolean, everything but 0 is true.
    return e.cast(e.node(_CONNECTIVES[op.name], [e.cast(op["a"], BOOL), e.cast(op["b"], BOOL)]), "uint8")


def _classify(e: Emitter, op: Op) -> str:
    # The engine has kernels for float16 too.
    return e.cast(e.node(_CLASSES[op.name], [op["a"]]), "uint8")


def _logicalNot(e: Emitter, op: Op) -> str:
    return e.cast(e.node("Equal", [op["a"], e.scalar(0, "uint8")]), "uint8")


TRANSLATIONS = {
    # A float16 and the float32 of the same value compare alike.
    **{name: Translation(emit=_compare, carry={"float16": "float32"}, elementwise=True) for name in _KERNELS},
    "notEqual": Translation(emit=_notEqual, carry={"float16": "float32"}, elementwise=True),
    "logicalNot": Translation(emit=_logicalNot, elementwise=True),
    **{name: Translation(emit=_connect, elementwise=True) for name in _CONNECTIVES},
    **{name: Translation(emit=_classify, elementwise=True) for name in _CLASSES},
}
