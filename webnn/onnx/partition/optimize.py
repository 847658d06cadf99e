"""An ONNX model as ONNX Runtime Web has it when it partitions it: optimized, with inferred types.

ONNX Runtime optimizes a model before it asks its providers, and folds constants. The installed ONNX Runtime does the same here. Large
weights stay out of that: their values decide nothing, so an empty file replaces them. Models of any size fit that way.
"""

from __future__ import annotations

import math
import tempfile
from collections import deque
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import onnx
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto

from webnn.onnx.partition.graph import DEEPEST, PartitionNode, bodies_of
from webnn.validation.errors import NotSupportedError, OperationError

__all__ = ["Inlined", "Optimized", "find_inlined", "find_refusal", "optimize"]

#: Initializers of more bytes are replaced. The limit for integers is higher, because they may be shapes.
_KEPT_FLOATS, _KEPT_OTHERS = 4096, 1 << 20
_FLOATS = frozenset({TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.BFLOAT16})
#: Bits of an element, by its type.
_BITS: dict[int, int] = {
    **dict.fromkeys((TensorProto.DOUBLE, TensorProto.INT64, TensorProto.UINT64), 64),
    **dict.fromkeys((TensorProto.FLOAT, TensorProto.INT32, TensorProto.UINT32), 32),
    **dict.fromkeys((TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.INT16, TensorProto.UINT16), 16),
    **dict.fromkeys((TensorProto.INT8, TensorProto.UINT8, TensorProto.BOOL), 8),
    **dict.fromkeys((TensorProto.INT4, TensorProto.UINT4), 4),
}
_INLINED = "_inlfunc_"
_LARGEST_FILE = 1 << 40


@dataclass(frozen=True, slots=True)
class Optimized:
    """A model that is ready to be partitioned, without its large weights.

    ``note`` says why it is not optimized, or has only the types that the package `onnx` infers. ``makers`` has the node that made each
    value before; an empty one for an initializer.
    """

    model: ModelProto
    note: str
    makers: Mapping[str, NodeProto]


def optimize(model: ModelProto) -> Optimized:
    """Return a model as ONNX Runtime Web partitions it.

    Raises:
        OperationError: It is not a model that could be partitioned: no graph, or external data that is not loaded.
    """
    from webnn.context.engine import optimizer  # noqa: PLC0415 (the engine is loaded at the first use)

    light, notes = _lighten(_without_functions(model)), []
    makers = dict(_makers(light.graph))
    with tempfile.TemporaryDirectory(prefix="webnn-") as folder:
        path = Path(folder) / "model.onnx"
        try:
            light = onnx.load_model_from_string(optimizer.rewrite(_save(light, path), optimize=True))
        except (NotSupportedError, OperationError, OSError, ValueError) as error:
            notes.append(f"the model is not optimized: {error}")
        try:
            typed = onnx.load_model_from_string(optimizer.rewrite(_save(_with_all_outputs(light), path), optimize=False))
            light.graph.value_info.extend(typed.graph.output)
        except (NotSupportedError, OperationError, OSError, ValueError) as error:
            if not notes:
                notes.append(f"ONNX Runtime does not infer the types: {error}")
    return Optimized(_infer(light), "; ".join(notes), makers)


def find_refusal(model: ModelProto, name: str) -> str:
    """Return why ONNX Runtime refuses a model, or "". The values of large weights do not count; external data is loaded where it is small.

    Raises:
        OperationError: The model cannot be written: see `optimize`.
    """
    from webnn.context.engine import foreign  # noqa: PLC0415 (as above)

    with tempfile.TemporaryDirectory(prefix="webnn-") as folder:
        path = _save(_lighten(model), Path(folder) / "model.onnx")
        return foreign.find_refusal(path).replace(str(path), name)


def _without_functions(model: ModelProto) -> ModelProto:
    """Inline the model's own functions, as ONNX Runtime does first."""
    if not model.functions:
        return model
    from onnx import inliner  # noqa: PLC0415 (most models have no functions)

    try:
        return inliner.inline_local_functions(model)
    except Exception as error:  # a model of a file has any fault
        raise OperationError(f"the model's functions cannot be inlined: {error}") from error


def _lighten(model: ModelProto) -> ModelProto:
    """Copy a model without its large weights."""
    light = ModelProto(ir_version=model.ir_version)
    light.opset_import.extend(model.opset_import)
    _lighten_graph(model.graph, light.graph, 0)
    return light


def _lighten_graph(graph: GraphProto, light: GraphProto, depth: int) -> None:
    if depth > DEEPEST:
        raise OperationError(f"bodies of nodes must stand at most {DEEPEST} deep in each other")
    light.name = graph.name or "graph"
    light.input.extend(graph.input)
    light.output.extend(graph.output)
    light.value_info.extend(graph.value_info)
    light.sparse_initializer.extend(graph.sparse_initializer)
    for tensor in graph.initializer:
        light.initializer.append(_lighten_tensor(tensor))
    for node in graph.node:
        copied = light.node.add()
        copied.CopyFrom(node)
        for (_, body), (_, target) in zip(bodies_of(node), bodies_of(copied), strict=True):
            target.Clear()
            _lighten_graph(body, target, depth + 1)


def _lighten_tensor(tensor: TensorProto) -> TensorProto:
    bits, external = _BITS.get(tensor.data_type), tensor.data_location == TensorProto.EXTERNAL
    if any(size < 0 for size in tensor.dims):
        raise OperationError(f"the dimensions of the initializer {tensor.name!r} must not be negative, got {list(tensor.dims)}")
    size = (math.prod(tensor.dims) * (bits or 0) + 7) // 8
    kept = _KEPT_FLOATS if tensor.data_type in _FLOATS else _KEPT_OTHERS
    if bits is None or size <= kept:
        if external:
            raise OperationError(f"the external data of the initializer {tensor.name!r} must be loaded, because its values count")
        return tensor
    if size > _LARGEST_FILE:
        raise OperationError(f"the initializer {tensor.name!r} must have at most {_LARGEST_FILE} bytes, got {size}")
    return _elsewhere(TensorProto(name=tensor.name, data_type=tensor.data_type, dims=tensor.dims), size)


