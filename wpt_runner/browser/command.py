"""``webnn browser wpt``: tests of a checkout in a browser and in the emulator."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from webnn.browser.chromium import VARIABLE, BrowserError, find_browser
from webnn.commands.failure import failing, failure
from webnn.commands.progress import show_progress
from webnn.commands.text import one_line
from webnn.javascript.realm import EngineMissingError, require_engine
from webnn.processes.pool import cores
from webnn.wpt_runner.browser.pair import Pair, TestBrowser, compare_results
from webnn.wpt_runner.checkout import Checkout
from webnn.wpt_runner.expectations import load_expectations
from webnn.wpt_runner.flavours import Flavour
from webnn.wpt_runner.levels import detect_level
from webnn.wpt_runner.reports.wptreport import write_wptreport
from webnn.wpt_runner.results import FileResult, RunResult, Subtest, SubtestStatus
from webnn.wpt_runner.runner import describe_run, run_tests
from webnn.wpt_runner.settings import Settings

__all__ = ["command"]

_LONGEST = 200


def command(
    files: Annotated[list[str], typer.Argument(help="Parts of the files' paths, or shell patterns.", show_default=False)],
    *,
    wpt: Annotated[Path, typer.Option(help="The checkout of web-platform-tests.", envvar="WEBNN_WPT", show_default=False)],
    browser: Annotated[
        Path | None, typer.Option(metavar="PROGRAM", help="The browser, a Chromium with WebNN.", envvar=VARIABLE, show_default=False)
    ] = None,
    variant: Annotated[list[str] | None, typer.Option(help="Only this variant, for example cpu (repeatable).")] = None,
    flavour: Annotated[list[Flavour] | None, typer.Option(help="Only this flavour (repeatable).", show_default="all")] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, help="How many processes for the emulator; by default as many as cores.")
    ] = None,
    wptreport: Annotated[Path | None, typer.Option(help="Write the browser's results in the format of web-platform-tests.")] = None,
    timeout_multiplier: Annotated[float, typer.Option(min=0.01, help="Multiplies the time-outs of 10 s and 60 s.")] = 1.0,
    most: Annotated[int, typer.Option(min=0, help="Show at most this number of subtests of a test.")] = 10,
) -> None:
    """Run web-platform-tests in a browser and in the emulator.

    It shows which subtests differ.

    A page that crashes or hangs is a result. The exit code is 1 if something differs.
    """
    with failing((BrowserError, EngineMissingError, OSError, ValueError), 2):
        require_engine()
        checkout, executable = Checkout(wpt), find_browser(browser)
        level = detect_level(checkout)
        settings = Settings(revision=level.revision, dialect=level.dialect, timeout_multiplier=timeout_multiplier)
        tests = checkout.tests(files, variant or (), flavour or ())
        expected = load_expectations(level.name)
    if wptreport is not None and not wptreport.parent.is_dir():
        raise failure(f"there is no folder {wptreport.parent} for the report {wptreport.name}", 2)
    console = Console(highlight=False, soft_wrap=True)
    started, theirs, pairs = time.time(), list[FileResult](), list[Pair]()
    try:
        with show_progress("tests in the emulator", len(tests)) as bar:
            ours = run_tests(checkout, tests, settings, processes=jobs or cores(), on_result=lambda _: bar.advance())
        with (
            TestBrowser.start(checkout, executable, settings) as page,
            show_progress("tests in the browser", len(tests)) as bar,
        ):
            version = page.version
            console.print(f"{page.name}; the draft {settings.revision}, dialect {settings.dialect or 'none'}")
            for test, our in zip(tests, ours, strict=True):
                theirs.append(page.run(test))
                pairs.append(compare_results(expected.apply(our), theirs[-1]))
                _print_pair(console, pairs[-1], most)
                bar.advance()
    except BrowserError as error:
        raise failure(str(error), 2) from None
    except KeyboardInterrupt:
        raise failure("interrupted", 130) from None
    if wptreport is not None:
        info = {**describe_run(checkout, settings), "product": "chromium", "product_version": version, "engine": f"Chromium {version}"}
        write_wptreport(RunResult(results=theirs, started=started, seconds=time.time() - started, info=info), wptreport)
    _print_summary(console, pairs)
    if any(each.differs for each in pairs):
        raise typer.Exit(1)


def _print_pair(console: Console, pair: Pair, most: int) -> None:
    emulator, browser = pair.emulator, pair.browser
    style = "red" if pair.differs else "green"
    line = Text.assemble((f"{'differs' if pair.differs else 'same':<8}", style), emulator.name)
    console.print(line + Text(f"  emulator {_numbers(emulator)}, browser {_numbers(browser)}", style="dim"))
    if emulator.status is not browser.status:
        _print_sides(console, "the test as a whole", *((f"{each.status}", each.message) for each in (emulator, browser)))
    # The end of the test explains the subtests that did not run.
    ran = [(our, their) for our, their in pair.differing if (our and their) or emulator.status is browser.status]
    for our, their in ran[:most]:
        known = our or their
        assert known is not None
        _print_sides(console, one_line(known.name, _LONGEST), _side(our), _side(their))
        if our is not None and our.reason:
            console.print(Text(f"           expected of the emulator: {one_line(our.reason, _LONGEST)}", style="dim"))
    if len(ran) > most:
        console.print(f"         ... and {len(ran) - most} more; --most shows them")
    if len(ran) < len(pair.differing):
        console.print(f"         {len(pair.differing) - len(ran)} subtests did not run in both")


def _side(subtest: Subtest | None) -> tuple[str, str]:
    return ("no such subtest", "") if subtest is None else (f"{subtest.status}", subtest.message)


def _print_sides(console: Console, name: str, ours: tuple[str, str], theirs: tuple[str, str]) -> None:
    console.print(Text(f"         {name}"))
    for host, (status, message) in (("emulator", ours), ("browser", theirs)):
        text = f": {one_line(' '.join(message.split()), _LONGEST)}" if message else ""
        console.print(Text.assemble("           ", (f"{host:<9}", "cyan"), status, text))


def _numbers(result: FileResult) -> str:
    counts = result.counts()
    return f"{result.status} {counts[SubtestStatus.PASS]}/{counts.total()}"


def _print_summary(console: Console, pairs: list[Pair]) -> None:
    total = sum(len(each.emulator.subtests) for each in pairs)
    differing = [pair for each in pairs for pair in each.differing]
    only = [sum(pair[side] is not None and pair[side].status is SubtestStatus.PASS for pair in differing) for side in (0, 1)]  # type: ignore[union-attr]
    tests = sum(each.differs for each in pairs)
    console.print(
        f"\n{total} subtests in {len(pairs)} tests; {len(differing)} differ, in {tests} of the tests: "
        f"{only[0]} pass in the emulator only, {only[1]} in the browser only"
    )
