"""The schema of TFLite files: the package `tflite`, which is loaded when the first file is read."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import FunctionType
from typing import Any, TypeAlias, TypeVar

import numpy as np

from webnn._extras import install_command

__all__ = ["Lists", "TFLiteMissingError", "accessors", "load_schema", "names_of", "quicken"]

#: No table of the schema has more fields. The list of a table's fields begins with two sizes.
_MOST_FIELDS = 64
_Table = TypeVar("_Table")
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


@cache
def _find_quick(plain: Any) -> type[Any]:
    """Return a subclass of the class that the tables of the schema read themselves with."""

    class QuickTable(plain):  # type: ignore[misc]  # has no types
        """A table that takes its list of fields from those read before, and reads a field in one call. No place in a file is negative."""

        __slots__ = ("_places",)

        def __init__(self, data: bytes, place: int, lists: Lists) -> None:
            super().__init__(data, place)
            start = place - _DISTANCE.unpack_from(data, place)[0]
            places = lists.get(start)
            if places is None:
                if start < 0:
                    raise struct.error("the list of a table's fields must not begin before the file")
                count = min(_SIZE.unpack_from(data, start)[0] // 2, _MOST_FIELDS)
                places = lists[start] = struct.unpack_from(f"<{count}H", data, start) + (0,) * (_MOST_FIELDS - count)
            self._places = places

        def Offset(self, field: int) -> int:
            place: int = self._places[field >> 1]
            return place

        def Get(self, flags: Any, place: int) -> Any:
            return flags.packer_type.unpack_from(self.Bytes, place)[0]

        def Indirect(self, place: int) -> int:
            found: int = place + _OFFSET.unpack_from(self.Bytes, place)[0]
            return found

        def String(self, place: int) -> bytes:
            place += _OFFSET.unpack_from(self.Bytes, place)[0]
            (length,) = _OFFSET.unpack_from(self.Bytes, place)
            return bytes(self.Bytes[place + 4 : place + 4 + length])

        def Vector(self, offset: int) -> int:
            return self.Indirect(self.Pos + offset) + 4

        def VectorLen(self, offset: int) -> int:
            (length,) = _OFFSET.unpack_from(self.Bytes, self.Indirect(self.Pos + offset))
            return int(length)

        def GetVectorAsNumpy(self, flags: Any, offset: int) -> np.ndarray[Any, Any]:
            place = self.Indirect(self.Pos + offset)
            return np.frombuffer(self.Bytes, _element_type(flags.name), _OFFSET.unpack_from(self.Bytes, place)[0], place + 4)

    return QuickTable


def quicken(table: _Table, lists: Lists) -> _Table:
    """Let a table of the schema find its fields faster, and return it.

    Args:
        table: The table.
        lists: The lists of fields that were read before, which tables share. It gets that of the table.

    Raises:
        struct.error: The list of fields is not in the file.
    """
    given: Any = table
    plain: Any = given._tab
    kind: Any = type(plain)
    given._tab = _find_quick(kind)(plain.Bytes, plain.Pos, lists)
    return table


@cache
def names_of(enumeration: str) -> Mapping[int, str]:
    """Return the names of an enumeration of the schema by their numbers."""
    return {number: name for name, number in vars(getattr(load_schema(), enumeration)).items() if isinstance(number, int)}


@cache
def accessors(table: str) -> Sequence[tuple[str, bool, Callable[[Any], Any]]]:
    """Return the names of a table's fields, whether they are vectors, and their accessors, which return vectors as arrays."""
    found = {
        name: each
        for name, each in vars(getattr(load_schema(), table)).items()
        if isinstance(each, FunctionType) and each.__code__.co_argcount == 1
    }
    fields = {name: each for name, each in found.items() if not name.endswith(("Length", "IsNone"))}
    return [(name.removesuffix("AsNumpy"), name.endswith("AsNumpy"), each) for name, each in fields.items()]
