"""Parts of protobuf messages: the type of an input or output, the nodes of a graph and their attributes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from onnx import AttributeProto, GraphProto, NodeProto, ValueInfoProto

from webnn.builder.onnx_names import ELEMENT_TYPES
from webnn.validation.descriptor import OperandDescriptor

__all__ = ["Attribute", "Graph", "declare"]

Attribute = int | float | str | GraphProto | Sequence[int] | Sequence[float] | Sequence[str]


def declare(info: ValueInfoProto, descriptor: OperandDescriptor) -> None:
    """Set the type and the shape of an input or output of a graph."""
    tensor = info.type.tensor_type
    tensor.elem_type = ELEMENT_TYPES[descriptor.dataType]
    # A scalar has a shape too: an empty one.
    tensor.shape.SetInParent()
    for size in descriptor.dimensions:
        tensor.shape.dim.add(dim_value=size)


def _set_attribute(attribute: AttributeProto, name: str, value: Attribute) -> None:
    """Set the name and the value of a node's attribute."""
    attribute.name = name
    if isinstance(value, int):
        attribute.type, attribute.i = AttributeProto.INT, value
    elif isinstance(value, float):
        attribute.type, attribute.f = AttributeProto.FLOAT, value
    elif isinstance(value, str):
        attribute.type, attribute.s = AttributeProto.STRING, value.encode()
    elif isinstance(value, GraphProto):
        attribute.type = AttributeProto.GRAPH
        attribute.g.CopyFrom(value)
    elif isinstance(value[0], str):
        attribute.type = AttributeProto.STRINGS
        attribute.strings.extend([str(element).encode() for element in value])
    elif isinstance(value[0], int):
        attribute.type = AttributeProto.INTS
        attribute.ints.extend(value)  # type: ignore[arg-type]  # of one type, as the first one shows
    else:
        attribute.type = AttributeProto.FLOATS
        attribute.floats.extend(value)  # type: ignore[arg-type]  # as above


def _size(number: int) -> str:
    """Write a number as protobuf does: seven bits in each byte, the lowest ones first; the highest bit says that more follow."""
    return chr(number) if number < 128 else chr(number & 127 | 128) + _size(number >> 7)


def _field(tag: str, text: str) -> str:
    size = len(text)
    # Most sizes take one byte: this saves a call.
    return f"{tag}{chr(size) if size < 128 else _size(size)}{text}"


# The tags of fields that have a length.
_INPUT, _OUTPUT, _NAME, _OP_TYPE, _DOMAIN = (
    chr(NodeProto.DESCRIPTOR.fields_by_name[field].number << 3 | 2) for field in ("input", "output", "name", "op_type", "domain")
)
_NODE = chr(GraphProto.DESCRIPTOR.fields_by_name["node"].number << 3 | 2)


class Graph:
    """A graph that gets its nodes at the end, all at once, from their binary form: messages of single nodes take twice as long.

    Attributes:
        proto: The graph; it has no nodes until `finish` is called.
    """

    __slots__ = ("_nodes", "proto")

    def __init__(self, proto: GraphProto) -> None:
        self.proto = proto
        #: The nodes in protobuf's binary form, each byte as the character of its number.
        self._nodes: list[str] = []

    def add(
        self,
        op_type: str,
        inputs: Iterable[str | None],
        name: str,
        outputs: Iterable[str],
        attributes: Mapping[str, Attribute],
        domain: str = "",
    ) -> None:
        """Add a node. All strings are ASCII, but those in attributes. An input that is ``None`` or empty is left out."""
        text = ""
        for value in inputs:
            text += _field(_INPUT, value or "")
        for value in outputs:
            text += _field(_OUTPUT, value)
        text += _field(_NAME, name) + _field(_OP_TYPE, op_type)
        if domain:
            text += _field(_DOMAIN, domain)
        if attributes:
            node = NodeProto()
            for key, attribute in attributes.items():
                _set_attribute(node.attribute.add(), key, attribute)
            text += node.SerializeToString().decode("latin-1")
        self._nodes.append(_field(_NODE, text))

    def finish(self) -> GraphProto:
        """Give the graph its nodes, and return it."""
        self.proto.MergeFromString("".join(self._nodes).encode("latin-1"))
        self._nodes.clear()
        return self.proto
