"""The entries of an expectations file, and how they compare with results."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from webnn.commands.text import cut, replace_surrogates
from webnn.wpt_runner.flavours import split_place
from webnn.wpt_runner.results import FileResult, FileStatus, SubtestStatus

__all__ = ["KEY", "Entry", "EntryVerdict", "LevelEntry", "ProviderEntry", "Ran", "device_of", "index_results", "quote"]

#: The array of tables that holds the entries.
KEY = "expected"

_LONGEST_VALUE = 120

_Text = Annotated[str, Field(strict=True)]
_Variant = Annotated[str, StringConstraints(strict=True, pattern="^([?#]|$)")]


class Entry(BaseModel):
    """The expected failures of a test file for one reason: of some subtests, of the test as a whole, or of both.

    Attributes:
        file: The test file's path in the checkout.
        reason: Why it fails; blank until a person has written it down.
        variants: The variants that it covers; ``None`` for all.
        flavours: The flavours that it covers; ``None`` for all.
        status: The status of the subtests.
        test: The status of the test as a whole; ``None`` if the entry is not about it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    file: Annotated[str, StringConstraints(strict=True, pattern="^[^/]")]
    reason: _Text = ""
    variants: Annotated[tuple[_Variant, ...], Field(min_length=1)] | None = None
    flavours: Annotated[tuple[Literal["window", "worker", "sharedworker", "serviceworker"], ...], Field(min_length=1)] | None = None
    status: Literal["PASS", "FAIL", "TIMEOUT", "NOTRUN", "PRECONDITION_FAILED"] = "FAIL"
    subtests: Annotated[tuple[_Text, ...], Field(min_length=1)] = ()
    test: Literal["ERROR", "TIMEOUT", "CRASH", "PRECONDITION_FAILED"] | None = None
    _line: int

    def model_post_init(self, context: Any) -> None:
        """Keep the line, which the reader passes as context."""
        self._line = context

    @model_validator(mode="after")
    def _check(self) -> Entry:
        if not self.subtests and self.test is None:
            raise ValueError("must have 'subtests' or 'test', got neither")
        if not self.subtests and "status" in self.model_fields_set:
            raise ValueError("'status' is that of 'subtests': without them it must not be there")
        for key, values in (("variants", self.variants), ("flavours", self.flavours), ("subtests", self.subtests)):
            for value, count in Counter(values).items():
                if count > 1:
                    raise ValueError(f"{key!r} must hold each name once, got {quote(value)} {count} times")
        return self

    @property
    def line(self) -> int:
        """The line of the entry in its file, counted from 1."""
        return self._line

    @property
    def has_reason(self) -> bool:
        """A person has written down why."""
        return bool(self.reason.strip())

    @property
    def names(self) -> tuple[str | None, ...]:
        """The names of the entry's subtests, and ``None`` for the test as a whole."""
        return self.subtests if self.test is None else (None, *self.subtests)

    def covers(self, place: str) -> bool:
        """Tell whether the entry is about this flavour and variant of its file (`join_place`)."""
        flavour, variant = split_place(place)
        return (self.variants is None or variant in self.variants) and (self.flavours is None or flavour in self.flavours)


class LevelEntry(Entry):
    """An entry of a level: for what fails on every device."""

    status: Literal["FAIL", "TIMEOUT", "NOTRUN", "PRECONDITION_FAILED"] = "FAIL"


class ProviderEntry(Entry):
    """An entry of a provider, which takes precedence over those of the level: ``"PASS"`` for subtests that fail elsewhere.

    Attributes:
        program: The program in the repository that shows a failure in ONNX Runtime alone.
        adapter: A part of the name of the devices that the entry is about; empty for all.
    """

    program: _Text = ""
    adapter: _Text = ""

    @model_validator(mode="after")
    def _check_program(self) -> ProviderEntry:
        if not self.program and (self.status != "PASS" or self.test is not None):
            raise ValueError("must have 'program', which shows the failure in ONNX Runtime alone")
        return self


class EntryVerdict(Enum):
    """How one name of an entry compares with the result of a test."""

    HOLDS = "holds"
    PASSES = "passes"
    MISSING = "missing"
    DIFFERS = "differs"


@dataclass(frozen=True, slots=True)
class Ran:
    """The results of a test, under the names that an expectations file uses."""

    status: FileStatus
    subtests: Mapping[str, AbstractSet[SubtestStatus]]

    def judge(self, entry: Entry, name: str | None) -> EntryVerdict:
        """Compare with one of the names of an entry."""
        if name is None:
            if self.status == entry.test:
                return EntryVerdict.HOLDS
            return EntryVerdict.PASSES if self.status is FileStatus.OK else EntryVerdict.DIFFERS
        statuses = self.subtests.get(name)
        if statuses is None:
            # If the test did not run to its end, missing subtests prove nothing.
            return EntryVerdict.MISSING if self.status is FileStatus.OK else EntryVerdict.HOLDS
        if entry.status in statuses:
            return EntryVerdict.HOLDS
        return EntryVerdict.PASSES if statuses == {SubtestStatus.PASS} else EntryVerdict.DIFFERS


def index_results(results: Iterable[FileResult]) -> dict[str, dict[str, Ran]]:
    """Return the results by file, and by flavour and variant (`join_place`)."""
    index: dict[str, dict[str, Ran]] = defaultdict(dict)
    for result in results:
        subtests: dict[str, set[SubtestStatus]] = defaultdict(set)
        for subtest in result.subtests:
            subtests[replace_surrogates(subtest.name)].add(subtest.status)
        index[replace_surrogates(result.file)][replace_surrogates(result.place)] = Ran(result.status, dict(subtests))
    return dict(index)


def device_of(variant: str) -> str:
    """Return the device type that a variant asks for: ``"?gpu"``, ``"?op=add&device=gpu"``; without one that is the CPU."""
    query = variant.removeprefix("?")
    names = {query, *(each.rpartition("=")[2] for each in query.split("&"))}
    return next((device for device in ("gpu", "npu") if device in names), "cpu")


def quote(value: object) -> str:
    """Write a value for a message."""
    return cut(repr(value), _LONGEST_VALUE)
