"""``webnn wpt status``: the implementation status of the operations, in the form of the working group's page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from webnn.commands.failure import failing, failure
from webnn.commands.text import show_controls
from webnn.display.text import plural
from webnn.wpt_runner.results import RunResult
from webnn.wpt_runner.scores import Run, Score, read_runs, score_run
from webnn.wpt_runner.status import Measured, check_backend, make_status, read_status, write_status
from webnn.wpt_runner.terminal import encodable, make_console, print_line

__all__ = ["command"]

_OUTDATED, _UNUSABLE = 1, 2


def command(
    reports: Annotated[
        list[str],
        typer.Argument(
            metavar="BACKEND=FILE", help="The report of a backend: wptreport.json, or what wpt.fyi exported of one run.", show_default=False
        ),
    ],
    *,
    base: Annotated[
        Path | None, typer.Option("--base", metavar="FILE", help="The group's webnn_status.json, of which everything else is kept.")
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write the file.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Fail if a mark of --base is not the measured one.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the measured marks as JSON.")] = False,
) -> None:
    """Measure the implementation status of the operations.

    The result has the form of the working group's page.

    The members BACKEND_progress of webnn_status.json are those of the report: 4 if all subtests of an operation's conformance tests pass, 3
    if some do, 0 if none does. An operation without tests in the report keeps its mark. A table shows what was measured, and which marks
    change.
    """
    if check and base is None:
        raise failure("--check needs --base", _UNUSABLE)
    runs = _read_reports(reports)
    with failing((OSError, ValueError), _UNUSABLE):
        kept = None if base is None else read_status(base)
    content, measured = make_status(runs, kept)
    if all(score is None for each in measured for score in each.scores):
        raise failure("the reports have no conformance tests of WebNN", _UNUSABLE)
    console = make_console()
    if as_json:
        typer.echo(json.dumps([_tell(list(runs), each) for each in measured], indent=1))
    else:
        console.print(_tabulate(console, list(runs), measured))
    changed = [each for each in measured if any(before not in (None, after) for before, after in zip(each.before, each.after, strict=True))]
    if base is not None and not as_json:
        print_line(
            console, Text(f"{plural(len(changed), 'operation')} of {len(measured)} with another mark than in {show_controls(str(base))}")
        )
    if output is not None:
        with failing(OSError, _UNUSABLE):
            output.write_text(write_status(content), encoding="utf-8", newline="\n")
    if check and changed:
        raise typer.Exit(_OUTDATED)


def _read_reports(reports: Sequence[str]) -> dict[str, Run]:
    runs: dict[str, Run] = {}
    for each in reports:
        backend, equals, name = each.partition("=")
        wrong = check_backend(backend) if equals else f"must be BACKEND=FILE, such as tflite=report.json, got {each!r}"
        if wrong:
            raise failure(f"a report {wrong}", _UNUSABLE)
        if backend in runs:
            raise failure(f"{backend} must not be given twice", _UNUSABLE)
        path = Path(name)
        with failing((OSError, ValueError), _UNUSABLE):
            found = read_runs(path)
        if isinstance(found, RunResult):
            found = [score_run(path, found)]
        if len(found) != 1:
            raise failure(f"{path} must have one run, got {len(found)}", _UNUSABLE)
        [runs[backend]] = found
    return runs


def _tell(backends: Sequence[str], measured: Measured) -> dict[str, Any]:
    """Return what a machine reads of an operation: subtests and marks of each backend."""
    columns = zip(backends, measured.scores, measured.before, measured.after, strict=True)
    told = {
        backend: {
            "passed": None if score is None else score.passed,
            "total": None if score is None else score.total,
            "before": before,
            "mark": after,
        }
        for backend, score, before, after in columns
    }
    return {"operation": measured.operation, "backends": told}


def _tabulate(console: Console, backends: Sequence[str], measured: Sequence[Measured]) -> Table:
    table = Table(box=box.SIMPLE_HEAD if console.is_terminal else None, pad_edge=False, show_edge=False)
    table.add_column("operation")
    for backend in backends:
        table.add_column(backend, justify="right")
        table.add_column("mark")
    for each in measured:
        cells: list[Text] = []
        for score, before, after in zip(each.scores, each.before, each.after, strict=True):
            differs = before not in (None, after)
            cells += [_cell(score), Text(f"{before}, now {after}" if differs else f"{after}", "yellow" if differs else "")]
        table.add_row(Text(encodable(console, show_controls(each.operation))), *cells)
    return table


def _cell(score: Score | None) -> Text:
    return Text("" if score is None else f"{score.passed:,}/{score.total:,}")
