"""Matrix products and determinants."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import cast

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.builder.options import MLGemmOptions
from webnn.importing.products import EXACT, multiply_matrices
from webnn.importing.steps import value_of
from webnn.importing.values import Array, Refused, Value
from webnn.onnx.node import Node
from webnn.onnx.quantized import per_axis, subtract_zero

__all__ = ["RULES", "lift", "matmul_integer", "multiply", "unlift"]

#: The largest matrix whose determinant is written out.
_MOST_ROWS = 3


def lift(a: Sequence[int], b: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the shapes of two factors as matrices: a vector is a row on the left and a column on the right."""
    if not a or not b:
        raise Refused(f"the factors must have at least one dimension, got {list(a)} and {list(b)}")
    left = [1, *a] if len(a) == 1 else list(a)
    right = [*b, 1] if len(b) == 1 else list(b)
    if left[-1] != right[-2]:
        raise Refused(f"the factors must have the same number of columns and rows, got {list(a)} and {list(b)}")
    return left, right


def unlift(node: Node, product: MLOperand, a: Sequence[int], b: Sequence[int]) -> MLOperand:
    """Take the dimensions away from a product that `lift` gave to its factors."""
    shape = list(product.descriptor.dimensions)
    if len(b) == 1:
        del shape[-1]
    if len(a) == 1:
        del shape[-1 if len(b) == 1 else -2]
    return node.reshape(product, shape)


def multiply(node: Node, a: MLOperand, b: MLOperand) -> MLOperand:
    """Multiply matrices, at least 2-D."""
    value = value_of(a)
    return multiply_matrices(node, value, value_of(b), value.dtype)


def _matmul(node: Node) -> MLOperand:
    """Map to matmul. Of integers, products are added."""
    a, b = node.value(0).shape, node.value(1).shape
    left, right = lift(a, b)
    return unlift(node, multiply(node, node.reshape(node.operand(0), left), node.reshape(node.operand(1), right)), a, b)


def _gemm(node: Node) -> MLOperand:
    """Map to gemm. Of integers, only the factors 1 are supported."""
    options: MLGemmOptions = {
        "alpha": node.number("alpha", 1.0),
        "beta": node.number("beta", 1.0),
        "aTranspose": bool(node.integer("transA", 0)),
        "bTranspose": bool(node.integer("transB", 0)),
    }
    a, b = node.operand(0), node.operand(1)
    if node.is_float(a):
        if node.given(2):
            options["c"] = node.operand(2)
        return node.builder.gemm(a, b, options)
    if options["alpha"] != 1 or (node.given(2) and options["beta"] != 1):
        raise Refused(f"alpha and beta must be 1 for integers, got {options['alpha']:g} and {options['beta']:g}")
    if node.value(0).rank != 2 or node.value(1).rank != 2:
        raise Refused(f"the factors must be matrices, got {list(node.value(0).shape)} and {list(node.value(1).shape)}")
    a = node.transpose(a, [1, 0]) if options["aTranspose"] else a
    b = node.transpose(b, [1, 0]) if options["bTranspose"] else b
    product = multiply(node, a, b)
    return node.builder.add(product, node.operand(2)) if node.given(2) else product


def _matmul_integer(node: Node) -> MLOperand | Value:
    """Map to matmul of the integers less their zero points, in float32. Factors are split where sums would not be exact."""
    a, b = node.value(0).shape, node.value(1).shape
    left, right = lift(a, b)
    product = unlift(node, matmul_integer(node, left, right, (2, 3)), a, b)
    return node.as_integers(product) if node.is_float(product) else product


def matmul_integer(node: Node, left: Sequence[int], right: Sequence[int], zeros: tuple[int, int]) -> MLOperand:
    """Multiply the integers of the first two inputs less their zero points, exactly: as float32 if that has the sums, otherwise as int32.

    ``zeros`` are the inputs that are their zero points: one for each row, or one for each column.
    """
    length = left[-1]
    longest = EXACT // (_reach(node, 0, zeros[0]) * _reach(node, 1, zeros[1]))
    if longest < length and _column_sum(node, right, zeros[1]) * _reach(node, 0, zeros[0]) <= EXACT:
        longest = length
    sizes = [min(longest, length - start) for start in range(0, length, longest)] or [length]
    rows = _parts(node, 0, left, zeros[0], -2, sizes)
    columns = _parts(node, 1, right, zeros[1], -1, sizes)
    builder = node.builder
    if len(sizes) == 1:
        return builder.matmul(rows[0], columns[0])
    # The sum is int32, and wraps.
    products = [builder.cast(builder.matmul(*each), "int32") for each in zip(rows, columns, strict=True)]
    return reduce(builder.add, products)


