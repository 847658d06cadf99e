"""TFLite files: reading them whole into plain dataclasses. Files are foreign: no offset and no count is believed.

A field is read inside the file, or raises an error, but a hostile file can say that a list is long, or that many lists are one: what is
read is counted.
"""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from ml_dtypes import int4

from webnn.builder.description import FormatError
from webnn.builder.regular import open_regular
from webnn.importing.values import Array, Refused, make_uniform
from webnn.tflite.schema import Record, load_schema, names_of
from webnn.validation import webidl

__all__ = ["Model", "Operator", "Quantization", "Signature", "Sparsity", "Subgraph", "Tensor", "read"]

_IDENTIFIER = b"TFL3"
_VERSION = 3
#: A list may have an element for each byte of the file, and this many more: all lists together.
_MOST_MORE = 10_000
#: The most dimensions of a tensor: NumPy has 64.
_MOST_AXES = 32
#: A tensor has fewer elements, also without its empty dimensions.
_MOST_ELEMENTS = 1 << 48
#: A sparse tensor has at most this many elements for each one that is stored.
_MOST_FACTOR = 1 << 6
#: The longest name, in bytes. Each operator of an unrolled loop has one.
_LONGEST_NAME = 4096
#: The errors of reading a field that a hostile offset or count leads out of the file.
_FAULTS = (struct.error, ValueError, TypeError, IndexError, OverflowError, AttributeError)


_NUMBERS = "BOOL FLOAT16 FLOAT32 FLOAT64 INT8 INT16 INT32 INT64 UINT8 UINT16 UINT32 UINT64"
#: The element types as they are stored. A resource is the number of its variable.
_STORED: Mapping[str, np.dtype[Any]] = {
    **{name: np.dtype(name.lower()).newbyteorder("<") for name in _NUMBERS.split()},
    **{"INT4": np.dtype(int4), "RESOURCE": np.dtype("<i4")},
}
#: WebNN has no integers of 16 bits: int32 carries them.
_CARRIED = dict.fromkeys(("INT16", "UINT16"), np.dtype(np.int32))


@dataclass(frozen=True, slots=True, eq=False)
class Quantization:
    """The numbers that integers mean: scales * (integers - zeros), of one element, or of one for each index of an axis."""

    scales: Array
    zeros: Array
    axis: int

    def same(self, other: Quantization) -> bool:
        """Tell whether integers mean the same numbers with another one."""
        is_equal = np.array_equal(self.scales, other.scales) and np.array_equal(self.zeros, other.zeros)
        return is_equal and (self.scales.size == 1 or self.axis == other.axis)


@dataclass(frozen=True, slots=True, eq=False)
class Sparsity:
    """Where the elements of a sparse tensor are.

    Attributes:
        order: The dimension of each level; those from the rank on are dimensions inside of blocks.
        blocks: The dimension that each dimension of a block divides.
        levels: The size of a dense level; the segments and indices of a sparse one: segments[p] to segments[p + 1] are the indices of the
            element p of the level before.
    """

    order: Sequence[int]
    blocks: Sequence[int]
    levels: Sequence[int | tuple[Array, Array]]

    def expand(self, elements: Array, shape: tuple[int, ...]) -> Array:
        """Return all elements of a tensor, of those that are stored.

        Raises:
            Refused: The positions contradict the shape or the number of elements.
        """
        rank, count = len(shape), len(self.order)
        if not rank or sorted(self.order) != list(range(count)) or count != len(self.levels) or count != rank + len(self.blocks):
            raise Refused(f"the order of a sparse tensor must name each of {rank} dimensions and its blocks once, got {list(self.order)}")
        if not all(0 <= each < rank for each in self.blocks) or len({*self.blocks}) < len(self.blocks):
            raise Refused(f"blocks must divide different dimensions of {rank}, got {list(self.blocks)}")
        size = math.prod(shape)
        if size > _MOST_FACTOR * (elements.size + 1):
            raise Refused(f"a sparse tensor must store one of {_MOST_FACTOR} elements at least, got {elements.size} of {list(shape)}")
        wrong = Refused(f"the positions of a sparse tensor must be those of its {elements.size} elements, inside of {list(shape)}")
        #: The positions of the elements along the dimensions, of those levels that have been read.
        places: dict[int, Array] = {}
        found = 1
        for dimension, level in zip(self.order, self.levels, strict=True):
            if isinstance(level, int):
                fits = level >= 0 and found * level <= size
                # None of a level without elements is as large as it says.
                repeats, along = np.full(found, level), np.tile(np.arange(level if fits and found else 0), found)
            else:
                segments, along = level
                repeats = np.diff(segments)
                fits = segments.size == found + 1 and not segments[0] and segments[-1] == along.size <= elements.size
                fits = fits and bool((repeats >= 0).all())
            if not fits:
                raise wrong
            places = {**{each: np.repeat(place, repeats) for each, place in places.items()}, dimension: along}
            found = along.size
        for block, dimension in enumerate(self.blocks, rank):
            width = self.levels[self.order.index(block)]
            if not isinstance(width, int):
                raise Refused("the dimensions of blocks must be dense")
            places[dimension] = places[dimension] * width + places[block]
        coordinates = [places[axis] for axis in range(rank)]
        if found != elements.size or any(((each < 0) | (each >= limit)).any() for limit, each in zip(shape, coordinates, strict=True)):
            raise wrong
        dense = np.zeros(shape, elements.dtype)
        dense[tuple(coordinates)] = elements
        return dense


