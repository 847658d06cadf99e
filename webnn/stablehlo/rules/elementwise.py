"""Operations that compute each element by itself: arithmetic, comparisons, functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

import numpy as np

from webnn.importing.values import Refused
from webnn.stablehlo.node import Node

if TYPE_CHECKING:
    from webnn.builder.operand import MLOperand
    from webnn.importing.steps import Result
    from webnn.stablehlo.rules import Rule

__all__ = ["RULES"]

Binary: TypeAlias = Literal["add", "div", "max", "min", "mul", "pow", "sub"]
Unary: TypeAlias = Literal["ceil", "cos", "exp", "floor", "log", "roundEven", "sigmoid", "sin", "sqrt", "tan", "tanh"]

#: The comparisons of WebNN, by the directions of StableHLO.
_COMPARISONS: Mapping[str, str] = MappingProxyType(
    {"EQ": "equal", "NE": "notEqual", "GE": "greaterOrEqual", "GT": "greater", "LE": "lesserOrEqual", "LT": "lesser"}
)


def _unary(name: str, operation: Unary) -> Rule:
    def rule(node: Node) -> MLOperand:
        return cast("MLOperand", getattr(node.builder, operation)(node.operand(0)))

    rule.__doc__ = f"Map to {operation}. `stablehlo#{name}`."
    return rule


def _binary(name: str, operation: Binary, boolean: Binary | None = None) -> Rule:
    def rule(node: Node) -> MLOperand:
        wanted = boolean if node.is_boolean() else operation
        if wanted is None:
            raise Refused("the element type must be a number, got i1")
        one, other = node.spread()
        return cast("MLOperand", getattr(node.builder, wanted)(one, other))

    rule.__doc__ = f"Map to {operation}{f', of booleans to {boolean}' if boolean else ''}. `stablehlo#{name}`."
    return rule


def _compare(node: Node) -> Result:
    """Map to equal, notEqual, greater, greaterOrEqual, lesser, lesserOrEqual. `stablehlo#compare`."""
    one, other = node.spread()
    compare: Callable[[MLOperand, MLOperand], MLOperand] = getattr(node.builder, _COMPARISONS[node.text("comparison_direction")])
    return compare(one, other)


def _select(node: Node) -> Result:
    """Map to where. `stablehlo#select`."""
    condition, one, other = node.spread()
    return node.builder.where(condition, one, other)


def _convert(node: Node) -> Result:
    """Map to cast; i1 is 1 for any number but 0, and NaN is not 0. `stablehlo#convert`."""
    if node.dtype() == np.bool_ and not node.is_boolean():
        return node.builder.notEqual(node.operand(0), node.scalar(0, node.operand(0)))
    return node.operand(0)


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        **{
            f"stablehlo.{name}": _binary(name, *operations)
            for name, operations in cast(
                "dict[str, tuple[Binary] | tuple[Binary, Binary]]",
                {
                    "add": ("add", "max"),
                    "divide": ("div",),
                    "maximum": ("max", "max"),
                    "minimum": ("min", "min"),
                    "multiply": ("mul", "min"),
                    "power": ("pow",),
                    "subtract": ("sub",),
                },
            ).items()
        },
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
        "stablehlo.compare": _compare,
        "stablehlo.convert": _convert,
        "stablehlo.select": _select,
    }
)
