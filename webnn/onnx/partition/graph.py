"""ONNX graphs as ONNX Runtime's providers see them: nodes, the values that they read, and which of these are constant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, TypeProto, defs, helper, numpy_helper

from webnn.validation.errors import OperationError

__all__ = ["DEEPEST", "PartitionGraph", "PartitionNode", "PartitionValue", "bodies_of", "read_graph", "type_name"]

#: The deepest nesting of the bodies of If, Loop and Scan.
DEEPEST = 32
_T = TypeVar("_T", int, float, str)
#: The version of an operator that has no schema here. The operators of ONNX Runtime's own domain have this one.
_FIRST = 1


@dataclass(frozen=True, slots=True)
class PartitionValue:
    """A value: its type in ``TensorProto.DataType``, 0 if it is not a tensor, or unknown, and its shape; ``None`` if that is unknown.

    An unknown dimension is ``None``; ``symbols`` are the names of the dimensions, empty for one without a name.
    """

    type: int = 0
    shape: tuple[int | None, ...] | None = None
    symbols: tuple[str, ...] = ()

    @property
    def unknown(self) -> list[str]:
        """The names of the dimensions that are unknown."""
        return [symbol for symbol, size in zip(self.symbols, self.shape or (), strict=False) if size is None]


class PartitionGraph:
    """A graph, or the body of a node, with its scope.

    Its name in reports is empty for the model's graph, otherwise the way to the node, and the attribute. ``free`` are the names of those
    dimensions of the model's inputs that have no size; one without a name is empty.
    """

    def __init__(self, name: str, inputs: list[str], outputs: list[str], parent: PartitionGraph | None = None) -> None:
        self.name = name
        self.free: frozenset[str] = frozenset() if parent is None else parent.free
        self.inputs = inputs
        self.outputs = outputs
        self.parent = parent
        self.nodes: list[PartitionNode] = []
        self.values: dict[str, PartitionValue] = {}
        self.constants: dict[str, TensorProto] = {}
        self._own: set[str] = set()

    def add(self, node: PartitionNode) -> None:
        """Add a node."""
        self.nodes.append(node)
        self._own.update(node.outputs)

    def value(self, name: str) -> PartitionValue:
        """Return what is known of a value of this graph, or of one around it."""
        graph: PartitionGraph | None = self
        while graph is not None:
            if name in graph.values:
                return graph.values[name]
            graph = graph.parent
        return PartitionValue()

    def constant(self, name: str) -> TensorProto | None:
        """Return a constant initializer of this graph, or of one around it; ``None`` if the name is not that of one."""
        graph: PartitionGraph | None = self
        while graph is not None and name:
            if name in graph.constants:
                return graph.constants[name]
            if name in graph.inputs or name in graph._own:
                return None
            graph = graph.parent
        return None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PartitionNode:
    """A node, with the version ``since`` of its operator. Two nodes are equal if they are the same object.

    ``domain`` is empty for ONNX's own, ``name`` may be empty, and so is a name in ``inputs`` for an optional one that is left out.
    ``bodies`` are the graphs among the attributes.
    """

    op: str
    domain: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    graph: PartitionGraph
    since: int = _FIRST
    attributes: Mapping[str, AttributeProto] = field(default_factory=dict)
    bodies: tuple[PartitionGraph, ...] = ()

    def has(self, index: int) -> bool:
        """Tell whether it has an input."""
        return index < len(self.inputs) and bool(self.inputs[index])

    def returns(self, index: int) -> bool:
        """Tell whether it has an output."""
        return index < len(self.outputs) and bool(self.outputs[index])

    def input(self, index: int) -> PartitionValue:
        """Return what is known of an input; of one that is absent, nothing is."""
        return self.graph.value(self.inputs[index]) if self.has(index) else PartitionValue()

    def output(self, index: int) -> PartitionValue:
        """Return what is known of an output; of one that is absent, nothing is."""
        return self.graph.value(self.outputs[index]) if self.returns(index) else PartitionValue()

    def shape(self, index: int) -> tuple[int, ...]:
        """Return the shape of an input that is known to be static; ``()`` if the input is absent."""
        return tuple(size or 0 for size in self.input(index).shape or ())

    def constant(self, index: int) -> TensorProto | None:
        """Return the constant initializer that an input is; ``None`` if it is none."""
        return self.graph.constant(self.inputs[index]) if self.has(index) else None

    def numbers(self, index: int) -> np.ndarray[Any, np.dtype[Any]] | None:
        """Return the elements of a constant input; ``None`` if they cannot be read."""
        tensor = self.constant(index)
        if tensor is None or tensor.data_location == TensorProto.EXTERNAL:
            return None
        try:
            return np.asarray(numpy_helper.to_array(tensor))
        except Exception:  # a tensor of a file has any fault
            return None

    def get(self, name: str, default: _T) -> _T:
        """Return an attribute of the default's type: a number or a text; the default if it is absent or of another type."""
        attribute = self.attributes.get(name)
        kinds = {int: AttributeProto.INT, float: AttributeProto.FLOAT, str: AttributeProto.STRING}
        if attribute is None or attribute.type != kinds[type(default)]:
            return default
        value = helper.get_attribute_value(attribute)
        return value.decode(errors="replace") if isinstance(value, bytes) else value  # type: ignore[return-value]  # its type was checked

    def integers(self, name: str) -> list[int]:
        """Return an attribute that is a list of integers; an empty list if there is none."""
        attribute = self.attributes.get(name)
        return list(attribute.ints) if attribute is not None else []

    def texts(self, name: str) -> list[str]:
        """Return an attribute that is a list of texts; an empty list if there is none."""
        attribute = self.attributes.get(name)
        return [each.decode(errors="replace") for each in attribute.strings] if attribute is not None else []

    @property
    def captured(self) -> Iterator[str]:
        """The values that its bodies read of the graphs around them."""
        for body in self.bodies:
            own = {*body.inputs, *body.constants, *(name for node in body.nodes for name in node.outputs)}
            for node in body.nodes:
                yield from (name for name in (*node.inputs, *node.captured) if name and name not in own)
            yield from (name for name in body.outputs if name not in own)


