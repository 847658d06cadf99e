"""Matrix products: `#api-mlgraphbuilder-matmul` and `#api-mlgraphbuilder-gemm`."""

from __future__ import annotations

from webnn.validation.descriptor import OperandDescriptor, Shape
from webnn.validation.dictionary import Boolean, Dictionary, Float, Operand
from webnn.validation.operation import Call, Operation
from webnn.validation.shapes import bidirectionally_broadcast, unidirectionally_broadcast

__all__ = ["OPERATIONS", "GemmOptions", "gemm", "matmul"]


class GemmOptions(Dictionary):
    """``MLGemmOptions``, `#dictdef-mlgemmoptions`."""

    c: Operand | None = None
    alpha: Float = 1.0
    beta: Float = 1.0
    aTranspose: Boolean = False
    bTranspose: Boolean = False


def _matmul_output_sizes(call: Call, a: OperandDescriptor, b: OperandDescriptor) -> Shape:
    """*Calculate matmul output sizes*; since 2026-06 steps of ``matmul``, `#api-mlgraphbuilder-matmul`."""
    # [5; 2026-06: 4.5] The first operand is at least 2-D.
    call.check_rank("a", a)
    # [5; 2026-06: 4.5] The second one, too.
    call.check_rank("b", b)
    # 6.-9. The matrices' sizes.
    rowsA, colsA = a.dimensions[-2:]
    rowsB, colsB = b.dimensions[-2:]
    # [10; 2026-06: 4.10] a has as many columns as b has rows.
    if colsA != rowsB:
        raise call.error("b", f"must have {colsA} rows, the number of columns of a", rowsB, rule="shape")
    # 11.-12. The other dimensions are batches.
    batchShapeA, batchShapeB = a.dimensions[:-2], b.dimensions[:-2]
    # [13; 2026-06: 4.13] The batch dimensions broadcast in both directions.
    outputShape = bidirectionally_broadcast(batchShapeA, batchShapeB)
    if outputShape is None:
        raise call.error(
            "b", f"must have batch dimensions that broadcast with those of a, {list(batchShapeA)}", list(batchShapeB), rule="broadcast"
        )
    # 14.-15. The matrix dimensions come last.
    return (*outputShape, rowsA, colsB)


def matmul(call: Call, a: OperandDescriptor, b: OperandDescriptor) -> OperandDescriptor:
    """Validate ``matmul``, `#api-mlgraphbuilder-matmul`."""
    # [2; 2026-06: 3] The first operand is of a floating-point type.
    call.check_type("a", a)
    # [3] Both operands have one data type.
    call.check_same_type("b", b, "a", a)
    # 4.-7. The output's shape.
    return call.output(a.dataType, _matmul_output_sizes(call, a, b))


def gemm(call: Call, a: OperandDescriptor, b: OperandDescriptor, options: GemmOptions) -> OperandDescriptor:
    """Validate ``gemm``, `#api-mlgraphbuilder-gemm`."""
    # [2; 2026-06: 3] The first operand is of a floating-point type.
    call.check_type("a", a)
    # [3] Both operands have one data type.
    call.check_same_type("b", b, "a", a)
    # [4] The first operand is 2-D.
    call.check_rank("a", a)
    # [4] The second operand is 2-D.
    call.check_rank("b", b)
    # 5.-8. The shapes after transposing.
    shapeA = a.dimensions[::-1] if options.aTranspose else a.dimensions
    shapeB = b.dimensions[::-1] if options.bTranspose else b.dimensions
    # [9; 2026-06: 11] a has as many columns as b has rows.
    if shapeA[1] != shapeB[0]:
        raise call.error("b", f"must have {shapeA[1]} rows, the number of columns of a (after transposing)", shapeB[0], rule="shape")
    shape = (shapeA[0], shapeB[1])
    c = options.c
    if c is not None:
        # [10.1; 2026-06: 12.1] The third operand can be stretched to the output's shape.
        if unidirectionally_broadcast(c.dimensions, shape) is None:
            raise call.error("options.c", f"must broadcast to the output's shape, {list(shape)}", list(c.dimensions), rule="broadcast")
        # [10.2; 2026-06: 12.2] The third operand has the type of the others.
        call.check_same_type("options.c", c, "a", a)
    # 11.-13. The output's type and shape.
    return call.output(a.dataType, shape)


OPERATIONS = (
    Operation(name="matmul", anchor="#api-mlgraphbuilder-matmul", operands=("a", "b"), infer=matmul),
    Operation(name="gemm", anchor="#api-mlgraphbuilder-gemm", operands=("a", "b"), infer=gemm, options=GemmOptions),
)
