"""Parts of protobuf messages: the type of an input or output, the attributes of a node."""

from __future__ import annotations

from collections.abc import Sequence

from onnx import AttributeProto, ValueInfoProto

from webnn.builder.onnx_names import ELEMENT_TYPES
from webnn.validation.descriptor import OperandDescriptor

__all__ = ["Attribute", "declare", "set_attribute"]

Attribute = int | float | str | Sequence[int] | Sequence[float] | Sequence[str]


def declare(info: ValueInfoProto, descriptor: OperandDescriptor) -> None:
    """Set the type and the shape of an input or output of a graph."""
    tensor = info.type.tensor_type
    tensor.elem_type = ELEMENT_TYPES[descriptor.dataType]
    # A scalar has a shape too: an empty one.
    tensor.shape.SetInParent()
    for size in descriptor.dimensions:
        tensor.shape.dim.add(dim_value=size)


def set_attribute(attribute: AttributeProto, name: str, value: Attribute) -> None:
    """Set the name and the value of a node's attribute."""
    attribute.name = name
    if isinstance(value, int):
        attribute.type, attribute.i = AttributeProto.INT, value
    elif isinstance(value, float):
        attribute.type, attribute.f = AttributeProto.FLOAT, value
    elif isinstance(value, str):
        attribute.type, attribute.s = AttributeProto.STRING, value.encode()
    elif isinstance(value[0], str):
        attribute.type = AttributeProto.STRINGS
        attribute.strings.extend([str(element).encode() for element in value])
    elif isinstance(value[0], int):
        attribute.type = AttributeProto.INTS
        attribute.ints.extend(value)  # type: ignore[arg-type]  # of one type, as the first one shows
    else:
        attribute.type = AttributeProto.FLOATS
        attribute.floats.extend(value)  # type: ignore[arg-type]  # as above
