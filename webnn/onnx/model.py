"""ONNX files: reading them, their nodes, tensors and inputs. Files are foreign: nothing outside the folder is read, no size is believed."""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

import numpy as np
from google.protobuf.message import DecodeError
from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper
from onnx.defs import onnx_opset_version

from webnn.builder.description import FormatError
from webnn.builder.onnx_names import taken_values
from webnn.builder.regular import check_regular, open_regular
from webnn.importing import driver
from webnn.importing.named import evaluate_size, find_names, replace_names
from webnn.importing.values import Array, Refused
from webnn.onnx.origins import add_module
from webnn.onnx.weights import read_apart
from webnn.validation import webidl

__all__ = [
    "ONNX_DOMAINS",
    "PLAIN_ATTRIBUTES",
    "Model",
    "Settings",
    "Source",
    "boolean_names",
    "element_type",
    "input_shape",
    "read",
    "read_node",
]

#: ONNX's own domain, by both of its names.
ONNX_DOMAINS = ("", "ai.onnx")
_OLDEST = 7
#: The fields of element types whose numbers are in a field as they are, and the field's own type.
_FIELDS: Mapping[int, tuple[str, type[np.generic]]] = {
    TensorProto.FLOAT: ("float_data", np.float32),
    TensorProto.DOUBLE: ("double_data", np.float64),
    TensorProto.INT8: ("int32_data", np.int32),
    TensorProto.UINT8: ("int32_data", np.int32),
    TensorProto.INT32: ("int32_data", np.int32),
    TensorProto.INT64: ("int64_data", np.int64),
}
#: How NumPy reads the raw data of element types that are its own.
_RAW: Mapping[int, np.dtype[Any]] = {
    TensorProto.FLOAT16: np.dtype("<f2"),
    TensorProto.FLOAT: np.dtype("<f4"),
    TensorProto.DOUBLE: np.dtype("<f8"),
    TensorProto.INT8: np.dtype("i1"),
    TensorProto.INT16: np.dtype("<i2"),
    TensorProto.INT32: np.dtype("<i4"),
    TensorProto.INT64: np.dtype("<i8"),
    TensorProto.UINT8: np.dtype("u1"),
    TensorProto.UINT16: np.dtype("<u2"),
    TensorProto.UINT32: np.dtype("<u4"),
    TensorProto.UINT64: np.dtype("<u8"),
}
#: protobuf itself reads no more.
_LARGEST = 2**31 - 1
#: The most dimensions of a tensor. WebNN has fewer, but what is known at import may have more.
_MOST_AXES = 32
#: The operators with bodies.
_BODIES = frozenset({"If", "Loop", "Scan"})
#: The types of attributes without names inside.
PLAIN_ATTRIBUTES = frozenset({AttributeProto.INT, AttributeProto.FLOAT, AttributeProto.STRING, AttributeProto.INTS, AttributeProto.FLOATS})
#: The longest name, in characters. Each operator of an unrolled loop has one.
_LONGEST_NAME = 4096


@dataclass(slots=True, eq=False)
class Source:
    """A node as the file has it, read once: reading a field of protobuf takes as long as several steps of Python.

    Its name is that of its first output if it has none, behind that of PyTorch's module if it is known; the domain is empty for ONNX's own,
    and so is the name of an optional input or output that is missing. The key is the operator, with its domain if that is not ONNX's own:
    ``"com.microsoft.FusedConv"``. ``names`` are those of the attributes, ``references`` the attributes of a function that they take.
    """

    proto: NodeProto
    name: str
    operator: str
    domain: str
    inputs: list[str]
    outputs: list[str]
    attributes: list[AttributeProto]
    key: str
    names: list[str]
    references: list[str]


def read_node(proto: NodeProto) -> Source:
    """Read a node."""
    operator, domain, outputs = proto.op_type, proto.domain, proto.output[:]
    name = proto.name or next(filter(None, outputs), operator)
    if proto.metadata_props:
        name = add_module(proto, name)
    # A slice of a repeated field is a list: reading it is faster than reading the field one by one.
    inputs, attributes, names, references = proto.input[:], proto.attribute[:], [], []
    for each in attributes:
        names.append(each.name)
        if reference := each.ref_attr_name:
            references.append(reference)
    key = operator
    if domain:
        domain, key = ("", operator) if domain in ONNX_DOMAINS else (domain, f"{domain}.{operator}")
    return Source(proto, name, operator, domain, inputs, outputs, attributes, key, names, references)


