"""Compares two runs: what fails now, what passes now, what is gone."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from webnn.wpt_runner.results import FileResult, FileStatus, RunResult, Subtest, SubtestStatus

__all__ = ["Change", "Comparison", "Counts", "Lone", "Status", "compare"]

Status = FileStatus | SubtestStatus

_Item = TypeVar("_Item", FileResult, Subtest)
#: A name, and a number that distinguishes items of one name.
_Key = tuple[str, int]

_GOOD = frozenset[Status | None]({FileStatus.OK, FileStatus.PASS, SubtestStatus.PASS})
#: A test with one of these statuses ran to its end. With any other status, absent subtests may just not have run.
_COMPLETE = frozenset({FileStatus.OK, FileStatus.PASS, FileStatus.FAIL, FileStatus.ASSERT})
_VARIANT = re.compile(r"[?#].*", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A test or subtest of both runs whose status changed.

    Attributes:
        subtest: The subtest's name; ``None`` if this is the status of the test as a whole.
        before: The status before; ``None`` for a subtest that is absent because its test did not run to its end. ``after`` likewise.
        message: The message after, or the message before if it passes after.
    """

    test: str
    subtest: str | None
    before: Status | None
    after: Status | None
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lone:
    """A test or subtest (``None`` for the whole test) that only one run has, with the number of a whole test's subtests."""

    test: str
    subtest: str | None
    status: Status
    subtests: int


@dataclass(frozen=True, slots=True)
class Counts:
    """The numbers of tests and subtests of a run, by status."""

    tests: Mapping[FileStatus, int]
    subtests: Mapping[SubtestStatus, int]


@dataclass(slots=True, kw_only=True)
class Comparison:
    """The differences between two runs.

    Expectations play no part: a failure is a failure, whether it was expected or not.

    Attributes:
        same: How many statuses are the same, of tests and of subtests.
        changed: Tests and subtests that pass in neither run, with different statuses.
        paired: Identifiers of tests that count as the same one although their variants differ.
    """

    before: Counts
    after: Counts
    common: int
    same: int = 0
    newly_failing: list[Change] = field(default_factory=list)
    newly_passing: list[Change] = field(default_factory=list)
    changed: list[Change] = field(default_factory=list)
    only_before: list[Lone]
    only_after: list[Lone]
    paired: list[tuple[str, str]]


def compare(before: RunResult, after: RunResult, *, variant_blind: bool = False) -> Comparison:
    """Compare two runs by test and subtest.

    A subtest that passed and is absent after counts as newly failing if its test did not run to its end (a crash, a time-out, an error).
    Otherwise the test's set of subtests changed, and the subtest is in `Comparison.only_before`. Likewise the other way round.

    With `variant_blind`, tests that differ only in variant or subsuite are paired if each run has exactly one such test left.
    """
    pairs, alone_before, alone_after = _pair(before.results, after.results, variant_blind)
    names = [(_name(first), _name(second)) for first, second in pairs]
    comparison = Comparison(
        before=_counts(before),
        after=_counts(after),
        common=len(pairs),
        only_before=[_lone(result) for result in alone_before],
        only_after=[_lone(result) for result in alone_after],
        paired=[(first, second) for first, second in names if first != second],
    )
    for first, second in pairs:
        _compare_tests(first, second, comparison)
    return comparison


def _pair(
    before: Iterable[FileResult], after: Iterable[FileResult], variant_blind: bool
) -> tuple[list[tuple[FileResult, FileResult]], Iterable[FileResult], Iterable[FileResult]]:
    """Return the pairs of tests, and the unpaired tests of each run."""
    first, second = _numbered(before, _name), _numbered(after, _name)
    pairs = [(first.pop(key), second.pop(key)) for key in [*first] if key in second]
    if variant_blind:
        left, right = _by_page(first), _by_page(second)
        pages = [page for page, keys in left.items() if len(keys) == len(right.get(page, ())) == 1]
        pairs += [(first.pop(left[page][0]), second.pop(right[page][0])) for page in pages]
    return sorted(pairs, key=lambda pair: _name(pair[0])), first.values(), second.values()


def _by_page(results: Mapping[_Key, FileResult]) -> dict[str, list[_Key]]:
    groups: dict[str, list[_Key]] = defaultdict(list)
    for key, result in results.items():
        groups[_VARIANT.sub("", result.test)].append(key)
    return groups


def _compare_tests(before: FileResult, after: FileResult, comparison: Comparison) -> None:
    test = _name(after)
    _compare_statuses(test, None, before, after, comparison)
    first, second = _numbered(before.subtests, lambda subtest: subtest.name), _numbered(after.subtests, lambda subtest: subtest.name)
    for key in dict.fromkeys([*first, *second]):
        old, new = first.get(key), second.get(key)
        if old is not None and new is None and after.status in _COMPLETE:
            comparison.only_before.append(_lone(before, old))
        elif old is None and new is not None and before.status in _COMPLETE:
            comparison.only_after.append(_lone(after, new))
        else:
            _compare_statuses(test, key[0], old, new, comparison)


def _compare_statuses(
    test: str, subtest: str | None, before: FileResult | Subtest | None, after: FileResult | Subtest | None, comparison: Comparison
) -> None:
    old = None if before is None else before.status
    new = None if after is None else after.status
    if old == new:
        comparison.same += 1
        return
    telling = before if new in _GOOD else after
    change = Change(test=test, subtest=subtest, before=old, after=new, message="" if telling is None else telling.message)
    if (old in _GOOD) == (new in _GOOD):
        comparison.changed.append(change)
    else:
        (comparison.newly_failing if old in _GOOD else comparison.newly_passing).append(change)


def _numbered(items: Iterable[_Item], name: Callable[[_Item], str]) -> dict[_Key, _Item]:
    seen: Counter[str] = Counter()
    numbered = {}
    for item in items:
        key = name(item)
        numbered[key, seen[key]] = item
        seen[key] += 1
    return numbered


def _name(result: FileResult) -> str:
    return f"{result.subsuite}:{result.test}" if result.subsuite else result.test


def _lone(result: FileResult, subtest: Subtest | None = None) -> Lone:
    if subtest is not None:
        return Lone(test=_name(result), subtest=subtest.name, status=subtest.status, subtests=0)
    return Lone(test=_name(result), subtest=None, status=result.status, subtests=len(result.subtests))


def _counts(run: RunResult) -> Counts:
    return Counts(tests=dict(Counter(result.status for result in run.results)), subtests=dict(run.counts()))
