"""Parts of protobuf messages: the type of an input or output, the nodes of a graph and their attributes."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

from onnx import AttributeProto, GraphProto, NodeProto, ValueInfoProto

from webnn.builder.onnx_names import ELEMENT_TYPES
from webnn.validation.descriptor import OperandDescriptor

__all__ = ["Attribute", "Graph", "declare"]

#: The types of attributes that are kept, once they are written.
_SIMPLE = frozenset({int, str})
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


def _write_attribute(name: str, value: Attribute) -> str:
    node = NodeProto()
    _set_attribute(node.attribute.add(), name, value)
    return node.SerializeToString().decode("latin-1")


_write_once = functools.lru_cache(maxsize=1024, typed=True)(_write_attribute)


class _Sizes(dict[int, str]):
    """Numbers as protobuf writes them: seven bits in each byte, the lowest ones first; the highest bit says that more follow."""

    def __missing__(self, size: int) -> str:
        self[size] = text = chr(size) if size < 128 else chr(size & 127 | 128) + self[size >> 7]
        return text


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

    __slots__ = ("_nodes", "_sizes", "proto")

    def __init__(self, proto: GraphProto) -> None:
        self.proto = proto
        self._sizes = _Sizes()
        #: The nodes in protobuf's binary form, each byte as the character of its number.
        self._nodes: list[str] = []

    def add(
        self,
        op_type: str,
        inputs: Sequence[str | None],
        name: str,
        outputs: Sequence[str],
        attributes: Mapping[str, Attribute],
        domain: str = "",
    ) -> None:
        """Add a node. All strings are ASCII, but those in attributes. An input that is ``None`` or empty is left out."""
        sizes = self._sizes
        text = f"{_NAME}{sizes[len(name)]}{name}{_OP_TYPE}{sizes[len(op_type)]}{op_type}"
        for value in inputs:
            text += f"{_INPUT}{sizes[len(value)]}{value}" if value else f"{_INPUT}{sizes[0]}"
        for value in outputs:
            text += f"{_OUTPUT}{sizes[len(value)]}{value}"
        if domain:
            text += f"{_DOMAIN}{sizes[len(domain)]}{domain}"
        for key, value in attributes.items():
            if type(value) is list:
                value = tuple(value)
            # Few attributes differ. Numbers in a sequence could be equal to those of another type, and a graph cannot be a key.
            once = type(value) in _SIMPLE or (type(value) is tuple and type(value[0]) is int)
            text += _write_once(key, value) if once else _write_attribute(key, value)
        self._nodes.append(f"{_NODE}{sizes[len(text)]}{text}")

    def finish(self) -> GraphProto:
        """Give the graph its nodes, and return it."""
        self.proto.MergeFromString("".join(self._nodes).encode("latin-1"))
        self._nodes.clear()
        return self.proto
