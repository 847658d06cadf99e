"""Indices that are computed when the graph runs: brought into range, as int32."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from webnn.validation.descriptor import NUMPY_DTYPES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from webnn.builder.operand import MLOperand
    from webnn.stablehlo.node import Node

__all__ = ["limit_index", "widen_index"]


def widen_index(node: Node, index: MLOperand) -> MLOperand:
    """Return indices in a type that the sizes of all dimensions fit into."""
    return node.cast(index, "int32") if index._descriptor.dataType in ("int8", "uint8", "int4", "uint4") else index


def limit_index(node: Node, index: MLOperand, limits: int | Sequence[int]) -> MLOperand:
    """Clamp indices to 0 and a limit, or one for each part of the last dimension, and return them as int32.

    They are clamped in their own type, because int32 may not hold them.
    """
    builder = node.builder
    index = widen_index(node, index)
    dataType = index._descriptor.dataType
    largest = node.constant(np.array(limits, NUMPY_DTYPES[dataType]))
    if not dataType.startswith("u"):
        index = builder.max(index, node.scalar(0, index))
    return node.cast(builder.min(index, largest), "int32")
