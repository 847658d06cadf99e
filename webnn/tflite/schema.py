"""The schema of TFLite files: the package `tflite`, which is loaded when the first file is read."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import FunctionType
from typing import Any, TypeVar

from webnn._extras import install_command

__all__ = ["TFLiteMissingError", "accessors", "load_schema", "names_of", "quicken"]

#: No table of the schema has more fields. The list of a table's fields begins with two sizes.
_MOST_FIELDS = 64
_Table = TypeVar("_Table")


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
def _find_quick(plain: Any) -> type[Any]:
    """Return a subclass of the class that the tables of the schema read themselves with."""

    class QuickTable(plain):  # type: ignore[misc]  # has no types
        """A table that reads where its fields are once; the plain one reads it again for each field."""

        __slots__ = ("_places",)

        def __init__(self, data: bytes, place: int) -> None:
            super().__init__(data, place)
            start = place - struct.unpack_from("<i", data, place)[0]
            if start < 0:
                raise struct.error("the list of a table's fields must not begin before the file")
            (size,) = struct.unpack_from("<H", data, start)
            self._places = struct.unpack_from(f"<{min(size // 2, _MOST_FIELDS)}H", data, start)

        def Offset(self, field: int) -> int:
            places: tuple[int, ...] = self._places
            return places[field >> 1] if field >> 1 < len(places) else 0

    return QuickTable


def quicken(table: _Table) -> _Table:
    """Let a table of the schema find its fields faster, and return it. Raises `struct.error` if they are not in the file."""
    given: Any = table
    plain: Any = given._tab
    kind: Any = type(plain)
    given._tab = _find_quick(kind)(plain.Bytes, plain.Pos)
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
