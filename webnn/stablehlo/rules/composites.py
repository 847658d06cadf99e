"""Composites that have a better counterpart than the function that says what they are made of, and custom calls that mean the same.

The names are those of CHLO's operations. JAX exports most of them as composites, older versions as custom calls.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from webnn.importing.functions import Calculator, find_power
from webnn.importing.steps import Result
from webnn.importing.values import Refused
from webnn.stablehlo.elements import kind_of
from webnn.stablehlo.node import Node
from webnn.stablehlo.rules.functions import function
from webnn.stablehlo.rules.sorting import lower_custom_top_k, lower_top_k

__all__ = ["COMPOSITES", "CUSTOM_CALLS"]

Composite = Callable[["Node"], "Result | list[Result] | None"]


def _checked(rule: Callable[[Node], Result], count: int) -> Callable[[Node], Result]:
    """Return a rule that takes floating-point operands of one type and shape, as many as it needs."""

    def check(node: Node) -> Result:
        values = node.values()
        if len(values) != count or len(node.types) != 1:
            raise Refused(f"there must be {count} operand{'s' * (count > 1)} and 1 result, got {len(values)} and {len(node.types)}")
        dtype, shape = values[0].dtype, values[0].shape
        if kind_of(dtype) != "f" or any((value.dtype, value.shape) != (dtype, shape) for value in values) or node.dtype() != dtype:
            raise Refused(
                f"operands and result must be floating-point numbers of one type, got {', '.join(value.dtype.name for value in values)}"
            )
        return rule(node)

    check.__doc__ = rule.__doc__
    return check


def _erf(node: Node) -> Result:
    """Map to erf. `chlo.erf`."""
    return node.builder.erf(node.operand(0))


def _tan(node: Node) -> Result:
    """Map to tan. `chlo.tan`."""
    return node.builder.tan(node.operand(0))


def _next_after(node: Node) -> Result:
    """Add or subtract the last digit of the first number. `chlo.next_after`."""
    x, y = node.operands()
    is_short = x.descriptor.dataType == "float16"
    digits, least, most = (10, 2.0**-14, 65504.0) if is_short else (23, 2.0**-126, float(np.finfo(np.float32).max))
    c, b = Calculator(node), node.builder
    x, y = node.cast(x, "float32"), node.cast(y, "float32")
    zero, a = c.number(0), b.abs(x)
    power = b.max(find_power(c, b.min(a, c.number(most))), c.number(least))
    last = b.mul(power, c.number(2.0**-digits))
    # Below a power of 2 the digits are finer.
    is_power = b.logicalAnd(b.equal(a, power), b.greater(a, c.number(least)))
    below = b.sub(a, b.where(is_power, b.mul(last, c.number(0.5)), last))
    below = b.where(b.equal(a, c.number(math.inf)), c.number(most), below)
    is_away = b.equal(b.greater(y, x), b.greater(x, zero))
    magnitude = b.where(is_away, b.add(a, last), below)
    moved = b.where(b.lesser(x, zero), b.neg(magnitude), magnitude)
    from_zero = b.where(b.lesser(y, zero), b.neg(last), last)
    moved = b.where(b.equal(x, zero), from_zero, moved)
    # NaN makes the sum NaN.
    return b.where(b.equal(x, y), y, b.where(b.logicalOr(b.isNaN(x), b.isNaN(y)), b.add(x, y), moved))


def _functions(*names: str) -> dict[str, Composite]:
    return {name: _checked(function(name, f"chlo.{name}"), 1) for name in names}


_SHARED = {**_functions("acos", "acosh", "asin", "asinh", "atan", "atanh", "erfc"), "erf": _checked(_erf, 1), "tan": _checked(_tan, 1)}

#: The rule of a composite, by its name. The functions of other composites are as good.
COMPOSITES: Mapping[str, Composite] = {
    "chlo.top_k": lower_top_k,
    **{f"chlo.{name}": rule for name, rule in {**_SHARED, "next_after": _checked(_next_after, 2)}.items()},
}

#: The rule of a custom call, by its target.
CUSTOM_CALLS: Mapping[str, Composite] = {
    "mhlo.topk": lower_custom_top_k,
    **{f"mhlo.{name}": rule for name, rule in {**_SHARED, **_functions("cosh", "sinh")}.items()},
}
