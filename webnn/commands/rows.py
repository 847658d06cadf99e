"""Rows of a name, its value and a remark, for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

__all__ = ["Row", "make_console", "print_hanging", "print_rows"]

#: A name, its value and a remark.
Row = tuple[str, str, str]
#: A terminal with less room behind the names breaks the lines itself.
_NARROWEST = 24


def make_console() -> Console:
    """Return the console, which gives numbers no colours."""
    return Console(highlight=False)


def print_rows(console: Console, rows: Sequence[Row], *, wrap: bool = True) -> None:
    """Print rows with aligned values; with ``wrap`` they fit a terminal. Rows with commands to copy do not."""
    width = 2 + max(len(name) for name, _, _ in rows)
    for name, value, remark in rows:
        gap = "  " if value and remark else ""
        text = Text.assemble((value, "bold"), gap, (remark, "yellow"))
        print_hanging(console, Text(f"{name:<{width}}", "cyan"), text, wrap=wrap)


def print_hanging(console: Console, lead: Text, text: Text, *, wrap: bool = True) -> None:
    """Print a text behind a lead. On a terminal a long text goes on below itself; elsewhere it is one line."""
    room = console.width - lead.cell_len
    lines = text.wrap(console, room) if wrap and console.is_terminal and room >= _NARROWEST else [text]
    for number, line in enumerate(lines):
        if number < len(lines) - 1:
            line.rstrip()
        console.print((Text(" " * lead.cell_len) if number else lead) + line, soft_wrap=True)