def _elsewhere(tensor: TensorProto, size: int) -> TensorProto:
    """Make a tensor refer to the file without content."""
    from webnn.context.engine.optimizer import ELSEWHERE  # noqa: PLC0415 (as above)

    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", ELSEWHERE), ("offset", "0"), ("length", str(size))):
        tensor.external_data.add(key=key, value=value)
    return tensor


def _save(model: ModelProto, path: Path) -> Path:
    """Write a model, and a file of zeros that takes no space for all its external data."""
    from webnn.context.engine.optimizer import ELSEWHERE  # noqa: PLC0415 (as above)

    sizes = [int(each.value) for tensor in _tensors(model.graph) for each in tensor.external_data if each.key == "length"]
    with (path.parent / ELSEWHERE).open("wb") as file:
        file.truncate(max(sizes, default=0))
    path.write_bytes(model.SerializeToString())
    return path


def _tensors(graph: GraphProto) -> Iterator[TensorProto]:
    yield from graph.initializer
    for node in graph.node:
        for _, body in bodies_of(node):
            yield from _tensors(body)


def _makers(graph: GraphProto) -> Iterator[tuple[str, NodeProto]]:
    for node in graph.node:
        yield from ((name, node) for name in node.output)
        for _, body in bodies_of(node):
            yield from _makers(body)
    yield from ((each.name, NodeProto()) for each in graph.initializer)


def _with_all_outputs(model: ModelProto) -> ModelProto:
    """Copy a model, and make outputs of all its values: ONNX Runtime returns the types of outputs only."""
    copied = ModelProto()
    copied.CopyFrom(model)
    given = {each.name for each in (*copied.graph.output, *copied.graph.input)}
    for node in copied.graph.node:
        for name in node.output:
            if name and name not in given:
                given.add(name)
                copied.graph.output.append(ValueInfoProto(name=name))
    return copied


def _infer(model: ModelProto) -> ModelProto:
    """Add the types that the package `onnx` infers, those in bodies too."""
    known = {each.name for each in model.graph.value_info}
    try:
        inferred: ModelProto = onnx.shape_inference.infer_shapes(model)
    except Exception:  # a model of a file has any fault; what has no type is not given to WebNN
        return model
    # ONNX Runtime's inference wins.
    infos = [*(each for each in inferred.graph.value_info if each.name not in known), *model.graph.value_info]
    del inferred.graph.value_info[:]
    inferred.graph.value_info.extend(infos)
    return inferred


# ---- Functions that the CPU provider has no kernel for


#: The only function whose body is one node, a Cast: no name tells that it was inlined.
_LIKE = "CastLike"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inlined:
    """A function of ONNX that was inlined, because the CPU provider has no kernel for it. WebNN may take it as a whole.

    ``nodes`` are the places of its nodes in the graph, ``inputs`` the values that they read, in the order of their first use, and
    ``outputs`` those that other nodes read.
    """

    op: str
    nodes: tuple[int, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def find_inlined(nodes: Sequence[PartitionNode], makers: Mapping[str, NodeProto]) -> list[Inlined]:
    """Find the functions that were inlined in a graph, whose nodes are in topological order. One within another one counts as a part of it.

    A model may have been inlined by somebody else: ``makers`` are the nodes that made values before.
    """
    inner = [tuple(name for name in (*each.inputs, *each.outputs) if name.startswith(_INLINED) and name not in makers) for each in nodes]
    users: dict[str, list[int]] = {}
    for index, names in enumerate(inner):
        for name in names:
            users.setdefault(name, []).append(index)
    found, seen = [], set[int]()
    made = {name for each in nodes for name in each.outputs}
    for start, names in enumerate(inner):
        before = makers.get(next(iter(nodes[start].outputs), ""), NodeProto())
        if names and start not in seen:
            group, waiting = {start}, deque([start])
            while waiting:
                for name in inner[waiting.popleft()]:
                    waiting.extend(each for each in users[name] if each not in group)
                    group.update(users[name])
            seen |= group
            found.append(_inlined(names[0].removeprefix(_INLINED).partition("_")[0], sorted(group), nodes))
        elif not names and before.op_type == _LIKE and nodes[start].op != _LIKE:
            # The value that only gave its type is read by the function, but not by its body.
            found.append(_inlined(_LIKE, [start], nodes, [_survivor(name, made, makers) for name in before.input[1:]]))
    return found


def _survivor(name: str, made: Container[str], makers: Mapping[str, NodeProto]) -> str:
    """Return the value that is there instead of one that the optimizer removed, such as the result of an Identity."""
    seen = set[str]()
    while name not in made and name not in seen and name in makers and makers[name].input:
        seen.add(name)
        name = makers[name].input[0]
    return name


def _inlined(op: str, places: list[int], nodes: Sequence[PartitionNode], further: Iterable[str] = ()) -> Inlined:
    made = {name for place in places for name in nodes[place].outputs}
    read = [name for place in places for name in nodes[place].inputs if name and name not in made and not name.startswith(_INLINED)]
    given = [name for place in places for name in nodes[place].outputs if name and not name.startswith(_INLINED)]
    return Inlined(op=op, nodes=tuple(places), inputs=tuple(dict.fromkeys([*read, *further])), outputs=tuple(given))
