"""``webnn wpt compare``: what differs between two reports, and a table of the scores of several runs."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from webnn.commands.failure import failure
from webnn.commands.text import one_line, show_controls
from webnn.display.text import plural
from webnn.wpt_runner.compare import Change, Comparison, Lone, Status, compare
from webnn.wpt_runner.reports.scores import write_scores
from webnn.wpt_runner.results import FileStatus, RunResult, SubtestStatus
from webnn.wpt_runner.scores import Run, Score, make_table, read_runs, score_run
from webnn.wpt_runner.scores import Table as ScoreTable
from webnn.wpt_runner.terminal import encodable, make_console, print_line

__all__ = ["command"]

_REGRESSION, _UNUSABLE = 1, 2
_LISTED, _ALIKE = 25, 3
_LONGEST_NAME, _LONGEST_MESSAGE = 300, 160
_REVISION = 10
_ABSENT = "absent"
_STYLES = {"PASS": "green", "OK": "green", _ABSENT: "magenta"}


def command(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE",
            help="Reports wptreport.json, of before and of after, or results that wpt.fyi exported; also compressed with gzip.",
            show_default=False,
        ),
    ],
    *,
    json_file: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the comparison as JSON, too.")] = None,
    html_file: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write the table as a page, too.")] = None,
    as_table: Annotated[bool, typer.Option("--table", help="Make a table of two reports, instead of comparing them.")] = False,
    by_file: Annotated[bool, typer.Option("--files", help="A row for each test file, instead of each operation; makes a table.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="List everything, also tests of only one report.")] = False,
    variant_blind: Annotated[
        bool, typer.Option("--variant-blind", help="Pair tests that differ only in their variant, if each report has just one of them.")
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option("--filter", metavar="TEXT", help="Compare only tests whose identifier contains this. May be repeated."),
    ] = None,
) -> None:
    """Compare two runs of web-platform-tests.

    Each is of this runner or of any browser.

    Two reports are compared test by test. That fails with 1 if something that passed before does not pass after, and with 2 if there is
    nothing to compare. More files, and results of wpt.fyi, become a table: how many subtests of each operation pass in each run,
    or of each file.
    """
    found = [(path, _read(path)) for path in files]
    reports = [(path, run) for path, run in found if isinstance(run, RunResult)]
    if len(found) == len(reports) == 2 and not as_table and not by_file and html_file is None:
        [(before, first), (after, second)] = [(path, _choose_tests(run, only or [])) for path, run in reports]
        _compare(before, first, after, second, json_file=json_file, everything=everything, variant_blind=variant_blind)
        return
    if everything or variant_blind:
        raise failure("--all and --variant-blind can only be given for two reports", _UNUSABLE)
    if len(found) == len(reports) == 1:
        raise failure("a report is compared with another one: give two files or more", _UNUSABLE)
    _tabulate(found, only or [], json_file, html_file, by_file=by_file)


def _compare(
    before: Path, first: RunResult, after: Path, second: RunResult, *, json_file: Path | None, everything: bool, variant_blind: bool
) -> None:
    comparison = compare(first, second, variant_blind=variant_blind)
    console = Console(highlight=False)
    for side, path, run in (("before", before, first), ("after", after, second)):
        print_line(console, _describe_run(side, path, run))
    console.print()
    console.print(_table(console, comparison))
    for line in _lines(comparison, everything, "->" if console.options.ascii_only else "\N{RIGHTWARDS ARROW}"):
        print_line(console, line)
    if json_file is not None:
        _write_json(json_file, {"reports": {"before": str(before), "after": str(after)}, **dataclasses.asdict(comparison)})
    if not comparison.common:
        blindly = not variant_blind and compare(first, second, variant_blind=True).common
        raise failure("the reports have no test in common" + ("; --variant-blind pairs other variants" if blindly else ""), _UNUSABLE)
    if comparison.newly_failing:
        raise typer.Exit(_REGRESSION)


def _tabulate(
    found: Sequence[tuple[Path, RunResult | list[Run]]],
    only: Sequence[str],
    json_file: Path | None,
    html_file: Path | None,
    *,
    by_file: bool,
) -> None:
    runs = [run for path, each in found for run in ([score_run(path, each)] if isinstance(each, RunResult) else each)]
    if only:
        runs = [
            dataclasses.replace(run, scores={test: score for test, score in run.scores.items() if any(text in test for text in only)})
            for run in runs
        ]
    if not any(run.scores for run in runs):
        raise failure("the files have no tests of WebNN" + (" with these texts" if only else ""), _UNUSABLE)
    table = make_table(runs, files=by_file)
    console = make_console()
    for name, run in zip(table.names, runs, strict=True):
        old = "  (counts each test's own status, too)" if run.old else ""
        print_line(
            console, Text.assemble((_shown(name), "bold"), f"  {_shown(run.source)}  {one_line(run.revision[:_REVISION], _REVISION)}{old}")
        )
        if run.facts:
            print_line(console, Text("  " + _shown(", ".join(f"{fact} {value}" for fact, value in run.facts.items())), "dim"))
    console.print()
    console.print(_score_table(console, table))
    if json_file is not None:
        sections = {"operations": table.operations, "others": table.others, "total": [table.total]}
        described = [
            {"name": name, "source": run.source, "revision": run.revision, "old": run.old, "facts": {**run.facts}}
            for name, run in zip(table.names, runs, strict=True)
        ]
        rows = {
            name: [{"name": row.name, "scores": [_score_json(score) for score in row.scores]} for row in each]
            for name, each in sections.items()
        }
        _write_json(json_file, {"runs": described, **rows})
    if html_file is not None:
        with _writing(html_file):
            write_scores(runs, table, html_file)


def _score_json(score: Score | None) -> dict[str, int] | None:
    return None if score is None else {"passed": score.passed, "total": score.total}


def _score_table(console: Console, table: ScoreTable) -> Table:
    shown = Table(box=box.SIMPLE_HEAD if console.is_terminal else None, pad_edge=False, show_edge=False)
    shown.add_column("operation" if table.operations else "file")
    for name in table.names:
        # The facts that tell runs apart are below the product.
        shown.add_column(Text("\n".join(encodable(console, _shown(part)) for part in name.split(", "))), justify="right")
    for rows in (table.operations, table.others, [table.total]):
        for row in rows:
            cells = [Text("" if score is None else f"{score.passed:,}/{score.total:,}", _score_style(score)) for score in row.scores]
            shown.add_row(Text(encodable(console, _shown(row.name))), *cells, end_section=row is rows[-1])
    return shown


def _score_style(score: Score | None) -> str:
    return "" if score is None else "green" if score.passed >= score.total else "yellow" if score.passed else "red"


def _read(path: Path) -> RunResult | list[Run]:
    try:
        return read_runs(path)
    except OSError as error:
        raise failure(f"{path} cannot be read: {error.strerror or error}", _UNUSABLE) from None
    except ValueError as error:
        raise failure(str(error), _UNUSABLE) from None


def _choose_tests(run: RunResult, only: Sequence[str]) -> RunResult:
    if not only:
        return run
    return dataclasses.replace(run, results=[result for result in run.results if any(text in result.test for text in only)])


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    with _writing(path):
        path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8", newline="\n")


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise failure(f"{path} cannot be written: {error.strerror or error}", _UNUSABLE) from None


def _describe_run(side: str, path: Path, run: RunResult) -> Text:
    words = [run.info.get("product", ""), run.info.get("product_version", ""), run.info.get("revision", "")[:_REVISION]]
    what = one_line(" ".join(filter(None, words)), _LONGEST_NAME)
    return Text.assemble((f"{side:<8}", "cyan"), (show_controls(str(path)), "bold"), f"  {what}" if what else "")


def _table(console: Console, comparison: Comparison) -> Table:
    table = Table(box=box.SIMPLE_HEAD if console.is_terminal else None, pad_edge=False, show_edge=False)
    table.add_column("")
    for heading in ("before", "after", "difference"):
        table.add_column(heading, justify="right")

    def add(name: str, old: int, new: int, style: str = "") -> None:
        table.add_row(name, f"{old:,}", f"{new:,}", f"{new - old:+,}" if new != old else "", style=style)

    before, after = comparison.before, comparison.after
    counted: list[tuple[str, Mapping[Any, int], Mapping[Any, int], Iterable[Status]]] = [
        ("tests", before.tests, after.tests, FileStatus),
        ("subtests", before.subtests, after.subtests, SubtestStatus),
    ]
    for noun, old, new, statuses in counted:
        add(noun, sum(old.values()), sum(new.values()), "bold")
        for status in statuses:
            if status in old or status in new:
                add(f"  {status}", old.get(status, 0), new.get(status, 0))
    return table


def _lines(comparison: Comparison, everything: bool, arrow: str) -> Iterator[Text]:
    yield from _changes("Newly failing", "red", comparison.newly_failing, everything, arrow)
    yield from _changes("Newly passing", "green", comparison.newly_passing, everything, arrow)
    yield from _changes("Changed otherwise", "yellow", comparison.changed, everything, arrow)
    yield from _lone("Only before", comparison.only_before, everything)
    yield from _lone("Only after", comparison.only_after, everything)
    if everything and comparison.paired:
        yield Text()
        yield Text.assemble(("Paired", "bold"), f"  {plural(len(comparison.paired), 'test')} although the variants differ")
        for before, after in comparison.paired:
            yield Text(f"  {_shown(before)}  {_shown(after)}")
    yield Text()
    yield _summary(comparison)


def _changes(heading: str, style: str, changes: Sequence[Change], everything: bool, arrow: str) -> Iterator[Text]:
    if not changes:
        return
    yield Text()
    yield Text.assemble((heading, f"bold {style}"), f"  {len(changes):,}")
    entries = list(_entries(changes, everything))
    listed = entries if everything else entries[:_LISTED]
    for test, group in groupby(listed, key=lambda entry: entry[0].test):
        yield Text(f"  {_shown(test)}", "bold")
        for change, number in group:
            name = "the test as a whole" if change.subtest is None else _shown(change.subtest)
            name = plural(number, "subtest") if number > 1 else name
            yield Text.assemble("    ", _word(change.before), f" {arrow} ", _word(change.after), "  ", name)
            message = one_line(change.message, _LONGEST_MESSAGE)
            if message and number == 1:
                yield Text(f"      {message}", "dim")
    rest = sum(number for _, number in entries[len(listed) :])
    if rest:
        yield Text(f"  and {rest:,} more (--all lists them)", "dim")


def _entries(changes: Sequence[Change], everything: bool) -> Iterator[tuple[Change, int]]:
    """Yield changes, each with the number of changes that it represents: many absent subtests of one test become one entry."""
    for _, group in groupby(changes, key=lambda change: (change.test, change.before, change.after)):
        alike = list(group)
        if not everything and len(alike) > _ALIKE and None in {alike[0].before, alike[0].after}:
            yield alike[0], len(alike)
        else:
            yield from ((change, 1) for change in alike)


def _lone(heading: str, lone: Sequence[Lone], everything: bool) -> Iterator[Text]:
    if not lone:
        return
    tests = [each for each in lone if each.subtest is None]
    subtests = [each for each in lone if each.subtest is not None]
    with_them = sum(each.subtests for each in tests)
    counted = [
        f"{plural(len(tests), 'test')} with {plural(with_them, 'subtest')}" if tests else "",
        f"{plural(len(subtests), 'subtest')} of tests in both" if subtests else "",
    ]
    yield Text()
    yield Text.assemble((heading, "bold"), "  ", ", ".join(filter(None, counted)), ("" if everything else "  (--all lists them)", "dim"))
    if not everything:
        return
    for each in tests:
        yield Text.assemble("  ", (_shown(each.test), "bold"), "  ", _word(each.status), f"  {plural(each.subtests, 'subtest')}")
    for test, group in groupby(subtests, key=lambda each: each.test):
        yield Text(f"  {_shown(test)}", "bold")
        for each in group:
            yield Text.assemble("    ", _word(each.status), f"  {_shown(each.subtest or '')}")


def _summary(comparison: Comparison) -> Text:
    failing = len(comparison.newly_failing)
    parts = [
        (f"{failing:,} newly failing", "bold red" if failing else ""),
        (f"{len(comparison.newly_passing):,} newly passing", "green" if comparison.newly_passing else ""),
        (f"{len(comparison.changed):,} changed otherwise", ""),
        (f"{comparison.same:,} the same", ""),
        (f"{plural(comparison.common, 'test')} in both", ""),
    ]
    line = Text(", ").join(Text(*part) for part in parts)
    if comparison.paired:
        line.append(f" ({len(comparison.paired):,} paired across variants)")
    return line


def _word(status: Status | None) -> Text:
    word = status or _ABSENT
    return Text(f"{word}", _STYLES.get(word, "red"))


def _shown(name: str) -> str:
    return one_line(name, _LONGEST_NAME) or "(no name)"
