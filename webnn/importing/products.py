"""Products of matrices of all element types."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from webnn.importing.values import Refused, Value, carrier

if TYPE_CHECKING:
    from webnn.builder.operand import MLOperand
    from webnn.importing.steps import Steps
    from webnn.validation.descriptor import DataType

__all__ = ["EXACT", "largest", "multiply_matrices"]

#: The integers that float32 holds exactly.
EXACT = 1 << 24
#: The most products of integers that are held at once, and the most parts that a sum is made of.
_MOST_PRODUCTS, _MOST_PARTS = 1 << 24, 256


def multiply_matrices(steps: Steps, one: Value, other: Value, dtype: np.dtype[Any]) -> MLOperand:
    """Multiply batches of matrices: [..., m, k] by [..., k, n]. The result can be cast to the wanted element type.

    Floating-point numbers are a matmul. Integers of 8 bits are one, too: in float32, of few enough elements that all sums are exact. Other
    integers are products that are added up. Booleans are 1 if a sum is not 0.
    """
    builder = steps.builder
    operands = steps.operand_of(one), steps.operand_of(other)
    if dtype.kind == "f":
        wide: DataType = "float32" if "float32" in (carrier(dtype), *(operand.descriptor.dataType for operand in operands)) else "float16"
        return builder.matmul(steps.cast(operands[0], wide), steps.cast(operands[1], wide))
    is_wide = dtype.kind in "iu" and dtype.itemsize == 8
    bound = largest(one.dtype) * largest(other.dtype)
    if bound <= 1 << 16:
        step = EXACT // bound
        multiplied = [
            builder.cast(builder.matmul(left, right), "int64" if is_wide else "int32")
            for left, right in _parts(steps, [steps.cast(operand, "float32") for operand in operands], step)
        ]
    else:
        kind = carrier(dtype) if is_wide or dtype == np.uint32 else "int32"
        shapes = [operand.descriptor.dimensions for operand in operands]
        count = math.prod(np.broadcast_shapes(shapes[0][:-2], shapes[1][:-2])) * shapes[0][-2] * shapes[1][-1]
        step = max(_MOST_PRODUCTS // count, 1)
        multiplied = [
            _add_products(steps, left, right) for left, right in _parts(steps, [steps.cast(each, kind) for each in operands], step)
        ]
    total = multiplied[0]
    for part in multiplied[1:]:
        total = builder.add(total, part)
    return builder.notEqual(total, steps.scalar(0, total)) if dtype == np.bool_ else total


def largest(dtype: np.dtype[Any]) -> int:
    """Return a bound for the absolute values of an element type; a power of two."""
    return 1 if dtype == np.bool_ else 1 << (8 * dtype.itemsize - (dtype.kind == "i"))


def _parts(steps: Steps, operands: Sequence[MLOperand], step: int) -> list[tuple[MLOperand, MLOperand]]:
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
        left = steps.builder.slice(one, [*[0] * (len(shapes[0]) - 1), start], [*shapes[0][:-1], size])
        right = steps.builder.slice(other, [*[0] * (len(shapes[1]) - 2), start, 0], [*shapes[1][:-2], size, shapes[1][-1]])
        found.append((left, right))
    return found


def _add_products(steps: Steps, one: MLOperand, other: MLOperand) -> MLOperand:
    left, right = one.descriptor.dimensions, other.descriptor.dimensions
    products = steps.builder.mul(steps.reshape(one, [*left, 1]), steps.reshape(other, [*right[:-2], 1, *right[-2:]]))
    return steps.builder.reduceSum(products, axes=[len(products.descriptor.dimensions) - 2])
