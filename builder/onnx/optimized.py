"""Models that the engine has optimized and written to files, in the form in which they are stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from onnx import GraphProto, ModelProto, TensorProto

from webnn.builder.onnx.values import Array, Weight

__all__ = ["ALIGNMENT", "Packed", "pack"]

#: Tensors begin at multiples of this many bytes.
ALIGNMENT = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """An optimized model.

    Attributes:
        model: The model, without the large tensors.
        tensors: The bytes of the large tensors that the optimizer made, in the order of their offsets. Between them are gaps.
        size: The length of all of them, with the gaps.
    """

    model: bytes
    tensors: tuple[tuple[int, Array], ...]
    size: int


def pack(model: bytes, data: Array, weights: Sequence[Weight], location: str) -> Packed:
    """Take the weights of a translation out of the optimized form of its model: they are read in place, as in the model itself.

    Args:
        model: The model as the engine wrote it.
        data: The bytes of its file of external data.
        weights: The weights of the translation.
        location: The name of the in-memory file for the tensors that are not among the weights.

    Raises:
        ValueError: The model refers to bytes that are not there, or to another file.
    """
    proto = ModelProto.FromString(model)
    own = {weight.location: weight.data.reshape(-1).view(np.uint8) for weight in weights}
    tensors: list[tuple[int, Array]] = []
    size = 0
    files = set[str]()
    for tensor in _tensors(proto.graph):
        entries = {entry.key: entry.value for entry in tensor.external_data}
        files.add(entries.get("location", ""))
        offset, length = int(entries.get("offset", "0")), int(entries["length"])
        content = data[offset : offset + length]
        if len(files) > 1 or min(offset, length) < 0 or content.nbytes != length:
            raise ValueError(f"the engine's file of weights must have {length} bytes at {offset}, but it has {data.nbytes} bytes")
        del tensor.external_data[:]
        weight = own.get(tensor.name)
        if weight is not None and np.array_equal(weight, content):
            tensor.external_data.add(key="location", value=tensor.name)
            continue
        tensors.append((size, content))
        for key, value in (("location", location), ("offset", str(size)), ("length", str(length))):
            tensor.external_data.add(key=key, value=value)
        size += length + -length % ALIGNMENT
    return Packed(model=proto.SerializeToString(), tensors=tuple(tensors), size=size)


def _tensors(graph: GraphProto) -> Iterator[TensorProto]:
    """Yield the external initializers of a graph, and of the graphs inside its nodes."""
    for tensor in graph.initializer:
        if tensor.data_location == TensorProto.EXTERNAL:
            yield tensor
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _tensors(attribute.g)
