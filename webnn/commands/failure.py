"""How a command fails: one line, and an exit code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from webnn.commands.text import show_controls

__all__ = ["failing", "failure"]


def failure(message: str, code: int) -> typer.Exit:
    """Print an error to standard error, its control characters escaped; return the exception that the command raises."""
    typer.echo(f"webnn: {show_controls(message)}", err=True)
    return typer.Exit(code)


@contextmanager
def failing(errors: type[Exception] | tuple[type[Exception], ...], code: int, message: str = "{}") -> Iterator[None]:
    """Let the command fail if one of some errors leaves the block. ``{}`` in the message is its text."""
    try:
        yield
    except errors as error:
        raise failure(message.format(error), code) from None
