"""Which tests run again: those that a report says went wrong, and what differs between several runs of one test."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from webnn.commands.text import one_line
from webnn.wpt_runner.checkout import Test
from webnn.wpt_runner.flavours import join_place
from webnn.wpt_runner.results import FileResult, RunResult

__all__ = ["choose_again", "find_flaky", "take_worst"]

_LONGEST = 200


def choose_again(report: RunResult, tests: Sequence[Test]) -> list[Test]:
    """Return the tests that had unexpected results in a report; those with failures if the report knows no expectations.

    A report of this runner always knows them.
    """
    wrong = {(result.file, result.place) for result in report.results if result.surprises}
    if not wrong and report.info.get("product") != "webnn":
        wrong = {(result.file, result.place) for result in report.results if _fails(result)}
    # The report names a page by its identifier.
    wrong = {(file.removeprefix("/"), place) for file, place in wrong}
    return [test for test in tests if (test.file.path, join_place(test.flavour, test.variant)) in wrong]


def _fails(result: FileResult) -> bool:
    return result.status not in {"OK", "PASS"} or any(subtest.status != "PASS" for subtest in result.subtests)


def find_flaky(rounds: Iterable[Sequence[FileResult]]) -> list[str]:
    """Name the results that differ between several runs: a line for each test or subtest."""
    statuses: defaultdict[tuple[str, str | None], Counter[str]] = defaultdict(Counter)
    runs: Counter[str] = Counter()
    for results in rounds:
        for result in results:
            runs[result.test] += 1
            statuses[result.test, None][result.status] += 1
            for subtest in result.subtests:
                statuses[result.test, subtest.name][subtest.status] += 1
    lines = []
    for (test, name), counts in statuses.items():
        missing = runs[test] - counts.total()
        if len(counts) > 1 or missing:
            ended = [f"{count} {status}" for status, count in counts.most_common()] + ([f"{missing} without it"] if missing else [])
            lines.append(f"{test}{'' if name is None else f': {one_line(name, _LONGEST)}'}: {', '.join(ended)}")
    return lines


def take_worst(rounds: Sequence[Sequence[FileResult]]) -> list[FileResult]:
    """Return, of each test, the first of its results with the most surprises; the results must have their expectations."""
    return [max(results, key=lambda result: result.surprises) for results in zip(*rounds, strict=True)]
