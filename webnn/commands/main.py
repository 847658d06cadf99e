"""The command line: its commands, by the modules that have them."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

import webnn
from webnn.commands.failure import failure
from webnn.commands.lazy import make_group
from webnn.commands.progress import PROGRESS_VARIABLE
from webnn.commands.registry import COMMANDS
from webnn.context.engine import runtime

__all__ = ["LOWEST_TYPER", "app", "main"]

#: The lower limit in pyproject.toml. With a recent click, typer 0.12 takes `--version` as given, and ends every command with success.
LOWEST_TYPER = (0, 16, 0)

app = make_group(COMMANDS, add_completion=True)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"webnn {webnn.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    *,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)] = False,
    progress: Annotated[
        bool,
        typer.Option("--progress/--no-progress", help="Show on a terminal how far a command is.", envvar=PROGRESS_VARIABLE),
    ] = True,
) -> None:
    """The W3C Web Neural Network API in Python."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        return
    if any(name.startswith("WEBNN_") for name in os.environ):
        _check_environment()
    if not progress:
        os.environ[PROGRESS_VARIABLE] = "0"


def _check_environment() -> None:
    # Imported lazily because it loads NumPy.
    from webnn.context import emulation  # noqa: PLC0415
    from webnn.context.profiles import ProfileError  # noqa: PLC0415

    try:
        # The environment variables apply to every context, so errors in them are reported before a context exists.
        emulation.ambient()
    except ProfileError as error:
        raise failure(f"{emulation.PROFILE_VARIABLE}: {error}", 2) from None
    except ValueError as error:
        raise failure(str(error), 2) from None


def main() -> None:
    """Run the command line."""
    if runtime.is_older(typer.__version__, LOWEST_TYPER):
        needed = ".".join(map(str, LOWEST_TYPER))
        sys.exit(f"webnn: typer {needed} or newer is needed, found {typer.__version__}: run 'python -m pip install --upgrade typer'")
    try:
        app()
    except Exception as error:
        # Asked for here, because it loads NumPy.
        if not isinstance(error, webnn.DOMException):
            raise
        typer.echo(f"webnn: {error}", err=True)
        sys.exit(1)