@functools.cache
def element_type(number: int) -> np.dtype[Any]:
    """Return the element type with a number of ``TensorProto.DataType``; refuse one without a NumPy type."""
    try:
        dtype = helper.tensor_dtype_to_np_dtype(number)
    except (KeyError, ValueError, TypeError):
        dtype = np.dtype(object)
    if dtype.kind not in "OSU":
        return dtype
    known = TensorProto.DataType.values()
    name = TensorProto.DataType.Name(cast(Any, number)).lower() if number in known else str(number)
    raise Refused(f"the element type must be one of WebNN, got {name}")


#: The operators with bodies that run in place or again and again.
_WITH_BODY = frozenset({"If", "Loop", "Scan", "SequenceMap"})


@dataclass(frozen=True, slots=True)
class Model:
    """An ONNX model, with the versions of its domains, and its functions by domain, name and overload.

    ``file`` is for messages; ``folder`` has the external data, and is none if the model did not come from a file. ``apart`` has the
    elements of initializers that are not in ``proto``, by the positions of these.
    """

    proto: ModelProto
    file: str
    folder: Path | None
    opsets: Mapping[str, int]
    functions: Mapping[tuple[str, str, str], FunctionProto]
    nodes: Sequence[Source]
    apart: Mapping[int, bytes]

    def count_nodes(self) -> int:
        """Return how many nodes the file has, those of bodies and functions too."""
        graphs: list[GraphProto | FunctionProto] = [self.proto.graph, *self.functions.values()]
        # A work list in place of recursion.
        for graph in graphs:
            for node in graph.node:
                if node.op_type in _WITH_BODY:
                    graphs += [each.g for each in node.attribute if each.type == AttributeProto.GRAPH]
        return sum(len(graph.node) for graph in graphs)

    def tensor(self, tensor: TensorProto, raw: bytes = b"", *, weights: bool = True) -> Array:
        """Return the elements of a tensor. Without ``weights``, zeros replace a missing file of external data.

        ``raw`` has the elements that are not in the tensor.

        Raises:
            Refused: The element type has no NumPy type, or the tensor contradicts itself.
            FormatError: The external data cannot be read.
        """
        number, shape = tensor.data_type, tuple(tensor.dims[:])
        dtype = element_type(number)
        if len(shape) > _MOST_AXES or (shape and min(shape) < 0):
            wanted = f"at most {_MOST_AXES} dimensions with sizes of at least 0"
            raise Refused(f"the tensor {webidl.describe(tensor.name)} must have {wanted}, got {webidl.describe(list(shape))}")
        if tensor.data_location == TensorProto.EXTERNAL:
            return self._external(tensor, dtype, shape, weights=weights)
        raw = raw or tensor.raw_data
        stored = _RAW.get(number)
        if raw and stored is not None and len(raw) == math.prod(shape) * dtype.itemsize:
            array = np.frombuffer(raw, stored).reshape(shape)
            return array if array.dtype == dtype else array.astype(dtype)
        field, own = _FIELDS.get(number, ("", None))
        numbers = getattr(tensor, field) if field and not raw else ()
        if numbers and len(numbers) == math.prod(shape):
            # NumPy copies the memory of a repeated field as a whole, but a single number is read faster from a list.
            array = np.array(numbers[:] if len(numbers) == 1 else numbers, own)
            return _read_only(array.astype(dtype, copy=False).reshape(shape))
        # Any other field of numbers is read by onnx itself; it never makes more elements than there are.
        try:
            if len(raw) > len(tensor.raw_data):
                tensor.raw_data = raw
            return _read_only(numpy_helper.to_array(tensor))
        except (ValueError, TypeError, OverflowError, MemoryError) as error:
            raise Refused(f"the tensor {webidl.describe(tensor.name)} contradicts itself: {error}") from None

    def _external(self, tensor: TensorProto, dtype: np.dtype[Any], shape: tuple[int, ...], *, weights: bool) -> Array:
        entries = {entry.key: entry.value for entry in tensor.external_data}
        name = webidl.describe(tensor.name)
        count = math.prod(shape)
        # Two elements of a small type share a byte.
        bits = {"int4": 4, "uint4": 4, "float4_e2m1fn": 4, "int2": 2, "uint2": 2}.get(dtype.name, 8 * dtype.itemsize)
        size = -(-count * bits // 8)
        path = self._beside(entries.get("location", ""))
        try:
            offset, length = (int(entries.get(key, default)) for key, default in (("offset", "0"), ("length", str(size))))
        except ValueError:
            raise FormatError(f"the external data of {name} must have numbers as offset and length, got {entries}", self.file) from None
        if length != size or offset < 0:
            raise FormatError(
                f"the external data of {name} must be the {size} bytes of {dtype.name} {list(shape)}, got {length} at {offset}", self.file
            )
        exists = path.exists() or path.is_symlink()
        if not exists and weights:
            raise FormatError(f"the external data of {name} is missing: there is no file {path.name}", self.file)
        try:
            there = check_regular(path).st_size if exists else offset + length
        except FormatError as error:
            raise FormatError(f"the external data of {name} in {webidl.describe(path.name)} {error.message}", self.file) from None
        if offset + length > there:
            raise FormatError(
                f"the external data of {name} must end within {path.name}, which has {there} bytes, got {offset + length}", self.file
            )
        try:
            if not exists:
                return np.broadcast_to(np.zeros((), dtype), shape)
            if count == 0:
                return _read_only(np.zeros(shape, dtype))
            if bits >= 8:
                return np.memmap(path, dtype.newbyteorder("<"), "r", offset, shape)
            data = np.memmap(path, np.uint8, "r", offset, (length,)).tobytes()
            return _read_only(numpy_helper.to_array(TensorProto(data_type=tensor.data_type, dims=shape, raw_data=data)))
        except ValueError as error:
            # It has too many dimensions or elements for any array.
            raise Refused(f"the tensor {name} contradicts itself: {error}") from None

    def _beside(self, location: str) -> Path:
        """Return a file in the model's folder or below it."""
        if self.folder is None:
            raise FormatError("external data needs the model's file: give its path, or load the data into the model", self.file)
        folder = self.folder.resolve()
        parts = location.replace("\\", "/").split("/")
        bad = not location or "\0" in location or not parts[0] or ":" in location or ".." in parts
        # Links may not lead out of the folder either.
        if bad or not (folder / location).resolve().is_relative_to(folder):
            raise FormatError(f"external data must be in the model's folder, got {webidl.describe(location)}", self.file)
        return folder / location


def _read_only(array: Array) -> Array:
    array.setflags(write=False)
    return array


def read(source: str | os.PathLike[str] | bytes | ModelProto | Model, *, apart: bool = False) -> Model:
    """Read a model from a file, or its bytes; one that is given is not changed. The elements of large initializers may be kept apart.

    A model that was read already is returned.

    Raises:
        FormatError: It is not an ONNX model, or its opset is not supported.
        OSError: The file cannot be read.
        TypeError: The source has another type.
    """
    if isinstance(source, Model):
        return source
    if isinstance(source, bytes):
        source = _parse(source, "model")
    if isinstance(source, ModelProto):
        return _check(source, source.graph.name or "model", None)
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"load: source must be a file, the bytes of one, or a ModelProto, got {webidl.describe(source)}")
    path = Path(source)
    with open_regular(path) as file:
        if os.fstat(file.fileno()).st_size > _LARGEST:
            raise FormatError("must be smaller than 2 GiB: larger models have their weights in external data", path)
        data, raws = read_apart(file) if apart else (file.readall(), {})
    return _check(_parse(data, path), os.fspath(path), path.parent, raws)


