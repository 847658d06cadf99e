"""``webnn wpt vectors``: replays recorded conformance cases."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

import webnn
from webnn.commands.choices import Device, IsolateOption, NumericsOption, PluginOption, SimulatorsOption, set_devices, set_numerics
from webnn.commands.failure import failure
from webnn.processes.pool import StartError
from webnn.wpt_runner.terminal import make_console, show_progress
from webnn.wpt_runner.vectors import batch
from webnn.wpt_runner.vectors import report as reporting
from webnn.wpt_runner.vectors.cases import Outcome, load_cases
from webnn.wpt_runner.vectors.files import bundled_archives

__all__ = ["command"]

_UNEXPECTED, _BAD_INPUT, _INTERRUPTED = 1, 2, 130


def command(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="PATH", help="JSON files of cases, or folders or ZIP archives of them.", show_default="all that the package holds"
        ),
    ] = None,
    *,
    levels: Annotated[
        list[str] | None, typer.Option("--level", metavar="NAME", help="Run only cases of this level, such as 2024-06. Repeatable.")
    ] = None,
    filters: Annotated[
        list[str] | None,
        typer.Option("--filter", "-k", metavar="TEXT", help='Run only cases with this in "file: name", or of this operation. Repeatable.'),
    ] = None,
    device: Annotated[Device, typer.Option(help="The deviceType of the contexts.")] = Device.cpu,
    numerics: NumericsOption = None,
    simulators: SimulatorsOption = None,
    isolate: IsolateOption = None,
    plugins: PluginOption = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, help="How many processes run cases.", show_default="the cores, fewer for few cases")
    ] = None,
    timeout: Annotated[float, typer.Option(min=0.1, help="How many seconds a case may take.")] = 60.0,
    expectations: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE|none",
            help="Corrections of cases whose own data is wrong: a level such as 2024-06, or a TOML file.",
            show_default="those of each file's level",
        ),
    ] = None,
    json_file: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write a report for programs.")] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Print a line for each case.")] = False,
) -> None:
    """Replay conformance cases of web-platform-tests that were recorded as JSON: yours, or those that the package holds.

    The exit status is 0 if all is as expected, 1 if a case fails or a correction is stale, and 2 if the input is not valid.
    """
    began = time.perf_counter()
    set_numerics(numerics)
    set_devices(simulators, plugins, isolate)
    if json_file is not None and (json_file.is_dir() or not json_file.parent.is_dir()):
        raise failure(f"--json must be a file in a folder that exists, got {json_file}", _BAD_INPUT)
    try:
        cases = list(load_cases(paths or bundled_archives()))
        if not cases:
            raise failure(f"there are no cases in {', '.join(map(str, paths or ()))}", _BAD_INPUT)
        groups = batch.group_cases(batch.choose_levels(cases, levels or ()), expectations)
        tasks = batch.choose(groups, filters or [])
    except (OSError, ValueError) as error:
        raise failure(str(error), _BAD_INPUT) from None
    count = min(jobs or batch.default_jobs(len(tasks)), len(tasks))
    console = make_console()
    try:
        notes = batch.describe_device(device.value)
        for note in notes:
            typer.echo(f"webnn: {note}", err=True)
        replay = batch.replay(tasks, device.value, jobs=count, timeout=timeout)
        outcomes = _run(tasks, replay, console if verbose else None)
    except (StartError, webnn.DOMException) as error:
        raise failure(str(error), _UNEXPECTED) from None
    report = reporting.Report(
        outcomes=outcomes,
        stale=batch.find_stale(groups, outcomes),
        deviceType=device.value,
        notes=notes,
        jobs=count,
        seconds=time.perf_counter() - began,
    )
    if json_file is not None:
        try:
            reporting.write_json(json_file, report)
        except OSError as error:
            raise failure(str(error), _BAD_INPUT) from None
    reporting.print_report(console, report)
    if not report.as_expected:
        raise typer.Exit(_UNEXPECTED)


def _run(tasks: Sequence[batch.Task], replay: Generator[Outcome], console: Console | None) -> list[Outcome]:
    """Show the progress of a run, with a line for each case on a console if given; return the outcomes in the order of the tasks."""
    positions = {id(case): position for position, (case, _) in enumerate(tasks)}
    outcomes: list[Outcome] = []
    failed = 0
    try:
        hidden = console is not None and console.is_terminal
        with closing(replay), show_progress("vectors", len(tasks), "failed", hidden=hidden) as advance:
            for outcome in replay:
                outcomes.append(outcome)
                failed += not outcome.passed
                advance(failed)
                if console is not None:
                    reporting.print_outcome(console, outcome)
    except KeyboardInterrupt:
        raise failure(
            f"interrupted after {len(outcomes)} of {len(tasks)} cases{f', {failed} failed' if failed else ''}", _INTERRUPTED
        ) from None
    return sorted(outcomes, key=lambda outcome: positions[id(outcome.case)])
