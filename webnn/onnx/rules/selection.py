"""Operators that choose elements by their values: the largest ones, those that meet a condition, different ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from webnn.onnx.node import Node, Result, limit_of, product
from webnn.onnx.values import Refused

if TYPE_CHECKING:
    from webnn.builder.operand import MLOperand

__all__ = ["RULES"]

#: So many elements are put in order by comparing all of them with each other; more are cut into blocks.
_BLOCK = 512
#: The most comparisons at once.
_MOST_COMPARED = 1 << 26


def _order(node: Node, keys: MLOperand, count: int, *, largest: bool) -> MLOperand:
    """Return the positions of the first elements of each row in order, of equal ones the earlier one first: [rows, n] to [rows, count].

    The rank of an element is the number of those that come before it: the ranks are where the positions are scattered to.
    """
    builder = node.builder
    rows, size = keys._descriptor.dimensions
    if rows * size * size > _MOST_COMPARED:
        raise Refused(f"k of so many elements needs at most {_MOST_COMPARED} comparisons at once, got {rows * size * size}")
    numbers = np.arange(size, dtype=np.int32)
    positions = node.constant(numbers)
    is_earlier = builder.lesser(positions, node.constant(numbers.reshape(size, 1)))
    one, other = node.reshape(keys, [rows, size, 1]), node.reshape(keys, [rows, 1, size])
    compare, compare_equal = (builder.greater, builder.greaterOrEqual) if largest else (builder.lesser, builder.lesserOrEqual)
    is_before = builder.where(is_earlier, compare_equal(other, one), compare(other, one))
    ranks = builder.reduceSum(node.cast(is_before, "int32"), axes=[2], keepDimensions=False)
    everywhere = builder.expand(positions, [rows, size])
    order = builder.scatterElements(everywhere, ranks, everywhere, axis=1)
    return builder.slice(order, [0, 0], [rows, count]) if count < size else order


def _top(node: Node, keys: MLOperand, count: int, *, largest: bool) -> MLOperand:
    """Return the positions of the first elements of each row in order. Of a long row, only the first ones of each block stay."""
    builder = node.builder
    rows, size = keys._descriptor.dimensions
    block = max(_BLOCK, 1 << (2 * count - 1).bit_length())
    found: MLOperand | None = None
    while size > block:
        blocks = -(-size // block)
        missing = blocks * block - size
        if missing:
            # What is added comes after all others, because it is last among equal ones.
            keys = builder.pad(keys, [0, 0], [0, missing], mode="constant", value=limit_of(keys, is_least=largest))
            found = found if found is None else builder.pad(found, [0, 0], [0, missing], mode="constant", value=0)
        best = _order(node, node.reshape(keys, [rows * blocks, block]), count, largest=largest)
        starts = (np.arange(blocks, dtype=np.int32) * block).reshape(blocks, 1)
        places = node.reshape(builder.add(node.reshape(best, [rows, blocks, count]), node.constant(starts)), [rows, blocks * count])
        keys = builder.gatherElements(keys, places, axis=1)
        found = places if found is None else builder.gatherElements(found, places, axis=1)
        size = blocks * count
    order = _order(node, keys, count, largest=largest)
    return order if found is None else builder.gatherElements(found, order, axis=1)


def _top_k(node: Node) -> list[Result]:
    """Map to argMax or argMin for k = 1, otherwise compare all elements with each other, in blocks if there are many.

    NaN counts as the largest number. Until opset 9 k is an attribute; otherwise it must be known. Too many comparisons are refused.
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
        return [np.zeros(shape, value.dtype), np.zeros(shape, np.int64)]
    largest = node.flag("largest", default=True)
    x = node.operand(0)
    if count == 1:
        best = (builder.argMax if largest else builder.argMin)(_with_nan_last(node, x), axis, keepDimensions=True, outputDataType="int32")
        return [builder.gatherElements(x, best, axis=axis), best]
    moved = [*(each for each in range(value.rank) if each != axis), axis]
    rows = node.transpose(x, moved)
    shape = rows._descriptor.dimensions
    keys = node.reshape(_with_nan_last(node, rows), [product(shape[:-1]), shape[-1]])
    order = node.reshape(_top(node, keys, count, largest=largest), [*shape[:-1], count])
    order = node.transpose(order, [moved.index(each) for each in range(value.rank)])
    return [builder.gatherElements(x, order, axis=axis), order]


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
        return np.zeros((*shape[:axis], 0, *shape[axis + 1 :]), value.dtype)
    return node.builder.gather(node.reshape(node.operand(0), shape), node.constant(chosen), axis=axis)


def _unknown_shape(node: Node) -> Result:
    """Refused: the shape of the result depends on the elements. What is known and not too large has been folded."""
    node.known(0, "the input, which gives the result its shape,")
    raise Refused(f"the input must have at most 65536 numbers, got {list(node.value(0).shape)}")


RULES: Mapping[str, Callable[[Node], Result | list[Result]]] = MappingProxyType(
    {
        "Compress": _compress,
        "NonZero": _unknown_shape,
        "TopK": _top_k,
        "Unique": _unknown_shape,
    }
)
