"""Operators of an import that are one call of a subgraph, which fast numerics may compute by kernels."""

from __future__ import annotations

from collections.abc import Mapping

from webnn.builder.graph import FUSE, SubgraphCall, restore_call
from webnn.builder.operand import MLOperand
from webnn.onnx.node import Node

__all__ = ["make_call"]


def make_call(
    node: Node,
    first: int,
    name: str,
    config: Mapping[str, bool | float],
    operands: Mapping[str, MLOperand],
    results: Mapping[str, MLOperand],
) -> None:
    """Make operators a call of a subgraph, which fast numerics may compute by kernels. Drafts without subgraphs have no calls.

    Args:
        node: The node.
        first: How many operators the builder had before those of the call; nothing outside has used their results yet.
        name: The name of the subgraph.
        config: Its config.
        operands: Its operands.
        results: Its results, by name. Operators that they do not need are not a part of the call.
    """
    if node.builder._revision.extension(FUSE) is None:
        return
    call = SubgraphCall(name=name, config=config, operands=operands)
    made: dict[int, dict[int, MLOperand]] = {}
    work = list(results.values())
    # The work list grows while it is read.
    for each in work:
        operator = each._operator
        if operator is not None and operator.index > first and id(each) not in made.setdefault(operator.index, {}):
            if not made[operator.index]:
                work += [*operator.inputs, *(member for _, member in operator.members)]
            made[operator.index][id(each)] = each
    for same in made.values():
        restore_call(list(same.values()), call)
    call.results = {key: (each._operator.index, each._position) for key, each in results.items() if each._operator is not None}
