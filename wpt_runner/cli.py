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
app.command("run", short_help="Run JavaScript files of a checkout.")(run.command)
app.command("vectors", short_help="Replay recorded conformance cases.")(vectors.command)
app.command("record", short_help="Record the conformance cases of a checkout.")(record.command)
app.command("compare", short_help="Compare two reports.")(compare.command)
