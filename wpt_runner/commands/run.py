"""``webnn wpt run``: run the JavaScript files of a checkout."""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from webnn._extras import install_command
from webnn.commands.choices import (
    Device,
    EngineOption,
    ExecutorOption,
    IsolateOption,
    NumericsOption,
    PluginOption,
    ReferenceOption,
    SimulatorsOption,
    set_devices,
    set_engine,
    set_numerics,
)
from webnn.commands.completion import complete_dialect, complete_revision
from webnn.commands.failure import failing, failure
from webnn.commands.progress import show_progress
from webnn.javascript.idl import load_idl
from webnn.javascript.realm import EngineMissingError, require_engine
from webnn.processes.executors import check_executor
from webnn.processes.pool import cores
from webnn.wpt_runner.checkout import Checkout, Test
from webnn.wpt_runner.commands.show import print_file, print_list, print_summary
from webnn.wpt_runner.devices import select_device
from webnn.wpt_runner.expectations import Expectations, add_providers, bundled, load_expectations
from webnn.wpt_runner.expectations.entries import device_of
from webnn.wpt_runner.features import choose_features, find_features
from webnn.wpt_runner.flavours import Flavour, join_place
from webnn.wpt_runner.harness import run_test
from webnn.wpt_runner.levels import choose
from webnn.wpt_runner.reports.annotations import annotate
from webnn.wpt_runner.reports.html import write_html
from webnn.wpt_runner.reports.junit import write_junit
from webnn.wpt_runner.reports.wptreport import read_wptreport, write_wptreport
from webnn.wpt_runner.results import FileResult, FileStatus, RunResult
from webnn.wpt_runner.runner import describe_run, run_tests, run_tests_on
from webnn.wpt_runner.selection import choose_again, find_flaky, take_worst
from webnn.wpt_runner.settings import Settings

__all__ = ["Debugger", "command"]


class Debugger(StrEnum):
    """The debuggers."""

    PYTHON = "python"
    NODE = "node"


