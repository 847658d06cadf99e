"""Sums of products: the matrices of `dot` and `dot_general`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from webnn.hlo.attributes import DotDimensionNumbers
from webnn.importing.values import Refused, Value
from webnn.stablehlo.node import Node
from webnn.stablehlo.reducing import check_shape

if TYPE_CHECKING:
    pass

__all__ = ["Contraction", "read_contraction", "read_dot"]


@dataclass(frozen=True, slots=True)
class Contraction:
    """Which dimensions of two tensors are paired: as batches, which stay, or to be multiplied and added up; others are free."""

    shapes: tuple[tuple[int, ...], tuple[int, ...]]
    batch: tuple[list[int], list[int]]
    summed: tuple[list[int], list[int]]
    free: tuple[list[int], list[int]]

    def sizes(self, side: int, dimensions: Sequence[int]) -> list[int]:
        """Return the sizes of some dimensions of a tensor."""
        return [self.shapes[side][dimension] for dimension in dimensions]

    @property
    def shape(self) -> list[int]:
        """The shape of the result."""
        return [*self.sizes(0, self.batch[0]), *self.sizes(0, self.free[0]), *self.sizes(1, self.free[1])]

    @property
    def rows(self) -> int:
        """The number of rows of the first matrix."""
        return math.prod(self.sizes(0, self.free[0]))

    @property
    def inner(self) -> int:
        """The number of products in each sum."""
        return math.prod(self.sizes(0, self.summed[0]))

    @property
    def columns(self) -> int:
        """The number of columns of the second matrix."""
        return math.prod(self.sizes(1, self.free[1]))

    def order(self, side: int) -> list[int]:
        """Return the order of a tensor's dimensions in which it is a batch of matrices that can be multiplied."""
        tail = [*self.free[0], *self.summed[0]] if side == 0 else [*self.summed[1], *self.free[1]]
        return [*self.batch[side], *tail]

    def turned(self, side: int) -> list[int]:
        """Return the order in which it is a batch of such matrices transposed."""
        tail = [*self.summed[0], *self.free[0]] if side == 0 else [*self.free[1], *self.summed[1]]
        return [*self.batch[side], *tail]


def read_dot(node: Node) -> Contraction:
    """Return what `dot` contracts: the last dimension of the first operand, and the first one of the second."""
    node.expect(2)
    one, other = node.values()
    if one.rank not in (1, 2) or other.rank not in (1, 2):
        raise Refused(f"the operands must be vectors or matrices, got {list(one.shape)} and {list(other.shape)}")
    return _contract(node, one, other, DotDimensionNumbers(lhs_contracting_dimensions=(one.rank - 1,), rhs_contracting_dimensions=(0,)))


def read_contraction(node: Node) -> Contraction:
    """Return what `dot_general` contracts, whose dimensions, shapes and result fit."""
    node.expect(2)
    one, other = node.values()
    return _contract(node, one, other, node.attribute("dot_dimension_numbers", DotDimensionNumbers))


def _contract(node: Node, one: Value, other: Value, numbers: DotDimensionNumbers) -> Contraction:
    batch = list(numbers.lhs_batching_dimensions), list(numbers.rhs_batching_dimensions)
    summed = list(numbers.lhs_contracting_dimensions), list(numbers.rhs_contracting_dimensions)
    shapes = one.shape, other.shape
    free: list[list[int]] = []
    for shape, kept, paired in zip(shapes, batch, summed, strict=True):
        named = [*kept, *paired]
        if len(set(named)) < len(named) or any(not 0 <= dimension < len(shape) for dimension in named):
            raise Refused(f"the dimension numbers must name each dimension from 0 to {len(shape) - 1} at most once, got {named}")
        free.append([dimension for dimension in range(len(shape)) if dimension not in named])
    for what, (left, right) in (("batching", batch), ("contracting", summed)):
        sizes = [[shape[dimension] for dimension in side] for shape, side in zip(shapes, (left, right), strict=True)]
        if sizes[0] != sizes[1]:
            raise Refused(f"the {what} dimensions must have equal sizes, got {sizes[0]} and {sizes[1]}")
    # The order of the sums is free: the one that moves fewer elements is taken.
    pairs = list(zip(*summed, strict=True))
    found = [
        Contraction(shapes, batch, ([pair[0] for pair in ordered], [pair[1] for pair in ordered]), (free[0], free[1]))
        for ordered in (sorted(pairs), sorted(pairs, key=lambda pair: pair[1]))
    ]
    best = min(found, key=lambda each: sum(each.order(side) != sorted(each.order(side)) for side in (0, 1)))
    check_shape(node, best.shape)
    return best
