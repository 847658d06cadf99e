"""Operators that choose elements by their values: the largest ones, those that meet a condition, different ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.importing.along import take_along
from webnn.importing.ordering import make_key, order_by
from webnn.importing.steps import Result, product
from webnn.importing.values import Refused, make_uniform
from webnn.onnx.node import Node

__all__ = ["RULES"]


def _top_k(node: Node) -> list[Result]:
    """Map to argMax or argMin for k = 1, otherwise put the elements in order.

    NaN counts as the largest number. Until opset 9 k is an attribute; otherwise it must be known.
    """
    builder = node.builder
    value = node.value(0)
    axis = node.axis("axis", -1, value.rank)
    k = [node.integer("k")] if node.has("k") else node.known_integers(1, "k")
    if len(k) != 1 or not 0 <= k[0] <= value.shape[axis]:
        raise Refused(f"k must be a number from 0 to the size of axis {axis}, {value.shape[axis]}, got {k}")
    count = k[0]
    if not count:
        shape = (*value.shape[:axis], 0, *value.shape[axis + 1 :])
        return [make_uniform(shape, value.dtype), make_uniform(shape, np.dtype(np.int64))]
    largest = node.flag("largest", default=True)
    x = node.operand(0)
    if count == 1:
        best = (builder.argMax if largest else builder.argMin)(_with_nan_last(node, x), axis, keepDimensions=True, outputDataType="int32")
        return [take_along(node, x, best, axis), best]
    wide = (product(value.shape[:axis]), value.shape[axis], product(value.shape[axis + 1 :]))
    order = order_by(node, make_key(node, node.reshape(x, wide), is_descending=largest), count)
    order = node.reshape(order, [*value.shape[:axis], count, *value.shape[axis + 1 :]])
    return [take_along(node, x, order, axis), order]


def _with_nan_last(node: Node, x: MLOperand) -> MLOperand:
    """Replace NaN by infinity, so that all numbers can be compared."""
    return node.builder.where(node.builder.isNaN(x), node.scalar(np.inf, x), x) if node.is_float(x) else x


def _compress(node: Node) -> Result:
    """Map to gather. The condition must be known."""
    value = node.value(0)
    condition = node.known(1, "condition")
    has_axis = node.has("axis")
    axis = node.axis("axis", None, value.rank) if has_axis else 0
    shape = value.shape if has_axis else (value.size,)
    if condition.ndim != 1 or condition.size > shape[axis]:
        raise Refused(f"condition must be 1-D with at most {shape[axis]} elements, got {list(condition.shape)}")
    chosen = np.flatnonzero(condition).astype(np.int32)
    if not chosen.size:
        return make_uniform((*shape[:axis], 0, *shape[axis + 1 :]), value.dtype)
    return node.builder.gather(node.reshape(node.operand(0), shape), node.constant(chosen), axis=axis)


def _unknown_shape(node: Node) -> Result:
    """Refused: the shape of the result depends on the elements. Inputs that are known and not too large have been folded."""
    node.known(0, "the input, which gives the result its shape,")
    raise Refused(f"the input must have at most 65536 numbers, got {list(node.value(0).shape)}")


RULES: Mapping[str, Callable[[Node], Result | list[Result]]] = {
    "Compress": _compress,
    "NonZero": _unknown_shape,
    "TopK": _top_k,
    "Unique": _unknown_shape,
}
