"""Levels of web-platform-tests: which draft of the specification the tests of a checkout are for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import webnn
from webnn.javascript.idl import load_dialects, load_idl
from webnn.validation.drafts import find_revision
from webnn.wpt_runner.checkout import Checkout

__all__ = ["LEVELS", "Level", "detect_level", "find_level", "level_of"]

_IDL = "/interfaces/webnn.idl"
_PREFIX = "wpt-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A state of the tests, with a dialect: what the tests' IDL adds to the draft's.

    Attributes:
        name: Its year and month. The expectations have this name.
        revision: The revision of the draft that the emulator follows for it.
        dialect: The name of the dialect (`load_idl`).
        tensors: Graphs are computed over `MLTensor`; otherwise over buffers.
        renamed: The draft's names of options that the tests call otherwise, by the tests' names.
    """

    name: str
    revision: str
    dialect: str
    tensors: bool
    renamed: Mapping[str, str] = field(hash=False)

    def make_ml(self) -> webnn.ML:
        """Make an `ML` of the draft, with the additions that the tests need."""
        return webnn.ML(revision=load_idl(self.revision, self.dialect).revision)


def _read_levels() -> Iterator[Level]:
    for dialect, content in load_dialects().items():
        if dialect.startswith(_PREFIX):
            members = [member for each in content.get("dictionaries", {}).values() for member in each.get("members", ())]
            yield Level(
                name=dialect.removeprefix(_PREFIX),
                revision=content["revision"],
                dialect=dialect,
                tensors=find_revision(content["revision"]).tensors,
                renamed=MappingProxyType({member["name"]: member["as"] for member in members if "as" in member}),
            )


#: The newest level of each revision, the oldest revision first.
LEVELS = tuple(sorted(_read_levels(), key=lambda level: level.name))


def find_level(revision: str) -> Level:
    """Return the level of a revision of the draft.

    Raises:
        ValueError: There is none.
    """
    for level in LEVELS:
        if level.revision == revision:
            return level
    raise ValueError(f"the revision must be one of {', '.join(level.revision for level in LEVELS)}, got {revision!r}")


def detect_level(checkout: Checkout) -> Level:
    """Detect the level of a checkout by its IDL: the newest level if the IDL has `MLTensor` and no `compute()`, else the oldest."""
    idl = checkout.read(_IDL) or ""
    return LEVELS[-1] if re.search(r"\binterface\s+MLTensor\b", idl) and not re.search(r"\bcompute\s*\(", idl) else LEVELS[0]


def level_of(name: str) -> Level:
    """Return the newest level up to a name, or the oldest level if there is none."""
    return next((level for level in reversed(LEVELS) if level.name <= name), LEVELS[0])
