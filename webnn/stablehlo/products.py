"""Sums of products: what `dot_general` is in terms of matrices, and matrix products of all element types."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from webnn.hlo.attributes import DotDimensionNumbers
from webnn.importing.values import Refused, Value, carrier
from webnn.stablehlo.node import Node
from webnn.stablehlo.reducing import check_shape

if TYPE_CHECKING:
    from webnn.builder.operand import MLOperand
    from webnn.validation.descriptor import DataType

__all__ = ["Contraction", "largest", "multiply_matrices", "read_contraction", "read_dot"]

#: The integers that float32 holds exactly.
_EXACT = 1 << 24
#: The most products of integers that are held at once, and the most parts that a sum is made of.
_MOST_PRODUCTS, _MOST_PARTS = 1 << 24, 256


@dataclass(frozen=True, slots=True)
class Contraction:
    """Which dimensions of two tensors are paired.

    Attributes:
        shapes: The shapes of both.
        batch: The dimensions that both have, and that stay: those of each tensor.
        summed: The dimensions that are multiplied and added up, those of each tensor.
        free: The dimensions that only one tensor has.
    """

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
    """Return what `dot_general` contracts.

    Raises:
        Refused: Dimensions, shapes or the result do not fit.
    """
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


def multiply_matrices(node: Node, one: Value, other: Value, dtype: np.dtype[Any]) -> MLOperand:
    """Multiply batches of matrices: [..., m, k] by [..., k, n]. The result has an element type to which that wanted can be cast.

    Floating-point numbers are a matmul. Integers of 8 bits are one, too: in float32, of few enough elements that all sums are exact. Other
    integers are products that are added up. Booleans are 1 if a sum is not 0.
    """
    builder = node.builder
    operands = node.operand_of(one), node.operand_of(other)
    if dtype.kind == "f":
        wide: DataType = "float32" if "float32" in (carrier(dtype), *(operand.descriptor.dataType for operand in operands)) else "float16"
        return builder.matmul(node.cast(operands[0], wide), node.cast(operands[1], wide))
    is_wide = dtype.kind in "iu" and dtype.itemsize == 8
    bound = largest(one.dtype) * largest(other.dtype)
    if bound <= 1 << 16:
        step = _EXACT // bound
        multiplied = [
            builder.cast(builder.matmul(left, right), "int64" if is_wide else "int32")
            for left, right in _parts(node, [node.cast(operand, "float32") for operand in operands], step)
        ]
    else:
        kind = carrier(dtype) if is_wide or dtype == np.uint32 else "int32"
        shapes = [operand.descriptor.dimensions for operand in operands]
        count = math.prod(np.broadcast_shapes(shapes[0][:-2], shapes[1][:-2])) * shapes[0][-2] * shapes[1][-1]
        step = max(_MOST_PRODUCTS // count, 1)
        multiplied = [_add_products(node, left, right) for left, right in _parts(node, [node.cast(each, kind) for each in operands], step)]
    total = multiplied[0]
    for part in multiplied[1:]:
        total = builder.add(total, part)
    return builder.notEqual(total, node.scalar(0, total)) if dtype == np.bool_ else total


def largest(dtype: np.dtype[Any]) -> int:
    """Return a bound for the absolute values of an element type; a power of two."""
    return 1 if dtype == np.bool_ else 1 << (8 * dtype.itemsize - (dtype.kind == "i"))


def _parts(node: Node, operands: Sequence[MLOperand], step: int) -> list[tuple[MLOperand, MLOperand]]:
    """Cut two batches of matrices into parts of at most `step` products in each sum."""
    one, other = operands
    shapes = one.descriptor.dimensions, other.descriptor.dimensions
    count = shapes[0][-1]
    if count <= step:
        return [(one, other)]
    if count > step * _MOST_PARTS:
        raise Refused(f"a product of integers must have at most {step * _MOST_PARTS} elements in each sum, got {count}")
    found = []
    for start in range(0, count, step):
        size = min(step, count - start)
        left = node.builder.slice(one, [*[0] * (len(shapes[0]) - 1), start], [*shapes[0][:-1], size])
        right = node.builder.slice(other, [*[0] * (len(shapes[1]) - 2), start, 0], [*shapes[1][:-2], size, shapes[1][-1]])
        found.append((left, right))
    return found


def _add_products(node: Node, one: MLOperand, other: MLOperand) -> MLOperand:
    left, right = one.descriptor.dimensions, other.descriptor.dimensions
    products = node.builder.mul(node.reshape(one, [*left, 1]), node.reshape(other, [*right[:-2], 1, *right[-2:]]))
    return node.builder.reduceSum(products, axes=[len(products.descriptor.dimensions) - 2])
