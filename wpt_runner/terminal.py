"""The output of the commands: consoles, and lines of untrusted text."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.text import Text

__all__ = ["encodable", "make_console", "print_line"]

_PIPE_WIDTH = 500


def make_console() -> Console:
    """Return a console for reports: colours on a terminal, plain lines of any length in a pipe."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else _PIPE_WIDTH)


def print_line(console: Console, text: Text) -> None:
    """Print a line without wrapping it; characters that the encoding lacks are escaped, at the cost of the line's style."""
    plain = encodable(console, text.plain)
    console.print(text if plain == text.plain else Text(plain), soft_wrap=True)


def encodable(console: Console, text: str) -> str:
    """Escape characters that the encoding of the output lacks."""
    return text.encode(console.encoding, "backslashreplace").decode(console.encoding)
