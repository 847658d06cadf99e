"""How a command fails: one line, and an exit code."""

from __future__ import annotations

import typer

from webnn.commands.text import show_controls

__all__ = ["failure"]


def failure(message: str, code: int) -> typer.Exit:
    """Print an error to standard error, its control characters escaped; return the exception that the command raises."""
    typer.echo(f"webnn: {show_controls(message)}", err=True)
    return typer.Exit(code)
