"""Element-wise unary operations: `#api-mlgraphbuilder-unary`.

Every output has the input's type and shape.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from webnn.builder.elementwise import FUNCTIONS
from webnn.reference.numbers import Array, Operation, each_element, named

__all__ = ["OPERATIONS"]


def identity(input: Array) -> Array:
    """Copy the input, bit for bit."""
    return input.copy()


OPERATIONS: Mapping[str, Operation] = {
    # abs and neg return the most negative integer unchanged. roundEven keeps the sign of zero, and of numbers that become zero.
    **{name: each_element(FUNCTIONS[name]) for name in ("abs", "ceil", "cos", "exp", "floor", "log", "neg", "roundEven")},
    **{name: each_element(FUNCTIONS[name]) for name in ("sin", "sqrt", "tan")},
    # 2 / sqrt(pi) * integral from 0 to x of exp(-t^2)
    "erf": each_element(np.vectorize(math.erf, otypes=[np.float64])),
    **named(identity),
    "reciprocal": each_element(lambda x: 1 / x),
    # 0 for zero and NaN
    "sign": each_element(lambda x: 1 * (x > 0) - 1 * (x < 0)),
}
