"""The facts of a draft's source: its IDL, its tables of limits, and its steps that can throw. Of some drafts only the IDL is known."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from tools import extract_idl, extract_limits, extract_steps
from webnn.validation.drafts.idl import Idl, read_idl

__all__ = ["Source", "read", "read_alone", "read_known"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A draft.

    Attributes:
        name: The draft's year and month, or another name for it.
        idl: Its IDL.
        limits: Its tables of tensor limits, in the form of ``<draft>.limits.json``; ``None`` if it has none.
        steps: Its algorithms with steps that can throw, in the form of ``<draft>.steps.json``.
        contradictions: Where the source contradicts itself or has a form that is not known here.
        isPartial: Only its IDL is known; limits and steps are those of the draft before.
    """

    name: str
    idl: Idl
    limits: Mapping[str, Any] | None
    steps: Mapping[str, Any]
    contradictions: list[str] = field(default_factory=list)
    isPartial: bool = False

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


def read_known(name: str) -> Source:
    """Return a draft of the chain from its data. Raises `OSError` if it has no data of its own."""
    limits, steps = (json.loads((extract_idl.FOLDER / f"{name}.{kind}.json").read_text(encoding="utf-8")) for kind in ("limits", "steps"))
    return Source(name=name, idl=read_idl(name), limits=limits, steps=steps)


def read_alone(path: Path, name: str, before: Source) -> Source:
    """Read a file of IDL, of a draft of which nothing else is known.

    Args:
        path: The file.
        name: The name to give to the draft.
        before: The draft before.

    Raises:
        OSError: The file cannot be read.
        ValueError: The file has no IDL of the specification.
    """
    idl = extract_idl.extract_alone(path.read_text(encoding="utf-8"), name, before.idl)
    return Source(name=name, idl=cast(Idl, idl), limits=before.limits, steps=before.steps, isPartial=True)
