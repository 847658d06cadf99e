"""Compares two runs: what fails now, what passes now, what is gone."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from webnn.wpt_runner.results import FileResult, FileStatus, RunResult, Subtest, SubtestStatus, sum_counts

__all__ = ["Change", "Comparison", "Counts", "Lone", "Status", "compare"]

Status = FileStatus | SubtestStatus

_Item = TypeVar("_Item", FileResult, Subtest)
_Pair = tuple[FileResult, FileResult]

_GOOD = frozenset[Status]({FileStatus.OK, FileStatus.PASS, SubtestStatus.PASS})
#: A test with one of these statuses ran to its end. With any other status, absent subtests may just not have run.
_COMPLETE = frozenset({FileStatus.OK, FileStatus.PASS, FileStatus.FAIL, FileStatus.ASSERT})
_VARIANT = re.compile(r"[?#].*", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A test or subtest of both runs whose status changed.

    Attributes:
        test: The test's identifier.
        subtest: The subtest's name; ``None`` if this is the status of the test as a whole.
        before: The status before; ``None`` for a subtest that is absent because its test did not run to its end.
        after: The status after, likewise.
        message: The message after, or the message before if it passes after.
    """

    test: str
    subtest: str | None
    before: Status | None
    after: Status | None
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lone:
    """A test or subtest that one run has and the other does not.

    Attributes:
        test: The test's identifier.
        subtest: The subtest's name; ``None`` if the whole test is in one run only.
        status: Its status.
        subtests: The number of the test's subtests; 0 for a subtest.
    """

    test: str
    subtest: str | None
    status: Status
    subtests: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """The numbers of tests and subtests of a run, by status."""

    tests: Mapping[FileStatus, int]
    subtests: Mapping[SubtestStatus, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What differs between two runs.

    Expectations play no part: a failure is a failure, whether it was expected or not.

    Attributes:
        before: The counts of the first run.
        after: The counts of the second one.
        common: How many tests are in both.
        same: How many statuses are the same, of tests and of subtests.
        newly_failing: What passed before and does not pass after.
        newly_passing: What passes after and did not pass before.
        changed: What passes in neither run, with different statuses.
        only_before: What only the first run has.
        only_after: What only the second one has.
        paired: Identifiers of tests that count as the same one although their variants differ.
    """

    before: Counts
    after: Counts
    common: int
    same: int
    newly_failing: Sequence[Change]
    newly_passing: Sequence[Change]
    changed: Sequence[Change]
    only_before: Sequence[Lone]
    only_after: Sequence[Lone]
    paired: Sequence[tuple[str, str]]


def compare(before: RunResult, after: RunResult, *, variant_blind: bool = False) -> Comparison:
    """Compare two runs by test and subtest.

    A subtest that passed and is absent after counts as newly failing if its test did not run to its end (a crash, a time-out, an error).
    Otherwise the test's set of subtests changed, and the subtest is in `Comparison.only_before`. Likewise the other way round.

    Args:
        before: The first run.
        after: The second run.
        variant_blind: Pair tests that differ only in variant or subsuite, if each run has exactly one such test left.
    """
    pairs, alone_before, alone_after = _pair(before.results, after.results, variant_blind)
    collected = _Collected()
    for first, second in pairs:
        _compare_tests(first, second, collected)
    return Comparison(
        before=_counts(before.results),
        after=_counts(after.results),
        common=len(pairs),
        same=collected.same,
        newly_failing=collected.newly_failing,
        newly_passing=collected.newly_passing,
        changed=collected.changed,
        only_before=[*map(_lone_test, alone_before), *collected.only_before],
        only_after=[*map(_lone_test, alone_after), *collected.only_after],
        paired=[names for names in ((_name(first), _name(second)) for first, second in pairs) if names[0] != names[1]],
    )


class _Collected:
    def __init__(self) -> None:
        self.same = 0
        self.newly_failing: list[Change] = []
        self.newly_passing: list[Change] = []
        self.changed: list[Change] = []
        self.only_before: list[Lone] = []
        self.only_after: list[Lone] = []

    def add(self, change: Change) -> None:
        if change.before in _GOOD and change.after not in _GOOD:
            self.newly_failing.append(change)
        elif change.after in _GOOD and change.before not in _GOOD:
            self.newly_passing.append(change)
        else:
            self.changed.append(change)


def _pair(
    before: Sequence[FileResult], after: Sequence[FileResult], variant_blind: bool
) -> tuple[list[_Pair], list[FileResult], list[FileResult]]:
    """Return the pairs of tests, and the unpaired tests of each run."""
    first, second = _numbered(before, _name), _numbered(after, _name)
    pairs = [(result, second[key]) for key, result in first.items() if key in second]
    alone_before = [result for key, result in first.items() if key not in second]
    alone_after = [result for key, result in second.items() if key not in first]
    if variant_blind:
        left, right = _by_page(alone_before), _by_page(alone_after)
        pages = [page for page in left if len(left[page]) == 1 and len(right.get(page, ())) == 1]
        pairs += [(left[page][0], right[page][0]) for page in pages]
        taken = {id(result) for page in pages for result in (left[page][0], right[page][0])}
        alone_before = [result for result in alone_before if id(result) not in taken]
        alone_after = [result for result in alone_after if id(result) not in taken]
    return sorted(pairs, key=lambda pair: _name(pair[0])), alone_before, alone_after


def _by_page(results: Iterable[FileResult]) -> dict[str, list[FileResult]]:
    groups: dict[str, list[FileResult]] = defaultdict(list)
    for result in results:
        groups[_VARIANT.sub("", result.test)].append(result)
    return groups


def _compare_tests(before: FileResult, after: FileResult, collected: _Collected) -> None:
    test = _name(after)
    _compare_statuses(test, None, before, after, collected)
    first, second = _numbered(before.subtests, _subtest_name), _numbered(after.subtests, _subtest_name)
    for key, subtest in first.items():
        other = second.get(key)
        if other is not None or after.status not in _COMPLETE:
            _compare_statuses(test, subtest.name, subtest, other, collected)
        else:
            collected.only_before.append(Lone(test=_name(before), subtest=subtest.name, status=subtest.status, subtests=0))
    for key, subtest in second.items():
        if key in first:
            continue
        if before.status not in _COMPLETE:
            _compare_statuses(test, subtest.name, None, subtest, collected)
        else:
            collected.only_after.append(Lone(test=test, subtest=subtest.name, status=subtest.status, subtests=0))


def _compare_statuses(
    test: str, subtest: str | None, before: FileResult | Subtest | None, after: FileResult | Subtest | None, collected: _Collected
) -> None:
    old = None if before is None else before.status
    new = None if after is None else after.status
    if old == new:
        collected.same += 1
        return
    telling = before if new in _GOOD else after
    collected.add(Change(test=test, subtest=subtest, before=old, after=new, message="" if telling is None else telling.message))


def _numbered(items: Iterable[_Item], name: Callable[[_Item], str]) -> dict[tuple[str, int], _Item]:
    """Return items by name and by a number, which distinguishes items of one name."""
    seen: Counter[str] = Counter()
    numbered = {}
    for item in items:
        key = name(item)
        numbered[key, seen[key]] = item
        seen[key] += 1
    return numbered


def _name(result: FileResult) -> str:
    return f"{result.subsuite}:{result.test}" if result.subsuite else result.test


def _subtest_name(subtest: Subtest) -> str:
    return subtest.name


def _lone_test(result: FileResult) -> Lone:
    return Lone(test=_name(result), subtest=None, status=result.status, subtests=len(result.subtests))


def _counts(results: Sequence[FileResult]) -> Counts:
    return Counts(tests=dict(Counter(result.status for result in results)), subtests=dict(sum_counts(results)))
