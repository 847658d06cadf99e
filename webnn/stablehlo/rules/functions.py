"""Functions of floating-point numbers, remainders, and rounding.

float16 is computed in float32, and rounded once, where a function takes more than one operation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias, cast

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.importing.functions import FUNCTIONS, Calculator, find_power
from webnn.importing.functions import atan2 as find_angle
from webnn.importing.remainder import remainder as exact_remainder
from webnn.importing.steps import Result
from webnn.importing.values import Refused
from webnn.stablehlo.node import Node
from webnn.stablehlo.rules import Rule
from webnn.stablehlo.rules.elementwise import spread

__all__ = ["RULES", "function"]

Unary: TypeAlias = Literal["ceil", "cos", "exp", "floor", "log", "roundEven", "sigmoid", "sin", "sqrt", "tan", "tanh"]

#: The greatest number below 0.5.
_BELOW_HALF = float(np.nextafter(np.float32(0.5), np.float32(0)))


def _unary(name: str, operation: Unary) -> Rule:
    def rule(node: Node) -> MLOperand:
        (x,) = spread(node)
        return cast("MLOperand", getattr(node.builder, operation)(x))

    rule.__doc__ = f"Map to {operation}. `stablehlo#{name}`."
    return rule


def function(name: str, section: str) -> Callable[[Node], MLOperand]:
    """Return the rule of a function that is computed in float32."""
    compute = FUNCTIONS[name]

    def rule(node: Node) -> MLOperand:
        (x,) = spread(node) if node.name in RULES else node.operands()
        return compute(Calculator(node), node.cast(x, "float32"))

    rule.__doc__ = f"{compute.__doc__} `{section}`."
    return rule


def _rsqrt(node: Node) -> Result:
    """Map to sqrt and reciprocal. `stablehlo#rsqrt`."""
    (x,) = spread(node)
    return node.builder.reciprocal(node.builder.sqrt(node.cast(x, "float32")))


def _atan2(node: Node) -> Result:
    """Compute atan of the quotient by a polynomial, and add the octants. `stablehlo#atan2`."""
    y, x = spread(node)
    return find_angle(Calculator(node), node.cast(y, "float32"), node.cast(x, "float32"))


def _round_away(node: Node) -> Result:
    """Add the greatest number below 0.5 to the magnitude, and map to floor. `stablehlo#round_nearest_afz`."""
    (operand,) = spread(node)
    c, x = Calculator(node), node.cast(operand, "float32")
    return c.like(x, node.builder.floor(node.builder.add(node.builder.abs(x), c.number(_BELOW_HALF))))


def _reduce_precision(node: Node) -> Result:
    """Round by the sum with a number whose last digit is the last one that stays. `stablehlo#reduce_precision`.

    Numbers that do not fit the exponent become infinity or zero.
    """
    (operand,) = spread(node)
    exponent, mantissa = node.integer("exponent_bits"), node.integer("mantissa_bits")
    if exponent < 1 or mantissa < 0:
        raise Refused(f"exponent_bits must be at least 1 and mantissa_bits at least 0, got {exponent} and {mantissa}")
    own_mantissa, own_exponent = (10, 5) if operand.descriptor.dataType == "float16" else (23, 8)
    c, b, x = Calculator(node), node.builder, node.cast(operand, "float32")
    a = b.min(b.abs(x), c.number(float(np.finfo(np.float32).max)))
    if mantissa < own_mantissa:
        # A large number is scaled, so that the sum does not overflow.
        is_large = b.greater(a, c.number(2.0**60))
        scaled = b.where(is_large, b.mul(a, c.number(2.0**-60)), a)
        power = b.max(find_power(c, scaled), c.number(2.0 ** (2 - (1 << own_exponent - 1))))
        addend = b.mul(power, c.number(2.0 ** (23 - mantissa)))
        rounded = b.sub(b.add(scaled, addend), addend)
        a = b.where(is_large, b.mul(rounded, c.number(2.0**60)), rounded)
    if exponent < own_exponent:
        bias = (1 << exponent - 1) - 1
        a = b.where(b.greaterOrEqual(a, c.number(2.0 ** (bias + 1))), c.number(math.inf), a)
        a = b.where(b.lesser(a, c.number(2.0 ** (1 - bias))), c.number(0), a)
    elif mantissa >= own_mantissa:
        return operand
    found = c.like(x, a)
    return found if mantissa else b.where(b.isNaN(x), c.number(math.inf), found)


def _remainder(node: Node) -> Result:
    """Subtract multiples of the divisor, each of which is exact; of integers the product with the quotient. `stablehlo#remainder`."""
    one, other = spread(node)
    if not node.is_float(one):
        return node.builder.sub(one, node.builder.mul(node.builder.div(one, other), other))
    x, y = (node.cast(each, "float32") for each in (one, other))
    known = node.value(1).array
    known = None if known is None else node.narrow(known)
    is_short = one.descriptor.dataType == "float16"
    return exact_remainder(
        Calculator(node), x, y, known=float(known.item()) if known is not None and known.size == 1 else None, is_short=is_short
    )


RULES: Mapping[str, Rule] = {
    **{
        f"stablehlo.{name}": _unary(name, operation)
        for name, operation in cast(
            "dict[str, Unary]",
            {
                "ceil": "ceil",
                "cosine": "cos",
                "exponential": "exp",
                "floor": "floor",
                "log": "log",
                "logistic": "sigmoid",
                "round_nearest_even": "roundEven",
                "sine": "sin",
                "sqrt": "sqrt",
                "tan": "tan",
                "tanh": "tanh",
            },
        ).items()
    },
    **{
        f"stablehlo.{name}": function(short, f"stablehlo#{name}")
        for name, short in (("cbrt", "cbrt"), ("exponential_minus_one", "expm1"), ("log_plus_one", "log1p"))
    },
    "stablehlo.atan2": _atan2,
    "stablehlo.reduce_precision": _reduce_precision,
    "stablehlo.remainder": _remainder,
    "stablehlo.round_nearest_afz": _round_away,
    "stablehlo.rsqrt": _rsqrt,
}
