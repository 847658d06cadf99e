"""Operations on the bits of integers, and on i1."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from webnn.builder.elementwise import bits_of, is_signed
from webnn.builder.operand import MLOperand
from webnn.importing.bits import Bits, Combination, Shift
from webnn.stablehlo.node import Node
from webnn.stablehlo.rules import Rule
from webnn.stablehlo.rules.elementwise import spread

__all__ = ["RULES"]


def _bits(node: Node) -> Bits:
    dtype = node.value(0).dtype
    return Bits(node, bits_of(dtype), signed=is_signed(dtype))


def _combination(name: str, operation: Combination) -> Rule:
    def rule(node: Node) -> MLOperand:
        one, other = spread(node)
        if node.is_boolean():
            found: MLOperand = getattr(node.builder, operation)(one, other)
            return found
        return _bits(node).combine(operation, one, other)

    rule.__doc__ = f"Map to {operation}, of integers bit by bit: they are divided by all powers of 2. `stablehlo#{name}`."
    return rule


def _not(node: Node) -> MLOperand:
    """Map to logicalNot, of integers to a difference from the number of all bits. `stablehlo#not`."""
    (x,) = spread(node)
    return node.builder.logicalNot(x) if node.is_boolean() else _bits(node).invert(x)


def _popcnt(node: Node) -> MLOperand:
    """Divide by all powers of 2, and count the odd quotients. `stablehlo#popcnt`."""
    (x,) = spread(node)
    return _bits(node).count(x)


def _count_leading_zeros(node: Node) -> MLOperand:
    """Count the powers of 2 that are greater. `stablehlo#count_leading_zeros`."""
    (x,) = spread(node)
    return _bits(node).count_leading_zeros(x)


def _shift(name: str, what: str, shift: Callable[[Bits, MLOperand, Shift], MLOperand]) -> Rule:
    def rule(node: Node) -> MLOperand:
        one, other = spread(node)
        dtype, distances = node.value(0).dtype, node.value(1).array
        bits = _bits(node)
        if name == "shift_right_arithmetic" and not is_signed(dtype):
            one, bits = bits.find_signed(one), Bits(node, bits_of(dtype), signed=True)
        return shift(bits, one, bits.shift(other if distances is None else node.narrow(distances)))

    rule.__doc__ = f"{what} `stablehlo#{name}`."
    return rule


RULES: Mapping[str, Rule] = {
    "stablehlo.and": _combination("and", "logicalAnd"),
    "stablehlo.count_leading_zeros": _count_leading_zeros,
    "stablehlo.not": _not,
    "stablehlo.or": _combination("or", "logicalOr"),
    "stablehlo.popcnt": _popcnt,
    **{
        f"stablehlo.{name}": _shift(name, what, shift)
        for name, what, shift in (
            ("shift_left", "Multiply by a power of 2, or by 0 if no bit is left.", Bits.shift_left),
            ("shift_right_arithmetic", "Divide by a power of 2; the first bit counts as a sign, and stays.", Bits.shift_right),
            ("shift_right_logical", "Divide by a power of 2 as if there were no sign.", Bits.shift_right_logically),
        )
    },
    "stablehlo.xor": _combination("xor", "logicalXor"),
}
