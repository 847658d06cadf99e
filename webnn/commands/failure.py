"""How a command fails: one line, and an exit code."""

from __future__ import annotations

import typer

from webnn.commands.text import show_controls

__all__ = ["failure"]


def failure(message: str, code: int) -> typer.Exit:
    """Tell what is wrong, on the standard error; return what the command raises.

    Args:
        message: The reason. What it quotes may hold anything: control characters are shown, and not obeyed.
        code: The exit code.
    """
    typer.echo(f"webnn: {show_controls(message)}", err=True)
    return typer.Exit(code)
