"""TFLite models as they are made: tensors and operators, and the file of them. Weights go from their arrays into the file, without a copy.

FlatBuffers has one block for all that it writes. Here it holds the tables only. The weights follow it: the table of a buffer gets the place
of its weights when the size of the block is known.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import flatbuffers
import numpy as np

from webnn.hlo.ir import Value
from webnn.hlo.types import TensorType
from webnn.tflite.schema import load_schema

__all__ = ["TYPES", "Array", "Operator", "Options", "Program", "Quantization", "Slot"]

Array = np.ndarray[Any, np.dtype[Any]]
#: The name of a table of options in the schema, and its fields.
Options = tuple[str, Mapping[str, Any]]

_IDENTIFIER = b"TFL3"
_VERSION = 3
#: Where the elements of constants begin: the kernels read vectors.
_ALIGNMENT = 64
#: Offsets of FlatBuffers have 32 bits with a sign. Weights beyond that go by the offset and the size in the table of their buffer.
_FARTHEST = 2**31 - 1
_SIGNATURE = "serving_default"
#: The names of element types in the schema, by those of StableHLO.
TYPES: Mapping[str, str] = {
    **{"i1": "BOOL", "f16": "FLOAT16", "f32": "FLOAT32", "i4": "INT4"},
    **{f"i{bits}": f"INT{bits}" for bits in (8, 32, 64)},
    **{f"ui{bits}": f"UINT{bits}" for bits in (8, 32, 64)},
}
#: The versions of operators other than 1: those with which the runtime registers them.
_VERSIONS = {"BROADCAST_TO": 2}
#: The first number of an operator that the older field of its code does not hold.
_PLACEHOLDER = 127


@dataclass(frozen=True, slots=True)
class Quantization:
    """The numbers that integers mean: scales * (integers - zeros), of one element, or of one for each index of an axis."""

    scales: tuple[float, ...]
    zeros: tuple[int, ...]
    axis: int = 0


class Slot(Value):
    """A tensor of the model.

    Attributes:
        name: Its name; the file makes them unique.
        data: Its elements, if it is a constant.
        quantization: The numbers that its integers mean.
        maker: The operator that computes it.
    """

    __slots__ = ("data", "maker", "name", "quantization")

    def __init__(self, type: TensorType, name: str, data: Array | None = None, quantization: Quantization | None = None) -> None:
        super().__init__(type)
        self.name = name
        self.data = data
        self.quantization = quantization
        self.maker: Operator | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape."""
        assert isinstance(self.type, TensorType)
        return tuple([size or 0 for size in self.type.shape])

    @property
    def element(self) -> str:
        """Its element type, in the words of StableHLO."""
        assert isinstance(self.type, TensorType)
        return str(self.type.element)


@dataclass(frozen=True, slots=True, eq=False)
class Operator:
    """An operator: the name of a builtin one; an input that is not given is ``None``."""

    code: str
    inputs: Sequence[Slot | None]
    outputs: Sequence[Slot]
    options: Options | None = None


@dataclass(slots=True, kw_only=True)
class Program:
    """A model of one subgraph.

    Attributes:
        name: The name of the subgraph.
        description: A sentence for readers of the file.
        operators: The operators in their order. The file leaves out any that no output needs.
        inputs: The inputs by their names.
        outputs: Likewise.
    """

    name: str = "main"
    description: str = ""
    notes: tuple[str, ...] = ()
    operators: list[Operator] = field(default_factory=list)
    inputs: dict[str, Slot] = field(default_factory=dict)
    outputs: dict[str, Slot] = field(default_factory=dict)

    def append(self, code: str, inputs: Sequence[Slot | None], outputs: Sequence[Slot], options: Options | None = None) -> None:
        """Append an operator, which computes the outputs."""
        made = Operator(code, tuple(inputs), tuple(outputs), options)
        for output in outputs:
            output.maker = made
        self.operators.append(made)

    def needed(self) -> list[Operator]:
        """Return the operators that the outputs need."""
        wanted = {id(each) for each in self.outputs.values()}
        found = []
        for operator in reversed(self.operators):
            if any(id(each) in wanted for each in operator.outputs):
                wanted.update(id(each) for each in operator.inputs)
                found.append(operator)
        return found[::-1]

    def write(self, stream: BinaryIO) -> None:
        """Write the file.

        Raises `OSError` if that fails.
        """
        _Writer(self).write(stream)

    def to_bytes(self) -> bytearray:
        """Return the file; it holds a copy of the weights."""
        made = bytearray()
        for piece in _Writer(self).pieces():
            made += memoryview(piece).cast("B")
        return made


