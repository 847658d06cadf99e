"""The command line's part of the runner: ``webnn wpt``."""

from __future__ import annotations

import sys

import typer

from webnn.wpt_runner.commands import compare, record, run, vectors

__all__ = ["app"]

app = typer.Typer(
    help="Run web-platform-tests without a browser.",
    no_args_is_help=True,
    rich_markup_mode="rich" if sys.stdout.isatty() else None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("run")(run.command)
app.command("vectors")(vectors.command)
app.command("record")(record.command)
app.command("compare")(compare.command)