def _parse(data: bytes, file: str | Path) -> ModelProto:
    proto = ModelProto()
    try:
        proto.ParseFromString(data)
    except DecodeError as error:
        raise FormatError(f"is not an ONNX model: {error}", file) from None
    return proto


def _check(proto: ModelProto, file: str, folder: Path | None, apart: Mapping[int, bytes] = MappingProxyType({})) -> Model:
    if not proto.HasField("graph") or not proto.opset_import:
        raise FormatError("is not an ONNX model: it must have a graph and the versions of its operators", file)
    nodes = [read_node(node) for node in proto.graph.node]
    texts = _texts(proto, nodes)
    if {*map(type, texts)} != {str} or max(map(len, texts)) > _LONGEST_NAME:
        wrong = [text for text in texts if type(text) is bytes or len(text) > _LONGEST_NAME]
        raise FormatError(f"names must be UTF-8 of at most {_LONGEST_NAME} characters, got {webidl.describe(wrong[0])}", file)
    opsets = _versions(proto, file)
    for function in proto.functions:
        _versions(function, file)
    functions = {(each.domain, each.name, each.overload): each for each in proto.functions}
    return Model(proto, file, folder, MappingProxyType(opsets), MappingProxyType(functions), _order(nodes), apart)


def _order(nodes: list[Source]) -> list[Source]:
    """Return nodes behind those whose results they take. A valid file has that order; ONNX Runtime writes others, too. Circles stay."""
    makers = {name: index for index, source in enumerate(nodes) for name in source.outputs if name}
    taken = [list(taken_values(source.proto)) if source.operator in _BODIES else source.inputs for source in nodes]
    if all(makers.get(name, -1) < index for index, names in enumerate(taken) for name in names):
        return nodes
    before = {index: {makers[name] for name in names if name in makers} for index, names in enumerate(taken)}
    try:
        return [nodes[index] for index in TopologicalSorter(before).static_order()]
    except CycleError:
        return nodes


