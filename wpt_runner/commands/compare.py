"""``webnn wpt compare``: what differs between two reports."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from webnn.commands.failure import failure
from webnn.commands.text import one_line, show_controls
from webnn.wpt_runner.compare import Change, Comparison, Lone, Status, compare
from webnn.wpt_runner.reports.wptreport import read_wptreport
from webnn.wpt_runner.results import FileStatus, RunResult, SubtestStatus

__all__ = ["command"]

_Status = TypeVar("_Status", FileStatus, SubtestStatus)

_REGRESSION, _UNUSABLE = 1, 2
_LISTED, _ALIKE = 25, 3
_LONGEST_NAME, _LONGEST_MESSAGE = 300, 160
_REVISION = 10
_ABSENT = "absent"
_STYLES = {"PASS": "green", "OK": "green", _ABSENT: "magenta"}


def command(
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="A wptreport.json, also compressed with gzip.")],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="Another one.")],
    *,
    json_file: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the comparison as JSON, too.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="List everything, also what only one report has.")] = False,
    variant_blind: Annotated[
        bool, typer.Option("--variant-blind", help="Pair tests that differ only in their variant, if each report has just one of them.")
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option("--filter", metavar="TEXT", help="Compare only tests whose identifier contains this. May be repeated."),
    ] = None,
) -> None:
    """Compare two runs of web-platform-tests, of this runner or of any browser.

    Fails with 1 if something that passed before does not pass after, and with 2 if there is nothing to compare.
    """
    first, second = _read(before, only or []), _read(after, only or [])
    comparison = compare(first, second, variant_blind=variant_blind)
    console = Console(highlight=False)
    _print_runs(console, [("before", before, first), ("after", after, second)])
    _print_counts(console, comparison)
    _print_changes(console, "Newly failing", "red", comparison.newly_failing, everything)
    _print_changes(console, "Newly passing", "green", comparison.newly_passing, everything)
    _print_changes(console, "Changed otherwise", "yellow", comparison.changed, everything)
    _print_lone(console, "Only before", comparison.only_before, everything)
    _print_lone(console, "Only after", comparison.only_after, everything)
    if everything and comparison.paired:
        _print_paired(console, comparison.paired)
    _print_summary(console, comparison)
    if json_file is not None:
        _write_json(json_file, before, after, comparison)
    if not comparison.common:
        blindly = not variant_blind and compare(first, second, variant_blind=True).common
        raise failure("the reports have no test in common" + ("; --variant-blind pairs other variants" if blindly else ""), _UNUSABLE)
    if comparison.newly_failing:
        raise typer.Exit(_REGRESSION)


def _read(path: Path, only: Sequence[str]) -> RunResult:
    try:
        run = read_wptreport(path)
    except OSError as error:
        raise failure(f"{path} cannot be read: {error.strerror or error}", _UNUSABLE) from None
    except ValueError as error:
        raise failure(str(error), _UNUSABLE) from None
    if not only:
        return run
    return dataclasses.replace(run, results=[result for result in run.results if any(text in result.test for text in only)])


def _write_json(path: Path, before: Path, after: Path, comparison: Comparison) -> None:
    content = {"reports": {"before": str(before), "after": str(after)}, **dataclasses.asdict(comparison)}
    try:
        path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8", newline="\n")
    except OSError as error:
        raise failure(f"{path} cannot be written: {error.strerror or error}", _UNUSABLE) from None


# Printing.


def _print_runs(console: Console, runs: Iterable[tuple[str, Path, RunResult]]) -> None:
    for side, path, run in runs:
        words = [run.info.get("product", ""), run.info.get("product_version", ""), run.info.get("revision", "")[:_REVISION]]
        what = one_line(" ".join(word for word in words if word), _LONGEST_NAME)
        _print(console, Text.assemble((f"{side:<8}", "cyan"), (show_controls(str(path)), "bold"), f"  {what}" if what else ""))


def _print_counts(console: Console, comparison: Comparison) -> None:
    table = Table(box=box.SIMPLE_HEAD if console.is_terminal else None, pad_edge=False, show_edge=False)
    table.add_column("")
    for heading in ("before", "after", "difference"):
        table.add_column(heading, justify="right")
    _add_rows(table, "tests", comparison.before.tests, comparison.after.tests, FileStatus)
    _add_rows(table, "subtests", comparison.before.subtests, comparison.after.subtests, SubtestStatus)
    console.print()
    console.print(table)


def _add_rows(table: Table, noun: str, before: Mapping[_Status, int], after: Mapping[_Status, int], statuses: Iterable[_Status]) -> None:
    rows = [(noun, sum(before.values()), sum(after.values()))]
    rows += [(f"  {status}", before.get(status, 0), after.get(status, 0)) for status in statuses if status in before or status in after]
    for name, old, new in rows:
        table.add_row(name, f"{old:,}", f"{new:,}", f"{new - old:+,}" if new != old else "", style="bold" if name == noun else "")


def _print_changes(console: Console, heading: str, style: str, changes: Sequence[Change], everything: bool) -> None:
    if not changes:
        return
    console.print()
    _print(console, Text.assemble((heading, f"bold {style}"), f"  {len(changes):,}"))
    entries = list(_entries(changes, everything))
    listed = entries if everything else entries[:_LISTED]
    for test, group in groupby(listed, key=lambda entry: entry[0].test):
        _print(console, Text(f"  {_shown(test)}", "bold"))
        for change, number in group:
            _print_change(console, change, number)
    rest = sum(number for _, number in entries[len(listed) :])
    if rest:
        _print(console, Text(f"  and {rest:,} more (--all lists them)", "dim"))


def _entries(changes: Sequence[Change], everything: bool) -> Iterator[tuple[Change, int]]:
    """Yield changes, each with the number of changes that it represents: many absent subtests of one test become one entry."""
    for _, group in groupby(changes, key=lambda change: (change.test, change.before, change.after)):
        alike = list(group)
        if not everything and len(alike) > _ALIKE and None in {alike[0].before, alike[0].after}:
            yield alike[0], len(alike)
        else:
            yield from ((change, 1) for change in alike)


def _print_change(console: Console, change: Change, number: int) -> None:
    arrow = "->" if console.options.ascii_only else "\N{RIGHTWARDS ARROW}"
    name = "the test as a whole" if change.subtest is None else _shown(change.subtest)
    if number > 1:
        name = _plural(number, "subtest")
    _print(console, Text.assemble("    ", _word(change.before), f" {arrow} ", _word(change.after), "  ", name))
    message = one_line(change.message, _LONGEST_MESSAGE)
    if message and number == 1:
        _print(console, Text(f"      {message}", "dim"))


def _print_lone(console: Console, heading: str, lone: Sequence[Lone], everything: bool) -> None:
    if not lone:
        return
    tests = [each for each in lone if each.subtest is None]
    subtests = [each for each in lone if each.subtest is not None]
    with_them = sum(each.subtests for each in tests)
    counted = [
        f"{_plural(len(tests), 'test')} with {_plural(with_them, 'subtest')}" if tests else "",
        f"{_plural(len(subtests), 'subtest')} of tests in both" if subtests else "",
    ]
    console.print()
    hint = "" if everything else "  (--all lists them)"
    _print(console, Text.assemble((heading, "bold"), "  ", ", ".join(filter(None, counted)), (hint, "dim")))
    if not everything:
        return
    for each in tests:
        _print(
            console, Text.assemble("  ", (_shown(each.test), "bold"), "  ", _word(each.status), f"  {_plural(each.subtests, 'subtest')}")
        )
    for test, group in groupby(subtests, key=lambda each: each.test):
        _print(console, Text(f"  {_shown(test)}", "bold"))
        for each in group:
            _print(console, Text.assemble("    ", _word(each.status), f"  {_shown(each.subtest or '')}"))


def _print_paired(console: Console, paired: Sequence[tuple[str, str]]) -> None:
    console.print()
    _print(console, Text.assemble(("Paired", "bold"), f"  {_plural(len(paired), 'test')} although the variants differ"))
    for before, after in paired:
        _print(console, Text(f"  {_shown(before)}  {_shown(after)}"))


def _print_summary(console: Console, comparison: Comparison) -> None:
    console.print()
    failing = len(comparison.newly_failing)
    parts = [
        (f"{failing:,} newly failing", "bold red" if failing else ""),
        (f"{len(comparison.newly_passing):,} newly passing", "green" if comparison.newly_passing else ""),
        (f"{len(comparison.changed):,} changed otherwise", ""),
        (f"{comparison.same:,} the same", ""),
        (f"{_plural(comparison.common, 'test')} in both", ""),
    ]
    line = Text(", ").join(Text(*part) for part in parts)
    if comparison.paired:
        line.append(f" ({len(comparison.paired):,} paired across variants)")
    _print(console, line)


def _print(console: Console, line: Text) -> None:
    """Print a line without wrapping it; escape characters that the encoding lacks."""
    if console.options.ascii_only and not line.plain.isascii():
        line = Text(line.plain.encode("ascii", "backslashreplace").decode("ascii"))
    console.print(line, soft_wrap=True)


def _word(status: Status | None) -> Text:
    word = status or _ABSENT
    return Text(f"{word}", _STYLES.get(word, "red"))


def _shown(name: str) -> str:
    return one_line(name, _LONGEST_NAME) or "(no name)"


def _plural(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
