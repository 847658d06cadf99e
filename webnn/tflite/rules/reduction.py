"""Operators that reduce axes, and running sums."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from webnn.importing.steps import Result
from webnn.tflite.node import Node

__all__ = ["RULES"]


def _reduce(operator: str) -> Callable[[Node], Result]:
    def rule(node: Node) -> Result:
        axes = node.known_integers(1, "the axes")
        # An axis may be named twice.
        rank = node.value(0).rank
        axes = [*dict.fromkeys(axis + rank if axis < 0 else axis for axis in axes)]
        return node.one(operator, [node.value(0), axes], keepdims=int(node.flag("KeepDims")), noop_with_empty_axes=1)

    rule.__doc__ = f"Map as ONNX's {operator}. The axes must be known."
    return rule


RULES: Mapping[str, Callable[[Node], Result | list[Result]]] = {
    "CUMSUM": lambda node: node.one("CumSum", exclusive=int(node.flag("Exclusive")), reverse=int(node.flag("Reverse"))),
    "MEAN": _reduce("ReduceMean"),
    "REDUCE_ALL": _reduce("ReduceMin"),
    "REDUCE_ANY": _reduce("ReduceMax"),
    "REDUCE_MAX": _reduce("ReduceMax"),
    "REDUCE_MIN": _reduce("ReduceMin"),
    "REDUCE_PROD": _reduce("ReduceProd"),
    "SUM": _reduce("ReduceSum"),
}
