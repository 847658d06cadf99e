"""Operations that compute each element by itself: arithmetic, comparisons, conversions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias, cast

import numpy as np

from webnn.builder.elementwise import bits_of, is_signed
from webnn.builder.operand import MLOperand
from webnn.hlo.attributes import COMPARISONS
from webnn.importing.steps import Result
from webnn.importing.values import Refused, Value, make_uniform
from webnn.stablehlo.elements import kind_of
from webnn.stablehlo.kinds import check
from webnn.stablehlo.node import Item, Node
from webnn.stablehlo.rules import Rule
from webnn.validation.descriptor import SMALL_TYPES

__all__ = ["RULES", "spread"]

Binary: TypeAlias = Literal["add", "div", "logicalAnd", "logicalOr", "logicalXor", "max", "min", "mul", "pow", "sub"]


def spread(node: Node) -> list[MLOperand]:
    """Return the operands of an elementwise operation; integers of 4 bits in 8 bits, from which the result is cast back, modulo 16."""
    check(node)
    return [
        node.cast(operand, "int8" if operand.descriptor.dataType == "int4" else "uint8")
        if operand.descriptor.dataType in SMALL_TYPES
        else operand
        for operand in node.spread()
    ]


def _binary(name: str, operation: Binary, boolean: Binary | None = None) -> Rule:
    def rule(node: Node) -> MLOperand:
        one, other = spread(node)
        wanted = boolean if boolean and node.is_boolean() else operation
        return cast("MLOperand", getattr(node.builder, wanted)(one, other))

    rule.__doc__ = f"Map to {operation}{f', of i1 to {boolean}' if boolean else ''}. `stablehlo#{name}`."
    return rule


def _abs(node: Node) -> Result:
    """Map to abs; an unsigned integer stays. `stablehlo#abs`."""
    (x,) = spread(node)
    return node.builder.abs(x) if _has_sign(x) else x


def _negate(node: Node) -> Result:
    """Map to neg, of unsigned integers to 0 - x, which wraps. `stablehlo#negate`."""
    (x,) = spread(node)
    return node.builder.neg(x) if _has_sign(x) else node.builder.sub(node.scalar(0, x), x)


def _sign(node: Node) -> Result:
    """Map to sign. Floating-point zeros keep their sign, and NaN stays: they are chosen by where. `stablehlo#sign`."""
    builder = node.builder
    (x,) = spread(node)
    if not _has_sign(x):
        return builder.min(x, node.scalar(1, x))
    if not node.is_float(x):
        return builder.sign(x)
    zero = node.scalar(0, x)
    positive = builder.where(builder.greater(x, zero), node.scalar(1, x), x)
    return builder.where(builder.lesser(x, zero), node.scalar(-1, x), positive)


def _has_sign(x: MLOperand) -> bool:
    return not x.descriptor.dataType.startswith("u")


def _compare(node: Node) -> Result:
    """Map to equal, notEqual, greater, greaterOrEqual, lesser, lesserOrEqual. `stablehlo#compare`.

    In the total order -0 is less than 0, and NaN is the greatest number: its sign cannot be seen in WebNN.
    """
    one, other = spread(node)
    direction = node.text("comparison_direction")
    if direction not in COMPARISONS:
        raise Refused(f"comparison_direction must be one of {', '.join(COMPARISONS)}, got {direction}")
    if node.text("compare_type", "") == "TOTALORDER" and node.is_float(one):
        return _compare_all(node, direction, one, other)
    compare: Callable[[MLOperand, MLOperand], MLOperand] = getattr(node.builder, COMPARISONS[direction])
    return compare(one, other)


def _compare_all(node: Node, direction: str, one: MLOperand, other: MLOperand) -> MLOperand:
    """Compare in the total order."""
    builder = node.builder

    def is_less(a: MLOperand, b: MLOperand) -> MLOperand:
        # The reciprocals of zeros differ, and of no other equal numbers.
        zeros = builder.logicalAnd(builder.equal(a, b), builder.lesser(builder.reciprocal(a), builder.reciprocal(b)))
        greatest = builder.logicalAnd(builder.isNaN(b), builder.logicalNot(builder.isNaN(a)))
        return builder.logicalOr(builder.logicalOr(builder.lesser(a, b), zeros), greatest)

    if direction in ("GT", "LE"):
        one, other = other, one
    found = is_less(one, other)
    if direction in ("EQ", "NE"):
        found = builder.logicalOr(found, is_less(other, one))
    return builder.logicalNot(found) if direction in ("EQ", "GE", "LE") else found


def _select(node: Node) -> Result:
    """Map to where. `stablehlo#select`."""
    condition, one, other = spread(node)
    return node.builder.where(condition, one, other)


def _clamp(node: Node) -> Result:
    """Map to clamp if the limits are known numbers in order, otherwise to max and min. `stablehlo#clamp`."""
    check(node)
    low, value, high = node.values()
    if low.array is not None and high.array is not None and bits_of(value.dtype) >= 8 and len(value.shape) >= max(low.rank, high.rank):
        limits = [node.narrow(array) for array in (low.array, high.array)]
        least, most = (limit.item() if limit.size == 1 else math.nan for limit in limits)
        if least <= most and value.dtype != np.bool_:
            return node.builder.clamp(node.operand(1), minValue=least, maxValue=most)
    least_operand, x, most_operand = spread(node)
    return node.builder.min(node.builder.max(x, least_operand), most_operand)


def _convert(node: Node) -> Result:
    """Map to cast; i1 is 1 for any number but 0, and NaN is not 0. `stablehlo#convert`.

    A number that does not fit an integer saturates, and NaN becomes 0; an integer that does not fit wraps around.
    """
    check(node)
    x, dtype = node.operand(0), node.dtype()
    if kind_of(dtype) == "b" and not node.is_boolean():
        (x,) = spread(node)
        return node.builder.notEqual(x, node.scalar(0, x))
    if kind_of(dtype) == "i" and bits_of(dtype) < 8 and node.is_float(x):
        low, high = (-8, 7) if is_signed(dtype) else (0, 15)
        return node.cast(node.builder.clamp(x, minValue=low, maxValue=high), "int8")
    return x


def _bitcast_convert(node: Node) -> Result:
    """Map to cast between integers of a size, which wraps. `stablehlo#bitcast_convert`.

    Refused for others: WebNN has no access to the bits of floating-point numbers.
    """
    check(node)
    source, target = node.value(0).dtype, node.dtype()
    if source == target:
        return node.value(0)
    if kind_of(source) != "i" or kind_of(target) != "i" or bits_of(source) != bits_of(target):
        raise Refused(f"the bits must stay integers of a size, got {source.name} and {target.name}")
    return node.operand(0)


def _is_finite(node: Node) -> Result:
    """Compare the magnitude with infinity: it is less, and NaN is not. `stablehlo#is_finite`."""
    (x,) = spread(node)
    return node.builder.lesser(node.builder.abs(x), node.scalar(math.inf, x))


def _real(node: Node) -> Result:
    """Return a number that is real; of complex numbers only those that are known are computed. `stablehlo#real`."""
    check(node)
    return node.value(0)


def _imag(node: Node) -> Result:
    """Return zeros for numbers that are real. `stablehlo#imag`."""
    check(node)
    return make_uniform(node.value(0).shape, node.dtype())


def _map(node: Node) -> list[Item]:
    """Lower the computation, which is elementwise, with whole tensors. `stablehlo#map`."""
    values = node.values()
    shape = node.shape()
    if not values or len(node.regions) != 1 or any(value.shape != shape for value in values):
        raise Refused(f"there must be operands of the result's shape, {list(shape)}, and 1 region")
    results = node.run(node.regions[0], list(values))
    found = results[0] if len(results) == 1 else None
    if not isinstance(found, Value) or found.shape not in (shape, ()):
        raise Refused("the computation must return a scalar for scalars")
    if found.array is not None:
        return [Value.known(np.broadcast_to(found.array, shape))]
    if found.shape == shape:
        return [found]
    expanded = node.builder.expand(node.operand_of(found), list(shape))
    return [Value("", found.dtype, shape, operand=expanded, roots=found.roots)]


RULES: Mapping[str, Rule] = {
    **{
        f"stablehlo.{name}": _binary(name, *operations)
        for name, operations in cast(
            "dict[str, tuple[Binary] | tuple[Binary, Binary]]",
            {
                "add": ("add", "logicalOr"),
                "divide": ("div",),
                "maximum": ("max", "logicalOr"),
                "minimum": ("min", "logicalAnd"),
                "multiply": ("mul", "logicalAnd"),
                "power": ("pow",),
                "subtract": ("sub",),
            },
        ).items()
    },
    "stablehlo.abs": _abs,
    "stablehlo.bitcast_convert": _bitcast_convert,
    "stablehlo.clamp": _clamp,
    "stablehlo.compare": _compare,
    "stablehlo.convert": _convert,
    "stablehlo.imag": _imag,
    "stablehlo.is_finite": _is_finite,
    "stablehlo.map": _map,
    "stablehlo.negate": _negate,
    "stablehlo.real": _real,
    "stablehlo.select": _select,
    "stablehlo.sign": _sign,
}
