"""Elements in order. WebNN has no operation for it: few are compared with each other, many go through a bitonic network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.importing.along import invert_order
from webnn.importing.steps import Steps, limit_of
from webnn.importing.values import Refused
from webnn.validation.descriptor import SMALL_TYPES

__all__ = ["Keys", "find_order", "make_key", "make_positions", "order_by"]

#: Tells which of some elements come before others; both have one operand for each key.
Precedes: TypeAlias = "Callable[[Sequence[MLOperand], Sequence[MLOperand]], MLOperand]"

#: The most elements of a dimension that can be put in order.
_MOST = 1 << 28
#: Up to this number of elements, all are compared with each other; more go through a network.
_MOST_COMPARED = 512
#: The most comparisons at once.
_MOST_AT_ONCE = 1 << 24


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys that put elements in order.

    Attributes:
        shape: The elements: [before, n, behind].
        operands: The keys, which broadcast to the shape. The last one, int32, differs for all elements: it is the position along n, plus or
            minus n where that changes the order of elements whose other keys are equal.
        precedes: Which elements come before others.
        worst: Values for the other keys of an element that comes behind all others if its last key is great; None if they are not known.
    """

    shape: tuple[int, int, int]
    operands: Sequence[MLOperand]
    precedes: Precedes
    worst: tuple[float, ...] | None = None


def make_positions(steps: Steps, size: int) -> MLOperand:
    """Return the positions along a dimension: [1, n, 1], int32."""
    return steps.constant(steps.positions(size).reshape(1, size, 1))


def find_order(steps: Steps, keys: MLOperand) -> MLOperand:
    """Return the positions of integers in their order: [n], of equal ones the earlier one first."""
    size = keys.descriptor.dimensions[0]
    return steps.reshape(order_by(steps, make_key(steps, steps.reshape(keys, [1, size, 1])), size), [size])


def make_key(steps: Steps, key: MLOperand, *, is_descending: bool = False, is_total: bool = False) -> Keys:
    """Return keys for elements that are compared by one: [before, n, behind].

    In a total order -0.0 is less than 0.0. NaN is the greatest key anyway, whatever its sign, which WebNN does not show.
    """
    builder = steps.builder
    before, size, behind = key.descriptor.dimensions
    ties = make_positions(steps, size)
    if steps.is_float(key):
        is_nan = builder.isNaN(key)
        if is_total:
            # The classes of keys that are equal otherwise: NaN as infinity, and the zeros.
            zero = steps.scalar(0, key)
            is_negative_zero = builder.logicalAnd(builder.equal(key, zero), builder.lesser(builder.reciprocal(key), zero))
            classes = builder.sub(steps.cast(is_nan, "int32"), steps.cast(is_negative_zero, "int32"))
            ties = builder.add(ties, builder.mul(classes, steps.scalar(-size if is_descending else size, "int32")))
        key = builder.where(is_nan, steps.scalar(np.inf, key), key)
    elif key.descriptor.dataType in ("int8", "uint8", *SMALL_TYPES):
        key = steps.cast(key, "int32")
    compare = builder.greater if is_descending else builder.lesser

    def precedes(one: Sequence[MLOperand], other: Sequence[MLOperand]) -> MLOperand:
        is_earlier = builder.logicalAnd(builder.equal(one[0], other[0]), builder.lesser(one[1], other[1]))
        return builder.logicalOr(compare(one[0], other[0]), is_earlier)

    return Keys((before, size, behind), [key, ties], precedes, (limit_of(key, is_least=is_descending),))


def order_by(steps: Steps, keys: Keys, count: int, *, most: int = _MOST) -> MLOperand:
    """Return the positions of the first elements in order: [before, count, behind], int32.

    Raises:
        Refused: There are too many elements.
    """
    before, size, behind = keys.shape
    if size > most:
        raise Refused(f"at most {most} elements can be put in order, got {size}")
    if size <= _MOST_COMPARED and before * size * size * behind <= _MOST_AT_ONCE:
        return _rank(steps, keys, count)
    return _Network(steps, keys).run(count)


def _rank(steps: Steps, keys: Keys, count: int) -> MLOperand:
    """Compare all elements with each other. The number of those before an element is where its position is scattered to."""
    builder = steps.builder
    before, size, behind = keys.shape
    shapes = [key.descriptor.dimensions for key in keys.operands]
    one = [steps.reshape(key, [shape[0], shape[1], 1, shape[2]]) for key, shape in zip(keys.operands, shapes, strict=True)]
    other = [steps.reshape(key, [shape[0], 1, *shape[1:]]) for key, shape in zip(keys.operands, shapes, strict=True)]
    ranks = builder.reduceSum(steps.cast(keys.precedes(other, one), "int32"), axes=[2], keepDimensions=False)
    ranks = _expand(steps, ranks, keys.shape)
    order = invert_order(steps, ranks, make_positions(steps, size))
    return builder.slice(order, [0, 0, 0], [before, count, behind]) if count < size else order