def _versions(proto: ModelProto | FunctionProto, file: str) -> dict[str, int]:
    """Return the versions of the domains; ONNX's own is the empty one."""
    opsets = {"" if each.domain in ONNX_DOMAINS else each.domain: each.version for each in proto.opset_import}
    for domain, number in opsets.items():
        if not 0 < number < 2**31:
            raise FormatError(f"the version of the domain {webidl.describe(domain)} must be from 1 to {2**31 - 1}, got {number}", file)
    version = opsets.get("")
    newest = onnx_opset_version()
    if version is not None and not _OLDEST <= version <= newest:
        advice = "convert it with onnx.version_converter" if version < _OLDEST else "install a newer onnx"
        raise FormatError(f"must be of an opset from {_OLDEST} to {newest}, got {version}: {advice}", file)
    return opsets


def _texts(proto: ModelProto, nodes: Sequence[Source]) -> list[str | bytes]:
    """Return the texts of a model, with the nodes of its graph, that the import reads. protobuf returns one that is not UTF-8 as bytes."""
    # A slice of a repeated field is a list, which is read twice as fast as the field.
    texts: list[str | bytes] = [opset.domain for opset in proto.opset_import]
    for function in proto.functions:
        texts += (function.domain, function.name, function.overload)
        texts += function.input[:] + function.output[:] + function.attribute[:]
        texts += [opset.domain for opset in function.opset_import]
        texts += [attribute.name for attribute in function.attribute_proto]
        _add_nodes(texts, map(read_node, function.node))
    _add_graph(texts, proto.graph, nodes)
    return texts


def _add_graph(texts: list[str | bytes], graph: GraphProto, nodes: Iterable[Source]) -> None:
    texts.append(graph.name)
    texts += [info.name for info in graph.input[:] + graph.output[:] + graph.value_info[:]]
    # Nothing reads the names of other dimensions.
    texts += [dim.dim_param for info in graph.input for dim in info.type.tensor_type.shape.dim]
    _add_tensors(texts, graph.initializer)
    texts += [sparse.values.name for sparse in graph.sparse_initializer]
    _add_nodes(texts, nodes)


def _add_nodes(texts: list[str | bytes], nodes: Iterable[Source]) -> None:
    for node in nodes:
        texts += (node.name, node.operator, node.domain, *node.inputs, *node.outputs, *node.names, *node.references)
        for attribute in node.attributes:
            # The checker refuses one that has something else than its type says.
            if attribute.type in PLAIN_ATTRIBUTES:
                continue
            if attribute.HasField("t"):
                _add_tensors(texts, [attribute.t])
            if attribute.HasField("g"):
                _add_graph(texts, attribute.g, map(read_node, attribute.g.node))
            for graph in attribute.graphs[:]:
                _add_graph(texts, graph, map(read_node, graph.node))


