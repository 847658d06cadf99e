"""Differences that are known: a TOML file with an entry, and a reason, for each.

An entry has ``judge``, ``operation`` (a pattern such as ``"reduce*"``, or a list of them), ``kind`` (a pattern, too), perhaps ``message``,
a part of the finding's text, and ``reason``. Between the parts of a message that ``*`` separates, the text may have anything. If several
operations may have caused other numbers, one of them must fit.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from webnn.fuzz.judges import Finding

__all__ = ["SHIPPED", "Known", "KnownError", "load_known"]

#: The known differences of Chromium 153 with TFLite, by the engine of the emulator.
SHIPPED = {
    engine: Path(__file__).with_name(f"known-{name}.toml")
    for engine, name in (("onnxruntime", "chromium-153"), ("litert", "chromium-153-litert"))
}
#: The kinds of differences that several operations may cause.
_OF_NUMBERS = ("numbers", "rounding")
_MEMBERS = ("judge", "operation", "kind", "message", "reason")


class KnownError(ValueError):
    """A file of known differences cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A known difference."""

    judge: str
    operation: tuple[str, ...]
    kind: str
    message: str
    reason: str

    def fits(self, finding: Finding) -> bool:
        """Tell whether a finding is this difference."""
        same = self.judge == finding.judge and fnmatchcase(finding.kind, self.kind)
        names = finding.operation.split() if finding.kind in _OF_NUMBERS else [finding.operation]
        return same and any(fnmatchcase(name, each) for name in names for each in self.operation) and self._says(finding.text)

    def _says(self, text: str) -> bool:
        """Tell whether a text has the parts of the message in their order. A bracket is only a bracket here."""
        return re.search(".*".join(map(re.escape, self.message.split("*"))), text, re.DOTALL) is not None

    def __str__(self) -> str:
        return f"{self.judge} {self.kind} {', '.join(self.operation)}: {self.message or self.reason}"


def load_known(path: Path) -> list[Known]:
    """Read a file of known differences; raise a `KnownError` if it is invalid."""
    try:
        entries: Any = tomllib.loads(path.read_text(encoding="utf-8")).get("known", [])
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise KnownError(f"{path}: {error}") from None
    return [_read(path, number, entry) for number, entry in enumerate(entries)]


def _read(path: Path, number: int, entry: Any) -> Known:
    where = f"{path}: known[{number}]"
    if not isinstance(entry, dict) or not set(entry) <= set(_MEMBERS):
        raise KnownError(f"{where} must have {', '.join(_MEMBERS)} and nothing else")
    operation = entry.get("operation")
    patterns: Sequence[Any] = operation if isinstance(operation, list) else [operation]
    texts = [*patterns, *(entry.get(name, "") for name in _MEMBERS if name != "operation")]
    if not patterns or not all(isinstance(each, str) for each in texts):
        raise KnownError(f"{where} must have texts, and for operation a text or a list of them")
    if not all(entry.get(name) for name in ("judge", "kind", "reason")):
        raise KnownError(f"{where} must have a judge, a kind and a reason")
    return Known(
        judge=entry["judge"], operation=tuple(patterns), kind=entry["kind"], message=entry.get("message", ""), reason=entry["reason"]
    )