def _parts(node: Node, index: int, shape: Sequence[int], zero: int, axis: int, sizes: Sequence[int]) -> list[MLOperand]:
    """Cut a factor of integers along the sums, and subtract its zero point, which has one number for each index of an axis, or one."""
    given = node.value(zero) if node.given(zero) else None
    spread = per_axis("the zero point", () if given is None else given.shape, shape, axis)
    array = node.find_array(node.value(index))
    # The other one of the last two axes.
    cut = len(shape) - 3 - axis
    if len(sizes) == 1:
        parts = [node.reshape(node.operand(index), shape)]
    elif array is not None:
        parts = [node.constant(each) for each in np.split(array.reshape(shape), np.cumsum(sizes)[:-1], cut)]
    else:
        parts = node.builder.split(node.reshape(node.operand(index), shape), list(sizes), axis=cut)
    return [subtract_zero(node, each, given, spread) for each in parts]


def _column_sum(node: Node, shape: Sequence[int], zero: int) -> float:
    """Return the largest sum of the absolute values of a column of the right factor, less its zero point, if it is known."""
    array = node.find_array(node.value(1))
    known = node.find_array(node.value(zero)) if node.given(zero) else np.zeros((), np.int32)
    if array is None or known is None:
        return np.inf
    spread = per_axis("the zero point", known.shape, shape, -1)
    values = np.abs(array.reshape(shape).astype(np.float32) - known.reshape(spread).astype(np.float32))
    # Where float32 has the sums, a product computes them: ten times as fast.
    sums = np.ones(shape[-2], np.float32) @ values if shape[-2] <= EXACT // 255 else values.sum(-2, np.float64)
    return float(sums.max())


def _reach(node: Node, index: int, zero: int) -> int:
    """Return the largest absolute value of an input less its zero point."""
    dtype = node.value(index).dtype
    if dtype not in (np.int8, np.uint8):
        raise Refused(f"the factors must be int8 or uint8, got {dtype.name}")
    info = np.iinfo(dtype)
    if not node.given(zero):
        return max(int(info.max), -int(info.min))
    known = node.find_array(node.value(zero))
    if known is None or not known.size:
        return int(info.max) - int(info.min)
    return max(int(info.max) - int(known.min()), int(known.max()) - int(info.min))


def _det(node: Node) -> MLOperand:
    """Write the determinant out. Matrices of more than 3 rows are refused."""
    shape = node.value(0).shape
    if len(shape) < 2 or shape[-1] != shape[-2] or not 1 <= shape[-1] <= _MOST_ROWS:
        raise Refused(f"the matrices must be square, with at most {_MOST_ROWS} rows, got {list(shape)}")
    builder = node.builder
    size, batch = shape[-1], list(shape[:-2])
    parts = node.reshape(node.operand(0), [*batch, size * size])
    elements = [parts] if size == 1 else builder.split(parts, size * size, axis=len(batch))
    cells = np.empty((size, size), object)
    for index, element in enumerate(elements):
        cells[divmod(index, size)] = node.reshape(element, batch)
    return _expand(node, cells)


def _expand(node: Node, cells: Array) -> MLOperand:
    """Return the determinant of a matrix of operands, along its first row."""
    if len(cells) == 1:
        return cast("MLOperand", cells[0, 0])
    total: MLOperand | None = None
    for column in range(len(cells)):
        minor = _expand(node, np.delete(cells[1:], column, 1))
        term = node.builder.mul(cells[0, column], minor)
        if total is None:
            total = term
        else:
            total = node.builder.sub(total, term) if column % 2 else node.builder.add(total, term)
    return cast("MLOperand", total)


RULES: Mapping[str, Callable[[Node], MLOperand | Value]] = {"Det": _det, "Gemm": _gemm, "MatMul": _matmul, "MatMulInteger": _matmul_integer}
