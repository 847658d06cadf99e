"""Rows of a name, its value and a remark, for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

__all__ = ["Row", "make_console", "print_rows"]

#: A name, its value and a remark.
Row = tuple[str, str, str]


def make_console() -> Console:
    """Return the console, which gives numbers no colours."""
    return Console(highlight=False)


def print_rows(console: Console, rows: Sequence[Row]) -> None:
    """Print rows with aligned values."""
    width = 2 + max(len(name) for name, _, _ in rows)
    for name, value, remark in rows:
        gap = "  " if value and remark else ""
        line = Text.assemble((f"{name:<{width}}", "cyan"), (value, "bold"), gap, (remark, "yellow"))
        console.print(line, soft_wrap=True)
