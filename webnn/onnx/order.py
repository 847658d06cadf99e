"""The order of nodes: in ONNX a node comes after those whose values it takes. Some files differ, and ONNX Runtime sorts their nodes."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence

from onnx import NodeProto

from webnn.onnx.model import Source

__all__ = ["sort_nodes"]


def sort_nodes(nodes: Sequence[Source]) -> Sequence[Source]:
    """Return nodes such that each comes after those that make its values; otherwise they keep their order.

    Nodes of a circle, and those that take its values, come last.
    """
    makers: dict[str, int] = {}
    for index, node in enumerate(nodes):
        for name in filter(None, node.outputs):
            makers.setdefault(name, index)
    if all(makers.get(name, -1) < index for index, node in enumerate(nodes) for name in node.inputs):
        # Reading bodies would take long, and a file in order has them in order.
        return nodes
    waits = [{makers[name] for name in _names(node.proto) if name in makers} for node in nodes]
    users: list[list[int]] = [[] for _ in nodes]
    for index, before in enumerate(waits):
        for maker in before:
            users[maker].append(index)
    ready = [index for index, before in enumerate(waits) if not before]
    done: dict[int, None] = {}
    while ready:
        index = heapq.heappop(ready)
        done[index] = None
        for user in users[index]:
            waits[user].discard(index)
            if not waits[user]:
                heapq.heappush(ready, user)
    left = [index for index in range(len(nodes)) if index not in done]
    return [nodes[index] for index in (*done, *left)]


def _names(node: NodeProto) -> Iterator[str]:
    """Yield the inputs of a node, and those of the nodes in its bodies."""
    yield from node.input
    for attribute in node.attribute:
        for graph in (attribute.g, *attribute.graphs):
            for each in graph.node:
                yield from _names(each)
            # A body may return a value from outside.
            yield from (info.name for info in graph.output)
