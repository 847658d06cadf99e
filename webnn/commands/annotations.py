"""Annotations of GitHub Actions: lines on the standard output that the system shows beside a file."""

from __future__ import annotations

from typing import Literal

from webnn.commands.text import show_controls

__all__ = ["write_annotation"]

#: How a workflow command spells what would end it.
_ESCAPES = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_ESCAPES_OF_PROPERTIES = {**_ESCAPES, ":": "%3A", ",": "%2C"}


def write_annotation(level: Literal["error", "warning"], message: str, **properties: str) -> str:
    """Return the line of an annotation."""
    given = ",".join(f"{name}={_escape(value, _ESCAPES_OF_PROPERTIES)}" for name, value in properties.items())
    return f"::{level} {given}::{_escape(message, _ESCAPES)}"


def _escape(text: str, escapes: dict[str, str]) -> str:
    return "".join(escapes.get(character, character) for character in show_controls(text))
