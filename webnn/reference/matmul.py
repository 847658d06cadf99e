"""Matrix products: `#api-mlgraphbuilder-matmul` and `#api-mlgraphbuilder-gemm`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from webnn.reference.numbers import Array, Multiply, Operation, idl_float, named, typed, wide

__all__ = ["OPERATIONS"]


def matmul(a: Array, b: Array, *, multiply: Multiply = np.matmul) -> Array:
    """Compute the product of the matrices in the last two dimensions.

    a is [..., M, K], b is [..., K, N], the output [..., M, N]; the leading dimensions are broadcast.
    """
    return typed(multiply(wide(a), wide(b)), a.dtype)


def gemm(
    a: Array,
    b: Array,
    *,
    c: Array | None = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    aTranspose: bool = False,
    bTranspose: bool = False,
    multiply: Multiply = np.matmul,
) -> Array:
    """Compute alpha * A * B + beta * C.

    A is [M, K] (a, or a transposed), B is [K, N], C is broadcast to the output [M, N] and may be absent.
    """
    left = wide(a).T if aTranspose else wide(a)
    right = wide(b).T if bTranspose else wide(b)
    product = idl_float(alpha) * multiply(left, right)
    return typed(product if c is None else product + idl_float(beta) * wide(c), a.dtype)


OPERATIONS: Mapping[str, Operation] = named(gemm, matmul)
