"""Element-wise binary operations: `#api-mlgraphbuilder-binary`.

The shapes are broadcast in both directions. The output has the inputs' type; integers wrap modulo 2^bits.
"""

from __future__ import annotations

from collections.abc import Mapping

from webnn.builder.elementwise import FUNCTIONS, power
from webnn.reference.numbers import Operation, each_element

__all__ = ["OPERATIONS"]


OPERATIONS: Mapping[str, Operation] = {
    # max and min are NaN if either is. Floats divide as IEEE 754 says, integers as `webnn.builder.elementwise.divide`.
    **{name: each_element(FUNCTIONS[name]) for name in ("add", "sub", "mul", "div", "max", "min")},
    "pow": each_element(power),
}
