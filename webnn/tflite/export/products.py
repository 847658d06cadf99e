"""Matrix products."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from webnn.hlo.export.emitter import Tensor
from webnn.hlo.export.rule import Op
from webnn.tflite.export.emitter import LiteEmitter

__all__ = ["RULES"]


def _matmul(e: LiteEmitter, op: Op) -> Tensor:
    return e.act("BATCH_MATMUL", [op["a"], op["b"]], op.outputs[0].dimensions)


def _gemm(e: LiteEmitter, op: Op) -> Tensor:
    """Compute alpha * a * b + beta * c. The operator takes the second matrix by its columns, and a bias for each of them."""
    options, a, b, c = op.options, op["a"], op["b"], op.get("c")
    if options.aTranspose:
        a = e.transpose(a, [1, 0])
    if options.alpha != 1:
        a = options.alpha * a
    if not options.bTranspose:
        b = e.transpose(b, [1, 0])
    rows, columns = op.outputs[0].dimensions
    if c is not None and options.beta != 1:
        c = options.beta * c
    fits = c is not None and c.shape in ((columns,), (1, columns))
    bias = e.reshape(c, [columns]) if c is not None and fits else None
    product = e.act("FULLY_CONNECTED", [a, b], [rows, columns], bias)
    return product if c is None or fits else product + c


RULES: Mapping[str, Callable[[LiteEmitter, Op], Tensor]] = {"gemm": _gemm, "matmul": _matmul}
