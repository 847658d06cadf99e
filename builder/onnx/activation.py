"""Activation functions."""

from __future__ import annotations

from webnn.builder.onnx.emitter import Emitter, Op, Translation

__all__ = ["TRANSLATIONS"]


def _relu(e: Emitter, op: Op) -> str:
    return e.node("Relu", [op["input"]])


TRANSLATIONS = {"relu": Translation(emit=_relu, carry={"float16": "float32"})}
