"""Levels of web-platform-tests: which draft of the specification the tests of a checkout are for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from types import MappingProxyType
from typing import Any, Literal

import webnn
from webnn.javascript.idl import load_dialects, load_idl
from webnn.validation.drafts import DRAFTS, find_revision
from webnn.wpt_runner.checkout import Checkout
from webnn.wpt_runner.expectations import bundled, load_expectations
from webnn.wpt_runner.idl_names import find_uses, names_in, names_of

__all__ = ["LEVELS", "Choice", "Level", "choose", "detect_level", "find_level", "level_of"]

_IDL = "/interfaces/webnn.idl"
_PREFIX, _BROWSERS = "wpt-", "browsers-"
#: Methods that only tests of a draft with tensors call.
_TENSORS = re.compile(r"\b(?:createTensor|dispatch|readTensor)\s*\(")
#: How many names a warning lists.
_MANY = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A state of the tests, with a dialect: what the tests' IDL adds to the draft's.

    Attributes:
        name: Its year and month. The expectations have this name.
        revision: The revision of the draft that the emulator follows for it.
        dialect: The name of the dialect (`load_idl`); ``None`` for the draft alone.
        tensors: Graphs are computed over `MLTensor`; otherwise over buffers.
        renamed: The draft's names of options that the tests call otherwise, by the tests' names.
    """

    name: str
    revision: str
    dialect: str | None
    tensors: bool
    renamed: Mapping[str, str] = field(hash=False)

    def make_ml(self) -> webnn.ML:
        """Make an `ML` of the draft, with the additions that the tests need."""
        return webnn.ML(revision=load_idl(self.revision, self.dialect).revision)


def _renamed(dialect: str | None) -> Mapping[str, str]:
    """Return the draft's names of dictionary members that a dialect calls otherwise, by the dialect's names."""
    dictionaries = load_dialects()[dialect].get("dictionaries", {}) if dialect else {}
    members = [member for each in dictionaries.values() for member in each.get("members", ())]
    return MappingProxyType({member["name"]: member["as"] for member in members if "as" in member})


def _read_levels() -> Iterator[Level]:
    for dialect, content in load_dialects().items():
        if dialect.startswith(_PREFIX):
            yield Level(
                name=dialect.removeprefix(_PREFIX),
                revision=content["revision"],
                dialect=dialect,
                tensors=find_revision(content["revision"]).tensors,
                renamed=_renamed(dialect),
            )


#: The newest level of each revision, the oldest revision first.
LEVELS = tuple(sorted(_read_levels(), key=lambda level: level.name))


def find_level(revision: str) -> Level:
    """Return the level of a revision of the draft, or of one with additions, such as proposals. Raises `ValueError` if there is none."""
    # A draft that changes contexts only has the tests of the one before it.
    draft = find_revision(revision).graph_draft if revision.partition("+")[0] in DRAFTS else revision
    for level in LEVELS:
        if level.revision == draft:
            return level if draft == revision else replace(level, revision=find_revision(revision).name)
    raise ValueError(f"the revision must be one of {', '.join(level.revision for level in LEVELS)}, got {revision!r}")


