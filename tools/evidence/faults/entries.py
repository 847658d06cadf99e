"""The entries of `upstream/browser/faults.toml`, and the results of the programs."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

__all__ = ["BROWSER", "FAULTS", "KINDS", "SEVERITIES", "UPSTREAM", "Collection", "Fault", "load_faults", "load_results", "save_results"]

UPSTREAM = Path(__file__).resolve().parents[3] / "upstream"
BROWSER = UPSTREAM / "browser"
FAULTS = BROWSER / "faults.toml"

#: The kinds of faults, in words.
KINDS = MappingProxyType(
    {
        "numbers": "wrong numbers",
        "refuses": "refuses a valid call or graph",
        "accepts": "accepts an invalid call",
        "error": "another error or answer",
        "crash": "ends the page",
        "hang": "is never settled",
    }
)
#: From the worst to the least.
SEVERITIES = ("high", "medium", "low")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault of a browser; the head of `faults.toml` explains the members."""

    name: str
    title: str
    operations: Sequence[str]
    kind: str
    severity: str
    engine: str
    section: str
    expected: str
    program: str
    digits: int = 6
    imitated: bool = False
    page_only: bool = False
    frames: bool = False
    worker: str = ""
    covers: Sequence[str] = ()

    @property
    def page(self) -> Path:
        """The file of its page."""
        return BROWSER / f"{self.name}.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """All entries: the faults, and what is known and needs no page, by a key as in ``covers``, with the reason."""

    faults: Sequence[Fault]
    without: Mapping[str, str]


def load_faults(path: Path = FAULTS) -> Collection:
    """Read the entries; raise a `ValueError` that names the entry and the member if one is not valid."""
    data: Mapping[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    found = [_read(path, entry) for entry in data["fault"]]
    names = [each.name for each in found]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"{path.name}: names must differ, got {sorted(twice)} twice")
    return Collection(faults=found, without={each["covers"]: each["reason"] for each in data.get("without", [])})


def _read(path: Path, entry: Mapping[str, Any]) -> Fault:
    where = f"{path.name}: {entry.get('name', 'an entry without a name')}"
    known = {each.name for each in fields(Fault)}
    if not set(entry) <= known:
        raise ValueError(f"{where}: members must be some of {sorted(known)}, got {sorted(set(entry) - known)}")
    try:
        fault = Fault(**entry)
    except TypeError as error:
        raise ValueError(f"{where}: {error}") from None
    for member, choices in (("kind", tuple(KINDS)), ("severity", SEVERITIES)):
        if getattr(fault, member) not in choices:
            raise ValueError(f"{where}: {member} must be one of {', '.join(choices)}, got {getattr(fault, member)!r}")
    return fault


def load_results(path: Path) -> dict[str, dict[str, str]]:
    """Read recorded results: for each program what it got, by the host; nothing if there is no file."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def save_results(path: Path, results: Mapping[str, Mapping[str, str]]) -> None:
    """Write results; those of other programs and hosts stay."""
    merged = load_results(path)
    for name, hosts in results.items():
        merged[name] = {**merged.get(name, {}), **hosts}
    ordered = {name: dict(sorted(merged[name].items())) for name in sorted(merged)}
    path.write_text(json.dumps(ordered, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")
