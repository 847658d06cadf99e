"""Mutations of ONNX models: of fields of their messages, of their graphs, of their bytes; and what a load may raise."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

import webnn
import webnn.onnx
from tests.property.files import NUMBERS
from tests.property.files import mutate_bytes as _mutate_bytes

__all__ = ["EXTERNAL", "load", "mutate"]

#: The file of external data beside a mutated model, and its bytes.
EXTERNAL = "weights.bin", bytes(range(256)) * 4
_LOCATIONS = [
    *("weights.bin", "../weights.bin", "/etc/passwd", "C:\\weights.bin", "..\\weights.bin", "", ".", "link", "sub/../weights.bin", "\0"),
    "none",
]
_ENTRIES = ["0", "4", "16", "-1", "1024", "4096", "x", "", "1e3", "9" * 30, str(2**63)]
_INTEGERS = [-1, 0, 1, 2, 3, 4, 5, 7, 8, -2, -5, 64, 100_000, *NUMBERS]
_FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, math.nan, math.inf, -math.inf, 1e-45, 3e38]
_WORDS = [
    *("", "x", "SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET", "constant", "nearest", "linear", "LSTM", "Tanh", "Relu", "\u202e"),
    "x" * 3000,
]


def load(path: Path) -> bool:
    """Import a file and build its graph without compiling it; return whether it is valid.

    Any other error than one that `webnn.onnx.load` documents comes out.
    """
    try:
        imported = webnn.onnx.load(path)
    except (webnn.onnx.RefusedModelError, webnn.FormatError, webnn.WebNNTypeError, OSError) as error:
        text = str(error)
        assert 0 < len(text) < 20_000, f"a text of {len(text)} characters"
        return False
    description = imported.description
    assert all(operator.descriptors for operator in description.operators)
    assert description.outputs
    description.build(webnn.MLGraphBuilder(webnn.ML(revision=description.draft).createContextSync()))
    return True


# Fields of messages.


def _messages(message: Message) -> Iterator[Message]:
    """Yield a message and all messages in it."""
    waiting = [message]
    while waiting:
        current = waiting.pop()
        yield current
        for field, value in current.ListFields():
            if field.type == FieldDescriptor.TYPE_MESSAGE:
                waiting.extend(value if _repeated(field) else [value])


def _repeated(field: Any) -> bool:
    return bool(field.is_repeated if hasattr(field, "is_repeated") else field.label == FieldDescriptor.LABEL_REPEATED)


def _other(field: Any, value: Any, names: Sequence[str], random: random.Random) -> Any:
    """Return another value of a field of numbers or text."""
    match field.type:
        case FieldDescriptor.TYPE_STRING:
            return random.choice([*names, *names, *names, *_WORDS])
        case FieldDescriptor.TYPE_BYTES:
            data = bytearray(value)
            _mutate_bytes(data, random)
            return random.choice([bytes(data), value[:-1], value + b"\0", b"", b"\xff\xfe", random.choice(_WORDS).encode()])
        case FieldDescriptor.TYPE_ENUM:
            return random.choice([each.number for each in field.enum_type.values])
        case FieldDescriptor.TYPE_FLOAT | FieldDescriptor.TYPE_DOUBLE:
            return random.choice([*_FLOATS, random.uniform(-9, 9)])
        case FieldDescriptor.TYPE_UINT64:
            return random.choice(_INTEGERS) % 2**64
        case FieldDescriptor.TYPE_INT32:
            return (random.choice(_INTEGERS) + 2**31) % 2**32 - 2**31
        case _:
            near = random.choice([value - 1, value + 1, -value, value * 2])
            return (random.choice([*_INTEGERS, near, near]) + 2**63) % 2**64 - 2**63


def _change_field(model: ModelProto, random: random.Random) -> None:
    """Change a field of any message."""
    messages = list(_messages(model))
    message = random.choice(messages)
    if random.random() < 0.7:
        # Large models have more types than nodes.
        kind = random.choice([NodeProto, AttributeProto, TensorProto, GraphProto, FunctionProto])
        message = random.choice([each for each in messages if isinstance(each, kind)] or [message])
    fields = [field for field, _ in message.ListFields()]
    field: Any = random.choice(fields) if fields and random.random() < 0.9 else random.choice(list(message.DESCRIPTOR.fields))
    names = _names(model)
    if _repeated(field):
        _change_list(message, field, names, messages, random)
    elif field.type == FieldDescriptor.TYPE_MESSAGE:
        similar = [each for each in messages if each.DESCRIPTOR.full_name == field.message_type.full_name]
        if similar and random.random() < 0.7:
            copied = _copy(random.choice(similar))
            getattr(message, field.name).CopyFrom(copied)
        else:
            message.ClearField(field.name)
    elif random.random() < 0.1:
        message.ClearField(field.name)
    else:
        setattr(message, field.name, _other(field, getattr(message, field.name), names, random))


def _change_list(message: Any, field: Any, names: Sequence[str], messages: Sequence[Message], random: random.Random) -> None:
    values = getattr(message, field.name)
    if field.type != FieldDescriptor.TYPE_MESSAGE:
        changed = list(values)
        place = random.randrange(len(changed) + 1)
        match random.randrange(6):
            case 0:
                changed = changed[:place]
            case 1 if changed:
                changed.insert(place, random.choice(changed))
            case 2 if changed:
                random.shuffle(changed)
            case 3:
                changed = []
            case _ if changed and random.random() < 0.8:
                place = random.randrange(len(changed))
                changed[place] = _other(field, changed[place], names, random)
            case _:
                empty: Any = {FieldDescriptor.TYPE_STRING: "", FieldDescriptor.TYPE_BYTES: b""}.get(field.type, 0)
                changed.insert(place, _other(field, empty, names, random))
        message.ClearField(field.name)
        values.extend(changed)
        return
    kept = [_copy(each) for each in values]
    similar = [each for each in messages if each.DESCRIPTOR.full_name == field.message_type.full_name]
    match random.randrange(5):
        case 0 if kept:
            del kept[random.randrange(len(kept))]
        case 1:
            random.shuffle(kept)
        case 2 if kept:
            kept[random.randrange(len(kept))] = _copy(random.choice(similar))
        case 3:
            del kept[random.randrange(len(kept) + 1) :]
        case _ if similar:
            kept.insert(random.randrange(len(kept) + 1), _copy(random.choice(similar)))
    message.ClearField(field.name)
    values.extend(kept)


def _copy(message: Any) -> Any:
    copied = type(message)()
    copied.CopyFrom(message)
    return copied


def _names(model: ModelProto) -> list[str]:
    nodes = [each for each in _messages(model) if isinstance(each, NodeProto)]
    return [name for node in nodes for name in (*node.input, *node.output)] or ["x"]


# The structure of graphs.


def _pick(model: ModelProto, kind: type[Message], random: random.Random) -> Any:
    found = [each for each in _messages(model) if isinstance(each, kind)]
    return random.choice(found) if found else None


def _attribute(model: ModelProto, random: random.Random) -> None:
    """Give a node an attribute that its operator knows, with a value of any type."""
    node = _pick(model, NodeProto, random)
    if node is None:
        return
    names = [*_attribute_names(node.op_type), *(each.name for each in node.attribute)]
    name = random.choice(sorted(names) or ["axis"])
    kept = [_copy(each) for each in node.attribute if each.name != name or random.random() < 0.1]
    make: Callable[[], Any] = random.choice(
        [
            lambda: random.choice(_INTEGERS) % 2**63,
            lambda: -random.choice([1, 2, 5, 2**62, 2**63]),
            lambda: random.choice(_FLOATS),
            lambda: random.choice(_WORDS),
            lambda: [(random.choice(_INTEGERS) + 2**63) % 2**64 - 2**63 for _ in range(random.randrange(1, 6))],
            lambda: [random.choice(_FLOATS) for _ in range(random.randrange(1, 6))],
            lambda: [random.choice(_WORDS) for _ in range(random.randrange(1, 4))],
            lambda: numpy_helper.from_array(np.ones(random.randrange(4), random.choice([np.float32, np.int64, np.bool_]))),
            lambda: _copy(model.graph) if len(model.graph.node) < 30 else 0,
        ]
    )
    del node.attribute[:]
    node.attribute.extend([*kept, helper.make_attribute(name, make())])


def _attribute_names(operator: str) -> list[str]:
    from onnx import defs

    return list(defs.get_schema(operator).attributes) if defs.has(operator) else []


def _operator(model: ModelProto, random: random.Random) -> None:
    """Give a node another operator."""
    from onnx import defs

    node = _pick(model, NodeProto, random)
    if node is not None:
        node.op_type = random.choice([each.name for each in defs.get_all_schemas() if not each.domain])
        node.domain = ""


def _rewire(model: ModelProto, random: random.Random) -> None:
    """Let a node take another value: one that comes later, its own output, or none."""
    node = _pick(model, NodeProto, random)
    if node is not None and node.input:
        node.input[random.randrange(len(node.input))] = random.choice([*_names(model), *node.output, ""])


def _tensor(model: ModelProto, random: random.Random) -> None:
    """Replace the elements of an initializer."""
    tensor = _pick(model, TensorProto, random)
    if tensor is None:
        return
    dtype = random.choice([np.int64, np.int64, np.float32, np.int32, np.bool_, np.uint8, np.float16])
    shape = random.choice([[], [0], [1], [2], [4], [1, 1], [2, 0, 3], list(tensor.dims)[:6]])
    if not all(0 <= size <= 4096 for size in shape) or math.prod(shape) > 4096:
        return
    numbers = [(random.choice(_INTEGERS) + 2**63) % 2**64 - 2**63 for _ in range(math.prod(shape))]
    with np.errstate(all="ignore"):
        tensor.CopyFrom(numpy_helper.from_array(np.array(numbers, np.int64).astype(dtype).reshape(shape), tensor.name))


def _claim(model: ModelProto, random: random.Random) -> None:
    """Let a tensor claim more, or other, elements than it has."""
    tensor = _pick(model, TensorProto, random)
    if tensor is not None:
        sizes = random.choice([[10**10], [2**62], [2**31, 2**31], [1] * 40, [0, 2**62], [100_000, 100_000], [-1], [3, -1, -1]])
        tensor.ClearField("dims")
        tensor.dims.extend(sizes)


def _externalize(model: ModelProto, random: random.Random) -> None:
    """Let a tensor have external data."""
    tensor = _pick(model, TensorProto, random)
    if tensor is None:
        return
    location = random.choice(_LOCATIONS) if random.random() < 0.6 else EXTERNAL[0]
    if random.random() < 0.5:
        tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    entries = {"location": location, "offset": random.choice(_ENTRIES), "length": random.choice(_ENTRIES)}
    for key, value in entries.items():
        if random.random() < 0.6 or key == "location":
            tensor.external_data.add(key=key, value=value)


def _versions(model: ModelProto, random: random.Random) -> None:
    """Change the versions of the domains."""
    if random.random() < 0.8 and model.opset_import:
        random.choice(model.opset_import).version = random.choice([*range(7, 28), *range(7, 28), 0, 6, 28, 29, 10**9, -1, 2**62])
    else:
        model.opset_import.add(domain=random.choice(["", "com.microsoft", "ai.onnx.ml", "x"]), version=random.randrange(30))


def _wrap(model: ModelProto, random: random.Random) -> None:
    """Put the nodes into a body or a function."""
    graph = model.graph
    nodes = [_copy(each) for each in graph.node]
    outputs = [each.name for each in graph.output]
    if not nodes or len(nodes) > 50:
        return
    if random.random() < 0.5:
        domain = random.choice(["", "local", "com.microsoft"])
        name = random.choice(["F", nodes[0].op_type])
        inputs = [each.name for each in graph.input]
        if random.random() < 0.3:
            nodes.append(helper.make_node(name, inputs, outputs, domain=domain))
        model.functions.append(helper.make_function(domain, name, inputs, outputs, nodes, list(model.opset_import)))
        call = helper.make_node(name, inputs, outputs, domain=domain)
        if domain not in [each.domain for each in model.opset_import]:
            model.opset_import.add(domain=domain, version=1)
    else:
        # The body of an If sees the values around it.
        body = helper.make_graph(nodes, "body", [], list(graph.output), list(graph.initializer) if random.random() < 0.3 else [])
        for _ in range(random.choice([0, 0, 0, 3, 18])):
            body = helper.make_graph([_if(body, outputs)], "body", [], list(graph.output))
        graph.initializer.append(numpy_helper.from_array(np.array(random.random() < 0.5), "condition"))
        call = _if(body, outputs)
    del graph.node[:]
    graph.node.append(call)


def _if(body: GraphProto, outputs: Sequence[str]) -> NodeProto:
    return helper.make_node("If", ["condition"], outputs, then_branch=body, else_branch=body if body.ByteSize() < 2000 else GraphProto())


def _double(model: ModelProto, random: random.Random) -> None:
    """Let a value grow by doubling."""
    graph = model.graph
    name = random.choice(_names(model))
    for index in range(random.choice([5, 20, 40, 80])):
        kind = random.choice(["Concat", "Concat", "Add", "Tile"])
        if kind == "Tile":
            graph.initializer.append(numpy_helper.from_array(np.array([2], np.int64), f"twice{index}"))
            graph.node.append(helper.make_node("Tile", [name, f"twice{index}"], [f"{name}+"]))
        elif kind == "Concat":
            graph.node.append(helper.make_node("Concat", [name, name], [f"{name}+"], axis=0))
        else:
            graph.node.append(helper.make_node("Add", [name, name], [f"{name}+"]))
        name += "+"
    graph.output.append(helper.make_empty_tensor_value_info(name))


def _swell(model: ModelProto, random: random.Random) -> None:
    """Let a value be one number, repeated, of much more elements."""
    node = _pick(model, NodeProto, random)
    if node is None or not node.input:
        return
    place = random.randrange(len(node.input))
    known = {each.name: each for each in model.graph.initializer}
    old = known.get(node.input[place])
    shape = [*old.dims] if old is not None else [random.choice([1, 2, 3]) for _ in range(random.randrange(5))]
    shape.insert(0, 1)
    for _ in range(random.choice([1, 2])):
        shape[random.randrange(len(shape))] = random.choice([2**16, 2**20, 2**24, 2**29, 2**31, 2**33, 2**40])
    isNumeric = old is not None and 0 < old.data_type < 12 and old.data_type != 8
    dtype = helper.tensor_dtype_to_np_dtype(old.data_type) if isNumeric else np.dtype(np.float32)
    value = numpy_helper.from_array(np.array([random.choice([0, 1, 3])]).astype(dtype))
    node.input[place] = "swollen"
    graph = model.graph
    graph.initializer.append(numpy_helper.from_array(np.array(shape[random.randrange(2) :], np.int64), "swollen shape"))
    nodes = [helper.make_node("ConstantOfShape", ["swollen shape"], ["swollen"], value=value), *(_copy(each) for each in graph.node)]
    del graph.node[:]
    graph.node.extend(nodes)


_STRUCTURE: Sequence[Callable[[ModelProto, random.Random], None]] = [
    *([_change_field] * 14 + [_attribute] * 6 + [_tensor] * 4 + [_rewire] * 2 + [_operator] * 2),
    *(_claim, _externalize, _versions, _wrap, _double),
    *[_swell] * 2,
]


def mutate(model: ModelProto, random: random.Random) -> bytes:
    """Return a model with one to three mutations, as the bytes of a file."""
    mutated = _copy(model)
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        random.choice(_STRUCTURE)(mutated, random)
    data = bytearray(mutated.SerializeToString())
    if random.random() < 0.15:
        _mutate_bytes(data, random)
    return bytes(data)
