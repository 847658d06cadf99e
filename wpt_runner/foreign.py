"""Data that a person or another tool has written: how JSON and TOML are read, and the problem of a value, for a message of one line."""

from __future__ import annotations

import gzip
import json
import tomllib
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from webnn.commands.text import cut

__all__ = ["Problem", "check_json", "find_problem", "is_deep", "load_json", "load_toml", "write_path"]

_Model = TypeVar("_Model", bound=BaseModel)
_Place = tuple[str | int, ...]

_GZIP = b"\x1f\x8b"
#: The most bytes of JSON, also when they are unpacked.
_LARGEST = 1 << 30
#: The deepest nesting of TOML that is allowed. Values nested a few thousand times deep can be parsed, but not shown.
_DEEPEST = 50
_LONGEST_VALUE = 60
#: The demand on JSON, by the type of pydantic's error.
_DEMANDS = {
    "model_type": "must be an object",
    "dict_type": "must be an object",
    "list_type": "must be an array",
    "tuple_type": "must be an array",
    "string_type": "must be a string",
    "int_type": "must be an integer",
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "enum": "must be one of {expected}",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "too_long": "must have at most {max_length} elements",
    "too_short": "must have at least {min_length} elements",
    "string_pattern_mismatch": "must begin with '/'",
}


class Problem(NamedTuple):
    """The first problem of a value: the type of pydantic's error, the keys that lead to the place, the demand, and the given value."""

    kind: str
    place: _Place
    demand: str
    given: Any


def find_problem(error: ValidationError, demands: Mapping[str, str]) -> Problem:
    """Return the first problem.

    The demand is found by the type of the error, with names of the error's context in braces; other types keep pydantic's words.
    """
    first = error.errors(include_url=False)[0]
    kind = first["type"]
    demand = demands[kind].format_map(first.get("ctx", {})) if kind in demands else first["msg"]
    # pydantic appends "[key]" to the place of an invalid key.
    return Problem(kind, tuple(part for part in first["loc"] if part != "[key]"), demand, first["input"])


def write_path(place: Sequence[str | int]) -> str:
    """Write a place: ``"results[0].test"``."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).removeprefix(".")


def check_json(model: type[_Model], content: object, wrong: str, place: _Place = (), demands: Mapping[str, str] | None = None) -> _Model:
    """Check JSON, which is at a place of a file, against a model; ``demands`` are this file's own (`find_problem`).

    Raises `ValueError` if it does not fit; the message begins with ``wrong``, and names the place.
    """
    try:
        return model.model_validate(content)
    except ValidationError as error:
        kind, inner, demand, given = find_problem(error, {**_DEMANDS, **(demands or {})})
    where = (*place, *inner)
    named = cut(write_path(where[:-1] if kind == "missing" else where), _LONGEST_VALUE) or "it"
    problem = f"has no member {str(where[-1])!r}" if kind == "missing" else f"{demand}, got {cut(json.dumps(given), _LONGEST_VALUE)}"
    raise ValueError(f"{wrong}: {named} {problem}")


def is_deep(value: object, levels: int) -> bool:
    """Tell whether lists and objects are nested deeper than a number of levels."""
    containers = [value] if isinstance(value, dict | list) else []
    for _ in range(levels):
        inside = (each.values() if isinstance(each, dict) else each for each in containers)
        containers = [each for elements in inside for each in elements if isinstance(each, dict | list)]
    return bool(containers)


def load_json(path: Path, what: str) -> object:
    """Parse a file of JSON, which gzip may have compressed; messages say that it is not what it should be.

    Raises `OSError` if the file cannot be read, and `ValueError` if it is not JSON, or it has more than 1 GiB when it is unpacked.
    """
    with path.open("rb") as file:
        packed = file.peek(2).startswith(_GZIP)
        try:
            # No more than the limit is ever unpacked.
            data = (gzip.GzipFile(fileobj=file) if packed else file).read(_LARGEST + 1)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise ValueError(f"{path} is not a {what}: it is broken gzip data ({error})") from None
    if len(data) > _LARGEST:
        raise ValueError(f"{path} is not a {what}: it must be at most {_LARGEST >> 20} MiB when it is unpacked")
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not a {what}: it is not JSON ({error})") from None


def load_toml(text: str, name: str) -> dict[str, Any]:
    """Parse TOML; messages call it by its name. Raises `ValueError` if it is not TOML, or its values are nested too deeply."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{name} is not TOML: {error}") from None
    except RecursionError:
        content = None
    if content is None or is_deep(content, _DEEPEST + 1):
        raise ValueError(f"{name}: its values must not be nested deeper than {_DEEPEST} levels")
    return content
