"""The searches for operators that are computed together: one registry, in the order in which they claim operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set

from webnn.builder.graph import ComputationalGraph, find_fusions
from webnn.builder.onnx.dynamic import find_dynamic
from webnn.builder.onnx.integer_products import find_products
from webnn.builder.onnx.matmul import find_scaled
from webnn.builder.onnx.together import Setting, Together

__all__ = ["SEARCHES", "find_together"]

Search = Callable[[ComputationalGraph, Setting], Mapping[int, Together]]


def _find_called(graph: ComputationalGraph, setting: Setting) -> dict[int, Together]:
    """Find the calls that fast numerics compute by kernels."""
    if setting.numerics != "fast" or not setting.contributed:
        return {}
    fused: list[Together] = [each for fusion in find_fusions(graph).values() for each in fusion.together]
    return {each.members[0]: each for each in fused}


#: Each returns what it found by the number of the operator in whose place the nodes are emitted.
SEARCHES: tuple[Search, ...] = (find_dynamic, find_products, _find_called, find_scaled)


def find_together(graph: ComputationalGraph, setting: Setting, alone: Set[str]) -> dict[int, Together]:
    """Run all searches. A search loses what an earlier one has claimed.

    Args:
        graph: The graph.
        setting: The policy and the operators that the translation may use.
        alone: The operations that are translated alone.
    """
    together: dict[int, Together] = {}
    claimed = {operator.index for operator in graph.operators if operator.operation.name in alone} if alone else set[int]()
    for search in SEARCHES:
        found = {index: each for index, each in search(graph, setting).items() if claimed.isdisjoint(each.members)}
        claimed.update(*[each.members for each in found.values()])
        together |= found
    return together
