"""Reads the safetensors format: a header of JSON, and behind it the tensors.

A header may name a million tensors, of which a graph needs a few. The format's own library keeps each in some hundred bytes, fifteen times
its size in the file. Here each takes four numbers, and is parsed again when it is read.
"""

from __future__ import annotations

import json
import math
import os
import re
from array import array
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from webnn.builder.description import FormatError
from webnn.builder.regular import open_regular

__all__ = ["Tensor", "TensorsFile"]

#: How many bits an element of each type has.
_BITS: Mapping[str, int] = {
    **{"F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "C64": 64},
    **dict.fromkeys(("BOOL", "U8", "I8", "F8_E5M2", "F8_E4M3", "F8_E8M0", "F8_E5M2FNUZ", "F8_E4M3FNUZ"), 8),
    **dict.fromkeys(("U16", "I16", "F16", "BF16"), 16),
    **dict.fromkeys(("U32", "I32", "F32"), 32),
    **dict.fromkeys(("U64", "I64", "F64"), 64),
}
#: The longest header that the format allows, in bytes.
_LONGEST = 100_000_000
#: The longest name, or description of a tensor: parsing needs many times as much memory.
_LONGEST_PART = 1 << 20
_MOST_AXES = 64
_METADATA = "__metadata__"
_STRING = rb'"(?:[^"\\]++|\\.)*+"'
#: A name with its object, which holds no other object, and what follows.
_MEMBER = re.compile(rb"\s*+(%b)\s*+:\s*+(\{(?:[^{}\"]++|%b)*+\})\s*+([,}])" % (_STRING, _STRING), re.DOTALL)
_LARGEST = 2**63
_decode = json.JSONDecoder().decode


class Tensor(NamedTuple):
    """A tensor: its type by the format's name, its shape, and where its bytes begin and end behind the header."""

    dtype: str
    shape: list[int]
    begin: int
    end: int


class TensorsFile:
    """An open file of tensors, whose header is valid.

    ``metadata`` are the texts in the header. Raises `FormatError` if it is no such file, and `OSError` if it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.metadata: Mapping[str, str] = {}
        self._file = open_regular(path)
        try:
            self._read_header()
        except BaseException:
            self._file.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def find(self, name: str) -> Tensor | None:
        """Return a tensor by its name; ``None`` if there is none."""
        wanted = hash(name)
        first = np.searchsorted(self._hashes, wanted)
        for index in range(int(first), len(self._hashes)):
            if self._hashes[index] != wanted:
                break
            found, tensor, _ = self._parse(int(self._places[index]))
            if found == name:
                return tensor
        return None

    def read(self, tensor: Tensor) -> bytes:
        """Return the bytes of a tensor."""
        self._file.seek(self._start + tensor.begin)
        pieces, left = [], tensor.end - tensor.begin
        while left:
            piece = self._file.read(left)
            if not piece:
                raise self._wrong("it was cut off while it was read")
            pieces.append(piece)
            left -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _wrong(self, why: str) -> FormatError:
        return FormatError(f"is not a safetensors file: {why}", self._path)

    def _read_header(self) -> None:
        size = os.fstat(self._file.fileno()).st_size
        length = int.from_bytes(self._file.read(8), "little")
        if size < 8 or length > min(_LONGEST, size - 8):
            raise self._wrong(f"the header must have at most {max(0, min(_LONGEST, size - 8))} bytes, got {length}")
        self._header = self._file.read(length)
        self._start = 8 + length
        hashes, places, begins, ends = array("q"), array("q"), array("q"), array("q")
        position, more = self._begin()
        while more:
            place = position
            name, tensor, position = self._parse(place)
            more = self._header[position - 1] == ord(",")
            if tensor is not None:
                for column, value in zip((hashes, places, begins, ends), (hash(name), place, tensor.begin, tensor.end), strict=True):
                    column.append(value)
        if self._header[position:].strip():
            raise self._wrong("the header must end with its object")
        self._check_places(begins, ends, size - self._start)
        del begins, ends
        order = np.argsort(np.frombuffer(hashes, np.int64))
        self._hashes, self._places = np.frombuffer(hashes, np.int64)[order], np.frombuffer(places, np.int64)[order]
        for index in np.flatnonzero(self._hashes[1:] == self._hashes[:-1]):
            first, second = (self._parse(int(self._places[each]))[0] for each in (index, index + 1))
            if first == second:
                raise self._wrong(f"two tensors have the name {first:.100}")

    def _begin(self) -> tuple[int, bool]:
        """Return where the first member begins, and whether there is one."""
        found = re.match(rb"\s*+\{\s*+(\}?)", self._header)
        if found is None:
            raise self._wrong("the header must be an object of JSON")
        return found.end(), not found[1]

    def _parse(self, position: int) -> tuple[str, Tensor | None, int]:
        """Return the member at a place: its name, its tensor, which metadata are not, and where the next one begins."""
        found = _MEMBER.match(self._header, position)
        if found is None:
            raise self._wrong(f"the header must have a name and an object at byte {8 + position}")
        if max(map(len, found.groups())) > _LONGEST_PART:
            raise self._wrong(f"a part of the header must have at most {_LONGEST_PART >> 20} MiB, got more at byte {8 + position}")
        try:
            name, value = _decode(found[1].decode()), _decode(found[2].decode())
        except (ValueError, RecursionError):
            raise self._wrong(f"the header must be JSON in UTF-8 at byte {8 + position}") from None
        if name != _METADATA:
            return name, self._tensor(name, value), found.end()
        if not all(isinstance(each, str) for each in value.values()):
            raise self._wrong("metadata must be texts")
        self.metadata = value
        return name, None, found.end()

    def _tensor(self, name: str, value: Mapping[str, Any]) -> Tensor:
        match value:
            case {"dtype": str(dtype), "shape": list(shape), "data_offsets": [int(begin), int(end)]} if dtype in _BITS:
                # A boolean is an int in Python.
                numbers = [*shape, begin, end]
                if len(shape) <= _MOST_AXES and all(type(each) is int and 0 <= each < _LARGEST for each in numbers):
                    bits = math.prod(shape) * _BITS[dtype]
                    if bits == 8 * (end - begin):
                        return Tensor(dtype, shape, begin, end)
        raise self._wrong(f"the tensor {name:.100} must have a type, a shape, and as many bytes as these need")

    def _check_places(self, begins: array[int], ends: array[int], size: int) -> None:
        """Check that the tensors follow one another without gaps, and fill the file. Sorts both arrays."""
        first, last = np.frombuffer(begins, np.int64), np.frombuffer(ends, np.int64)
        first.sort()
        last.sort()
        if first.size and (first[0] != 0 or (first[1:] != last[:-1]).any()):
            raise self._wrong("its tensors must stand one behind the other")
        filled = int(last[-1]) if last.size else 0
        if filled != size:
            raise self._wrong(f"its tensors must fill it, and take {filled} of {size} bytes")
