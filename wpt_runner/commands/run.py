"""``webnn wpt run``: run the JavaScript files of a checkout."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from webnn.commands.choices import FormerDialect, NumericsOption, choose_dialect, set_numerics
from webnn.commands.failure import failure
from webnn.commands.text import one_line
from webnn.javascript.idl import load_idl
from webnn.javascript.realm import EngineMissingError, require_engine
from webnn.processes.pool import cores
from webnn.wpt_runner.checkout import Checkout, Test
from webnn.wpt_runner.expectations import Expectations, load_expectations
from webnn.wpt_runner.harness import Settings
from webnn.wpt_runner.levels import detect_level, find_level
from webnn.wpt_runner.reports.html import write_html
from webnn.wpt_runner.reports.junit import write_junit
from webnn.wpt_runner.reports.wptreport import write_wptreport
from webnn.wpt_runner.results import FileResult, FileStatus, RunResult, SubtestStatus
from webnn.wpt_runner.runner import describe_run, run_tests
from webnn.wpt_runner.terminal import show_progress

__all__ = ["command"]

_MOST_SHOWN = 10
_LONGEST = 200


def command(
    patterns: Annotated[list[str] | None, typer.Argument(help="Parts of the files' paths, or shell patterns; all files if none.")] = None,
    *,
    wpt: Annotated[Path, typer.Option(help="The checkout of web-platform-tests.", envvar="WEBNN_WPT", show_default=False)],
    variant: Annotated[list[str] | None, typer.Option(help="Only this variant, for example cpu (repeatable).")] = None,
    revision: Annotated[str | None, typer.Option(help="The revision of the draft.", show_default="that of the checkout's tests")] = None,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="How many processes; by default as many as cores.")] = None,
    expectations: Annotated[
        str | None, typer.Option(help="The name or file of the expectations, or 'none'.", show_default="those of the revision")
    ] = None,
    update_expectations: Annotated[bool, typer.Option("--update-expectations", help="Rewrite the expectations to what happened.")] = False,
    wptreport: Annotated[Path | None, typer.Option(help="Write a report in the format of web-platform-tests.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Write a report in the format of JUnit.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page to read.")] = None,
    dialect: Annotated[
        str | None, typer.Option(help="What the IDL has beside the draft's; 'none' for nothing.", show_default="that of the revision")
    ] = None,
    profile: FormerDialect = None,
    numerics: NumericsOption = None,
    timeout_multiplier: Annotated[float, typer.Option(min=0.01, help="Multiplies the time-outs of 10 s and 60 s.")] = 1.0,
    memory_limit: Annotated[int, typer.Option(min=64, help="The most MiB that a test's JavaScript may allocate.")] = 1024,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show only what is not as expected.")] = False,
) -> None:
    """Run JavaScript files of web-platform-tests against the emulator.

    Fails if a result is not as the expectations say, or if an expectation is stale.
    """
    reports = [
        (path, write) for path, write in ((wptreport, write_wptreport), (junit, write_junit), (html, write_html)) if path is not None
    ]
    chosen = choose_dialect(dialect, profile)
    set_numerics(numerics)
    try:
        require_engine()
        checkout = Checkout(wpt)
        level = find_level(revision) if revision else detect_level(checkout)
        settings = Settings(
            revision=level.revision,
            dialect=None if chosen == "none" else chosen or level.dialect,
            timeout_multiplier=timeout_multiplier,
            memory=memory_limit << 20,
        )
        load_idl(settings.revision, settings.dialect)
        tests = checkout.tests(patterns or (), variant or ())
        expected = load_expectations(expectations or level.name, missing_ok=update_expectations)
    except (EngineMissingError, OSError, ValueError) as error:
        raise failure(str(error), 2) from None
    # A report that cannot be written fails before the work, not after it.
    for path, _ in reports:
        if not path.parent.is_dir():
            raise failure(f"there is no folder {path.parent} for the report {path.name}", 2)
    if update_expectations and expected.path is None:
        raise failure("--update-expectations needs an expectations file: give its path with --expectations", 2)
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"the draft {settings.revision}, dialect {settings.dialect or 'none'}, expectations {expectations or level.name}")
    started = time.time()
    try:
        results = _run(console, checkout, tests, settings, expected, jobs or cores(), quiet)
    except KeyboardInterrupt:
        raise failure("interrupted", 130) from None
    complete = not patterns and not variant
    if update_expectations:
        expected = _update(checkout, expected, results, complete)
    run = RunResult(
        results=[expected.apply(result) for result in results],
        started=started,
        seconds=time.time() - started,
        info=describe_run(checkout, settings),
        problems=expected.problems(results, complete=complete),
    )
    for path, write in reports:
        try:
            write(run, path)
        except OSError as error:
            raise failure(f"cannot write {path}: {error}", 2) from None
    _print_summary(console, run)
    if run.failed:
        raise typer.Exit(1)


def _run(
    console: Console, checkout: Checkout, tests: list[Test], settings: Settings, expected: Expectations, processes: int, quiet: bool
) -> list[FileResult]:
    """Run the tests, with a line for each and a progress bar below them."""
    unexpected = 0
    with show_progress("tests", len(tests), "unexpected") as advance:

        def show(result: FileResult) -> None:
            nonlocal unexpected
            result = expected.apply(result)
            unexpected += result.surprises
            if result.surprises or not quiet:
                _print_file(console, result)
            advance(unexpected)

        return run_tests(checkout, tests, settings, processes=processes, on_result=show)


def _update(checkout: Checkout, expected: Expectations, results: list[FileResult], complete: bool) -> Expectations:
    """Rewrite the expectations file; return the new expectations."""
    assert expected.path is not None
    variants = {result.file: checkout.load(result.file).variants for result in results}
    try:
        text = expected.update(results, variants=variants, complete=complete, wpt=checkout.revision())
        expected.path.write_text(text, encoding="utf-8", newline="")
        updated = load_expectations(str(expected.path))
    except ModuleNotFoundError:
        raise failure("--update-expectations needs the package tomlkit: install the extra wpt of webnn (docs/install.md)", 2) from None
    except (OSError, ValueError) as error:
        raise failure(f"cannot write the expectations: {error}", 2) from None
    typer.echo(f"wrote {expected.path}")
    return updated


def _print_file(console: Console, result: FileResult) -> None:
    counts = result.counts()
    numbers = ", ".join(f"{counts[status]} {status.lower()}" for status in SubtestStatus if counts[status])
    style = "red" if result.surprises else "yellow" if result.status is not FileStatus.OK or counts[SubtestStatus.FAIL] else "green"
    line = Text.assemble((f"{result.status:<8}", style), f"{result.file}{result.variant}", (f"  {numbers}  {result.seconds:.2f} s", "dim"))
    console.print(line)
    if result.unexpected:
        _print_problem(console, f"expected {result.expected or FileStatus.OK}", result.message)
    unexpected = [subtest for subtest in result.subtests if subtest.unexpected]
    for subtest in unexpected[:_MOST_SHOWN]:
        wanted = f" (expected {subtest.expected})" if subtest.expected else ""
        _print_problem(console, f"{subtest.status}{wanted} {one_line(subtest.name, _LONGEST)}", subtest.message)
    if len(unexpected) > _MOST_SHOWN:
        _print_problem(console, f"... and {len(unexpected) - _MOST_SHOWN} more; a report has them all", "")


def _print_problem(console: Console, head: str, message: str) -> None:
    console.print(Text.assemble("         ", (head, "red"), f": {one_line(' '.join(message.split()), _LONGEST)}" if message else ""))


def _print_summary(console: Console, run: RunResult) -> None:
    counts = run.counts()
    passed, total = counts[SubtestStatus.PASS], counts.total()
    known = sum(not subtest.unexpected and subtest.expected is not None for result in run.results for subtest in result.subtests)
    console.print()
    for problem in run.problems:
        console.print(Text.assemble(("expectations  ", "red"), problem))
    numbers = f"{total} subtests in {len(run.results)} tests: {passed} passed, {known} failed as expected, {run.unexpected} unexpected"
    console.print(Text(f"{numbers}, in {run.seconds:.1f} s", style="red" if run.failed else "green"))
