"""Small TFLite models, written with the schema's builder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import flatbuffers
import numpy as np
import tflite

__all__ = ["Graph", "Op", "T", "write"]

_TYPES = {"f4": "FLOAT32", "f2": "FLOAT16", "f8": "FLOAT64", "i1": "INT8", "i2": "INT16", "i4": "INT32", "i8": "INT64"} | {
    "u1": "UINT8",
    "u4": "UINT32",
    "b1": "BOOL",
}


@dataclass(frozen=True)
class T:
    """A tensor: with elements, or with a type and a shape. ``open`` are the dimensions whose sizes are left open."""

    data: Any = None
    type: str = ""
    shape: Sequence[int] = ()
    scale: Sequence[float] = ()
    zero: Sequence[int] = (0,)
    axis: int = 0
    variable: bool = False
    open: Sequence[int] = ()
    name: str = ""
    raw: bytes | None = None
    sparsity: Mapping[str, Any] | None = None

    @property
    def dims(self) -> list[int]:
        return list(np.shape(self.data)) if self.data is not None else list(self.shape)

    @property
    def kind(self) -> str:
        if self.type:
            return self.type
        found = np.asarray(self.data).dtype
        return _TYPES[f"{found.kind}{found.itemsize}"]


@dataclass(frozen=True)
class Op:
    """An operator: a builtin one, or a custom one with the bytes of its options."""

    code: str
    inputs: Sequence[int]
    outputs: Sequence[int]
    options: tuple[str, Mapping[str, Any]] | None = None
    custom: bytes | None = None
    version: int = 1


@dataclass(frozen=True)
class Graph:
    tensors: Sequence[T]
    operators: Sequence[Op]
    inputs: Sequence[int]
    outputs: Sequence[int]
    name: str = "main"


@dataclass
class _Writer:
    builder: Any = field(default_factory=lambda: flatbuffers.Builder(1024))
    codes: list[tuple[str, int]] = field(default_factory=list)
    buffers: list[bytes] = field(default_factory=lambda: [b""])

    def vector(self, values: Sequence[Any], prepend: str, size: int = 4) -> int:
        self.builder.StartVector(size, len(values), size)
        for value in reversed(values):
            getattr(self.builder, f"Prepend{prepend}")(value)
        return int(self.builder.EndVector())

    def offsets(self, offsets: Sequence[int]) -> int:
        return self.vector(offsets, "UOffsetTRelative")

    def text(self, text: str) -> int:
        return int(self.builder.CreateString(text))

    def table(self, name: str, **fields: Any) -> int:
        """Write a table whose fields are offsets and numbers that are made before."""
        getattr(tflite, f"{name}Start")(self.builder)
        for key, value in fields.items():
            if value is not None:
                getattr(tflite, f"{name}Add{key}")(self.builder, value)
        return int(getattr(tflite, f"{name}End")(self.builder))

    def options(self, name: str, fields: Mapping[str, Any]) -> int:
        made = {
            key: self.text(value)
            if isinstance(value, str)
            else self._list(value, wide=name.startswith("Stablehlo"))
            if isinstance(value, list)
            else value
            for key, value in fields.items()
        }
        return self.table(name, **made)

    def _list(self, values: list[Any], *, wide: bool) -> int:
        if wide:
            return self.vector(values, "Int64", 8)
        return self.vector(values, "Float32" if values and isinstance(values[0], float) else "Int32")

    def tensor(self, tensor: T, index: int) -> int:
        data = tensor.raw
        if data is None and tensor.data is not None:
            data = np.ascontiguousarray(tensor.data).tobytes()
        if data:
            self.buffers.append(data)
        quantization = None
        if tensor.scale:
            scale, zero = self.vector(tensor.scale, "Float32"), self.vector(tensor.zero, "Int64", 8)
            quantization = self.table("QuantizationParameters", Scale=scale, ZeroPoint=zero, QuantizedDimension=tensor.axis)
        signature = [-1 if axis in tensor.open else size for axis, size in enumerate(tensor.dims)]
        return self.table(
            "Tensor",
            Shape=self.vector(tensor.dims, "Int32"),
            Type=getattr(tflite.TensorType, tensor.kind),
            Buffer=len(self.buffers) - 1 if data else 0,
            Name=self.text(tensor.name or f"t{index}"),
            Quantization=quantization,
            IsVariable=tensor.variable,
            ShapeSignature=self.vector(signature, "Int32") if tensor.open else None,
            Sparsity=self._sparsity(tensor.sparsity) if tensor.sparsity else None,
        )

    def _sparsity(self, given: Mapping[str, Any]) -> int:
        levels = []
        for level in given["levels"]:
            if isinstance(level, int):
                levels.append(self.table("DimensionMetadata", Format=tflite.DimensionType.DENSE, DenseSize=level))
                continue
            segments, indices = (self.table("Int32Vector", Values=self.vector(each, "Int32")) for each in level)
            kind = tflite.SparseIndexVector.Int32Vector
            levels.append(
                self.table(
                    "DimensionMetadata",
                    Format=tflite.DimensionType.SPARSE_CSR,
                    ArraySegmentsType=kind,
                    ArraySegments=segments,
                    ArrayIndicesType=kind,
                    ArrayIndices=indices,
                )
            )
        made = self.offsets(levels)
        order, blocks = (self.vector(given[name], "Int32") for name in ("order", "blocks"))
        return self.table("SparsityParameters", TraversalOrder=order, BlockMap=blocks, DimMetadata=made)

    def operator(self, operator: Op) -> int:
        key = operator.code, operator.version
        if key not in self.codes:
            self.codes.append(key)
        kinds: dict[str, Any] = {}
        if operator.options is not None:
            name, fields = operator.options
            union = "BuiltinOptions" if hasattr(tflite.BuiltinOptions, name) else "BuiltinOptions2"
            kinds = {f"{union}Type": getattr(getattr(tflite, union), name), union: self.options(name, fields)}
        inputs, outputs = (self.vector(each, "Int32") for each in (operator.inputs, operator.outputs))
        custom = None if operator.custom is None else self.builder.CreateByteVector(operator.custom)
        return self.table("Operator", OpcodeIndex=self.codes.index(key), Inputs=inputs, Outputs=outputs, CustomOptions=custom, **kinds)

    def subgraph(self, graph: Graph) -> int:
        tensors = self.offsets([self.tensor(each, index) for index, each in enumerate(graph.tensors)])
        operators = self.offsets([self.operator(each) for each in graph.operators])
        inputs, outputs = (self.vector(each, "Int32") for each in (graph.inputs, graph.outputs))
        return self.table("SubGraph", Tensors=tensors, Operators=operators, Inputs=inputs, Outputs=outputs, Name=self.text(graph.name))

    def code(self, code: str, version: int) -> int:
        number = getattr(tflite.BuiltinOperator, code, tflite.BuiltinOperator.CUSTOM)
        custom = None if hasattr(tflite.BuiltinOperator, code) else self.text(code)
        return self.table("OperatorCode", DeprecatedBuiltinCode=min(number, 127), BuiltinCode=number, CustomCode=custom, Version=version)

    def signature(self, name: str, subgraph: int, inputs: Mapping[str, int], outputs: Mapping[str, int]) -> int:
        maps = [
            self.offsets([self.table("TensorMap", Name=self.text(key), TensorIndex=index) for key, index in each.items()])
            for each in (inputs, outputs)
        ]
        return self.table("SignatureDef", Inputs=maps[0], Outputs=maps[1], SignatureKey=self.text(name), SubgraphIndex=subgraph)


def write(*graphs: Graph, signatures: Sequence[tuple[str, int, Mapping[str, int], Mapping[str, int]]] = (), version: int = 3) -> bytes:
    """Return the bytes of a model."""
    writer = _Writer()
    subgraphs = writer.offsets([writer.subgraph(each) for each in graphs])
    codes = writer.offsets([writer.code(*each) for each in writer.codes])
    data: Callable[[bytes], int | None] = lambda each: writer.builder.CreateByteVector(each) if each else None  # noqa: E731
    buffers = writer.offsets([writer.table("Buffer", Data=data(each)) for each in writer.buffers])
    named = writer.offsets([writer.signature(*each) for each in signatures]) if signatures else None
    model = writer.table("Model", Version=version, OperatorCodes=codes, Subgraphs=subgraphs, Buffers=buffers, SignatureDefs=named)
    writer.builder.Finish(model, b"TFL3")
    return bytes(writer.builder.Output())
