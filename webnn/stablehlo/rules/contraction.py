"""Products of matrices and of tensors."""

from __future__ import annotations

from collections.abc import Mapping

from webnn.importing.products import multiply_matrices
from webnn.importing.steps import Result
from webnn.importing.values import Value, carrier, make_uniform
from webnn.stablehlo.node import Node
from webnn.stablehlo.products import Contraction, read_contraction, read_dot
from webnn.stablehlo.rules import Rule
from webnn.stablehlo.tensors import permute, reshape

__all__ = ["RULES"]


def _dot(node: Node) -> Result:
    """Map to matmul. `stablehlo#dot`."""
    return _multiply(node, read_dot(node))


def _dot_general(node: Node) -> Result:
    """Map to matmul, after transposes and reshapes where they are needed; of two matrices one of which is transposed to gemm.

    Integers of 8 bits are a matmul in float32 of exact sums, other integers are products that reduceSum adds up. A product without a sum is
    a mul. `stablehlo#dot_general`.
    """
    return _multiply(node, read_contraction(node))


def _multiply(node: Node, contraction: Contraction) -> Result:
    shape, dtype = node.shape(), node.dtype()
    values = node.values()
    if 0 in shape or not contraction.inner:
        return make_uniform(shape, dtype)
    if not contraction.summed[0]:
        return _multiply_all(node, contraction)
    is_float = dtype.kind == "f"
    # Matrices, or a batch of them; those of the second operand are multiplied by each one of the first if it has no batch.
    batch = contraction.sizes(0, contraction.batch[0])
    matrices: list[Value] = []
    turned: list[bool] = []
    for side, value in enumerate(values):
        order = contraction.order(side)
        is_turned = is_float and not batch and value.array is None and order != sorted(order) and contraction.turned(side) == sorted(order)
        count = [contraction.rows] if side == 0 else [contraction.columns]
        if side == 0 and not batch and not is_turned and len(contraction.free[1]) == 1 and contraction.free[0]:
            count = contraction.sizes(0, contraction.free[0])
        inner = [contraction.inner]
        tail = [*inner, *count] if (side == 0) == is_turned else [*count, *inner]
        matrices.append(reshape(node, value if is_turned else permute(node, value, order), [*batch, *tail]))
        turned.append(is_turned)
    if any(turned):
        pair = [reshape(node, value, [value.size // value.shape[-1], value.shape[-1]]) for value in matrices]
        one, other = (node.cast(node.operand_of(value), carrier(dtype)) for value in pair)
        return node.reshape(node.builder.gemm(one, other, aTranspose=turned[0], bTranspose=turned[1]), shape)
    return node.reshape(multiply_matrices(node, matrices[0], matrices[1], dtype), shape)


def _multiply_all(node: Node, contraction: Contraction) -> Result:
    """Multiply each element by each one: there is no sum."""
    one, other = (permute(node, value, contraction.order(side)) for side, value in enumerate(node.values()))
    batch = contraction.sizes(0, contraction.batch[0])
    free = [contraction.sizes(side, contraction.free[side]) for side in (0, 1)]
    data_type = carrier(node.dtype())
    left = node.cast(node.operand_of(reshape(node, one, [*batch, *free[0], *[1] * len(free[1])])), data_type)
    # Without a batch, missing dimensions in front need no reshape.
    tail = [*batch, *[1] * len(free[0]), *free[1]] if batch else free[1]
    right = node.cast(node.operand_of(reshape(node, other, tail)), data_type)
    return node.builder.mul(left, right)


RULES: Mapping[str, Rule] = {"stablehlo.dot": _dot, "stablehlo.dot_general": _dot_general}
