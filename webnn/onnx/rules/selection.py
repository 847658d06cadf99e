"""Operators that choose elements by their values: the largest ones, those that meet a condition, different ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from webnn.importing.along import invert_order, take_along
from webnn.importing.steps import Result, limit_of, product
from webnn.importing.values import Refused
from webnn.onnx.node import Node

if TYPE_CHECKING:
    from webnn.builder.operand import MLOperand

__all__ = ["RULES"]

#: Rows of at most so many elements are put in order by comparing all of them with each other.
_MOST_COMPARED_OF_ROW = 512
#: The most comparisons at once.
_MOST_COMPARED = 1 << 24


def _order(node: Node, keys: MLOperand, count: int, *, largest: bool) -> MLOperand:
    """Return the positions of the first elements of each row in order, of equal ones the earlier one first: [rows, n] to [rows, count].

    The rank of an element is the number of those that come before it: the ranks are where the positions are scattered to.
    """
    builder = node.builder
    rows, size = keys.descriptor.dimensions
    numbers = np.arange(size, dtype=np.int32)
    positions = node.constant(numbers)
    is_earlier = builder.lesser(positions, node.constant(numbers.reshape(size, 1)))
    one, other = node.reshape(keys, [rows, size, 1]), node.reshape(keys, [rows, 1, size])
    compare = builder.greater if largest else builder.lesser
    is_before = builder.logicalOr(compare(other, one), builder.logicalAnd(builder.equal(other, one), is_earlier))
    ranks = builder.reduceSum(node.cast(is_before, "int32"), axes=[2], keepDimensions=False)
    order = invert_order(node, node.reshape(ranks, [rows, size, 1]), node.reshape(positions, [1, size, 1]))
    order = node.reshape(order, [rows, size])
    return builder.slice(order, [0, 0], [rows, count]) if count < size else order


class _Network:
    """A bitonic network: each stage compares each element of a row with one other.

    Args:
        node: The node.
        keys: The elements: [rows, n].
        largest: The largest ones come first.
    """

    def __init__(self, node: Node, keys: MLOperand, *, largest: bool) -> None:
        rows, size = keys.descriptor.dimensions
        self._node = node
        self._largest = largest
        self._keys = keys
        self._positions = node.builder.expand(node.constant(np.arange(size, dtype=np.int32)), [rows, size])

    def order(self, count: int) -> MLOperand:
        """Return the positions of the first elements of each row in order, as `_order` does. It can be called once.

        It orders blocks of a power of two, and then merges two blocks to one of the same size until there is one.
        """
        rows, size = self._keys.descriptor.dimensions
        block = 1 << (count - 1).bit_length()
        blocks = -(-size // block)
        self._pad(blocks * block - size)
        self._reshape(rows * blocks, block)
        width = 2
        while width <= block:
            self._exchange(width - 1)
            self._halve(width // 4)
            width *= 2
        while blocks > 1:
            self._reshape(rows, blocks * block)
            self._pad(blocks % 2 * block)
            blocks = -(-blocks // 2)
            self._reshape(rows * blocks, 2 * block)
            self._exchange(2 * block - 1)
            self._cut(block)
            self._halve(block // 2)
        self._cut(count)
        return self._positions

    def _exchange(self, mask: int) -> None:
        """Compare each element with the one whose place differs in the bits of a mask; the better one goes first."""
        builder = self._node.builder
        keys, positions = self._keys, self._positions
        places = np.arange(keys.descriptor.dimensions[1], dtype=np.int32)
        other = self._node.constant(places ^ mask)
        goes_last = self._node.constant((places > places ^ mask).astype(np.uint8))
        key, position = builder.gather(keys, other, axis=1), builder.gather(positions, other, axis=1)
        is_better = builder.greater(key, keys) if self._largest else builder.lesser(key, keys)
        is_earlier = builder.logicalAnd(builder.equal(key, keys), builder.lesser(position, positions))
        is_taken = builder.logicalXor(builder.logicalOr(is_better, is_earlier), goes_last)
        self._keys, self._positions = builder.where(is_taken, key, keys), builder.where(is_taken, position, positions)

    def _halve(self, distance: int) -> None:
        """Exchange at a distance, at half of it, and so on."""
        while distance:
            self._exchange(distance)
            distance //= 2

    def _pad(self, count: int) -> None:
        """Add elements to each row that come after all others."""
        if count:
            pad = self._node.builder.pad
            worst = limit_of(self._keys, is_least=self._largest)
            self._keys = pad(self._keys, [0, 0], [0, count], mode="constant", value=worst)
            self._positions = pad(self._positions, [0, 0], [0, count], mode="constant", value=2**31 - 1)

    def _cut(self, count: int) -> None:
        """Keep the first elements of each row."""
        rows, size = self._keys.descriptor.dimensions
        if count < size:
            self._keys = self._node.builder.slice(self._keys, [0, 0], [rows, count])
            self._positions = self._node.builder.slice(self._positions, [0, 0], [rows, count])

    def _reshape(self, rows: int, size: int) -> None:
        self._keys, self._positions = (self._node.reshape(each, [rows, size]) for each in (self._keys, self._positions))


def _top_k(node: Node) -> list[Result]:
    """Map to argMax or argMin for k = 1, otherwise compare all elements with each other, or by a network if there are many.

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
        return [np.zeros(shape, value.dtype), np.zeros(shape, np.int64)]
    largest = node.flag("largest", default=True)
    x = node.operand(0)
    if count == 1:
        best = (builder.argMax if largest else builder.argMin)(_with_nan_last(node, x), axis, keepDimensions=True, outputDataType="int32")
        return [take_along(node, x, best, axis), best]
    moved = [*(each for each in range(value.rank) if each != axis), axis]
    rows = node.transpose(x, moved)
    shape = rows.descriptor.dimensions
    keys = node.reshape(_with_nan_last(node, rows), [product(shape[:-1]), shape[-1]])
    if shape[-1] <= _MOST_COMPARED_OF_ROW and product(shape) * shape[-1] <= _MOST_COMPARED:
        order = _order(node, keys, count, largest=largest)
    else:
        order = _Network(node, keys, largest=largest).order(count)
    order = node.reshape(order, [*shape[:-1], count])
    order = node.transpose(order, [moved.index(each) for each in range(value.rank)])
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