class _Writer:
    """Writes a file."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._schema = load_schema()
        self._builder = flatbuffers.Builder(1 << 16)
        self._codes: dict[str, int] = {}
        self._places: dict[int, int] = {}
        self._slots: list[Slot] = []
        self._names: dict[str, int] = {}
        #: The weights, in the order of their buffers behind the empty one.
        self._weights: list[Array] = []
        #: Small constants of the same elements share a buffer.
        self._shared: dict[tuple[str, bytes], int] = {}

    def write(self, stream: BinaryIO) -> None:
        for piece in self.pieces():
            stream.write(memoryview(piece).cast("B"))

    def pieces(self) -> list[Any]:
        """Return the pieces of the file in their order."""
        tables = self._build()
        end, places = len(tables), []
        for weight in self._weights:
            # The length of the vector stands before it.
            start = end + 4 + -(end + 4) % _ALIGNMENT
            places.append(start)
            end = start + weight.nbytes
        self._point(tables, places, far=end > _FARTHEST)
        pieces: list[Any] = [tables]
        end = len(tables)
        for weight, start in zip(self._weights, places, strict=True):
            pieces += [bytes(start - 4 - end), struct.pack("<I", weight.nbytes & 0xFFFFFFFF), weight]
            end = start + weight.nbytes
        return [
            piece if isinstance(piece, (bytes, bytearray)) else np.ascontiguousarray(piece).reshape(-1).view(np.uint8) for piece in pieces
        ]

    def _build(self) -> bytearray:
        program, builder = self._program, self._builder
        operators = program.needed()
        for slot in [*program.inputs.values(), *program.outputs.values()]:
            self._place(slot)
        for operator in operators:
            for each in [*operator.inputs, *operator.outputs]:
                if each is not None:
                    self._place(each)
        large = sum(each.data.nbytes for each in self._slots if each.data is not None) > _FARTHEST
        tensors = self._offsets([self._tensor(each) for each in self._slots])
        made = self._offsets([self._operator(each) for each in operators])
        inputs, outputs = (self._vector([self._place(each) for each in group.values()]) for group in (program.inputs, program.outputs))
        graph = self._table(
            "SubGraph", Tensors=tensors, Inputs=inputs, Outputs=outputs, Operators=made, Name=builder.CreateString(program.name)
        )
        codes = self._offsets([self._code(each) for each in self._codes])
        empty = self._vector([], "Byte", 1)
        one = self._table("Buffer")
        buffers = [one, *[self._table("Buffer", Offset=2, Size=2) if large else self._table("Buffer", Data=empty) for _ in self._weights]]
        model = self._table(
            "Model",
            Version=_VERSION,
            OperatorCodes=codes,
            Subgraphs=self._offsets([graph]),
            Description=builder.CreateString("; ".join([program.description, *program.notes])),
            Buffers=self._offsets(buffers),
            SignatureDefs=self._offsets([self._signature()]),
        )
        builder.Finish(model, _IDENTIFIER)
        return bytearray(builder.Output())

    def _point(self, tables: bytearray, places: Sequence[int], *, far: bool) -> None:
        """Give the tables of buffers the places of their weights."""
        model = self._schema.Model.GetRootAs(tables, 0)
        for number, (weight, start) in enumerate(zip(self._weights, places, strict=True), 1):
            table = model.Buffers(number)._tab
            if far:
                for slot, value in ((6, start), (8, weight.nbytes)):
                    struct.pack_into("<Q", tables, table.Pos + table.Offset(slot), value)
            else:
                position = table.Pos + table.Offset(4)
                struct.pack_into("<I", tables, position, start - 4 - position)

    def _place(self, slot: Slot) -> int:
        if id(slot) not in self._places:
            self._places[id(slot)] = len(self._slots)
            self._slots.append(slot)
        return self._places[id(slot)]

    def _vector(self, values: Sequence[Any], kind: str = "Int32", size: int = 4) -> int:
        self._builder.StartVector(size, len(values), size)
        prepend = getattr(self._builder, f"Prepend{kind}")
        for value in reversed(values):
            prepend(value)
        return int(self._builder.EndVector())

    def _offsets(self, offsets: Sequence[int]) -> int:
        return self._vector(offsets, "UOffsetTRelative")

    def _table(self, name: str, **fields: Any) -> int:
        """Write a table whose fields are numbers, or places that are written before."""
        getattr(self._schema, f"{name}Start")(self._builder)
        for key, value in fields.items():
            if value is not None:
                getattr(self._schema, f"{name}Add{key}")(self._builder, value)
        return int(getattr(self._schema, f"{name}End")(self._builder))

    def _buffer(self, slot: Slot) -> int:
        data = slot.data
        if data is None or not data.size:
            return 0
        key = (slot.element, data.tobytes()) if data.nbytes <= _ALIGNMENT else ("", str(id(data)).encode())
        if key not in self._shared:
            self._weights.append(data)
            self._shared[key] = len(self._weights)
        return self._shared[key]

    def _tensor(self, slot: Slot) -> int:
        name = slot.name
        count = self._names[name] = self._names.get(name, 0) + 1
        while count > 1 and (name := f"{slot.name}_{count - 1}") in self._names:
            count += 1
        self._names.setdefault(name, 1)
        quantization = slot.quantization
        meaning = None
        if quantization is not None:
            scales, zeros = self._vector(quantization.scales, "Float32"), self._vector(quantization.zeros, "Int64", 8)
            meaning = self._table("QuantizationParameters", Scale=scales, ZeroPoint=zeros, QuantizedDimension=quantization.axis)
        return self._table(
            "Tensor",
            Shape=self._vector(slot.shape),
            Type=getattr(self._schema.TensorType, TYPES[slot.element]),
            Buffer=self._buffer(slot),
            Name=self._builder.CreateString(name),
            Quantization=meaning,
            HasRank=True,
        )

    def _operator(self, operator: Operator) -> int:
        index = self._codes.setdefault(operator.code, len(self._codes))
        kinds: dict[str, Any] = {}
        if operator.options is not None:
            name, fields = operator.options
            union = "BuiltinOptions" if hasattr(self._schema.BuiltinOptions, name) else "BuiltinOptions2"
            given = {key: self._vector(value) if isinstance(value, (tuple, list)) else value for key, value in fields.items()}
            kinds = {f"{union}Type": getattr(getattr(self._schema, union), name), union: self._table(name, **given)}
        inputs = self._vector([-1 if each is None else self._place(each) for each in operator.inputs])
        outputs = self._vector([self._place(each) for each in operator.outputs])
        return self._table("Operator", OpcodeIndex=index, Inputs=inputs, Outputs=outputs, **kinds)

    def _code(self, code: str) -> int:
        number = getattr(self._schema.BuiltinOperator, code)
        return self._table(
            "OperatorCode", DeprecatedBuiltinCode=min(number, _PLACEHOLDER), BuiltinCode=number, Version=_VERSIONS.get(code, 1)
        )

    def _signature(self) -> int:
        maps = []
        for group in (self._program.inputs, self._program.outputs):
            named = [(self._builder.CreateString(name), self._place(slot)) for name, slot in group.items()]
            maps.append(self._offsets([self._table("TensorMap", Name=name, TensorIndex=index) for name, index in named]))
        key = self._builder.CreateString(_SIGNATURE)
        return self._table("SignatureDef", Inputs=maps[0], Outputs=maps[1], SignatureKey=key, SubgraphIndex=0)
