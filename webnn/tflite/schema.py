"""The schema of TFLite files: the package `tflite`, which is loaded when the first file is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import FunctionType
from typing import Any

from webnn._extras import install_command

__all__ = ["TFLiteMissingError", "accessors", "load_schema", "names_of"]


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
