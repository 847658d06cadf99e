"""The output of the commands: consoles, lines of untrusted text, progress bars."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from webnn.commands.progress import progress_console

__all__ = ["encodable", "make_console", "print_line", "show_progress"]

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


@contextmanager
def show_progress(what: str, total: int, counted: str, *, hidden: bool = False) -> Iterator[Callable[[int], None]]:
    """Show a progress bar on a terminal; yield a function that advances it by one and sets the number that it counts."""
    console = progress_console()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[count]} " + counted))
    disable = hidden or not console.is_terminal
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True, redirect_stdout=False, disable=disable) as bar:
        task = bar.add_task(what, total=total, count=0)
        yield lambda count: bar.update(task, advance=1, count=count)