def type_name(type: int) -> str:
    """Return ONNX's name of an element type, for example ``"float16"``; ``"an unknown type"`` for 0."""
    if not type:
        return "an unknown type"
    try:
        return TensorProto.DataType.Name(type).lower()
    except ValueError:
        return f"type {type}"


def bodies_of(node: NodeProto) -> list[tuple[str, GraphProto]]:
    """Return the graphs among a node's attributes, with the names of the attributes."""
    found = []
    for attribute in node.attribute:
        if attribute.type == AttributeProto.GRAPH or attribute.HasField("g"):
            found.append((attribute.name, attribute.g))
        found += [(f"{attribute.name}[{index}]", graph) for index, graph in enumerate(attribute.graphs)]
    return found


@dataclass(frozen=True, slots=True)
class _Reader:
    versions: Mapping[str, int]
    #: Whether an initializer that is an input, too, can be overridden: it is a constant in older files.
    overridden: bool
    _since: dict[tuple[str, str], int] = field(default_factory=dict)

    def read(self, proto: GraphProto, name: str, parent: PartitionGraph | None, depth: int) -> PartitionGraph:
        if depth > DEEPEST:
            raise OperationError(f"bodies of nodes must stand at most {DEEPEST} deep in each other")
        graph = PartitionGraph(name, [each.name for each in proto.input], [each.name for each in proto.output], parent)
        for info in (*proto.value_info, *proto.output, *proto.input):
            graph.values[info.name] = _value(info.type)
        for tensor in proto.initializer:
            self._add_constant(graph, tensor)
        if parent is None:
            inputs = [graph.values[name] for name in graph.inputs if name not in graph.constants]
            graph.free = frozenset([symbol for each in inputs for symbol in each.unknown])
        for sparse in proto.sparse_initializer:
            graph.values.setdefault(sparse.values.name, PartitionValue(sparse.values.data_type, tuple(sparse.dims)))
        for node in proto.node:
            constant = _constant_of(node) if node.op_type == "Constant" and node.output else None
            if constant is not None:
                # ONNX Runtime makes initializers of them first.
                self._add_constant(graph, constant, node.output[0])
            else:
                graph.add(self._node(node, graph, depth))
        return graph

    def _add_constant(self, graph: PartitionGraph, tensor: TensorProto, name: str = "") -> None:
        name = name or tensor.name
        graph.values[name] = PartitionValue(tensor.data_type, tuple(tensor.dims))
        if not self.overridden or name not in graph.inputs:
            graph.constants[name] = tensor

    def _node(self, node: NodeProto, graph: PartitionGraph, depth: int) -> PartitionNode:
        label = f"{graph.name}/" * bool(graph.name) + (node.name or next(iter(node.output), node.op_type))
        domain = "" if node.domain == "ai.onnx" else node.domain
        return PartitionNode(
            op=node.op_type,
            domain=domain,
            name=node.name,
            inputs=tuple(node.input),
            outputs=tuple(node.output),
            graph=graph,
            since=self.since(node.op_type, domain),
            attributes={attribute.name: attribute for attribute in node.attribute},
            bodies=tuple(self.read(body, f"{label}.{attribute}", graph, depth + 1) for attribute, body in bodies_of(node)),
        )

    def since(self, op: str, domain: str) -> int:
        key = op, domain
        if key not in self._since:
            try:
                self._since[key] = defs.get_schema(op, self.versions.get(domain, _FIRST), domain).since_version
            except defs.SchemaError:
                self._since[key] = _FIRST
        return self._since[key]


def _constant_of(node: NodeProto) -> TensorProto | None:
    """Return the tensor of a node Constant; ``None`` if it has none that could count."""
    for attribute in node.attribute:
        if attribute.name == "value":
            return attribute.t
        numbers: Mapping[int, object] = {
            AttributeProto.INT: np.int64(attribute.i),
            AttributeProto.INTS: np.array(attribute.ints, np.int64),
            AttributeProto.FLOAT: np.float32(attribute.f),
            AttributeProto.FLOATS: np.array(attribute.floats, np.float32),
        }
        if attribute.type in numbers:
            return numpy_helper.from_array(np.asarray(numbers[attribute.type]))
    return None


def _value(type: TypeProto) -> PartitionValue:
    tensor = type.tensor_type
    if not type.HasField("tensor_type"):
        return PartitionValue()
    if not tensor.HasField("shape"):
        return PartitionValue(tensor.elem_type)
    sizes = [dim.dim_value if dim.HasField("dim_value") else None for dim in tensor.shape.dim]
    return PartitionValue(tensor.elem_type, tuple(sizes), tuple([dim.dim_param for dim in tensor.shape.dim]))


def read_graph(model: ModelProto) -> PartitionGraph:
    """Read a model's graph and all bodies in it. Types are those of its ``value_info``.

    Raises:
        OperationError: Bodies stand too deep in each other.
    """
    versions = {"" if each.domain == "ai.onnx" else each.domain: each.version for each in model.opset_import}
    return _Reader(versions, model.ir_version >= 4).read(model.graph, "", None, 0)
