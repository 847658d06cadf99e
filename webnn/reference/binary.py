"""Element-wise binary operations: `#api-mlgraphbuilder-binary`.

The shapes are broadcast in both directions. The output has the inputs' type; integers wrap modulo 2^bits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from webnn.builder.elementwise import FUNCTIONS, power
from webnn.reference.numbers import Array, Operation, elementwise

__all__ = ["OPERATIONS"]


def _pairs(function: Callable[..., Any]) -> Operation:
    def operation(a: Array, b: Array) -> Array:
        return elementwise(function, a, b)

    return operation


OPERATIONS: Mapping[str, Operation] = MappingProxyType(
    {
        # max and min are NaN if either is. Floats divide as IEEE 754 says, integers as `webnn.builder.elementwise.divide`.
        **{name: _pairs(FUNCTIONS[name]) for name in ("add", "sub", "mul", "div", "max", "min")},
        "pow": _pairs(power),
    }
)
