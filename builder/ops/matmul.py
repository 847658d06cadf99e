"""Matrix products: `#api-mlgraphbuilder-matmul` and `#api-mlgraphbuilder-gemm`."""

from __future__ import annotations

from typing import Unpack

from webnn.builder.base import BuilderBase
from webnn.builder.operand import MLOperand
from webnn.builder.options import MLGemmOptions, MLOperatorOptions

__all__ = ["MatmulOps"]


class MatmulOps(BuilderBase):
    """The matrix products."""

    __slots__ = ()

    def matmul(
        self, a: MLOperand, b: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]
    ) -> MLOperand:
        """Compute the product of the matrices in the last two dimensions. `#api-mlgraphbuilder-matmul`.

        Args:
            a: The first operand, float32 or float16, at least 2-D: [..., M, K].
            b: The second operand, of the type of ``a``, at least 2-D: [..., K, N]. The leading dimensions of both broadcast.
            options: A label for messages.

        Returns:
            The output, [..., M, N].

        Raises:
            WebNNTypeError: A type, rank or shape does not fit.
        """
        return self._single("matmul", (a, b), (), options, members)

    def gemm(self, a: MLOperand, b: MLOperand, options: MLGemmOptions | None = None, **members: Unpack[MLGemmOptions]) -> MLOperand:
        """Compute ``alpha * A * B + beta * C``, the general matrix product. `#api-mlgraphbuilder-gemm`.

        Args:
            a: The first operand, float32 or float16: [M, K], or [K, M] with ``aTranspose``.
            b: The second operand, of the type of ``a``: [K, N], or [N, K] with ``bTranspose``.
            options: ``c``, of the type of ``a`` and a shape that broadcasts to [M, N] (none), ``alpha`` (1) and ``beta`` (1), finite
                numbers, ``aTranspose`` (False), ``bTranspose`` (False).

        Returns:
            The output, [M, N].

        Raises:
            WebNNTypeError: A type, rank or shape does not fit.
        """
        return self._single("gemm", (a, b), (), options, members)
