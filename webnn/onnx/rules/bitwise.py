"""Operators on the bits of integers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from webnn.builder.operand import MLOperand
from webnn.importing.bits import Bits, Combination
from webnn.importing.values import Refused, Value
from webnn.onnx.model import element_type
from webnn.onnx.node import Node

__all__ = ["RULES"]


def _bits(node: Node) -> Bits:
    for index, value in enumerate(map(node.value, range(len(node.inputs)))):
        if value.dtype.kind not in "iu":
            raise Refused(f"the input {index} must be integers, got {value.dtype.name}")
    dtype = node.value(0).dtype
    return Bits(node, 8 * dtype.itemsize, signed=dtype.kind == "i")


def _bit_shift(node: Node) -> MLOperand:
    """Multiply or divide by a power of 2. A negative distance is as one of all bits."""
    bits, left = _bits(node), node.choice("direction", "", ("LEFT", "RIGHT")) == "LEFT"
    known = node.find_array(node.value(1))
    shift = bits.shift(node.operand(1) if known is None else known)
    return (bits.shift_left if left else bits.shift_right)(node.operand(0), shift)


def _bitwise_not(node: Node) -> MLOperand:
    """Subtract from the number of all bits: -1, or the greatest one."""
    return _bits(node).invert(node.operand(0))


def _bitwise(operation: Combination) -> Callable[[Node], MLOperand]:
    def rule(node: Node) -> MLOperand:
        return _bits(node).combine(operation, node.operand(0), node.operand(1))

    rule.__doc__ = f"Divide by all powers of 2, combine the odd quotients by {operation}, and add the powers up."
    return rule


def _bit_cast(node: Node) -> Value:
    """Map to cast between signed and unsigned integers of a size, which wraps. Floating-point numbers are refused."""
    source, target = node.value(0).dtype, element_type(node.integer("to"))
    if source == target:
        return node.value(0)
    if source.kind not in "biu" or target.kind not in "iu" or source.itemsize != target.itemsize:
        raise Refused(f"the bits must stay integers of a size, got {source.name} and {target.name}")
    return node.typed(node.operand(0), target)


RULES: Mapping[str, Callable[[Node], MLOperand | Value]] = {
    "BitCast": _bit_cast,
    "BitShift": _bit_shift,
    "BitwiseAnd": _bitwise("logicalAnd"),
    "BitwiseNot": _bitwise_not,
    "BitwiseOr": _bitwise("logicalOr"),
    "BitwiseXor": _bitwise("logicalXor"),
}
