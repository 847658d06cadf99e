"""ONNX files: the translated graph with the program's names, as ONNX Runtime and other tools read it."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onnx import AttributeProto, StringStringEntryProto, TensorProto

from webnn._version import __version__
from webnn.builder.describe import Names
from webnn.builder.description import FormatError
from webnn.builder.onnx.translate import OnnxModel, translate
from webnn.builder.onnx_names import ELEMENT_TYPES, find_scopes, session_entries
from webnn.builder.transform import survey
from webnn.formats import files
from webnn.validation import webidl
from webnn.validation.descriptor import SMALL_TYPES

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, ValueInfoProto

    from webnn.builder.description import GraphDescription
    from webnn.builder.onnx.values import Weight
    from webnn.builder.operand import MLOperand

__all__ = ["INLINE_BYTES", "write"]

#: Constants that are together larger than this are in a file beside the model.
INLINE_BYTES = 1 << 20
#: Where constants begin in that file. The engine maps large ones into memory, by pages.
_ALIGNMENT, _PAGE, _LARGE = 64, 4096, 1 << 16
#: The name of a constant that is transposed, reshaped or cast begins with the name of the constant.
_DERIVED = re.compile(r"([^=^:]*)([=^:]?)(.*)")
_SCALINGS = frozenset({"Div", "Mul"})


def read(path: Path) -> GraphDescription:
    """Import an ONNX model that leaves nothing open; see `webnn.onnx.load`."""
    from webnn.onnx import load  # noqa: PLC0415 (a graph is written more often)

    return load(path).description


def write(description: GraphDescription, path: Path, notes: Mapping[str, Mapping[str, str]] | None = None) -> None:
    """Write a graph as an ONNX model; large constants to a file beside it, which has ``.data`` appended to its name.

    Inputs and outputs have the names that the program gave, other values and nodes those of the description or the label. The
    ``metadata_props`` of a node have the operation (``webnn.operation``) and the label (``webnn.label``), those of the model the draft
    (``webnn.draft``), the numerics policy (``webnn.numerics``, always "exact"), and the configuration of the session with which the engine
    computes what the emulator computes under it (``webnn.session``, JSON). ``notes`` are further entries of the nodes of an operator, by
    the name of its first result.

    Raises:
        FormatError: An input and an output have the same name, or a name is not Unicode.
        WebNNTypeError: The draft refuses something.
        DescriptionError: The description contradicts itself.
        OSError: A file cannot be written.
    """
    files.check_unicode(description, path)
    for name in description.inputs:
        if name in description.outputs:
            raise FormatError(f"an input and an output are both named {webidl.describe(name)}: ONNX has one name for one value", path)
    graph, operands = survey(description)
    model = translate(graph)
    proto = model.proto
    _rename(model, description, operands, notes or {})
    _order_inputs(proto.graph, description)
    _spread_scales(proto.graph)
    proto.producer_version = __version__
    proto.graph.name = description.name or path.stem
    session = json.dumps(dict(session_entries(model.numerics)))
    _add_metadata(proto.metadata_props, {"webnn.draft": description.draft, "webnn.numerics": model.numerics, "webnn.session": session})
    if sum([weight.data.nbytes for weight in model.weights]) <= INLINE_BYTES:
        _embed(proto, model.weights)
    else:
        _write_external(proto, model.weights, path.with_name(f"{path.name}.data"))
    with files.replacing(path) as stream:
        stream.write(proto.SerializeToString())


def _order_inputs(graph: Any, description: GraphDescription) -> None:
    """Put the inputs into the order of the description; the translation has them in that of their use."""
    places = {name: place for place, name in enumerate(description.inputs)}
    inputs = sorted(graph.input, key=lambda info: places[info.name])
    del graph.input[:]
    graph.input.extend(inputs)


def _add_metadata(entries: Any, values: Mapping[str, str]) -> None:
    entries.extend([StringStringEntryProto(key=key, value=value) for key, value in values.items() if value])


def _rename(
    model: OnnxModel, description: GraphDescription, operands: Mapping[str, MLOperand], notes: Mapping[str, Mapping[str, str]]
) -> None:
    """Give nodes and values the program's names, and nodes their metadata."""
    outputs = _copy_constant_outputs(model)
    graphs = list(_all_graphs(model.proto.graph))
    nodes = [node for graph in graphs for node in graph.node]
    main = graphs[0]
    present = {tensor.name for tensor in main.initializer} | {name for node in main.node for name in node.output}
    renamed = {value: name for name, (value, _) in model.inputs.items()} | {value: name for name, value in outputs.items()}
    names = Names(renamed.values())
    #: The names of constants that may be there in another order or shape only.
    sources: dict[str, str] = {}
    for name, operand in operands.items():
        value = model.find_value(operand)
        if value is None:
            continue
        sources[value] = name
        if value in present and value not in renamed:
            renamed[value] = names.find(name)
            if operand._operator is not None:
                _declare(main.value_info.add(name=value), operand)
    for tensor in main.initializer:
        if tensor.name not in renamed:
            source, mark, rest = _DERIVED.fullmatch(tensor.name).groups()  # type: ignore[union-attr]  # it matches every text
            renamed[tensor.name] = names.find(f"{sources.get(source, source)}{mark if rest else ''}{rest}")
    _rename_nodes(model, description, nodes, notes)
    for node in nodes:
        for position, output in enumerate(node.output):
            if output and output not in renamed:
                renamed[output] = names.find(node.name if len(node.output) == 1 else f"{node.name}:{position}")
    for inner in graphs[1:]:
        for each in inner.input:
            renamed[each.name] = names.find(each.name)
    for node in nodes:
        node.input[:] = [renamed.get(each, each) for each in node.input]
        node.output[:] = [renamed.get(each, each) for each in node.output]
    for graph in graphs:
        for info in (*graph.input, *graph.output, *graph.value_info):
            info.name = renamed.get(info.name, info.name)
        for tensor in graph.initializer:
            tensor.name = renamed.get(tensor.name, tensor.name)


