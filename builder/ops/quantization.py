"""Integers for floating-point numbers: `#api-mlgraphbuilder-quantizelinear`, `#api-mlgraphbuilder-dequantizelinear`."""

from __future__ import annotations

from typing import Unpack

from webnn.builder.base import BuilderBase
from webnn.builder.operand import MLOperand
from webnn.builder.options import MLOperatorOptions
from webnn.validation.member import some_drafts

__all__ = ["QuantizationOps"]


class QuantizationOps(BuilderBase):
    """The operations between floating-point numbers and quantized integers. Since 2026-06."""

    __slots__ = ()

    @some_drafts
    def dequantizeLinear(
        self,
        input: MLOperand,
        scale: MLOperand,
        zeroPoint: MLOperand,
        options: MLOperatorOptions | None = None,
        **members: Unpack[MLOperatorOptions],
    ) -> MLOperand:
        """Convert quantized integers to the numbers they encode: ``(input - zeroPoint) * scale``. `#api-mlgraphbuilder-dequantizelinear`.

        Each block of elements has one scale and one zero point. Along each axis, the operands ``scale`` and ``zeroPoint`` have as many
        elements as there are blocks. If they have one element along each axis, there is one scale for the whole tensor. If they have the
        input's size along an axis, each index has its own scale.

        Args:
            input: The integers, int8, uint8, int32 or uint32 (with the types that browsers add, also int4 or uint4), any shape.
            scale: The scale of each block, float32 or float16, of the input's rank; each size divides the input's.
            zeroPoint: The integer for zero in each block, of the input's type and the scale's shape.
            options: A label for messages.

        Returns:
            An operand of the scale's type and the input's shape.

        Raises:
            WebNNTypeError: A data type is not allowed, or the shapes do not fit.
        """
        return self._single("dequantizeLinear", (input, scale, zeroPoint), (), options, members)

    @some_drafts
    def quantizeLinear(
        self,
        input: MLOperand,
        scale: MLOperand,
        zeroPoint: MLOperand,
        options: MLOperatorOptions | None = None,
        **members: Unpack[MLOperatorOptions],
    ) -> MLOperand:
        """Quantize numbers to integers: ``round(input / scale) + zeroPoint``. `#api-mlgraphbuilder-quantizelinear`.

        The quotient is rounded to the nearest integer, ties to even; the sum saturates. For blocks see `dequantizeLinear`.

        Args:
            input: The numbers, float32 or float16, any shape.
            scale: The scale of each block, of the input's type and rank; each size divides the input's.
            zeroPoint: The integer for zero in each block, int8, uint8, int32 or uint32 (with the types that browsers add, also int4 or
                uint4), of the scale's shape.
            options: A label for messages.

        Returns:
            An operand of the zero point's type and the input's shape.

        Raises:
            WebNNTypeError: A data type is not allowed, or the shapes do not fit.
        """
        return self._single("quantizeLinear", (input, scale, zeroPoint), (), options, members)