def command(
    patterns: Annotated[list[str] | None, typer.Argument(help="Parts of the files' paths, or shell patterns; all files if none.")] = None,
    *,
    wpt: Annotated[Path, typer.Option(help="The checkout of web-platform-tests.", envvar="WEBNN_WPT", show_default=False)],
    variant: Annotated[list[str] | None, typer.Option(help="Only this variant, for example cpu (repeatable).")] = None,
    flavour: Annotated[list[Flavour] | None, typer.Option(help="Only this flavour (repeatable).", show_default="all")] = None,
    feature: Annotated[
        list[str] | None, typer.Option(help="Only tests about this feature of a WEB_FEATURES.yml (repeatable).", show_default="all")
    ] = None,
    subtest: Annotated[
        list[str] | None, typer.Option("--subtest", "-k", help="Only subtests with this in their names (repeatable).")
    ] = None,
    rerun_failed: Annotated[Path | None, typer.Option(metavar="REPORT", help="Only tests that went wrong in a wptreport.json.")] = None,
    repeat: Annotated[int, typer.Option(min=1, help="Run each test so often; results that differ are a failure.")] = 1,
    listed: Annotated[bool, typer.Option("--list", help="List the tests, and with --subtest their subtests; run none.")] = False,
    trace: Annotated[bool, typer.Option("--trace", help="Show each call of the API, with its result or error.")] = False,
    debug: Annotated[
        Debugger | None, typer.Option(help="Stop in Python's debugger where a call is refused, or in Node's before each subtest.")
    ] = None,
    revision: Annotated[
        str | None,
        typer.Option(help="The revision of the draft.", autocompletion=complete_revision, show_default="that of the checkout's tests"),
    ] = None,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="How many processes; by default as many as cores.")] = None,
    executor: ExecutorOption = None,
    expectations: Annotated[
        str | None,
        typer.Option(
            help="The name or file of the expectations, or 'none'.", show_default="those of the checkout's commit, or of the draft"
        ),
    ] = None,
    update_expectations: Annotated[bool, typer.Option("--update-expectations", help="Rewrite the expectations to what happened.")] = False,
    wptreport: Annotated[Path | None, typer.Option(help="Write a report in the format of web-platform-tests.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Write a report in the format of JUnit.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page to read.")] = None,
    annotations: Annotated[
        bool, typer.Option("--annotations", help="Print an annotation of GitHub Actions for each unexpected result, too.")
    ] = False,
    dialect: Annotated[
        str | None,
        typer.Option(
            help="Additions to the draft's IDL; 'none' for nothing.",
            autocompletion=complete_dialect,
            show_default="that of the checkout's tests",
        ),
    ] = None,
    numerics: NumericsOption = None,
    simulators: SimulatorsOption = None,
    isolate: IsolateOption = None,
    engine: EngineOption = None,
    plugins: PluginOption = None,
    reference: ReferenceOption = False,
    timeout_multiplier: Annotated[float, typer.Option(min=0.01, help="Multiplies the time-outs of 10 s and 60 s.")] = 1.0,
    memory_limit: Annotated[int, typer.Option(min=64, help="The most MiB that a test's JavaScript may allocate.")] = 1024,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show only unexpected results.")] = False,
) -> None:
    """Run JavaScript files of web-platform-tests against the emulator.

    Fails if a result is not as the expectations say, or if an expectation is stale.
    """
    reports = [
        (path, write) for path, write in ((wptreport, write_wptreport), (junit, write_junit), (html, write_html)) if path is not None
    ]
    if executor is not None and (jobs is not None or debug is not None):
        raise failure(f"--executor and --{'jobs' if debug is None else 'debug'} cannot be given together", 2)
    set_numerics(numerics)
    set_devices(simulators, plugins, isolate)
    set_engine(engine)
    with failing((EngineMissingError, OSError, ValueError), 2):
        require_engine()
        check_executor(executor, "--executor")
        checkout = Checkout(wpt if executor is None else wpt.absolute())
        choice = choose(checkout, revision)
        level = choice.level
        settings = Settings(
            revision=level.revision,
            dialect=None if dialect == "none" else dialect or level.dialect,
            timeout_multiplier=timeout_multiplier,
            memory=memory_limit << 20,
            subtests=tuple(subtest or ()),
            names_only=listed,
            trace=trace,
            reference=reference,
        )
        load_idl(settings.revision, settings.dialect)
        tests = checkout.tests(patterns or (), variant or (), flavour or ())
        if feature:
            tests = choose_features(checkout, tests, feature)
        if rerun_failed is not None:
            tests = choose_again(read_wptreport(rerun_failed), tests)
            if not tests:
                raise ValueError(f"none of these tests went wrong in {rerun_failed}")
        named = expectations or choice.expectations
        expected = load_expectations(named, missing_ok=update_expectations)
        # Their entries are faults of the provider that would compute.
        if named in bundled() and not reference:
            asked = {device_of(test.variant) for test in tests}
            expected = add_providers(expected, named, {each.value: select_device(each.value) for each in Device if each.value in asked})
    # Files that cannot be written fail before the work, not after it.
    for path, _ in reports:
        if not path.parent.is_dir():
            raise failure(f"there is no folder {path.parent} for the report {path.name}", 2)
    if update_expectations:
        _check_update(expected, partly=bool(subtest or rerun_failed or repeat > 1 or listed or debug))
    console = Console(highlight=False, soft_wrap=True)
    if listed and not subtest:
        unrun = [FileResult(file=each.file.path, variant=each.variant, flavour=each.flavour, status=FileStatus.OK) for each in tests]
        with failing(ValueError, 2):
            print_list(console, map(expected.apply, unrun), lambda path: find_features(checkout, path))
        return
    console.print(Text(choice.describe(settings.dialect, named)))
    if choice.warning():
        console.print(Text(f"warning: {choice.warning()}", style="yellow"))
    if debug is Debugger.NODE:
        raise typer.Exit(_debug_in_node(checkout, tests, settings))
    started = time.time()
    rounds: list[list[FileResult]] = []
    try:
        for number in range(repeat):
            if repeat > 1:
                console.print(f"run {number + 1} of {repeat}")
            if debug is Debugger.PYTHON:
                results = _debug_in_python(console, checkout, tests, settings, expected)
            else:
                results = _run(console, checkout, tests, settings, expected, executor or jobs or cores(), quiet)
            rounds.append([expected.apply(result) for result in results])
    except KeyboardInterrupt:
        raise failure("interrupted", 130) from None
    except (ImportError, OSError) as error:
        raise failure(f"the tests cannot be run: {error}", 2) from None
    results = take_worst(rounds)
    if subtest:
        results = _with_subtests(results, settings)
    if listed:
        print_list(console, results)
        return
    complete = not (patterns or variant or flavour or feature or subtest or rerun_failed)
    if update_expectations:
        expected = _update(checkout, expected, results, complete)
    run = RunResult(
        results=[expected.apply(result) for result in results],
        started=started,
        seconds=time.time() - started,
        info=describe_run(checkout, settings),
        # Without all subtests, nothing is known of an entry's.
        problems=[] if subtest else expected.problems(results, complete=complete),
        flaky=find_flaky(rounds),
    )
    for path, write in reports:
        try:
            write(run, path)
        except OSError as error:
            raise failure(f"cannot write {path}: {error}", 2) from None
    if annotations:
        for line in annotate(run, wpt):
            typer.echo(line)
    print_summary(console, run)
    if run.failed:
        raise typer.Exit(1)


