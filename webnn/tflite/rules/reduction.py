"""Operators that reduce axes, running sums, and operators that scale elements by others."""

from __future__ import annotations

from webnn.importing.steps import Result
from webnn.tflite.node import Node, Rule, Rules, borrow

__all__ = ["RULES"]


def _reduce(operator: str) -> Rule:
    """Return a rule as ONNX's. The axes must be known."""

    def rule(node: Node) -> Result:
        rank = node.value(0).rank
        # An axis may be named twice.
        axes = [*dict.fromkeys(axis + rank if axis < 0 else axis for axis in node.known_integers(1, "the axes"))]
        return node.one(operator, [node.value(0), axes], keepdims=int(node.flag("KeepDims")), noop_with_empty_axes=1)

    return rule


def _softmax(node: Node) -> Result:
    """Map to softmax of the last dimension; beta is multiplied before."""
    x, beta = node.operand(0), node.option("Beta", 1.0)
    if beta != 1:
        x = node.builder.mul(x, node.scalar(beta, x))
    return node.builder.softmax(x, x.descriptor.rank - 1)


def _l2(node: Node) -> Result:
    """Divide by the norm of the last dimension, which is at least 1e-6."""
    builder, x = node.builder, node.operand(0)
    norm = builder.reduceL2(x, axes=[x.descriptor.rank - 1], keepDimensions=True)
    return node.activate(builder.div(x, builder.max(norm, node.scalar(1e-6, norm))))


def _local_response(node: Node) -> Result:
    """Divide by a power of the sum of squares of neighbouring channels."""
    node.image()
    size = 2 * node.integer("Radius", 0) + 1
    x = node.transpose(node.operand(0), [0, 3, 1, 2])
    options = {"alpha": node.option("Alpha", 0.0) * size, "beta": node.option("Beta", 0.0), "bias": node.option("Bias", 0.0)}
    return node.transpose(node.operand_of(node.one("LRN", [x], size=size, **options)), [0, 2, 3, 1])


RULES: Rules = {
    "CUMSUM": lambda node: node.one("CumSum", exclusive=int(node.flag("Exclusive")), reverse=int(node.flag("Reverse"))),
    "L2_NORMALIZATION": _l2,
    "LOCAL_RESPONSE_NORMALIZATION": _local_response,
    "LOG_SOFTMAX": borrow("LogSoftmax", axis=-1),
    "MEAN": _reduce("ReduceMean"),
    "REDUCE_ALL": _reduce("ReduceMin"),
    "REDUCE_ANY": _reduce("ReduceMax"),
    "REDUCE_MAX": _reduce("ReduceMax"),
    "REDUCE_MIN": _reduce("ReduceMin"),
    "REDUCE_PROD": _reduce("ReduceProd"),
    "SOFTMAX": _softmax,
    "SUM": _reduce("ReduceSum"),
}