def _copy_constant_outputs(model: OnnxModel) -> dict[str, str]:
    """Let a node make each output that is a constant, as ONNX requires; return the ONNX value of each output by its name."""
    graph = model.proto.graph
    constants = {tensor.name for tensor in graph.initializer}
    outputs = {}
    for info, (name, (value, descriptor)) in zip(graph.output, model.outputs.items(), strict=True):
        outputs[name] = value
        if value in constants:
            outputs[name] = info.name = f"output:{value}"
            # `Identity` has no kernel for small integers.
            node = graph.node.add(op_type="Identity", name="copy", input=[value], output=[info.name])
            if descriptor.dataType in SMALL_TYPES:
                node.op_type = "Cast"
                node.attribute.add(name="to", type=AttributeProto.INT, i=ELEMENT_TYPES[descriptor.dataType])
    return outputs


def _all_graphs(graph: GraphProto) -> Iterator[GraphProto]:
    """Yield a graph, and those inside its nodes, such as the body of a Scan."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _all_graphs(attribute.g)


def _rename_nodes(
    model: OnnxModel, description: GraphDescription, nodes: Iterable[NodeProto], notes: Mapping[str, Mapping[str, str]]
) -> None:
    """Name nodes after the label of their operator, or its result; several of one operator also after their ONNX operators."""
    scopes = [next(find_scopes(node.name), None) for node in nodes]
    counts = Counter(scopes)
    # The translation leaves out operators that no output needs. The others are in the description's order.
    needed = description.select(description.outputs).operators
    operators = {each[:2]: (each, operator) for each, operator in zip(model.operators, needed, strict=True)}
    names = Names()
    for node, scope in zip(nodes, scopes, strict=True):
        if scope is None:
            # It makes an output that is a second name of a value.
            node.name = names.find(node.name)
            continue
        (operation, _, label), operator = operators[scope]
        base = label or operator.outputs[0]
        node.name = names.find(base if counts[scope] == 1 else f"{base}.{node.op_type}")
        _add_metadata(node.metadata_props, {"webnn.operation": operation, "webnn.label": label, **notes.get(operator.outputs[0], {})})


def _declare(info: ValueInfoProto, operand: MLOperand) -> None:
    tensor = info.type.tensor_type
    tensor.elem_type = ELEMENT_TYPES[operand.descriptor.dataType]
    # A scalar has a shape too: an empty one.
    tensor.shape.SetInParent()
    for size in operand.descriptor.dimensions:
        tensor.shape.dim.add(dim_value=size)


def _spread_scales(graph: GraphProto) -> None:
    """Repeat the constants of one element that a value beside a matrix product is multiplied with or divided by.

    The engine moves a single scale into the matrix product, which rounds otherwise. The emulator does not allow that; a session that is not
    configured does not find a scale of several elements. The values stay the same.
    """
    constants = {tensor.name: tensor for tensor in graph.initializer if math.prod(tensor.dims) == 1}
    shapes = {each.name: [size.dim_value for size in each.type.tensor_type.shape.dim] for each in (*graph.value_info, *graph.output)}
    makers = {name: node.op_type for node in graph.node for name in node.output}
    takers: dict[str, set[str]] = {}
    for node in graph.node:
        for name in node.input:
            takers.setdefault(name, set()).add(node.op_type)
    names = Names([*makers, *takers])
    spread: dict[tuple[str, tuple[int, ...]], str] = {}
    for node in graph.node:
        if node.op_type not in _SCALINGS:
            continue
        shape = shapes.get(node.output[0], [])
        size = min([size for size in shape if size > 1], default=1)
        beside = {makers.get(name, "") for name in node.input} | takers.get(node.output[0], set())
        if size == 1 or beside.isdisjoint({"MatMul", *_SCALINGS}):
            continue
        # The smallest dimension of the result, and those after it.
        dims = (size, *[1] * (len(shape) - 1 - shape.index(size)))
        for position, name in enumerate(node.input):
            scale = constants.get(name)
            if scale is None:
                continue
            copy = spread.get((name, dims))
            if copy is None:
                copy = spread[name, dims] = names.find(f"{name}={','.join(map(str, dims))}")
                whole = [1] * (len(scale.dims) - len(dims)) + list(dims)
                graph.initializer.add(name=copy, data_type=scale.data_type, dims=whole, raw_data=scale.raw_data * size)
            node.input[position] = copy
    used = {name for inner in _all_graphs(graph) for node in inner.node for name in node.input}
    unused = [index for index, tensor in enumerate(graph.initializer) if tensor.name not in used]
    for index in reversed(unused):
        del graph.initializer[index]


def _embed(proto: ModelProto, weights: Iterable[Weight]) -> None:
    """Put the constants inside the model."""
    data = {weight.location: weight.data for weight in weights}
    for tensor in proto.graph.initializer:
        if tensor.data_location == TensorProto.EXTERNAL:
            tensor.raw_data = data[tensor.external_data[0].value].tobytes()
            tensor.ClearField("external_data")
            tensor.ClearField("data_location")


def _write_external(proto: ModelProto, weights: Iterable[Weight], path: Path) -> None:
    """Write the constants to a file, one after another; none is copied."""
    data = {weight.location: weight.data for weight in weights}
    with files.replacing(path) as stream:
        end = 0
        for tensor in proto.graph.initializer:
            if tensor.data_location != TensorProto.EXTERNAL:
                continue
            array = data[tensor.external_data[0].value]
            start = end + -end % (_PAGE if array.nbytes >= _LARGE else _ALIGNMENT)
            stream.write(bytes(start - end))
            stream.write(array.reshape(-1).view("uint8").data)
            end = start + array.nbytes
            tensor.ClearField("external_data")
            for key, value in (("location", path.name), ("offset", start), ("length", array.nbytes)):
                tensor.external_data.add(key=key, value=str(value))
