"""Linear algebra: factors of matrices, and systems of equations. WebNN has no operation for them, so the steps are unrolled."""

from __future__ import annotations

from collections.abc import Mapping

from webnn.builder.operand import MLOperand
from webnn.importing.steps import Result
from webnn.importing.values import Refused, make_uniform
from webnn.stablehlo.node import Node
from webnn.stablehlo.rules import Rule

__all__ = ["MOST_ROWS", "RULES"]

#: The most rows of a matrix: each one is up to eight operators.
MOST_ROWS = 256


def _check(node: Node) -> int:
    """Return the number of rows of the first operand, which must be a batch of square matrices of floating-point numbers."""
    value = node.value(0)
    if value.rank < 2 or value.shape[-1] != value.shape[-2] or value.dtype.kind != "f":
        raise Refused(f"the operand must be square matrices of floating-point numbers, got {value.dtype.name} {list(value.shape)}")
    if value.shape[-1] > MOST_ROWS:
        raise Refused(f"a matrix must have at most {MOST_ROWS} rows, got {value.shape[-1]}")
    return value.shape[-1]


def _turn(node: Node, operand: MLOperand) -> MLOperand:
    """Transpose matrices."""
    rank = len(operand.descriptor.dimensions)
    return node.builder.transpose(operand, permutation=[*range(rank - 2), rank - 1, rank - 2])


def _block(node: Node, operand: MLOperand, start: tuple[int, int], size: tuple[int, int]) -> MLOperand:
    """Cut a block out of matrices."""
    shape = operand.descriptor.dimensions
    if shape[-2:] == size:
        return operand
    return node.builder.slice(operand, [*[0] * (len(shape) - 2), *start], [*shape[:-2], *size])


def _cholesky(node: Node) -> Result:
    """Unroll the factorization, column by column; of at most 256 rows. The other triangle is 0. `stablehlo#cholesky`."""
    node.expect(1)
    count = _check(node)
    if 0 in node.shape():
        return make_uniform(node.shape(), node.dtype())
    builder = node.builder
    is_lower = node.flag("lower", default=False)
    # Only the triangle that is wanted is read.
    rest = node.operand(0) if is_lower else _turn(node, node.operand(0))
    rank = node.value(0).rank
    columns: list[MLOperand] = []
    for index in range(count):
        size = count - index
        pivot = builder.sqrt(_block(node, rest, (0, 0), (1, 1)))
        below = [builder.div(_block(node, rest, (1, 0), (size - 1, 1)), pivot)] if size > 1 else []
        column = builder.concat([pivot, *below], rank - 2) if below else pivot
        columns.append(builder.pad(column, [*[0] * (rank - 2), index, 0], [0] * rank, value=0) if index else column)
        if below:
            products = builder.mul(below[0], _turn(node, below[0]))
            rest = builder.sub(_block(node, rest, (1, 1), (size - 1, size - 1)), products)
    factor = builder.concat(columns, rank - 1) if count > 1 else columns[0]
    return factor if is_lower else _turn(node, factor)


def _triangular_solve(node: Node) -> Result:
    """Unroll the substitution, row by row; of at most 256 rows. `stablehlo#triangular_solve`."""
    node.expect(2)
    count = _check(node)
    one, other = node.values()
    is_left, is_lower, has_units = node.flag("left_side"), node.flag("lower"), node.flag("unit_diagonal")
    expected = (*one.shape[:-2], count)
    given = (*other.shape[:-2], other.shape[-2 if is_left else -1]) if other.rank == one.rank else ()
    if given != expected or node.shape() != other.shape:
        raise Refused(f"the second operand must fit the matrices {list(one.shape)}, got {list(other.shape)}")
    if 0 in other.shape:
        return make_uniform(node.shape(), node.dtype())
    matrix, right = node.operands()
    mode = node.text("transpose_a", "NO_TRANSPOSE")
    if mode not in ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"):
        raise Refused(f"transpose_a must be NO_TRANSPOSE, TRANSPOSE or ADJOINT, got {mode}")
    # Rows that are solved from the right are columns that are solved from the left.
    if (mode != "NO_TRANSPOSE") == is_left:
        matrix, is_lower = _turn(node, matrix), not is_lower
    right = right if is_left else _turn(node, right)
    found = _substitute(node, matrix, right, is_lower=is_lower, has_units=has_units)
    return found if is_left else _turn(node, found)


def _substitute(node: Node, matrix: MLOperand, right: MLOperand, *, is_lower: bool, has_units: bool) -> MLOperand:
    """Solve systems with a triangular matrix: each row that is found is taken out of those that are left."""
    builder = node.builder
    count, width = right.descriptor.dimensions[-2:]
    rows: list[MLOperand] = []
    for step in range(count):
        left = count - step
        index = step if is_lower else left - 1
        row = _block(node, right, (0 if is_lower else left - 1, 0), (1, width))
        if not has_units:
            row = builder.div(row, _block(node, matrix, (index, index), (1, 1)))
        rows.append(row)
        if left > 1:
            factors = _block(node, matrix, (index + 1 if is_lower else 0, index), (left - 1, 1))
            right = builder.sub(_block(node, right, (1 if is_lower else 0, 0), (left - 1, width)), builder.mul(factors, row))
    ordered = rows if is_lower else rows[::-1]
    return builder.concat(ordered, len(matrix.descriptor.dimensions) - 2) if count > 1 else rows[0]


RULES: Mapping[str, Rule] = {"stablehlo.cholesky": _cholesky, "stablehlo.triangular_solve": _triangular_solve}
