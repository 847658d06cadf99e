"""The output of ``webnn wpt run``: a line for each test, and below it an explanation of its unexpected results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from rich.console import Console
from rich.text import Text

from webnn.commands.text import one_line, show_controls
from webnn.display.text import plural
from webnn.wpt_runner.results import FileResult, FileStatus, RunResult, Subtest, SubtestStatus
from webnn.wpt_runner.terminal import print_line

__all__ = ["print_file", "print_list", "print_summary"]

_MOST_SHOWN = 10
_MOST_LINES = 30
_LONGEST = 200
_INDENT = " " * 9


def print_file(console: Console, result: FileResult, *, quiet: bool = False) -> None:
    """Print the result of a test; a quiet run prints only unexpected and traced results."""
    unexpected = [subtest for subtest in result.subtests if subtest.unexpected]
    traced = any(subtest.trace for subtest in result.subtests)
    if quiet and not result.surprises and not traced:
        return
    counts = result.counts()
    numbers = ", ".join(f"{counts[status]} {status.lower()}" for status in SubtestStatus if counts[status])
    style = "red" if result.surprises else "yellow" if result.status is not FileStatus.OK or counts[SubtestStatus.FAIL] else "green"
    console.print(Text.assemble((f"{result.status:<8}", style), result.name, (f"  {numbers}  {result.seconds:.2f} s", "dim")))
    if result.unexpected:
        _print_problem(console, f"expected {result.expected or FileStatus.OK}", result)
    for subtest in result.subtests if traced else unexpected[:_MOST_SHOWN]:
        wanted = f" (expected {subtest.expected})" if subtest.expected else ""
        _print_problem(console, f"{subtest.status}{wanted} {one_line(subtest.name, _LONGEST)}", subtest)
    if len(unexpected) > _MOST_SHOWN and not traced:
        console.print(Text(f"{_INDENT}... and {len(unexpected) - _MOST_SHOWN} more; a report has them all", style="red"))
    if result.surprises and result.output:
        console.print(Text(f"{_INDENT}console:", style="dim"))
        _print_lines(console, result.output.splitlines())


def _print_problem(console: Console, head: str, each: FileResult | Subtest) -> None:
    message = f": {one_line(' '.join(each.message.split()), _LONGEST)}" if each.message else ""
    console.print(Text.assemble(_INDENT, (head, "red" if each.unexpected else ""), message))
    if isinstance(each, Subtest):
        for line in each.trace.splitlines():
            console.print(Text(f"{_INDENT}  | {one_line(line, 2 * _LONGEST)}"))
    _print_lines(console, each.stack.splitlines())


def _print_lines(console: Console, lines: Sequence[str]) -> None:
    more = len(lines) - _MOST_LINES
    for line in [*lines[:_MOST_LINES], *([f"... and {plural(more, 'line')} more; --html has them all"] if more > 0 else [])]:
        print_line(console, Text(f"{_INDENT}  {show_controls(line)}", style="dim"))


def print_list(console: Console, results: Iterable[FileResult], features: Callable[[str], Sequence[str]] = lambda _: ()) -> None:
    """Print tests with the features of their files, the names of their subtests, and their expectations."""
    tests = subtests = 0
    for result in results:
        tests += 1
        note = f"  (expected {result.expected}: {result.reason})" if result.expected else ""
        names = ", ".join(features(result.file))
        console.print(Text.assemble(result.name, (f"  [{names}]" if names else "", "dim"), (note, "yellow")))
        for subtest in result.subtests:
            subtests += 1
            note = f"  (expected {subtest.expected}: {subtest.reason})" if subtest.expected else ""
            print_line(console, Text.assemble(f"  {one_line(subtest.name, _LONGEST)}", (note, "yellow")))
    console.print(" in ".join([*([plural(subtests, "subtest")] if subtests else []), plural(tests, "test")]))


def print_summary(console: Console, run: RunResult) -> None:
    """Print the problems of the expectations, the flaky subtests, and the numbers of the run."""
    counts = run.counts()
    passed, total = counts[SubtestStatus.PASS], counts.total()
    known = sum(not subtest.unexpected and subtest.expected is not None for result in run.results for subtest in result.subtests)
    console.print()
    for problem in run.problems:
        console.print(Text.assemble(("expectations  ", "red"), problem))
    for flaky in run.flaky:
        print_line(console, Text.assemble(("flaky  ", "red"), show_controls(flaky)))
    numbers = f"{total} subtests in {len(run.results)} tests: {passed} passed, {known} failed as expected, {run.unexpected} unexpected"
    console.print(Text(f"{numbers}, in {run.seconds:.1f} s", style="red" if run.failed else "green"))
