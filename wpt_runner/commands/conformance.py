"""``webnn conformance``: which operations and data types are right on each device."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from webnn.commands.choices import Device, NumericsOption, PluginOption, SimulatorsOption, set_devices, set_numerics
from webnn.commands.failure import failure
from webnn.display import pages
from webnn.display.table import as_renderable
from webnn.wpt_runner.commands.vectors import FilterOption, JobsOption, SampleOption, SeedOption, check_target, read_cases, replay
from webnn.wpt_runner.terminal import make_console
from webnn.wpt_runner.vectors import report as reporting
from webnn.wpt_runner.vectors.conformance import Run, check_run, describe_runs, list_failures, read_runs, tabulate

__all__ = ["command"]

_FAILED, _WRONG = 1, 2


def command(
    reports: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="REPORT", help="Reports of earlier runs, here or elsewhere: JSON of this command or of `webnn wpt vectors`."
        ),
    ] = None,
    *,
    devices: Annotated[
        list[Device] | None,
        typer.Option("--device", help="A deviceType that runs the cases. Repeatable.", show_default="cpu, none with reports"),
    ] = None,
    filters: FilterOption = None,
    count: SampleOption = None,
    seed: SeedOption = 1,
    numerics: NumericsOption = None,
    simulators: SimulatorsOption = None,
    plugins: PluginOption = None,
    jobs: JobsOption = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page: operations, data types, devices.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write all runs to a file that is a REPORT.")] = None,
) -> None:
    """Compare devices by recorded conformance cases.

    It says which operations and data types are right, wrong, refused, or leave the device.

    Runs the cases that the package holds. Tables show by how much numbers are wrong, and how long a case takes.
    The exit status is 1 if a device is not there, and 2 if the input is not valid.
    """
    set_numerics(numerics)
    set_devices(simulators, plugins)
    for path, option in ((html, "--html"), (json_file, "--json")):
        check_target(path, option)
    contents: list[dict[str, Any]] = []
    runs: list[Run] = []
    try:
        for path in reports or ():
            more, checked = read_runs(path)
            contents += more
            runs += checked
    except (OSError, ValueError) as error:
        raise failure(str(error), _WRONG) from None
    for device in devices or ([] if runs else [Device.cpu]):
        report = replay(read_cases(None), device, filters=filters or (), count=count, seed=seed, jobs=jobs)
        if report.found.notes:
            raise failure(f"there is no {device.value} to compare", _FAILED)
        contents.append(reporting.encode(report))
        runs.append(check_run(contents[-1]))
    tables = [describe_runs(runs), tabulate(runs, types=False)]
    make_console().print(as_renderable(tables, framed=True))
    try:
        if json_file is not None:
            json_file.write_text(json.dumps({"runs": contents}, indent=1, allow_nan=False) + "\n", encoding="utf-8")
        if html is not None:
            every = [*tables, tabulate(runs, types=True), list_failures(runs)]
            page = pages.render("webnn.inspect/page.html", title="Conformance of devices", sections=[], warnings=[], tables=every)
            html.write_text(page, encoding="utf-8", errors="replace", newline="\n")
    except OSError as error:
        raise failure(str(error), _WRONG) from None
