"""Matrix products."""

from __future__ import annotations

from typing import Any

from tests.support import each_row
from tests.webnn.tflite.export.litert import check, constant, ramp

A = ramp(2, 3)


@each_row(
    ("make", "made"),
    [
        (lambda b, x: b.matmul(x, constant(b, ramp(3, 4))), ["BATCH_MATMUL"]),
        (lambda b, x: b.matmul(b.reshape(x, [1, 2, 3]), constant(b, ramp(2, 3, 4))), ["RESHAPE", "BATCH_MATMUL"]),
        (lambda b, x: b.gemm(x, constant(b, ramp(3, 4))), ["FULLY_CONNECTED"]),
        (lambda b, x: b.gemm(x, constant(b, ramp(4, 3)), bTranspose=True, c=constant(b, ramp(4))), ["FULLY_CONNECTED"]),
        (lambda b, x: b.gemm(x, constant(b, ramp(2, 4)), aTranspose=True), ["TRANSPOSE", "FULLY_CONNECTED"]),
        # A bias for each element is added.
        (lambda b, x: b.gemm(x, constant(b, ramp(3, 4)), c=constant(b, ramp(2, 4))), ["FULLY_CONNECTED", "ADD"]),
        (lambda b, x: b.gemm(x, constant(b, ramp(3, 4)), c=constant(b, ramp(2, 1))), ["FULLY_CONNECTED", "ADD"]),
        (lambda b, x: b.gemm(x, constant(b, ramp(3, 4)), c=constant(b, ramp(4)), alpha=0.5, beta=2.0), None),
    ],
)
def test_products(make: Any, made: list[str] | None) -> None:
    found = check(make, A)
    assert made is None or found == made
