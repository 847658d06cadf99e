"""Groups of nodes of which one is computed: they see the values of the graph around them."""

from __future__ import annotations

from collections.abc import Callable

from onnx import GraphProto

from webnn.builder.onnx.emitter import Emitter
from webnn.builder.onnx_names import ELEMENT_TYPES
from webnn.validation.descriptor import DataType

__all__ = ["choose"]


def choose(e: Emitter, condition: str, then: Callable[[], str], otherwise: Callable[[], str], dataType: DataType) -> str:
    """Emit nodes of which one group is computed: ``then`` if a scalar is true. Both make a value of this type.

    It costs about 1 µs. The groups take their values as `Emitter.subgraph` says.
    """
    bodies: dict[str, GraphProto] = {}
    for name, emit in (("then_branch", then), ("else_branch", otherwise)):
        with e.subgraph(name) as body:
            # Without a shape: an elementwise operation may be emitted before a transpose.
            body.output.add(name=emit()).type.tensor_type.elem_type = ELEMENT_TYPES[dataType]
        bodies[name] = body
    return e.node("If", [condition], **bodies)
