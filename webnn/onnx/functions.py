"""Operators that have a body: functions of the model, and those that ONNX itself defines by one."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from onnx import AttributeProto, FunctionProto, NodeProto, TypeProto, defs, helper

from webnn.importing.values import Refused, Value
from webnn.validation.named_descriptor import is_named

__all__ = ["bind", "find_body", "find_schema", "has_body"]


@functools.cache
def find_schema(operator: str, version: int, domain: str) -> defs.OpSchema | None:
    """Return the schema of an operator in a version of its domain, or None."""
    try:
        return defs.get_schema(operator, version, domain)
    except defs.SchemaError:
        return None


def has_body(schema: Any) -> bool:
    """Tell whether ONNX gives an operator a body."""
    return schema is not None and (schema.has_function or schema.has_context_dependent_function)


def find_body(schema: Any, node: NodeProto, version: int, inputs: Sequence[Value | None]) -> FunctionProto:
    """Return the body that ONNX gives an operator; refuse a node that it has none for."""
    body = FunctionProto()
    if schema.has_context_dependent_function:
        types = [_type(value).SerializeToString() for value in inputs]
        chosen = _newest(schema.context_dependent_function_opset_versions, version)
        try:
            serialized = schema.get_context_dependent_function_with_opset_version(chosen, node.SerializeToString(), types)
        except (RuntimeError, ValueError) as error:
            # ONNX infers the types of the body.
            first = str(error).strip().partition("\n")[0]
            raise Refused(f"the node is not valid: {first}") from None
    else:
        serialized = schema.get_function_with_opset_version(_newest(schema.function_opset_versions, version))
    body.ParseFromString(serialized)
    if not body.node and (sizes := [size for value in inputs if value is not None for size in value.shape if is_named(size)]):
        raise Refused(f"the dimensions {', '.join(dict.fromkeys(map(repr, sizes)))} must be fixed, because the body depends on their sizes")
    return body


def _newest(versions: Sequence[int], version: int) -> int:
    """Return the newest of some versions that is not newer than a version, or the oldest one."""
    return max([each for each in versions if each <= version], default=min(versions))


def _type(value: Value | None) -> TypeProto:
    proto = TypeProto()
    if value is not None:
        proto.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(value.dtype)
        # A scalar has a shape, too.
        proto.tensor_type.shape.SetInParent()
        for size in value.shape:
            dim = proto.tensor_type.shape.dim.add()
            if not is_named(size):
                dim.dim_value = size
    return proto


def bind(function: FunctionProto, call: NodeProto, schema: defs.OpSchema | None) -> Iterator[NodeProto]:
    """Yield the nodes of a function, with the attributes of a call in place of references to them."""
    given = {each.name: each for each in function.attribute_proto}
    if schema is not None:
        defaults = {name: each.default_value for name, each in schema.attributes.items() if each.default_value.name}
        given = {**defaults, **given}
    given.update({each.name: each for each in call.attribute})
    for node in function.node:
        yield _bind_node(node, given)


def _bind_node(node: NodeProto, given: Mapping[str, AttributeProto]) -> NodeProto:
    bound = NodeProto()
    bound.CopyFrom(node)
    del bound.attribute[:]
    for attribute in node.attribute:
        if not attribute.ref_attr_name:
            copied = bound.attribute.add()
            copied.CopyFrom(attribute)
            for graph in [copied.g] if copied.HasField("g") else copied.graphs:
                nodes = [_bind_node(each, given) for each in graph.node]
                del graph.node[:]
                graph.node.extend(nodes)
        elif attribute.ref_attr_name in given:
            source = given[attribute.ref_attr_name]
            if source.type != attribute.type:
                raise Refused(f"the attribute {attribute.ref_attr_name} must have the type that the function gives it")
            copied = bound.attribute.add()
            copied.CopyFrom(source)
            copied.name = attribute.name
    return bound