@dataclass(slots=True, eq=False)
class Tensor:
    """A tensor.

    Attributes:
        name: Its name; those of a subgraph differ.
        type: The name of the element type in the schema.
        shape: The shape that the file gives it.
        open: The dimensions whose sizes the file leaves open.
        data: The bytes of its elements, if they are known.
        quantization: The numbers that its integers mean.
        sparsity: Where its elements are, if only some are stored.
        is_variable: Whether it keeps its elements between two runs.
    """

    name: str
    type: str
    shape: tuple[int, ...]
    open: frozenset[int]
    data: Array | None
    quantization: Quantization | None
    sparsity: Sparsity | None
    is_variable: bool
    _array: Array | None = None

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type of the import; refused if WebNN cannot carry it."""
        if self.type not in _STORED:
            raise Refused(f"the element type must be one of WebNN, got {self.type}")
        return _CARRIED.get(self.type, self.stored.newbyteorder("="))

    @property
    def stored(self) -> np.dtype[Any]:
        """The element type of the file, which must be one of the import."""
        return _STORED[self.type]

    @property
    def limits(self) -> tuple[int, int]:
        """The least and the greatest integer of the element type as it is stored."""
        bits = self.stored
        return (-8, 7) if bits == int4 else (int(np.iinfo(bits).min), int(np.iinfo(bits).max))

    def read(self) -> Array | None:
        """Return the elements, if they are known. Raises `Refused` if the tensor contradicts itself."""
        if self._array is None and (self.data is not None or 0 in self.shape):
            # There is only one tensor without elements, and no buffer for it.
            self._array = make_uniform(self.shape, self.dtype) if self.data is None else self._read(self.data)
            self._array.setflags(write=False)
        return self._array

    def _read(self, data: Array) -> Array:
        imported, stored = self.dtype, self.stored
        count = math.prod(self.shape) if self.sparsity is None else None
        if stored == int4:
            nibbles = np.stack([data & 15, data >> 4], -1).reshape(-1).astype(np.int8)
            if count is not None and len(data) == -(-count // 2):
                nibbles = nibbles[:count]
            elements: Array = (nibbles - 16 * (nibbles > 7)).astype(int4)
        elif len(data) % stored.itemsize:
            raise Refused(f"the tensor must have elements of {stored.itemsize} bytes, got {len(data)} bytes")
        else:
            elements = data.view(np.uint8 if stored.kind == "b" else stored)
            elements = elements.astype(bool) if stored.kind == "b" else elements.astype(imported, copy=False)
        if self.sparsity is not None:
            return self.sparsity.expand(elements, self.shape)
        if len(elements) != count:
            raise Refused(f"the tensor must have {count} elements, as its shape {list(self.shape)} says, got {len(elements)}")
        return elements.reshape(self.shape)


@dataclass(frozen=True, slots=True, eq=False)
class Operator:
    """An operator. A tensor that is not given is -1.

    Attributes:
        key: The operator's name in the schema, or ``CUSTOM.`` and the name of a custom one.
        version: Its version.
        inputs: The indices of its tensors.
        outputs: Likewise.
        options: The fields of its options, by the names of their accessors.
        custom: The bytes that a custom operator has as options.
    """

    key: str
    version: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    options: Mapping[str, Any]
    custom: bytes


@dataclass(frozen=True, slots=True, eq=False)
class Subgraph:
    """A subgraph: its name, its tensors, its operators in order, and the indices of its inputs and outputs."""

    name: str
    tensors: Sequence[Tensor]
    operators: Sequence[Operator]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]

    def name_tensors(self, indices: Sequence[int], named: Mapping[int, str]) -> dict[int, str]:
        """Return the names of inputs or outputs, which differ: those of a signature, or of their tensors."""
        found: dict[int, str] = {}
        for index in indices:
            name = named.get(index) or self.tensors[index].name
            while name in found.values():
                name = f"{name} {index}"
            found[index] = name
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Signature:
    """A signature: its name, the index of its subgraph, and the names that it gives tensors, by their indices."""

    name: str
    subgraph: int
    inputs: Mapping[int, str]
    outputs: Mapping[int, str]


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A TFLite model; ``file`` is for messages."""

    file: str
    subgraphs: Sequence[Subgraph]
    signatures: Sequence[Signature]

    def find(self, signature: str | None) -> Signature:
        """Return a signature: by its name, or the first one. A model without any has its first subgraph, and the names of its tensors.

        Raises `ValueError` if there is no such signature.
        """
        for each in self.signatures:
            if signature in (None, each.name):
                return each
        if signature is not None:
            names = ", ".join([repr(each.name) for each in self.signatures]) or "none"
            raise ValueError(f"signature must be one of the model's, {names}, got {signature!r}")
        return Signature("", 0, {}, {})

    def input_types(self, signature: Signature) -> list[tuple[str, str]]:
        """Return the names of the inputs of a signature, with the names of their element types."""
        graph = self.subgraphs[signature.subgraph]
        return [(name, graph.tensors[index].type) for index, name in graph.name_tensors(graph.inputs, signature.inputs).items()]