def _add_tensors(texts: list[str | bytes], tensors: Iterable[TensorProto]) -> None:
    for tensor in tensors:
        texts.append(tensor.name)
        for entry in tensor.external_data:
            texts += (entry.key, entry.value)


# The settings of an import, and the inputs that they fix.


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(driver.Settings):
    """Settings of the caller: see `webnn.onnx.load`."""

    dims: Mapping[str, int | str] = field(default_factory=dict)
    weights: bool = True

    def names(self, graph: GraphProto) -> dict[str, str]:
        """Return the names that dimensions of inputs keep, each with the setting that gives it; nothing if all are numbers."""
        found: dict[str, str] = {}
        if any(isinstance(each, str) for each in [*self.dims.values(), *[size for shape in self.shapes.values() for size in shape]]):
            keys = {name: f"dims[{key!r}]" for key, value in self.dims.items() if isinstance(value, str) for name in find_names(value)}
            initializers = {tensor.name for tensor in graph.initializer}
            for info in graph.input:
                try:
                    shape = () if info.name in initializers or info.name in self.constants else input_shape(self, info)
                except Refused:  # the import says so
                    continue
                for axis, size in enumerate(shape):
                    if isinstance(size, str):
                        found.setdefault(size, keys.get(size, f"shapes[{info.name!r}][{axis}]"))
        return found


def boolean_names(graph: GraphProto) -> frozenset[str]:
    """Return the names of the inputs that are bool."""
    return frozenset([info.name for info in graph.input if info.type.tensor_type.elem_type == TensorProto.BOOL])


def input_shape(settings: Settings, info: ValueInfoProto) -> tuple[int | str, ...]:
    """Return the shape of an input, from the settings and the model, with names in place of some sizes if the settings have them.

    Unknown sizes and contradictions are refused.
    """
    constant = settings.constants.get(info.name)
    if constant is not None:
        return tuple(np.shape(constant))
    tensor = info.type.tensor_type
    given = settings.shapes.get(info.name)
    if not tensor.HasField("shape"):
        if given is None:
            raise Refused("the shape is unknown", f"give it: shapes={{{info.name!r}: [...]}}")
        return tuple(given)
    if given is not None:
        return driver.fit_shape(given, [dim.dim_value if dim.dim_value > 0 else dim.dim_param or "?" for dim in tensor.shape.dim])
    declared = [dim.dim_value if dim.dim_value > 0 else None for dim in tensor.shape.dim]
    shape: list[int | str | None] = [d or settings.dims.get(dim.dim_param) for d, dim in zip(declared, tensor.shape.dim, strict=True)]
    if None in shape:
        shape = [size or compute_size(settings, dim.dim_param) for size, dim in zip(shape, tensor.shape.dim, strict=True)]
    if None in shape:
        # Some exporters write a question mark for a dimension without a name: others have the same.
        names = [dim.dim_param for dim, size in zip(tensor.shape.dim, shape, strict=True) if size is None]
        names = [name if name.strip("?") else "" for name in names]
        named = [name for name in dict.fromkeys(names) if name]
        what = f"the dimensions {', '.join(named)}" if named else "some dimensions"
        options = [f"dims={{{', '.join(f'{name!r}: ...' for name in named)}}}"] if all(names) else []
        sizes = ", ".join(str(size or "...") for size in shape)
        options.append(f"shapes={{{info.name!r}: [{sizes}]}}")
        shown = ", ".join(str(size or dim.dim_param or "?") for size, dim in zip(shape, tensor.shape.dim, strict=True))
        raise Refused(f"{what} of [{shown}] must be fixed", f"give {' or '.join(options)}")
    return tuple([size for size in shape if size is not None])


def compute_size(settings: Settings, text: str) -> int | str | None:
    """Return the size of a dimension whose name is a sum of products of names that the settings have: a number, or such a sum."""
    names = find_names(text)
    if not names or any(name not in settings.dims for name in names):
        return None
    if all(isinstance(settings.dims[name], int) for name in names):
        found = evaluate_size(text, lambda name: cast(int, settings.dims[name]))
        return found if found is not None and found > 0 else None
    return replace_names(text, {name: str(settings.dims[name]) for name in names})
