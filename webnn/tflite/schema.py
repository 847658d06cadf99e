"""The schema of TFLite files: the package `tflite`, which is loaded when the first file is read."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from functools import cache
from types import FunctionType, MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from webnn._extras import install_command

__all__ = ["Field", "Lists", "Record", "TFLiteMissingError", "fields_of", "load_schema", "names_of"]

#: No table of the schema has more fields. The list of a table's fields begins with two sizes.
_MOST_FIELDS = 64
#: The lists of fields of a file by where they begin: where each field is in a table, or 0 if it is not there.
Lists: TypeAlias = "dict[int, tuple[int, ...]]"
#: How the format stores sizes and distances.
_OFFSET, _DISTANCE, _SIZE = struct.Struct("<I"), struct.Struct("<i"), struct.Struct("<H")


class TFLiteMissingError(ImportError):
    """The package that reads TFLite files is not installed."""


@cache
def load_schema() -> Any:
    """Return the package. Raises `TFLiteMissingError` without it."""
    try:
        import tflite  # noqa: PLC0415 (an extra)
    except ModuleNotFoundError:
        raise TFLiteMissingError(f"TFLite models need the package tflite: {install_command('tflite')}") from None
    return tflite


@cache
def _element_type(name: str) -> np.dtype[Any]:
    return np.dtype(name).newbyteorder("<")


class Field(NamedTuple):
    """A field of a table.

    Attributes:
        slot: Its position in the list of the table's fields.
        number: Reads a number; none for other fields.
        default: The number of a field that is missing.
        letter: The type of the elements of a vector of numbers, as `struct` writes it; empty for other fields.
        dtype: The type as NumPy writes it.
        is_text: Whether it is a text.
    """

    slot: int
    number: Callable[[bytes, int], tuple[Any, ...]] | None
    default: Any
    letter: str
    dtype: str
    is_text: bool


class _Probe:
    """Takes the place of a table's bytes for an accessor of the package, and notes which field it reads first, and how."""

    Bytes, Pos = b"", 0

    def __init__(self, place: int) -> None:
        self.place = place
        self.field = 0
        self.number: Any = None
        self.vector: Any = None
        self.is_text = False

    def Offset(self, field: int) -> int:
        self.field = self.field or field
        return self.place

    def Get(self, flags: Any, place: int) -> int:
        self.number = self.number or flags
        return 0

    def GetVectorAsNumpy(self, flags: Any, offset: int) -> None:
        self.vector = flags

    def String(self, place: int) -> None:
        self.is_text = True

    def Indirect(self, place: int) -> int:
        return place

    def Union(self, table: Any, offset: int) -> None:
        """Do nothing: the field is another table."""

    def VectorLen(self, offset: int) -> int:
        return 0


@cache
def fields_of(table: str) -> Mapping[str, Field]:
    """Return the fields of a table of the schema, by the names of the package's accessors; a vector is ``Shape``, not ``ShapeAsNumpy``."""
    kind = getattr(load_schema(), table)
    accessors = {name: each for name, each in vars(kind).items() if isinstance(each, FunctionType) and each.__code__.co_argcount == 1}
    found: dict[str, Field] = {}
    for name, accessor in accessors.items():
        if name.endswith("IsNone"):
            continue
        probe, missing = _Probe(4), _Probe(0)
        for each in (probe, missing):
            given = kind()
            given._tab = each
            default = accessor(given)
        number, vector = probe.number, probe.vector
        field = Field(
            slot=probe.field >> 1,
            number=None if number is None else number.packer_type.unpack_from,
            default=default,
            letter="" if vector is None else vector.packer_type.format.strip("<"),
            dtype="" if vector is None else vector.name,
            is_text=probe.is_text,
        )
        # The accessor of the length is the only one for a vector of tables.
        if name.endswith("Length"):
            found.setdefault(name.removesuffix("Length"), field._replace(number=None))
        else:
            found[name.removesuffix("AsNumpy")] = field
    return MappingProxyType(found)


