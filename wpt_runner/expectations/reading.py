"""Reads expectations files, with a one-line message for each violation of their format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from webnn.context.devices.selection import Device
from webnn.wpt_runner.expectations.checking import Expectations
from webnn.wpt_runner.expectations.entries import KEY, Entry, LevelEntry, ProviderEntry, quote
from webnn.wpt_runner.expectations.tables import split
from webnn.wpt_runner.foreign import find_problem, load_toml, write_path

__all__ = ["NO_EXPECTATIONS", "add_providers", "bundled", "find_provider_file", "load_expectations", "read"]

#: The name of the expectations that expect no failure.
NO_EXPECTATIONS = Expectations().name

_SUFFIX = ".toml"

_Model = TypeVar("_Model", bound=BaseModel)

#: The demand, by the type of pydantic's error.
_DEMANDS = {
    "dict_type": "must be a table",
    "list_type": "must be a list",
    "literal_error": "must be {expected}",
    "string_type": "must be a string",
    "tuple_type": "must be a list",
    "too_short": "must not be empty",
    "value_error": "{error}",
}
#: The form of a string, by its key.
_LOOKS = {
    "file": "must be a path in the checkout, without '/' at its front",
    "variants": "must begin with '?'",
    "wpt": "must be a commit: 7 or more hexadecimal digits",
}


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    wpt: Annotated[str, StringConstraints(strict=True, pattern="^[0-9a-f]{7,64}$")] | None = None
    expected: list[dict[str, Any]] = []
    # Of the vectors: the runner of the vectors reads them.
    correction: list[dict[str, Any]] = []
    fault: list[dict[str, Any]] = []


def bundled() -> dict[str, Traversable]:
    """Return the files that come with the runner, by the level of web-platform-tests that they are for."""
    return {name: file for name, file in _files().items() if "." not in name}


def find_provider_file(level: str, provider: str) -> Traversable | None:
    """Return the file of a level's failures that are a provider's, such as ``2025-03.webgpu.toml``; ``None`` if it has none."""
    return _files().get(f"{level}.{provider.removesuffix('ExecutionProvider').lower()}")


def _files() -> dict[str, Traversable]:
    files = resources.files("webnn.wpt_runner.expectations").iterdir()
    return {file.name.removesuffix(_SUFFIX): file for file in sorted(files, key=lambda file: file.name) if file.name.endswith(_SUFFIX)}


def load_expectations(name_or_path: str, *, missing_ok: bool = False) -> Expectations:
    """Read an expectations file.

    Args:
        name_or_path: A level of `bundled`; the path of another file, which ends with ``.toml``; or ``"none"`` for no expectations at all.
        missing_ok: The file at the path may not exist yet.

    Raises:
        OSError: The file cannot be read.
        ValueError: There is no such file, or its content is invalid; the message names the place.
    """
    if name_or_path == NO_EXPECTATIONS:
        return Expectations()
    name = name_or_path
    file: Traversable
    if name.endswith(_SUFFIX):
        file = path = Path(name)
        if missing_ok and not path.exists():
            return Expectations(name=name, path=path)
        if not path.is_file():
            raise ValueError(f"there is no expectations file {name}")
    else:
        known = bundled()
        if name not in known:
            names = ", ".join([*known, NO_EXPECTATIONS])
            raise ValueError(f"the expectations must be one of {names}, or the path of a {_SUFFIX} file, got {quote(name)}")
        file = known[name]
        name = file.name
    try:
        # Not opened as a text file, which would change line ends.
        text = file.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} must be UTF-8: {error}") from None
    return read(name, text, file if isinstance(file, Path) else None)


def add_providers(expected: Expectations, level: str, devices: Mapping[str, Device]) -> Expectations:
    """Add the failures that are faults of providers to the expectations of a level.

    Args:
        expected: The expectations of the level.
        level: The level.
        devices: The devices that the variants of tests get, by the type that they ask for.

    Raises:
        ValueError: The file of a provider is invalid.
    """
    layers = []
    for kind, device in devices.items():
        file = find_provider_file(level, device.provider)
        if file is not None:
            layer = read(file.name, file.read_text(encoding="utf-8"), model=ProviderEntry)
            entries = [entry for entry in layer.entries if isinstance(entry, ProviderEntry) and entry.adapter in device.name]
            layers.append(replace(layer, entries=entries, devices=frozenset([kind])))
    return replace(expected, layers=layers)


def read(name: str, text: str, path: Path | None = None, *, model: type[Entry] = LevelEntry) -> Expectations:
    """Read the text of an expectations file, whose entries are of a model.

    Raises:
        ValueError: The file's content is invalid; the message names the place.
    """
    file = _validate(_File, load_toml(text, name), name)
    lines = [table.line for table in split(text, KEY) if table.wanted]
    if len(lines) != len(file.expected):
        raise ValueError(f"{name}: each of the {len(file.expected)} entries must be a table of its own under [[{KEY}]]")
    entries = []
    for number, (line, raw) in enumerate(zip(lines, file.expected, strict=True), 1):
        place = f"{name}:{line}: entry {number}"
        if isinstance(raw.get("file"), str):
            place += f" ({quote(raw['file'])[1:-1]})"
        entries.append(_validate(model, raw, place, line))
    _check_overlaps(name, entries)
    return Expectations(name=name, path=path, text=text, wpt=file.wpt or "", entries=entries)


def _check_overlaps(name: str, entries: Iterable[Entry]) -> None:
    """Refuse two entries for the same test or subtest."""
    seen: dict[tuple[str, str | None], list[tuple[int, Entry]]] = {}
    for number, entry in enumerate(entries, 1):
        for subtest in entry.names:
            others = seen.setdefault((entry.file, subtest), [])
            for other_number, other in others:
                if _meet(entry.variants, other.variants) and _meet(entry.flavours, other.flavours):
                    what = "the test as a whole" if subtest is None else quote(subtest)
                    raise ValueError(
                        f"{name}:{entry.line}: entry {number} ({entry.file}): must not speak of {what} again in the same places: "
                        f"entry {other_number} in line {other.line} does"
                    )
            others.append((number, entry))


def _meet(some: Iterable[str] | None, others: Iterable[str] | None) -> bool:
    """Tell whether two entries have something in common; ``None`` means everything."""
    return some is None or others is None or not set(some).isdisjoint(others)


def _validate(model: type[_Model], content: object, place: str, line: int = 0) -> _Model:
    try:
        return model.model_validate(content, context=line)
    except ValidationError as error:
        kind, where, demand, given = find_problem(error, _DEMANDS)
    key = repr(write_path(where))
    match kind:
        case "missing":
            problem = f"{key} is missing"
        case "extra_forbidden":
            problem = f"the keys are {', '.join(model.model_fields)}, got {key}"
        case "value_error":
            problem = demand
        case _:
            problem = f"{key} {_LOOKS[str(where[0])] if kind == 'string_pattern_mismatch' else demand}, got {quote(given)}"
    raise ValueError(f"{place}: {problem}")
