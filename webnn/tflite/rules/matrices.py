"""Products of matrices, and rows of tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from webnn.builder.operand import MLOperand
from webnn.importing.steps import Result
from webnn.importing.values import Refused, Value
from webnn.tflite.node import Node

__all__ = ["RULES", "fully_connect"]


def fully_connect(node: Node, x: MLOperand, weights: Value, bias: MLOperand | None) -> MLOperand:
    """Multiply [n, k] by the transpose of [m, k], and add [m]."""
    options: Any = {"bTranspose": True}
    if bias is not None:
        options["c"] = bias
    return node.builder.gemm(x, node.operand_of(weights), options)


def _fully_connected(node: Node) -> MLOperand:
    """Map to gemm."""
    x, weights = node.value(0), node.value(1)
    if weights.rank != 2 or not weights.size or x.size % weights.shape[1]:
        raise Refused(f"the weights must have 2 dimensions, of which the last one divides {x.size} elements, got {list(weights.shape)}")
    if node.option("WeightsFormat", 0):
        raise Refused("shuffled weights are not supported")
    rows, (outputs, inputs) = x.size // weights.shape[1], weights.shape
    bias = node.operand(2) if node.given(2) else None
    rounded = node.rounded(0, 1, asymmetric=node.flag("AsymmetricQuantizeInputs"))
    y = node.activate(fully_connect(node, node.reshape(rounded, [rows, inputs]), weights, bias))
    return node.reshape(y, [*x.shape[:-1], outputs]) if node.flag("KeepNumDims") and x.rank and x.shape[-1] == inputs else y


def _batch_matmul(node: Node) -> Result:
    """Map to matmul of matrices, which may be transposed first."""
    operands = [node.operand(index) for index in range(2)]
    for index, name in enumerate(("AdjX", "AdjY")):
        rank = node.value(index).rank
        if rank < 2:
            raise Refused(f"the matrices must have at least 2 dimensions, got {list(node.value(index).shape)}")
        if node.flag(name):
            operands[index] = node.transpose(operands[index], [*range(rank - 2), rank - 1, rank - 2])
    return node.one("MatMul", operands)


RULES: Mapping[str, Callable[[Node], Result | list[Result]]] = {
    "BATCH_MATMUL": _batch_matmul,
    "EMBEDDING_LOOKUP": lambda node: node.one("Gather", [node.value(1), node.value(0)], axis=0),
    "FULLY_CONNECTED": _fully_connected,
}
