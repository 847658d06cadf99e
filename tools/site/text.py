"""Markdown: tables, code, links."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

__all__ = ["ROOT", "code", "docstring_of", "fence", "tab", "table", "titled"]

ROOT = Path(__file__).resolve().parents[2]

#: A pipe, and code, in which pipes stay as they are.
_PIPE = re.compile(r"(`+)(?:(?!\1).)+\1|\|")


def code(text: object) -> str:
    """Return text as code within a line."""
    quoted = str(text)
    return f"`` {quoted} ``" if "`" in quoted else f"`{quoted}`"


def fence(text: str, language: str = "text") -> list[str]:
    """Return the lines of a block of code."""
    return [f"```{language}", *text.strip("\n").splitlines(), "```", ""]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table. Pipes in cells are escaped; a line feed in a cell is a line of its own."""
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(_cell(each) for each in row) + " |" for row in lines] + [""]


def _cell(text: str) -> str:
    return _PIPE.sub(lambda match: "\\|" if match[0] == "|" else match[0], text).replace("\n", "<br>")


def titled(title: str, lines: Iterable[str], level: int = 2) -> list[str]:
    """Return a section with its title; nothing for a section without lines."""
    found = list(lines)
    return [f"{'#' * level} {title}", "", *found] if found else []


def tab(title: str, lines: Iterable[str]) -> list[str]:
    """Return lines as a tab; those that follow each other are one set of tabs."""
    return [f'=== "{title}"', "", *(f"    {line}" if line else "" for line in lines), ""]


def docstring_of(member: object) -> str:
    """Return the docstring of something that must have one."""
    text = inspect.getdoc(member)
    assert text, f"{member!r} has no docstring"
    return text
