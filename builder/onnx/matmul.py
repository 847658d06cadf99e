"""Matrix products."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from webnn.builder.onnx.emitter import Emitter, Op, Translation
from webnn.builder.operand import MLOperand, Operator

__all__ = ["TRANSLATIONS", "Product", "find_product"]


class Product(NamedTuple):
    """A `matmul`, or a `gemm` without factors other than 1: the product of ``a`` and ``b``.

    Attributes:
        a: The left factor.
        b: The right factor.
        transposed: The right factor is transposed.
        addend: What is added to the product.
    """

    a: MLOperand
    b: MLOperand
    transposed: bool
    addend: MLOperand | None


def find_product(operator: Operator) -> Product | None:
    """Return the product that a `matmul` or `gemm` is, if it is nothing else."""
    a, b = operator.inputs
    if operator.operation.name == "matmul":
        return Product(a, b, transposed=False, addend=None)
    options: Any = operator.options
    addend = dict(operator.members).get("c")
    if options.aTranspose or options.alpha != 1 or (addend is not None and options.beta != 1):
        return None
    return Product(a, b, options.bTranspose, addend)


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
