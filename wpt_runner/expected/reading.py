"""The format of an expectations file, with a one-line message for each violation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from webnn.wpt_runner.expected.entries import Entry, quote
from webnn.wpt_runner.expected.toml_tables import TomlTables
from webnn.wpt_runner.results import FileStatus, SubtestStatus
from webnn.wpt_runner.toml import load_toml

__all__ = ["KEY", "read"]

#: The array of tables that holds the entries.
KEY = "expected"

_Model = TypeVar("_Model", bound=BaseModel)

_Text = Annotated[str, Field(strict=True)]
_Path = Annotated[str, StringConstraints(strict=True, pattern="^[^/]")]
_Commit = Annotated[str, StringConstraints(strict=True, pattern="^[0-9a-f]{7,64}$")]
_Variant = Annotated[str, StringConstraints(strict=True, pattern="^([?#]|$)")]

#: What must hold, by the type of pydantic's error.
_DEMANDS = {
    "dict_type": "must be a table",
    "list_type": "must be a list",
    "string_type": "must be a string",
    "too_short": "must not be empty",
}
#: What a string must look like, by its key.
_LOOKS = {
    "file": "must be a path in the checkout, without '/' at its front",
    "variants": "must begin with '?'",
    "wpt": "must be a commit: 7 or more hexadecimal digits",
}


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    wpt: _Commit | None = None
    expected: list[dict[str, Any]] = []
    correction: list[dict[str, Any]] = []  # of the vectors: the runner of the vectors reads them


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    file: _Path
    reason: _Text = ""
    variants: Annotated[list[_Variant], Field(strict=True, min_length=1)] | None = None
    status: Literal["FAIL", "TIMEOUT", "NOTRUN", "PRECONDITION_FAILED"] = "FAIL"
    subtests: Annotated[list[_Text], Field(strict=True, min_length=1)] | None = None
    test: Literal["ERROR", "TIMEOUT", "CRASH", "PRECONDITION_FAILED"] | None = None

    @model_validator(mode="after")
    def _check(self) -> _Entry:
        if self.subtests is None and self.test is None:
            raise ValueError("must have 'subtests' or 'test', got neither")
        if self.subtests is None and "status" in self.model_fields_set:
            raise ValueError("'status' is that of 'subtests': without them it must not be there")
        for key, values in (("variants", self.variants), ("subtests", self.subtests)):
            for value, count in Counter(values).items():
                if count > 1:
                    raise ValueError(f"{key!r} must hold each name once, got {quote(value)} {count} times")
        return self


def read(name: str, text: str) -> tuple[str, list[Entry]]:
    """Read an expectations file.

    Args:
        name: The file's name in messages.
        text: Its text.

    Returns:
        The commit of web-platform-tests, empty if the file names none, and the entries.

    Raises:
        ValueError: The file's content is invalid; the message names the place.
    """
    file = _validate(_File, load_toml(text, name), name)
    lines = TomlTables(text, KEY).lines
    if len(lines) != len(file.expected):
        raise ValueError(f"{name}: each of the {len(file.expected)} entries must be a table of its own under [[{KEY}]]")
    entries = []
    for number, (line, raw) in enumerate(zip(lines, file.expected, strict=True), 1):
        place = f"{name}:{line}: entry {number}"
        if isinstance(raw.get("file"), str):
            place += f" ({quote(raw['file'])[1:-1]})"
        entries.append(_entry(line, _validate(_Entry, raw, place)))
    _check_overlaps(name, entries)
    return file.wpt or "", entries


def _entry(line: int, raw: _Entry) -> Entry:
    return Entry(
        line=line,
        file=raw.file,
        reason=raw.reason,
        variants=None if raw.variants is None else tuple(raw.variants),
        subtests=tuple(raw.subtests or ()),
        status=SubtestStatus(raw.status),
        test=None if raw.test is None else FileStatus(raw.test),
    )


def _check_overlaps(name: str, entries: Iterable[Entry]) -> None:
    """Refuse two entries for the same test or subtest."""
    seen: dict[tuple[str, str | None], list[tuple[int, Entry]]] = {}
    for number, entry in enumerate(entries, 1):
        for subtest in entry.names:
            others = seen.setdefault((entry.file, subtest), [])
            for other_number, other in others:
                if entry.variants is None or any(map(other.covers, entry.variants)):
                    what = "the test as a whole" if subtest is None else quote(subtest)
                    raise ValueError(
                        f"{name}:{entry.line}: entry {number} ({entry.file}): must not speak of {what} again in the same variants: "
                        f"entry {other_number} in line {other.line} does"
                    )
            others.append((number, entry))


def _validate(model: type[_Model], content: Mapping[str, Any], place: str) -> _Model:
    try:
        return model.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
    key = _key(first["loc"])
    match first["type"]:
        case "missing":
            problem = f"{key} is missing"
        case "extra_forbidden":
            problem = f"the keys are {', '.join(model.model_fields)}, got {key}"
        case "value_error":
            problem = str(first["ctx"]["error"])
        case "string_pattern_mismatch":
            problem = f"{key} {_LOOKS[str(first['loc'][0])]}, got {quote(first['input'])}"
        case "literal_error":
            problem = f"{key} must be {first['ctx']['expected']}, got {quote(first['input'])}"
        case other:
            problem = f"{key} {_DEMANDS.get(other, first['msg'])}, got {quote(first['input'])}"
    raise ValueError(f"{place}: {problem}")


def _key(place: Sequence[str | int]) -> str:
    return repr("".join(f"[{part}]" if isinstance(part, int) else part for part in place))
