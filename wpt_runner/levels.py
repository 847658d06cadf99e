"""Levels of web-platform-tests: which draft of the specification the tests of a checkout are for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from webnn.wpt_runner.checkout import Checkout

__all__ = ["LEVELS", "Level", "detect_level", "find_level", "level_of"]

_IDL = "/interfaces/webnn.idl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A state of the tests.

    Attributes:
        name: Its year and month. The expectations have this name.
        revision: The revision of the draft that the emulator follows for it.
        dialect: Additions of the tests' IDL to the draft's (`load_idl`).
        tensors: Graphs are computed over `MLTensor`, and a descriptor has a ``shape``; otherwise over buffers, and it has ``dimensions``.
        renamed: The new names of options that the draft has renamed since, by the name that the tests use.
    """

    name: str
    revision: str
    dialect: str
    tensors: bool
    renamed: Mapping[str, str] = field(default_factory=dict, hash=False)


#: The newest level of each revision, the oldest revision first.
LEVELS = (
    Level(name="2024-06", revision="2024-06", dialect="wpt-2024-06", tensors=False),
    Level(
        name="2025-03",
        revision="2026-06",
        dialect="wpt-2025-03",
        tensors=True,
        renamed=MappingProxyType({"roundingType": "outputShapeRounding"}),
    ),
)


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
