"""Inverse trigonometric and hyperbolic functions, which WebNN does not have. float16 is computed in float32."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from webnn.builder.operand import MLOperand
from webnn.importing.functions import FUNCTIONS, Calculator
from webnn.onnx.node import Node

__all__ = ["RULES"]


def _rule(name: str) -> Callable[[Node], MLOperand]:
    compute = FUNCTIONS[name]

    def rule(node: Node) -> MLOperand:
        return compute(Calculator(node), node.cast(node.operand(0), "float32"))

    rule.__doc__ = compute.__doc__
    return rule


RULES: Mapping[str, Callable[[Node], MLOperand]] = {
    name.capitalize(): _rule(name) for name in ("acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "sinh")
}
