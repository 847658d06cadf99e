"""Large weights of a file, read apart from the rest: protobuf would copy each of them twice."""

from __future__ import annotations

import os
from collections.abc import Iterator
from io import FileIO

from onnx import GraphProto, ModelProto, TensorProto

__all__ = ["read_apart"]

#: Weights of fewer bytes are read with the rest.
_LARGE = 1 << 18
#: Files of fewer bytes are read as a whole: looking for their weights takes longer.
_LEAST = 1 << 24
#: How many bytes are read at once to find the fields of messages.
_WINDOW = 1 << 12
#: The longest tag, and the longest size, in bytes.
_LONGEST = 10
#: The type of protobuf's fields that begin with their size, and the sizes of those of other types.
_SIZED = 2
_SIZES = {1: 8, 5: 4}


def _tag(message: type[ModelProto | GraphProto | TensorProto], field: str) -> int:
    return message.DESCRIPTOR.fields_by_name[field].number << 3 | _SIZED


_GRAPH, _NODE, _INITIALIZER = _tag(ModelProto, "graph"), _tag(GraphProto, "node"), _tag(GraphProto, "initializer")
_RAW = _tag(TensorProto, "raw_data")


class _Reader:
    """Reads a file here and there."""

    def __init__(self, file: FileIO) -> None:
        self._file = file
        self._start = 0
        self._data = b""

    def read(self, start: int, end: int) -> bytes:
        """Return a part of the file; raise `ValueError` if it does not have it."""
        self._file.seek(start)
        parts = []
        # The system reads no more than 2 GiB at once.
        while start < end and (part := self._file.read(end - start)):
            parts.append(part)
            start += len(part)
        if start < end:
            raise ValueError
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def number(self, place: int) -> tuple[int, int]:
        """Return the number at a place, in protobuf's form, and the place behind it."""
        index = place - self._start
        if not 0 <= index <= len(self._data) - _LONGEST:
            self._file.seek(place)
            self._data, self._start, index = self._file.read(_WINDOW) or b"", place, 0
        found = shift = 0
        for byte in self._data[index : index + _LONGEST]:
            found |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return found, place + shift // 7
        raise ValueError

    def fields(self, place: int, end: int) -> Iterator[tuple[int, int, int, int]]:
        """Yield the tag of each field of a message, where it begins, where its content begins, and where that ends."""
        while place < end:
            begin = place
            tag, place = self.number(place)
            size = _SIZES.get(tag & 7)
            if tag & 7 == _SIZED:
                size, place = self.number(place)
            elif tag & 7 == 0:
                size = self.number(place)[1] - place
            if size is None or place + size > end:
                raise ValueError
            yield tag, begin, place, place + size
            place += size


def read_apart(file: FileIO) -> tuple[bytes, dict[int, bytes]]:
    """Return a model without the large elements of its graph's initializers, and these by the initializers' positions.

    A file without them, or that is not a model in the usual form, is returned as it is.
    """
    size = os.fstat(file.fileno()).st_size
    if size >= _LEAST:
        try:
            return _read(_Reader(file), size)
        except ValueError:
            file.seek(0)
    return file.readall(), {}


def _read(reader: _Reader, size: int) -> tuple[bytes, dict[int, bytes]]:
    graphs = [(begin, start, end) for tag, begin, start, end in reader.fields(0, size) if tag == _GRAPH]
    if len(graphs) != 1:
        raise ValueError
    begin, start, end = graphs[0]
    parts: list[bytes] = []
    apart: dict[int, bytes] = {}
    kept, index = start, 0
    for tag, before, first, last in reader.fields(start, end):
        if tag == _NODE and last - first >= _LARGE:
            # The weights of this file are constants among its nodes.
            raise ValueError
        if tag != _INITIALIZER:
            continue
        if last - first >= _LARGE:
            raws = [field for field in reader.fields(first, last) if field[0] == _RAW]
            if len(raws) == 1 and raws[0][3] - raws[0][2] >= _LARGE:
                _, cut, content, behind = raws[0]
                apart[index] = reader.read(content, behind)
                parts += (reader.read(kept, before), _sized(tag, reader.read(first, cut) + reader.read(behind, last)))
                kept = last
        index += 1
    if not apart:
        raise ValueError
    parts.append(reader.read(kept, end))
    return reader.read(0, begin) + _sized(_GRAPH, b"".join(parts)) + reader.read(end, size), apart


def _sized(tag: int, content: bytes) -> bytes:
    """Return a field of protobuf that begins with its size."""
    size = len(content)
    sizes = bytearray((tag,))
    while size > 127:
        sizes.append(size & 127 | 128)
        size >>= 7
    sizes.append(size)
    return bytes(sizes) + content
