"""Matrix products."""

from __future__ import annotations

import numpy as np

from webnn.builder.onnx.emitter import Emitter, Op, Translation

__all__ = ["TRANSLATIONS"]


def _matmul(e: Emitter, op: Op) -> str:
    return e.node("MatMul", [op["a"], op["b"]])


def _gemm(e: Emitter, op: Op) -> str:
    options, c = op.options, op.get("c")
    attributes = {"transA": int(options.aTranspose), "transB": int(options.bTranspose)}
    if c is None or options.beta != 0:
        return e.node("Gemm", [op["a"], op["b"], c], alpha=options.alpha, beta=options.beta, **attributes)
    product = e.node("Gemm", [op["a"], op["b"]], alpha=options.alpha, **attributes)
    value = op.constants.get("c")
    if value is not None and np.isfinite(value).all():
        return product
    # The engine does not read c where beta is 0, but 0 * NaN and 0 * infinity are NaN.
    return e.node("Add", [product, e.node("Mul", [c, e.scalar(0, op.type("c"))])])


TRANSLATIONS = {
    "matmul": Translation(emit=_matmul, carry={"float16": "float32"}),
    "gemm": Translation(emit=_gemm, carry={"float16": "float32"}),
}