def _run(
    console: Console, checkout: Checkout, tests: list[Test], settings: Settings, expected: Expectations, where: int | str, quiet: bool
) -> list[FileResult]:
    """Run the tests, in processes or on an executor, with a line for each and a progress bar below them."""
    unexpected = 0
    with show_progress("tests", len(tests), "unexpected") as bar:

        def show(result: FileResult) -> None:
            nonlocal unexpected
            result = expected.apply(result)
            unexpected += result.surprises
            if not settings.names_only and _has_any(result, settings):
                print_file(console, result, quiet=quiet)
            bar.advance(unexpected)

        if isinstance(where, str):
            return run_tests_on(where, checkout, tests, settings, on_result=show)
        return run_tests(checkout, tests, settings, processes=where, on_result=show)


def _check_update(expected: Expectations, *, partly: bool) -> None:
    """Make sure that a run can update the expectations."""
    if expected.path is None:
        raise failure("--update-expectations needs an expectations file: give its path with --expectations", 2)
    if partly:
        others = "--subtest, --rerun-failed, --repeat, --list and --debug"
        raise failure(f"--update-expectations needs whole tests, each once: it does not go with {others}", 2)


def _has_any(result: FileResult, settings: Settings) -> bool:
    """Tell whether a test is about the wanted subtests."""
    return bool(result.subtests or result.status is not FileStatus.OK or not settings.subtests)


def _with_subtests(results: list[FileResult], settings: Settings) -> list[FileResult]:
    """Return the tests that have wanted subtests, or broke off."""
    found = [result for result in results if _has_any(result, settings)]
    if not any(result.subtests for result in found):
        raise failure(f"no subtest of these tests has {' or '.join(map(repr, settings.subtests))} in its name", 2)
    return found


def _debug_in_python(
    console: Console, checkout: Checkout, tests: list[Test], settings: Settings, expected: Expectations
) -> list[FileResult]:
    """Run the tests in this process, with Python's debugger at each refused call."""
    from webnn.wpt_runner.debugging import Stopper  # noqa: PLC0415 (a debugger imports much)

    stopper, results = Stopper(), []
    for test in tests:
        results.append(run_test(checkout, test, settings, on_refused=stopper.stop))
        print_file(console, expected.apply(results[-1]))
    if not stopper.stops:
        console.print("Python refused no call; what the binding refuses (docs/javascript.md), --trace shows")
    return results


def _debug_in_node(checkout: Checkout, tests: list[Test], settings: Settings) -> int:
    """Run one test in Node, which waits for a debugger."""
    from webnn.javascript.node import NodeMissingError, find_node  # noqa: PLC0415 (most runs need no Node)
    from webnn.wpt_runner.node_tests import debug_test  # noqa: PLC0415

    windows = [test for test in tests if test.flavour is Flavour.WINDOW]
    pages = [test.name for test in windows if test.file.is_page]
    if pages:
        raise failure(f"--debug=node runs scripts, and {pages[0]} is a page, which Node does not show: use --debug=python", 2)
    if len(windows) != 1:
        raise failure(f"--debug=node needs one test of a window, and {len(windows)} are chosen: give a pattern, and --variant", 2)
    with failing((NodeMissingError, FileNotFoundError), 2):
        return debug_test(checkout, windows[0], settings, find_node())


def _update(checkout: Checkout, expected: Expectations, results: list[FileResult], complete: bool) -> Expectations:
    """Rewrite the expectations file; return the new expectations."""
    assert expected.path is not None
    files = {result.file: checkout.load(result.file) for result in results}
    places = {path: [join_place(test.flavour, test.variant) for test in file.tests((), ())] for path, file in files.items()}
    try:
        text = expected.update(results, places=places, complete=complete, wpt=checkout.revision())
        expected.path.write_text(text, encoding="utf-8", newline="")
        updated = load_expectations(str(expected.path))
    except ModuleNotFoundError:
        raise failure(f"--update-expectations needs the package tomlkit: {install_command('wpt')}", 2) from None
    except (OSError, ValueError) as error:
        raise failure(f"cannot write the expectations: {error}", 2) from None
    typer.echo(f"wrote {expected.path}")
    return updated
