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
from webnn.commands.choices import (
    Device,
    EngineOption,
    IsolateOption,
    NumericsOption,
    PluginOption,
    SimulatorsOption,
    set_devices,
    set_engine,
    set_numerics,
)
from webnn.commands.failure import failing, failure
from webnn.commands.progress import show_progress
from webnn.context.devices.selection import CPU
from webnn.processes.pool import StartError
from webnn.wpt_runner.devices import find_device
from webnn.wpt_runner.terminal import make_console
from webnn.wpt_runner.vectors import batch
from webnn.wpt_runner.vectors import report as reporting
from webnn.wpt_runner.vectors.cases import Case, Outcome, load_cases
from webnn.wpt_runner.vectors.files import bundled_archives

__all__ = ["FilterOption", "JobsOption", "SampleOption", "SeedOption", "check_target", "command", "read_cases", "replay"]

_UNEXPECTED, _BAD_INPUT, _INTERRUPTED = 1, 2, 130
_TIMEOUT = 60.0

FilterOption = Annotated[
    list[str] | None,
    typer.Option("--filter", "-k", metavar="TEXT", help='Run only cases with this in "file: name", or of this operation. Repeatable.'),
]
SampleOption = Annotated[
    int | None, typer.Option("--sample", metavar="COUNT", min=1, help="Run a random sample of this many cases.", show_default="all")
]
SeedOption = Annotated[int, typer.Option(help="The seed of the sample.")]
JobsOption = Annotated[
    int | None, typer.Option("--jobs", "-j", min=1, help="How many processes run cases.", show_default="the cores, fewer for few cases")
]


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
    filters: FilterOption = None,
    count: SampleOption = None,
    seed: SeedOption = 1,
    device: Annotated[Device, typer.Option(help="The deviceType of the contexts.")] = Device.cpu,
    numerics: NumericsOption = None,
    simulators: SimulatorsOption = None,
    isolate: IsolateOption = None,
    engine: EngineOption = None,
    plugins: PluginOption = None,
    jobs: JobsOption = None,
    timeout: Annotated[float, typer.Option(min=0.1, help="How many seconds a case may take.")] = _TIMEOUT,
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
    """Replay conformance cases that were recorded as JSON.

    They are those of web-platform-tests that the package holds, or yours.

    The exit status is 0 if all is as expected, 1 if a case fails or an expectation is stale, and 2 if the input is not valid.
    """
    set_numerics(numerics)
    set_devices(simulators, plugins, isolate)
    set_engine(engine)
    check_target(json_file, "--json")
    with failing(ValueError, _BAD_INPUT):
        cases = batch.choose_levels(read_cases(paths), levels or ())
    console = make_console()
    report = replay(
        cases,
        device,
        filters=filters or (),
        count=count,
        seed=seed,
        jobs=jobs,
        timeout=timeout,
        expectations=expectations,
        console=console if verbose else None,
    )
    if json_file is not None:
        with failing(OSError, _BAD_INPUT):
            reporting.write_json(json_file, report)
    reporting.print_report(console, report)
    if not report.as_expected:
        raise typer.Exit(_UNEXPECTED)


def check_target(path: Path | None, option: str) -> None:
    """Raise an error of the command line unless a file can be written."""
    if path is not None and (path.is_dir() or not path.parent.is_dir()):
        raise failure(f"{option} must be a file in a folder that exists, got {path}", _BAD_INPUT)


def read_cases(paths: Sequence[Path] | None) -> list[Case]:
    """Read cases of files, by default those of the package; what is wrong with them is an error of the command line."""
    try:
        cases = list(load_cases(paths or bundled_archives()))
    except (OSError, ValueError) as error:
        raise failure(str(error), _BAD_INPUT) from None
    if not cases:
        raise failure(f"there are no cases in {', '.join(map(str, paths or ()))}", _BAD_INPUT)
    return cases


def replay(
    cases: Sequence[Case],
    device: Device,
    *,
    filters: Sequence[str],
    count: int | None,
    seed: int,
    jobs: int | None,
    timeout: float = _TIMEOUT,
    expectations: str | None = None,
    console: Console | None = None,
) -> reporting.Report:
    """Replay cases on a device, with a line for each on a console if given; failures are errors of the command line."""
    began = time.perf_counter()
    try:
        found = find_device(device.value)
        groups = batch.group_cases(cases, expectations, found.device)
        tasks = batch.choose(groups, filters)
        if count is not None:
            tasks = batch.sample(tasks, count, seed)
        for note in found.notes:
            typer.echo(f"webnn: {note}", err=True)
        processes = min(jobs or batch.default_jobs(len(tasks)), len(tasks))
        outcomes = _run(tasks, batch.replay(tasks, device.value, jobs=processes, timeout=timeout), console)
    except (OSError, ValueError) as error:
        raise failure(str(error), _BAD_INPUT) from None
    except (StartError, webnn.DOMException) as error:
        raise failure(str(error), _UNEXPECTED) from None
    return reporting.Report(
        outcomes=outcomes,
        stale=batch.find_stale(groups, outcomes, numbers=found.device.provider == CPU),
        deviceType=device.value,
        found=found,
        jobs=processes,
        seconds=time.perf_counter() - began,
    )


def _run(tasks: Sequence[batch.Task], replay: Generator[Outcome], console: Console | None) -> list[Outcome]:
    """Show the progress of a run, with a line for each case on a console if given; return the outcomes in the order of the tasks."""
    positions = {id(case): position for position, (case, *_) in enumerate(tasks)}
    outcomes: list[Outcome] = []
    failed = 0
    try:
        hidden = console is not None and console.is_terminal
        with closing(replay), show_progress("vectors", len(tasks), "failed", hidden=hidden) as bar:
            for outcome in replay:
                outcomes.append(outcome)
                failed += not outcome.as_expected
                bar.advance(failed)
                if console is not None:
                    reporting.print_outcome(console, outcome)
    except KeyboardInterrupt:
        raise failure(
            f"interrupted after {len(outcomes)} of {len(tasks)} cases{f', {failed} failed' if failed else ''}", _INTERRUPTED
        ) from None
    return sorted(outcomes, key=lambda outcome: positions[id(outcome.case)])
