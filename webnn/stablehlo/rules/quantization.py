"""Operations that quantize and dequantize. How others treat quantized types: `webnn.stablehlo.quantization`."""

from __future__ import annotations

from collections.abc import Mapping

from webnn.importing.values import Refused, Value
from webnn.stablehlo.node import Node
from webnn.stablehlo.quantization import dequantize, quantize, quantized_type
from webnn.stablehlo.rules import Rule

__all__ = ["RULES"]


def _uniform_quantize(node: Node) -> Value:
    """Map to quantizeLinear, from a quantized type after dequantizeLinear; with an odd zero point to arithmetic.

    `stablehlo#uniform_quantize`.
    """
    node.expect(1)
    value, before, after = node.value(0), quantized_type(node.operation.operands[0].type), quantized_type(node.types[0])
    if after is None:
        raise Refused(f"the result must be quantized, got {node.types[0]}")
    return quantize(node, value if before is None else dequantize(node, value, before), after)


def _uniform_dequantize(node: Node) -> Value:
    """Map to dequantizeLinear. `stablehlo#uniform_dequantize`."""
    node.expect(1)
    before = quantized_type(node.operation.operands[0].type)
    if before is None:
        raise Refused(f"the operand must be quantized, got {node.operation.operands[0].type}")
    return dequantize(node, node.value(0), before)


RULES: Mapping[str, Rule] = {"stablehlo.uniform_dequantize": _uniform_dequantize, "stablehlo.uniform_quantize": _uniform_quantize}