def _expand(steps: Steps, operand: MLOperand, shape: Sequence[int]) -> MLOperand:
    return operand if operand.descriptor.dimensions == tuple(shape) else steps.builder.expand(operand, list(shape))


class _Network:
    """A bitonic network: in each stage, pairs of elements are put in order."""

    def __init__(self, steps: Steps, keys: Keys) -> None:
        self._steps = steps
        self._keys = [_expand(steps, key, keys.shape) for key in keys.operands]
        self._precedes = keys.precedes
        self._worst = keys.worst
        self._before, self._size, self._behind = keys.shape
        #: How many elements there are now, and whether some were added that only their last key tells.
        self._now = self._size
        self._is_padded = False

    def run(self, count: int) -> MLOperand:
        """Return the positions of the first elements in order. It can be called once.

        Blocks of a power of two are ordered, every other one backwards. Then the first elements of two blocks become one, and so on.
        """
        block = 1 << (count - 1).bit_length()
        blocks = -(-self._size // block)
        self._pad(blocks * block)
        width = 2
        while width <= block:
            self._merge(width)
            width *= 2
        while blocks > 1:
            blocks = -(-blocks // 2)
            self._pad(blocks * 2 * block)
            self._halve(block)
            self._merge(block)
        found = self._steps.reshape(self._keys[-1], [self._before, block, self._behind])
        if count < block:
            found = self._steps.builder.slice(found, [0, 0, 0], [self._before, count, self._behind])
        # The positions are the last keys modulo n.
        builder, size = self._steps.builder, self._steps.scalar(self._size, "int32")
        positive = builder.add(found, size)
        return builder.sub(positive, builder.mul(builder.div(positive, size), size))

    def _pad(self, size: int) -> None:
        """Add elements that come behind all others: the last key tells."""
        more = size - self._now
        if more:
            shape = [self._before, self._now, self._behind]
            values = [*(self._worst or [0] * (len(self._keys) - 1)), 8 * _MOST - 1]
            self._keys = [
                self._steps.builder.pad(self._steps.reshape(key, shape), [0, 0, 0], [0, more, 0], mode="constant", value=value)
                for key, value in zip(self._keys, values, strict=True)
            ]
            self._now = size
            # Otherwise the keys tell that they come behind all others.
            self._is_padded = self._worst is None

    def _is_before(self, one: Sequence[MLOperand], other: Sequence[MLOperand]) -> MLOperand:
        builder = self._steps.builder
        found = self._precedes(one, other)
        if not self._is_padded:
            return found
        limit = self._steps.scalar(4 * _MOST, "int32")
        is_element, is_added = builder.lesser(one[-1], limit), builder.greater(other[-1], limit)
        return builder.logicalAnd(is_element, builder.logicalOr(is_added, found))

    def _pairs(self, distance: int) -> tuple[list[MLOperand], list[MLOperand]]:
        """Return the elements whose partners are behind them at a distance, and the partners: [before, pairs, 1, distance * behind]."""
        shape = [self._before, self._now // (2 * distance), 2, distance * self._behind]
        halves = [self._steps.builder.split(self._steps.reshape(key, shape), 2, axis=2) for key in self._keys]
        return [half[0] for half in halves], [half[1] for half in halves]

    def _merge(self, width: int) -> None:
        """Order blocks that rise and then fall, or the other way round; every other one backwards."""
        builder = self._steps.builder
        distance = width // 2
        while distance:
            low, high = self._pairs(distance)
            is_swapped = self._is_before(high, low)
            self._steps.spend(self._now // (2 * distance))
            backwards = ((np.arange(self._now // (2 * distance)) * 2 * distance) & width) > 0
            if backwards.any():
                is_swapped = builder.logicalXor(is_swapped, self._steps.constant(backwards.astype(np.uint8).reshape(1, -1, 1, 1)))
            self._keys = [
                builder.concat([builder.where(is_swapped, b, a), builder.where(is_swapped, a, b)], 2)
                for a, b in zip(low, high, strict=True)
            ]
            distance //= 2

    def _halve(self, block: int) -> None:
        """Keep the first elements of each pair of blocks, of which the second one is backwards."""
        low, high = self._pairs(block)
        is_better = self._is_before(high, low)
        self._keys = [self._steps.builder.where(is_better, b, a) for a, b in zip(low, high, strict=True)]
        self._now //= 2