def read(source: str | os.PathLike[str] | bytes) -> Model:
    """Read a model from a file, or from its bytes.

    Raises:
        FormatError: It is not a TFLite model, or it contradicts itself.
        TFLiteMissingError: The package tflite is not installed.
        OSError: The file cannot be read.
        TypeError: The source has another type.
    """
    if isinstance(source, bytes):
        file, data = "model", source
    elif not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"load: source must be a file, or the bytes of one, got {webidl.describe(source)}")
    else:
        path = Path(source)
        file = os.fspath(path)
        with open_regular(path) as stream:
            data = stream.readall()
    if data[4:8] != _IDENTIFIER:
        raise FormatError(f"is not a TFLite model: the bytes from 4 to 7 must be {_IDENTIFIER!r}, got {data[4:8]!r}", file)
    try:
        return _Reader(data, file).read()
    except FormatError:
        raise
    except UnicodeDecodeError:
        raise FormatError("is not a valid TFLite model: names must be UTF-8", file) from None
    except _FAULTS as error:
        raise FormatError(
            f"is not a valid TFLite model: an offset or a length leads out of its {len(data)} bytes ({error})", file
        ) from None


class _Reader:
    """Reads a file."""

    def __init__(self, data: bytes, file: str) -> None:
        self._data = data
        self._file = file
        self._schema = load_schema()
        self._left = len(data) + _MOST_MORE

    def read(self) -> Model:
        model = Record.first("Model", self._data, {})
        version = model.number("Version")
        if version != _VERSION:
            raise self._fault(f"the version must be {_VERSION}, got {version}")
        codes = [self._code(each) for each in self._list(model, "OperatorCodes", "OperatorCode")]
        buffers = [self._buffer(each) for each in self._list(model, "Buffers", "Buffer")]
        subgraphs = [self._subgraph(each, codes, buffers) for each in self._list(model, "Subgraphs", "SubGraph")]
        if not subgraphs:
            raise self._fault("it must have a subgraph")
        signatures = [self._signature(each, subgraphs) for each in self._list(model, "SignatureDefs", "SignatureDef")]
        return Model(self._file, subgraphs, signatures)

    def _fault(self, message: str) -> FormatError:
        return FormatError(f"is not a valid TFLite model: {message}", self._file)

    def _spend(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise self._fault(f"its lists must have fewer elements than its {len(self._data)} bytes")

    def _list(self, record: Record, name: str, kind: str) -> list[Record]:
        """Return the tables of a vector."""
        self._spend(record.length(name))
        return record.tables(name, kind)

    def _text(self, text: bytes | None) -> str:
        if text is not None and len(text) > _LONGEST_NAME:
            raise self._fault(f"names must have at most {_LONGEST_NAME} bytes, got {len(text)}")
        return (text or b"").decode()

    def _code(self, code: Record) -> tuple[str, int]:
        # Old files have the first field only, new ones both.
        number = max(code.number("DeprecatedBuiltinCode"), code.number("BuiltinCode"))
        name = names_of("BuiltinOperator").get(number, f"operator {number}")
        return (f"CUSTOM.{self._text(code.text('CustomCode'))}" if name == "CUSTOM" else name), code.number("Version")

    def _buffer(self, buffer: Record) -> Array | None:
        start, size = buffer.number("Offset"), buffer.number("Size")
        if start > 1:
            # Behind the tables, in files of more than 2 GiB.
            if start + size > len(self._data):
                raise self._fault(f"a buffer must end within its {len(self._data)} bytes, got {size} bytes at {start}")
            return np.frombuffer(self._data, np.uint8, size, start)
        data = buffer.array("Data")
        return data if data is not None and data.size else None

    def _subgraph(self, graph: Record, codes: Sequence[tuple[str, int]], buffers: Sequence[Array | None]) -> Subgraph:
        names: set[str] = set()
        tensors = [self._tensor(each, index, names, buffers) for index, each in enumerate(self._list(graph, "Tensors", "Tensor"))]
        operators = [self._operator(each, codes, len(tensors)) for each in self._list(graph, "Operators", "Operator")]
        inputs, outputs = (self._indices(graph, name, len(tensors), 0, "inputs and outputs") for name in ("Inputs", "Outputs"))
        return Subgraph(self._text(graph.text("Name")), tensors, operators, inputs, outputs)

    def _indices(self, record: Record, name: str, count: int, least: int, what: str) -> tuple[int, ...]:
        found = record.numbers(name, self._spend)
        if found and not least <= min(found) <= max(found) < count:
            raise self._fault(f"{what} must be tensors from {least} to {count - 1}, got {webidl.describe(found)}")
        return tuple(found)

    def _tensor(self, tensor: Record, index: int, names: set[str], buffers: Sequence[Array | None]) -> Tensor:
        name = self._text(tensor.text("Name")) or f"tensor {index}"
        while name in names:
            name = f"{name} {index}"
        names.add(name)
        shape, signature = tensor.numbers("Shape", self._spend), tensor.numbers("ShapeSignature", self._spend)
        if len(shape) > _MOST_AXES or min(shape, default=0) < 0 or math.prod(filter(None, shape)) >= _MOST_ELEMENTS:
            wanted = f"at most {_MOST_AXES} dimensions with sizes of at least 0, and fewer than {_MOST_ELEMENTS} elements"
            raise self._fault(f"the tensor {webidl.describe(name)} must have {wanted}, got {webidl.describe(shape)}")
        buffer, kind, isVariable = tensor.number("Buffer"), tensor.number("Type"), tensor.number("IsVariable")
        if not 0 <= buffer < len(buffers):
            raise self._fault(f"the tensor {webidl.describe(name)} must have one of {len(buffers)} buffers, got {buffer}")
        data = None if isVariable else buffers[buffer]
        return Tensor(
            name=name,
            type=names_of("TensorType").get(kind, f"type {kind}"),
            shape=tuple(shape),
            open=frozenset([axis for axis, size in enumerate(signature) if size < 0]) if len(signature) == len(shape) else frozenset(),
            data=data,
            quantization=self._quantization(name, tensor.table("Quantization", "QuantizationParameters"), shape),
            sparsity=self._sparsity(tensor.table("Sparsity", "SparsityParameters")),
            is_variable=isVariable,
        )

    def _quantization(self, name: str, given: Record | None, shape: Sequence[int]) -> Quantization | None:
        if given is None or not given.length("Scale"):
            return None
        scales, zeros, axis = given.array("Scale"), given.array("ZeroPoint"), given.number("QuantizedDimension")
        assert scales is not None  # it has elements
        if zeros is None or not zeros.size:
            zeros = np.zeros(1, np.int64)
        self._spend(scales.size + zeros.size)
        fits = scales.size == 1 or (0 <= axis < len(shape) and scales.size == shape[axis])
        if not fits or zeros.size not in (1, scales.size):
            raise self._fault(
                f"the quantization of {webidl.describe(name)} must have one scale or one for each index of a dimension of {list(shape)}, "
                f"and as many zero points, got {scales.size} and {zeros.size}"
            )
        return Quantization(scales, np.full(scales.size, zeros), axis)

    def _sparsity(self, given: Record | None) -> Sparsity | None:
        if given is None:
            return None
        order, blocks = given.numbers("TraversalOrder", self._spend), given.numbers("BlockMap", self._spend)
        return Sparsity(order, blocks, [self._level(each) for each in self._list(given, "DimMetadata", "DimensionMetadata")])

    def _level(self, level: Record) -> int | tuple[Array, Array]:
        if level.number("Format") == self._schema.DimensionType.DENSE:
            size: int = level.number("DenseSize")
            return size
        return self._positions(level, "ArraySegments"), self._positions(level, "ArrayIndices")

    def _positions(self, level: Record, field: str) -> Array:
        name = names_of("SparseIndexVector").get(level.number(f"{field}Type"))
        vector = level.table(field, name) if name in ("Int32Vector", "Uint16Vector", "Uint8Vector") else None
        if vector is None:
            raise self._fault(f"sparse positions must be vectors of integers, got {name}")
        return np.array(vector.numbers("Values", self._spend), np.int64)

    def _operator(self, operator: Record, codes: Sequence[tuple[str, int]], tensors: int) -> Operator:
        index = operator.number("OpcodeIndex")
        if not index < len(codes):
            raise self._fault(f"an operator must have one of {len(codes)} codes, got {index}")
        options: dict[str, Any] = {}
        for enumeration in ("BuiltinOptions", "BuiltinOptions2"):
            kind = operator.number(f"{enumeration}Type")
            name = names_of(enumeration).get(kind, "NONE") if kind else "NONE"
            record = None if name == "NONE" else operator.table(enumeration, name)
            if record is not None:
                for field, (_, number, _, letter, _, is_text) in record.fields.items():
                    if number is not None:
                        options[field] = record.number(field)
                    elif letter:
                        options[field] = record.numbers(field, self._spend)
                    elif is_text:
                        text = record.text(field)
                        options[field] = None if text is None else self._text(text)
        custom = operator.array("CustomOptions")
        inputs = self._indices(operator, "Inputs", tensors, -1, "the inputs of an operator")
        outputs = self._indices(operator, "Outputs", tensors, 0, "the outputs of an operator")
        key, version = codes[index]
        return Operator(key, version, inputs, outputs, options, b"" if custom is None else custom.tobytes())

    def _signature(self, signature: Record, subgraphs: Sequence[Subgraph]) -> Signature:
        index = signature.number("SubgraphIndex")
        if not index < len(subgraphs):
            raise self._fault(f"a signature must have one of {len(subgraphs)} subgraphs, got {index}")
        inputs, outputs = (
            {each.number("TensorIndex"): self._text(each.text("Name")) for each in self._list(signature, name, "TensorMap")}
            for name in ("Inputs", "Outputs")
        )
        return Signature(self._text(signature.text("SignatureKey")), index, inputs, outputs)
