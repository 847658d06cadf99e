"""Nodes inside a node: graphs of their own that see the values of the graph around them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from onnx import GraphProto

from webnn.builder.onnx.emitter import Emitter
from webnn.builder.onnx.messages import Graph
from webnn.builder.onnx_names import ELEMENT_TYPES
from webnn.validation.descriptor import DataType

__all__ = ["choose", "subgraph"]


@contextmanager
def subgraph(e: Emitter, name: str) -> Iterator[GraphProto]:
    """Emit into a graph of its own until the block ends. Values from outside must have been taken by a node outside before."""
    body, outer = Graph(GraphProto(name=name)), e.graph
    e.graph = body
    views, spread, unsigned, pending = e._views, e._spread, e._unsigned, e._pending
    e._views, e._spread, e._unsigned, e._pending = {**views}, {**spread}, {**unsigned}, {*pending}
    try:
        yield body.proto
    finally:
        e.graph = outer
        # Nodes that were deferred, and were emitted inside, are not there outside. Constants are.
        left = {value for value in e._pending if e.is_constant(value)}
        e._views, e._spread, e._unsigned = views, spread, unsigned
        e._pending = left | {value for value in pending if not e.is_constant(value)}
    body.finish()
    # Literals are shared by the whole graph: move those that were added to the outer graph.
    outer.proto.initializer.extend(body.proto.initializer)
    body.proto.ClearField("initializer")


def choose(e: Emitter, condition: str, then: Callable[[], str], otherwise: Callable[[], str], dataType: DataType) -> str:
    """Emit nodes of which one group is computed: ``then`` if a scalar is true. Both make a value of this type.

    It costs about 1 µs. The groups take their values as `subgraph` says.
    """
    bodies: dict[str, GraphProto] = {}
    for name, emit in (("then_branch", then), ("else_branch", otherwise)):
        with subgraph(e, name) as body:
            # Without a shape: an elementwise operation may be emitted before a transpose.
            body.output.add(name=emit()).type.tensor_type.elem_type = ELEMENT_TYPES[dataType]
        bodies[name] = body
    return e.node("If", [condition], **bodies)