class Record:
    """A table of a file, which reads its fields by their names. The package's own accessors take several times as long.

    No place in a file is negative.

    Args:
        kind: The name of the table in the schema.
        data: The file.
        place: Where it is.
        lists: The lists of fields that were read before, which records share. It gets that of the record.

    Raises:
        struct.error: The list of fields is not in the file.
    """

    __slots__ = ("_data", "_lists", "_place", "_places", "fields")

    def __init__(self, kind: str, data: bytes, place: int, lists: Lists) -> None:
        start = place - _DISTANCE.unpack_from(data, place)[0]
        places = lists.get(start)
        if places is None:
            if start < 0:
                raise struct.error("the list of a table's fields must not begin before the file")
            count = min(_SIZE.unpack_from(data, start)[0] // 2, _MOST_FIELDS)
            places = lists[start] = struct.unpack_from(f"<{count}H", data, start) + (0,) * (_MOST_FIELDS - count)
        self._data = data
        self._place = place
        self._places = places
        self._lists = lists
        self.fields = fields_of(kind)

    @classmethod
    def first(cls, kind: str, data: bytes, lists: Lists) -> Record:
        """Return the table at the root of a file."""
        return cls(kind, data, _OFFSET.unpack_from(data, 0)[0], lists)

    def number(self, name: str) -> Any:
        """Return a number; a missing one is the default of the schema."""
        slot, read, default, _, _, _ = self.fields[name]
        place = self._places[slot]
        assert read is not None  # the field is a number
        return read(self._data, self._place + place)[0] if place else default

    def text(self, name: str) -> bytes | None:
        """Return the bytes of a text."""
        place = self._follow(name)
        if not place:
            return None
        (length,) = _OFFSET.unpack_from(self._data, place)
        return self._data[place + 4 : place + 4 + length]

    def length(self, name: str) -> int:
        """Return the number of elements of a vector; 0 if it is missing."""
        place = self._follow(name)
        length: int = _OFFSET.unpack_from(self._data, place)[0] if place else 0
        return length

    def array(self, name: str) -> np.ndarray[Any, Any] | None:
        """Return the elements of a vector of numbers, in place. Raises `ValueError` if they are not in the file."""
        place = self._follow(name)
        if not place:
            return None
        return np.frombuffer(self._data, _element_type(self.fields[name].dtype), _OFFSET.unpack_from(self._data, place)[0], place + 4)

    def numbers(self, name: str, spend: Callable[[int], None]) -> list[Any]:
        """Return the elements of a vector of numbers, a list for each call, after their number is spent; a missing one has none.

        Raises:
            ValueError: They are not in the file.
        """
        slot, _, _, letter, _, _ = self.fields[name]
        place, data = self._places[slot], self._data
        if not place:
            return []
        place += self._place
        place += _OFFSET.unpack_from(data, place)[0]
        (length,) = _OFFSET.unpack_from(data, place)
        if place + 4 + length * struct.calcsize(letter) > len(data):
            self.array(name)
        spend(length)
        return [*struct.unpack_from(f"<{length}{letter}", data, place + 4)]

    def table(self, name: str, kind: str) -> Record | None:
        """Return another table."""
        place = self._follow(name)
        return Record(kind, self._data, place, self._lists) if place else None

    def tables(self, name: str, kind: str) -> list[Record]:
        """Return the tables of a vector."""
        data, lists, place = self._data, self._lists, self._follow(name)
        if not place:
            return []
        (length,) = _OFFSET.unpack_from(data, place)
        return [
            Record(kind, data, each + _OFFSET.unpack_from(data, each)[0], lists) for each in range(place + 4, place + 4 + 4 * length, 4)
        ]

    def _follow(self, name: str) -> int:
        """Return the place that a field names; 0 if the field is missing."""
        place = self._places[self.fields[name][0]]
        if place:
            place += self._place
            place += _OFFSET.unpack_from(self._data, place)[0]
        return place


@cache
def names_of(enumeration: str) -> Mapping[int, str]:
    """Return the names of an enumeration of the schema by their numbers."""
    return {number: name for name, number in vars(getattr(load_schema(), enumeration)).items() if isinstance(number, int)}
