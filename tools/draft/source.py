"""The facts of one source in Bikeshed: its IDL, its tables of limits, and its steps that can throw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from tools import extract_idl, extract_limits, extract_steps
from webnn.validation.drafts.idl import Idl

__all__ = ["Source", "read"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A draft.

    Attributes:
        name: The draft's year and month, or another name for it.
        idl: Its IDL.
        limits: Its tables of tensor limits, in the form of ``<draft>.limits.json``; ``None`` if it has none.
        steps: Its algorithms with steps that can throw, in the form of ``<draft>.steps.json``.
        contradictions: Where the source contradicts itself or has a form that is not known here.
    """

    name: str
    idl: Idl
    limits: Mapping[str, Any] | None
    steps: Mapping[str, Any]
    contradictions: list[str] = field(default_factory=list)

    @property
    def algorithms(self) -> Mapping[str, Any]:
        """The algorithms by their names."""
        found: Mapping[str, Any] = self.steps["algorithms"]
        return found


def read(path: Path, name: str) -> Source:
    """Read a source.

    Args:
        path: The file.
        name: The name to give to the draft.

    Raises:
        OSError: The file cannot be read.
        ValueError: The source is not one of the specification.
    """
    text = path.read_text(encoding="utf-8")
    contradictions: list[str] = []
    try:
        limits = extract_limits.extract(text, name)
    except ValueError as error:
        limits = None
        contradictions.append(f"limits: {error}")
    return Source(
        name=name,
        idl=cast(Idl, extract_idl.extract(text, name)),
        limits=limits,
        steps=extract_steps.extract(text, name, contradictions),
        contradictions=contradictions,
    )
