"""Parts of protobuf messages: the type of an input or output, the initializers and the nodes of a graph, and their attributes."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from operator import index
from typing import Any, SupportsIndex

from onnx import AttributeProto, GraphProto, NodeProto, StringStringEntryProto, TensorProto, ValueInfoProto

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
        if isinstance(size, int):
            tensor.shape.dim.add(dim_value=size)
        else:
            tensor.shape.dim.add(dim_param=repr(size))


def _set_attribute(attribute: AttributeProto, name: str, value: Attribute) -> None:
    """Set the name and the value of a node's attribute."""
    attribute.name = name
    if isinstance(value, SupportsIndex):
        # A size with a name, too.
        attribute.type, attribute.i = AttributeProto.INT, index(value)
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
    elif isinstance(value[0], SupportsIndex):
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


@functools.lru_cache(maxsize=1024)
def _write_float(name: str, text: str) -> str:
    # As a text, because 0.0 and -0.0 are equal numbers.
    return _write_attribute(name, float(text))


class _Sizes(dict[int, str]):
    """Numbers as protobuf writes them: seven bits in each byte, the lowest ones first; the highest bit says that more follow."""

    def __missing__(self, size: int) -> str:
        self[size] = text = chr(size) if size < 128 else chr(size & 127 | 128) + self[size >> 7]
        return text


def _tags(message: type[Any], *fields: str, type: int = 2) -> list[str]:
    """Return the tags of fields: those that have a length are of the type 2, and numbers of the type 0."""
    return [chr(message.DESCRIPTOR.fields_by_name[field].number << 3 | type) for field in fields]


_INPUT, _OUTPUT, _NAME, _OP_TYPE, _DOMAIN = _tags(NodeProto, "input", "output", "name", "op_type", "domain")
_NODE, _INITIALIZER = _tags(GraphProto, "node", "initializer")
_DIMS, _DATA_TYPE, _DATA_LOCATION = _tags(TensorProto, "dims", "data_type", "data_location", type=0)
_TENSOR_NAME, _RAW_DATA, _EXTERNAL_DATA = _tags(TensorProto, "name", "raw_data", "external_data")
_KEY, _VALUE = _tags(StringStringEntryProto, "key", "value")
_LOCATION = f"{_KEY}{chr(len('location'))}location{_VALUE}"
_EXTERNAL = f"{_DATA_LOCATION}{chr(TensorProto.EXTERNAL)}{_EXTERNAL_DATA}"


class Graph:
    """A graph that gets its parts at the end, all at once, from their binary form: messages of single nodes take twice as long.

    Attributes:
        proto: The graph; it has no nodes and no initializers until `finish` is called.
    """

    __slots__ = ("_parts", "_sizes", "proto")

    def __init__(self, proto: GraphProto) -> None:
        self.proto = proto
        self._sizes = _Sizes()
        #: The nodes and initializers in protobuf's binary form, each byte as the character of its number.
        self._parts: list[str] = []

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
        for key, given in attributes.items():
            # Few attributes differ. Numbers in a sequence could be equal to those of another type, and a graph cannot be a key.
            attribute: Any = tuple(given) if type(given) is list else given
            if type(attribute) is float:
                text += _write_float(key, repr(attribute))
            elif type(attribute) in _SIMPLE or (type(attribute) is tuple and type(attribute[0]) is int):
                text += _write_once(key, attribute)
            else:
                text += _write_attribute(key, attribute)
        self._parts.append(f"{_NODE}{sizes[len(text)]}{text}")

    def initialize(self, name: str, data_type: int, shape: Sequence[int], data: bytes | None) -> None:
        """Add an initializer. Its bytes may be elsewhere: then they are the file that has the same name, an ASCII string."""
        sizes = self._sizes
        text = f"{_DATA_TYPE}{sizes[data_type]}{_TENSOR_NAME}{sizes[len(name)]}{name}"
        for size in shape:
            text += f"{_DIMS}{sizes[size]}"
        if data is None:
            entry = f"{_LOCATION}{sizes[len(name)]}{name}"
            text += f"{_EXTERNAL}{sizes[len(entry)]}{entry}"
        else:
            text += f"{_RAW_DATA}{sizes[len(data)]}{data.decode('latin-1')}"
        self._parts.append(f"{_INITIALIZER}{sizes[len(text)]}{text}")

    def finish(self) -> GraphProto:
        """Give the graph its parts, and return it."""
        self.proto.MergeFromString("".join(self._parts).encode("latin-1"))
        self._parts.clear()
        return self.proto
