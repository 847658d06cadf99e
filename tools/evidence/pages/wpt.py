"""Web-platform-tests in a real browser over the emulator, compared with the same tests in quickjs-ng."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path

from tools.evidence.pages.firefox import Firefox
from tools.evidence.pages.serving import Reports, serve_files
from webnn.browser.chromium import Chromium, Read
from webnn.processes.pool import cores
from webnn.serve.options import Options
from webnn.wpt_runner.browser.pair import Driver, Pair, TestBrowser, compare_results
from webnn.wpt_runner.checkout import Checkout
from webnn.wpt_runner.flavours import Flavour
from webnn.wpt_runner.levels import detect_level
from webnn.wpt_runner.results import FileResult, SubtestStatus
from webnn.wpt_runner.runner import run_tests
from webnn.wpt_runner.settings import Settings

__all__ = ["add_arguments", "run"]

#: The browser shares its cores with the emulator.
_PATIENCE = 6.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("checkout", type=Path, help="the checkout of web-platform-tests")
    parser.add_argument("patterns", nargs="*", metavar="PATTERN", help="parts of the files' paths, or shell patterns (default: all)")
    parser.add_argument("--firefox", type=Path, metavar="PROGRAM", help="run them in this Firefox instead")
    parser.add_argument("--worker", action="store_true", help="in dedicated workers; otherwise in windows")
    parser.add_argument("--native", action="store_true", help="start the browser with its own WebNN, which the emulator must replace")
    parser.add_argument("--variant", default="cpu", help="the variant (%(default)s)")
    parser.add_argument(
        "--timeout-multiplier", type=float, default=_PATIENCE, metavar="N", help="multiplies the time-outs of the tests (%(default)g)"
    )


def run(options: argparse.Namespace) -> list[str]:
    """Run the tests on both sides, print a line for each, and return what is not as it should be."""
    checkout = Checkout(options.checkout)
    level = detect_level(checkout)
    settings = Settings(revision=level.revision, dialect=level.dialect, timeout_multiplier=options.timeout_multiplier)
    flavour = Flavour.WORKER if options.worker else Flavour.WINDOW
    tests = checkout.tests(options.patterns, [options.variant], [Flavour.WINDOW])
    if options.firefox:
        # A test that is a page has origins that only Chromium's driver answers for.
        tests = [test for test in tests if not test.file.is_page]
    if flavour is Flavour.WORKER:
        # Also those that are not meant for workers: only pages with a document cannot run there.
        tests = [replace(test, flavour=flavour) for test in tests if test.file.path.endswith(".any.js")]
    ours = run_tests(checkout, tests, settings, processes=cores(), on_result=lambda _: None)
    reports = Reports()

    def server(read: Read) -> AbstractContextManager[str]:
        return serve_files(read, Options(revision=level.revision, dialect=level.dialect), reports)

    pairs: list[Pair] = []
    executable: Path
    driver: Callable[..., AbstractContextManager[Driver]]
    if options.firefox:
        executable, driver = options.firefox, Firefox
    else:
        executable, driver = options.chromium, partial(Chromium, native=options.native)
    with TestBrowser.start(checkout, executable, settings, server=server, driver=driver) as browser:
        print(f"{browser.name}; the draft {settings.revision}, dialect {settings.dialect or 'none'}; {flavour}")
        for test, our in zip(tests, ours, strict=True):
            pairs.append(compare_results(our, browser.run(test)))
            _print(pairs[-1])
    subtests = sum(len(pair.emulator.subtests) for pair in pairs)
    seconds = sum(pair.browser.seconds for pair in pairs), sum(pair.emulator.seconds for pair in pairs)
    different = [line for pair in pairs for line in _differences(pair)]
    print(f"{subtests} subtests in {len(pairs)} tests: {len(different)} differences, {len(reports.faults)} faults of the emulator")
    print(f"in quickjs-ng {_passed(each.emulator for each in pairs)} pass, in {seconds[1]:.0f} s")
    print(f"in the browser {_passed(each.browser for each in pairs)} pass, in {seconds[0]:.0f} s")
    return [*different, *(f"a fault of the emulator: {fault.strip().splitlines()[-1]}" for fault in reports.faults)]


def _print(pair: Pair) -> None:
    browser = pair.browser
    counts = browser.counts()
    print(
        f"{'differs' if pair.differs else 'same'} {browser.name}: {counts[SubtestStatus.PASS]}/{counts.total()}, {browser.seconds:.1f} s",
        flush=True,
    )


def _passed(results: Iterable[FileResult]) -> int:
    return sum(result.counts()[SubtestStatus.PASS] for result in results)


def _differences(pair: Pair) -> list[str]:
    """Return a line for the test, if it has another status as a whole, and for each subtest that has."""
    name, lines = pair.browser.name, []
    if pair.emulator.status is not pair.browser.status:
        lines.append(f"{name}: {pair.emulator.status} in quickjs-ng, {pair.browser.status} in the browser: {pair.browser.message}")
    for our, their in pair.differing:
        sides = [f"{each.status} ({each.message})" if each else "no such subtest" for each in (our, their)]
        known = our or their
        lines.append(f"{name}: {known.name if known else ''}: {sides[0]} in quickjs-ng, {sides[1]} in the browser")
    return lines
