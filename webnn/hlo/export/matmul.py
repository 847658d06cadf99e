"""Matrix products."""

from __future__ import annotations

from webnn.hlo.attributes import Attribute, DotDimensionNumbers
from webnn.hlo.export.emitter import Emitter, Tensor, broadcast_shapes
from webnn.hlo.export.rule import Op, wide

__all__ = ["PRECISION", "RULES", "dot"]

#: Devices may multiply float32 in fewer bits unless a program says this, for each of two operands.
PRECISION = ("HIGHEST", "HIGHEST")


def dot(e: Emitter, a: Tensor, b: Tensor, *, contract: tuple[int, int], batches: int = 0) -> Tensor:
    """Multiply tensors: the first dimensions are batches, and one dimension of each is summed over."""

    def rest(x: Tensor, over: int) -> list[int]:
        return [size for axis, size in enumerate(x.shape) if axis >= batches and axis != over]

    leading = tuple(range(batches))
    numbers = DotDimensionNumbers(
        lhs_batching_dimensions=leading,
        rhs_batching_dimensions=leading,
        lhs_contracting_dimensions=contract[:1],
        rhs_contracting_dimensions=contract[1:],
    )
    attributes: dict[str, Attribute] = {"dot_dimension_numbers": numbers, "precision_config": PRECISION}
    return e.op("dot_general", [a, b], [*a.shape[:batches], *rest(a, contract[0]), *rest(b, contract[1])], a.element, attributes)


def _matmul(e: Emitter, op: Op) -> Tensor:
    a, b = op["a"], op["b"]
    batches = broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (e.broadcast(x, [*batches, *x.shape[-2:]]) for x in (a, b))
    return dot(e, a, b, contract=(len(batches) + 1, len(batches)), batches=len(batches))


def _gemm(e: Emitter, op: Op) -> Tensor:
    options = op.options
    product = dot(e, op["a"], op["b"], contract=(0 if options.aTranspose else 1, 1 if options.bTranspose else 0))
    if options.alpha != 1:
        product = options.alpha * product
    c = op.get("c")
    if c is None:
        return product
    return product + (c if options.beta == 1 else options.beta * c)


RULES = {"matmul": wide(_matmul), "gemm": wide(_gemm)}
