"""What ONNX's own inference says: the shapes of values that could not be imported, and why a node is not valid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import ModelProto, NodeProto, TypeProto, helper, shape_inference

from webnn.onnx.functions import find_schema
from webnn.onnx.model import ONNX_DOMAINS, Model
from webnn.onnx.values import Refused, Value, element_type

if TYPE_CHECKING:
    from onnx import ValueInfoProto

__all__ = ["Shapes"]

#: The data of larger initializers is not given to the inference; no shape depends on it.
_MOST_ELEMENTS = 1024


class Shapes:
    """The types and shapes of the values of a model's graph. They are inferred when the first one is needed.

    Args:
        model: The model.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._found: dict[str, ValueInfoProto] | None = None

    def find(self, name: str, inputs: Mapping[str, tuple[np.dtype[Any], tuple[int, ...]]]) -> tuple[np.dtype[Any], tuple[int, ...]] | None:
        """Return the element type and the shape of a value, if both are known.

        Args:
            name: The value.
            inputs: The types and shapes of the graph's inputs.
        """
        if self._found is None:
            self._found = self._infer(inputs)
        info = self._found.get(name)
        if info is None or not info.type.tensor_type.HasField("shape"):
            return None
        shape = [dim.dim_value for dim in info.type.tensor_type.shape.dim]
        try:
            dtype = element_type(info.type.tensor_type.elem_type)
        except Refused:
            return None
        return (dtype, tuple(shape)) if all(size > 0 for size in shape) else None

    def _infer(self, inputs: Mapping[str, tuple[np.dtype[Any], tuple[int, ...]]]) -> dict[str, ValueInfoProto]:
        source = self._model.proto
        functions = [each for each in source.functions if all(map(_is_safe, each.node))]
        light = ModelProto(ir_version=source.ir_version, opset_import=source.opset_import, functions=functions)
        graph = light.graph
        graph.name = source.graph.name
        graph.node.extend(each for each in source.graph.node if _is_safe(each))
        graph.output.extend(source.graph.output)
        graph.value_info.extend(source.graph.value_info)
        small = [each for each in source.graph.initializer if np.prod(each.dims, dtype=object) <= _MOST_ELEMENTS]
        graph.initializer.extend(small)
        known = {each.name for each in small}
        for each in source.graph.initializer:
            if each.name not in known:
                graph.input.append(helper.make_tensor_value_info(each.name, each.data_type, list(each.dims)))
        taken = known | {each.name for each in source.graph.initializer}
        for info in source.graph.input:
            if info.name in inputs:
                dtype, shape = inputs[info.name]
                graph.input.append(helper.make_tensor_value_info(info.name, helper.np_dtype_to_tensor_dtype(dtype), list(shape)))
            elif info.name not in taken:
                graph.input.append(info)
        try:
            inferred = shape_inference.infer_shapes(light, data_prop=True)
        except Exception:  # whatever the library raises: then nothing is known
            return {}
        return {info.name: info for info in (*inferred.graph.value_info, *inferred.graph.output)}

    def explain(self, proto: NodeProto, opsets: Mapping[str, int], inputs: Sequence[Value | None]) -> str:
        """Return why ONNX's inference refuses a node with these inputs; empty if it does not."""
        domain = "" if proto.domain in ONNX_DOMAINS else proto.domain
        schema = find_schema(proto.op_type, opsets.get(domain, 1), domain)
        if schema is None or not _is_safe(proto):
            return ""
        types: dict[str, TypeProto] = {}
        data = {}
        for name, value in zip(proto.input, inputs, strict=True):
            if value is not None:
                types[name] = helper.make_tensor_type_proto(helper.np_dtype_to_tensor_dtype(value.dtype), list(value.shape))
                if value.array is not None and value.size <= _MOST_ELEMENTS:
                    data[name] = helper.make_tensor(
                        name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape, value.array.tobytes(), raw=True
                    )
        imports = [helper.make_opsetid(key, version) for key, version in opsets.items()]
        try:
            shape_inference.infer_node_outputs(schema, proto, types, data, opset_imports=imports, ir_version=10)
        except Exception as error:  # whatever the library raises
            return str(error).strip().partition("\n")[0]
        return ""


def _is_safe(node: NodeProto) -> bool:
    """Tell whether ONNX's inference survives a node. Some that are not valid end the process."""
    integers = {each.name: each.i for each in node.attribute}
    if node.op_type == "GatherND" and integers.get("batch_dims", 0) < 0:
        return False
    if node.op_type == "Split" and integers.get("num_outputs", len(node.output)) < len(node.output):
        return False
    bodies = [graph for each in node.attribute for graph in (each.g, *each.graphs)]
    return all(_is_safe(inner) for body in bodies for inner in body.node)