def detect_level(checkout: Checkout) -> Level:
    """Return the level that `choose` chooses for a checkout."""
    return choose(checkout).level


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The draft that the tests of a checkout run under, and how the checkout's own IDL differs from it.

    Attributes:
        level: The level. Its dialect may be that of browsers, if the checkout is newer than the level.
        expectations: The name of the expectations.
        by: The basis of the choice: the checkout's IDL, the names in its files, or an option.
        unknown: The names of the IDL that the draft, with the dialect, never had.
        former: The names of the IDL that the draft no longer has.
        absent: The names of the draft, with the dialect, that the IDL does not have.
    """

    level: Level
    expectations: str
    by: Literal["IDL", "files", "option"]
    unknown: tuple[str, ...] = ()
    former: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()

    def describe(self, dialect: str | None, expectations: str) -> str:
        """Describe a run in one line: the draft, the dialect and the expectations in use, and the findings in the checkout."""
        line = f"the draft {self.level.revision}, dialect {dialect or 'none'}, expectations {expectations}"
        if self.by == "option":
            return line
        if self.by == "files":
            return f"{line}; the checkout has no interfaces/webnn.idl, its files decided"
        differences = [
            f"{verb} {_show(names)}"
            for verb, names in (("also has", self.unknown), ("still has", self.former), ("lacks", self.absent))
            if names
        ]
        return f"{line}; the checkout's IDL {', '.join(differences) or 'is the same'}"

    def warning(self) -> str:
        """Return a warning if the checkout is newer than every draft here; empty if it is not."""
        if not self.unknown or find_revision(self.level.revision).graph_draft != LEVELS[-1].revision:
            return ""
        have = f"the draft {self.level.revision}, dialect {self.level.dialect or 'none'}"
        return f"the checkout is newer than the drafts here: its IDL has {_show(self.unknown, _MANY)}, unknown to {have}"


def choose(checkout: Checkout, revision: str | None = None) -> Choice:
    """Choose the draft, the dialect and the expectations for a checkout, by its IDL, its files and its commit; or by an option.

    The draft is the one that lacks the fewest names of the IDL; without an IDL, the newest one if the files use tensors. The dialect is the
    one that lacks the fewest names of the IDL and of the additions that the files use; of several the level's own, or else none. The
    expectations are those for the checkout's commit, or else those of the draft. Raises `ValueError` if there is no level of the revision.

    Args:
        checkout: The checkout.
        revision: The revision of the draft, which the checkout then does not choose.
    """
    if revision is not None:
        level = find_level(revision)
        return Choice(level=level, expectations=level.name, by="option")
    names, scripts = names_in(checkout.read(_IDL) or ""), _read_scripts(checkout)
    commit = checkout.revision()
    own = {load_expectations(name).wpt: name for name in bundled()}.get(commit) if commit else None
    if not names:
        level = LEVELS[-1] if _TENSORS.search(scripts) else LEVELS[0]
        return Choice(level=level, expectations=own or level.name, by="files")
    level = min(LEVELS, key=lambda each: (len(names - _names(each)), len(_names(each))))
    # An older level is all that its checkouts need. Newer tests than those of the newest level use more features of browsers.
    dialects = sorted(name for name, content in load_dialects().items() if content["revision"] == level.revision)
    others = [None, *(name for name in dialects if name.startswith(_BROWSERS))] if level is LEVELS[-1] else []
    # Drafts with the same graphs have the same tests, and other interfaces.
    later = [replace(level, revision=name) for name in DRAFTS if name != level.revision == find_revision(name).graph_draft]
    candidates = [_with_dialect(each, dialect) for dialect in (level.dialect, *others) for each in (level, *later)]
    wanted = names.union(*(find_uses(scripts, _idl(each), _names(each) - _names(_with_dialect(each, None))) for each in candidates))
    # The first one of several.
    chosen = min(candidates, key=lambda each: len(wanted - _names(each)))
    # `former` are the names of the level's own IDL that its draft no longer has.
    known, former = _names(chosen), frozenset(load_dialects()[_PREFIX + chosen.name].get("former", ()))
    return Choice(
        level=chosen,
        expectations=own or level.name,
        by="IDL",
        unknown=_shorten(names - known - former, known),
        former=_shorten(names & former, known),
        # The stand-in for WebGPU is part of no IDL of WebNN.
        absent=_shorten(frozenset(name for name in known - names if not name.startswith("GPU")), names),
    )


def _read_scripts(checkout: Checkout) -> str:
    """Return all scripts of the tests, one behind the other."""
    files = sorted((checkout.root / "webnn").rglob("*.js"))
    return "\n".join(checkout.read(file.relative_to(checkout.root).as_posix()) or "" for file in files)


def _with_dialect(level: Level, dialect: str | None) -> Level:
    return level if level.dialect == dialect else replace(level, dialect=dialect, renamed=_renamed(dialect))


@cache
def _names(level: Level) -> frozenset[str]:
    return names_of(_idl(level))


def _idl(level: Level) -> dict[str, Any]:
    idl: dict[str, Any] = json.loads(load_idl(level.revision, level.dialect).text)
    return idl


def _shorten(names: frozenset[str], others: frozenset[str]) -> tuple[str, ...]:
    """Sort names, without the members and overloads of those that the others do not have at all."""
    missing = names - others
    return tuple(sorted(each for each in names if not any(parent in missing for parent in _parents(each))))


def _parents(name: str) -> Iterator[str]:
    """Return the definition of a member, and the name of an overload without its arguments."""
    if "(" in name:
        yield name.partition("(")[0]
    if "." in name:
        yield name.partition(".")[0]


def _show(names: Sequence[str], most: int = 2) -> str:
    """List names; if there are too many, the first ones and the number of the others."""
    if len(names) <= most + 1:
        return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    return f"{', '.join(names[:most])} and {len(names) - most} more"


def level_of(name: str) -> Level:
    """Return the newest level up to a name, or the oldest level if there is none."""
    return next((level for level in reversed(LEVELS) if level.name <= name), LEVELS[0])
