"""Integers for floating-point numbers: `#api-mlgraphbuilder-quantizelinear`, `#api-mlgraphbuilder-dequantizelinear`."""

from __future__ import annotations

from webnn.validation.descriptor import OperandDescriptor, Shape
from webnn.validation.operation import Call, Operation

__all__ = ["OPERATIONS", "dequantizeLinear", "is_blockwise_broadcastable", "quantizeLinear"]


def is_blockwise_broadcastable(shapeFrom: Shape, shapeTo: Shape) -> bool:
    """*Blockwise broadcast the shapes*, `#blockwise-broadcasting`: tell whether blocks of equal size can be made of ``shapeTo``."""
    # [2026-06: 1] The ranks are equal.
    if len(shapeFrom) != len(shapeTo):
        return False
    for sizeFrom, sizeTo in zip(shapeFrom, shapeTo, strict=True):
        # [2026-06: 2.1] Each dimension is a whole number of blocks.
        if sizeTo != sizeFrom and (sizeFrom == 0 or sizeTo % sizeFrom != 0):
            return False
    return True


def _check_shapes(call: Call, input: OperandDescriptor, scale: OperandDescriptor, zeroPoint: OperandDescriptor) -> None:
    """Run the steps that are the same for both operations: the shapes of scale and zero point."""
    # [a] The scale has the input's rank, and so has the zero point.
    for name, operand in (("scale", scale), ("zeroPoint", zeroPoint)):
        if operand.rank != input.rank:
            raise call.error(
                name, f"must have the rank of input, {input.rank}", f"{operand.rank}-D {list(operand.dimensions)}", rule="rank"
            )
    # [b] Scale and zero point have the same shape.
    if scale.dimensions != zeroPoint.dimensions:
        raise call.error("zeroPoint", f"must have the shape of scale, {list(scale.dimensions)}", list(zeroPoint.dimensions), rule="shape")
    # [c, d] The scale's shape divides the input into blocks, and with it the zero point's.
    if not is_blockwise_broadcastable(scale.dimensions, input.dimensions):
        raise call.error(
            "scale", f"must have sizes that divide those of input, {list(input.dimensions)}", list(scale.dimensions), rule="divisible"
        )


def dequantizeLinear(call: Call, input: OperandDescriptor, scale: OperandDescriptor, zeroPoint: OperandDescriptor) -> OperandDescriptor:
    """Validate ``dequantizeLinear``, `#api-mlgraphbuilder-dequantizelinear`.

    The driver checks the data types against the tables: steps 3 to 5.
    """
    # [2026-06: 6] The zero point has the input's type.
    call.check_same_type("zeroPoint", zeroPoint, "input", input)
    # [2026-06: 7, 8, 9, 10] The shapes fit.
    _check_shapes(call, input, scale, zeroPoint)
    # 11. The output is one that the implementation supports.
    return call.output(scale.dataType, input.dimensions)


def quantizeLinear(call: Call, input: OperandDescriptor, scale: OperandDescriptor, zeroPoint: OperandDescriptor) -> OperandDescriptor:
    """Validate ``quantizeLinear``, `#api-mlgraphbuilder-quantizelinear`.

    The driver checks the data types against the tables: steps 3, 4 and 6.
    """
    # [2026-06: 5] The scale has the input's type.
    call.check_same_type("scale", scale, "input", input)
    # [2026-06: 7, 8, 9, 10] The shapes fit.
    _check_shapes(call, input, scale, zeroPoint)
    # 11. The output is one that the implementation supports.
    return call.output(zeroPoint.dataType, input.dimensions)


OPERATIONS = (
    Operation(
        name="dequantizeLinear",
        anchor="#api-mlgraphbuilder-dequantizelinear",
        operands=("input", "scale", "zeroPoint"),
        infer=dequantizeLinear,
    ),
    Operation(
        name="quantizeLinear", anchor="#api-mlgraphbuilder-quantizelinear", operands=("input", "scale", "zeroPoint"), infer=quantizeLinear
    ),
)
