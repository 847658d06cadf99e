"""Element-wise logical operations: `#api-mlgraphbuilder-logical`.

The output is uint8, 0 or 1. Two inputs are broadcast in both directions. A comparison with NaN is 0, but for notEqual. -0.0 equals 0.0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from webnn.builder.elementwise import FUNCTIONS
from webnn.reference.numbers import Array, Operation

__all__ = ["OPERATIONS"]


def _tell(function: Callable[..., Any]) -> Operation:
    def operation(*operands: Array) -> Array:
        return np.asarray(function(*operands), dtype=np.uint8)

    return operation


OPERATIONS: Mapping[str, Operation] = {
    **{name: _tell(FUNCTIONS[name]) for name in ("equal", "greater", "greaterOrEqual", "lesser", "lesserOrEqual", "notEqual")},
    # A value other than zero is true, NaN too.
    "logicalAnd": _tell(np.logical_and),
    "logicalNot": _tell(np.logical_not),
    "logicalOr": _tell(np.logical_or),
    "logicalXor": _tell(np.logical_xor),
    "isInfinite": _tell(np.isinf),
    "isNaN": _tell(np.isnan),
}
