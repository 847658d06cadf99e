"""Parts of a translated graph: the nodes of single operators as a model, and operators that a provider of fixed shapes cannot take."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence, Set
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, numpy_helper
from onnx.shape_inference import infer_shapes

from webnn.builder.onnx_names import find_scopes, taken_values

if TYPE_CHECKING:
    from webnn.builder.onnx.translate import OnnxModel

__all__ = ["Parts"]


class Parts:
    """The nodes of a translated graph by their operators.

    Args:
        model: The translated graph.

    Attributes:
        owners: For each node, the numbers of the operators that it belongs to.
    """

    __slots__ = ("_constants", "_model", "_values", "owners")

    def __init__(self, model: OnnxModel) -> None:
        self._model = model
        graph = infer_shapes(model.proto).graph
        self._values = {each.name: each for each in (*graph.value_info, *graph.input, *graph.output)}
        self._constants = {each.name: each for each in graph.initializer}
        self.owners: list[Set[int]] = [{index for _, index in find_scopes(node.name)} for node in model.proto.graph.node]

    def take(self, index: int) -> OnnxModel | None:
        """Return the nodes of an operator as a model; ``None`` if there are none, or if the type of a value is not known.

        Its session has none of the optimizations of a fast one, which may remove what a device refuses.
        """
        nodes = [node for node, owners in zip(self._model.proto.graph.node, self.owners, strict=True) if index in owners]
        taken = dict.fromkeys(value for node in nodes for value in taken_values(node))
        made = dict.fromkeys(value for node in nodes for value in node.output if value)
        inputs = [value for value in taken if value not in made and value not in self._constants and value in self._values]
        # A value between the operator's own nodes counts, too, if other nodes or the program take it.
        others = [node for node, owners in zip(self._model.proto.graph.node, self.owners, strict=True) if index not in owners]
        wanted = {value for node in others for value in taken_values(node)} | {each.name for each in self._model.proto.graph.output}
        outputs = [value for value in made if value in wanted]
        if not nodes or not all(value in self._values for value in outputs):
            return None
        proto = ModelProto()
        proto.ir_version = self._model.proto.ir_version
        proto.opset_import.extend(self._model.proto.opset_import)
        proto.graph.name = self._model.proto.graph.name
        proto.graph.node.extend(nodes)
        proto.graph.input.extend([self._values[value] for value in inputs])
        proto.graph.output.extend([self._values[value] for value in outputs])
        proto.graph.initializer.extend([self._constants[value] for value in taken if value in self._constants])
        files = {entry.value for each in proto.graph.initializer for entry in each.external_data if entry.key == "location"}
        return replace(
            self._model,
            proto=proto,
            weights=tuple([each for each in self._model.weights if each.location in files]),
            inputs={},
            outputs={},
            numerics="exact",
            operators=tuple([each for each in self._model.operators if each[1] == index]),
        )

    def without(self, kept: Set[str]) -> OnnxModel | None:
        """Return the graph with values of unknown shapes for some nodes. A provider of fixed shapes leaves such nodes to the CPU.

        Each value that such a node takes gets its own shape once more, from an input with a default value: the engine does not rely on that
        value. The shapes of the results are declared.

        Args:
            kept: The names of the nodes.

        Returns:
            The graph; ``None`` if the shape of a value is not known.
        """
        proto = ModelProto()
        proto.CopyFrom(self._model.proto)
        graph = proto.graph
        made = {value for node in graph.node if node.name in kept for value in node.output}
        nodes: list[NodeProto] = []
        renamed: dict[str, str] = {}
        for node in graph.node:
            for place, value in enumerate(node.input) if node.name in kept else ():
                if not value or value in self._constants:
                    continue
                if value not in renamed:
                    shape = _shape(self._values.get(value))
                    if shape is None:
                        return None
                    renamed[value] = f"{value}/kept"
                    sizes = f"{value}/sizes"
                    graph.initializer.append(numpy_helper.from_array(np.array(shape, np.int64), sizes))
                    _declare_sizes(graph.input.add(), sizes, len(shape))
                    nodes.append(NodeProto(op_type="Reshape", input=[value, sizes], output=[renamed[value]], name=f"kept.{len(renamed)}"))
                node.input[place] = renamed[value]
            nodes.append(node)
        outside = {value for node in graph.node if node.name not in kept for value in taken_values(node)}
        declared = [self._values[value] for value in sorted(made & outside & self._values.keys())]
        outputs = {each.name for each in graph.output}
        del graph.node[:]
        graph.node.extend(nodes)
        graph.value_info.extend([each for each in declared if each.name not in outputs])
        return replace(self._model, proto=proto)

    def form(self, part: OnnxModel) -> str:
        """Return what a part has in common with other parts of the same form: names and large constants do not count."""
        numbers: dict[str, int] = {}
        nodes = []
        for node in part.proto.graph.node:
            values = [numbers.setdefault(value, len(numbers)) for value in (*node.input, *node.output)]
            nodes.append([node.op_type, len(node.input), values, [each.SerializeToString().hex() for each in node.attribute]])
        described = [self._describe(value) for value in numbers]
        return hashlib.sha256(json.dumps([nodes, described]).encode()).hexdigest()

    def _describe(self, value: str) -> Sequence[object]:
        constant = self._constants.get(value)
        if constant is None:
            known = self._values.get(value)
            return [] if known is None else [known.type.tensor_type.elem_type, _shape(known)]
        content = b"" if constant.data_location == TensorProto.EXTERNAL else numpy_helper.to_array(constant).tobytes()
        return [constant.data_type, list(constant.dims), content.hex()]


def _shape(value: ValueInfoProto | None) -> list[int] | None:
    """Return the shape of a value; ``None`` if it is not known."""
    if value is None or not value.type.tensor_type.HasField("shape"):
        return None
    sizes = value.type.tensor_type.shape.dim
    return [each.dim_value for each in sizes] if all(each.HasField("dim_value") for each in sizes) else None


def _declare_sizes(value: ValueInfoProto, name: str, count: int) -> None:
    value.name = name
    value.type.tensor_type.elem_type = TensorProto.INT64
    value.type.tensor_type.shape.dim.add(dim_value=count)
