"""Batches of recorded cases: chooses them, finds their corrections, and replays them in parallel processes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Literal, TypeAlias

import webnn
from webnn.processes.pool import End, cores, run_tasks
from webnn.wpt_runner.expectations import NO_EXPECTATIONS, bundled
from webnn.wpt_runner.levels import Level, level_of
from webnn.wpt_runner.vectors.cases import Case, Outcome, Status
from webnn.wpt_runner.vectors.corrections import Correction, check_corrections, load_corrections, read_corrections
from webnn.wpt_runner.vectors.replay import run_case

__all__ = [
    "DeviceType",
    "Group",
    "Task",
    "choose",
    "choose_levels",
    "default_jobs",
    "describe_device",
    "find_stale",
    "group_cases",
    "prepare",
    "replay",
]

DeviceType: TypeAlias = Literal["cpu", "gpu", "npu"]
Task: TypeAlias = tuple[Case, Correction | None]

#: Starting a process takes as long as some tens of small cases.
_CASES_PER_PROCESS = 32
_STATUSES = {End.RAISED: Status.ERROR, End.TIMEOUT: Status.TIMEOUT, End.DIED: Status.CRASHED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Cases that share their corrections, which are found by the case's name."""

    cases: Sequence[Case]
    corrections: Mapping[str, Correction]


def choose_levels(cases: Sequence[Case], levels: Sequence[str]) -> Sequence[Case]:
    """Choose the cases of some levels, all cases if no level is given.

    Raises:
        ValueError: A level has no cases.
    """
    known = {case.level for case in cases}
    for level in levels:
        if level not in known:
            raise ValueError(f"no case is of the level {level!r}: there are {', '.join(repr(each) for each in sorted(known))}")
    return [case for case in cases if not levels or case.level in levels]


def group_cases(cases: Sequence[Case], expectations: str | None) -> list[Group]:
    """Find the corrections of cases: by a level that the package has, a TOML file, or ``"none"``; by default those of each case's level.

    Raises:
        OSError: The file cannot be read.
        ValueError: There are no such expectations, or they are not valid.
    """
    if expectations == NO_EXPECTATIONS:
        return [Group(cases=cases, corrections={})]
    if expectations is not None and expectations in bundled():
        return [Group(cases=cases, corrections=load_corrections(expectations))]
    if expectations is not None:
        path = Path(expectations)
        if not path.exists():
            known = ", ".join(bundled())
            raise ValueError(f"expectations must be a file, {NO_EXPECTATIONS}, or one of {known}, got {expectations!r}")
        return [Group(cases=cases, corrections=read_corrections(path))]
    levels: dict[str, list[Case]] = {}
    for case in cases:
        levels.setdefault(case.level, []).append(case)
    return [Group(cases=each, corrections=load_corrections(level)) for level, each in levels.items()]


def default_jobs(count: int) -> int:
    """Return a suitable number of processes for a number of cases, at most the number of cores."""
    return max(1, min(cores(), -(-count // _CASES_PER_PROCESS)))


def choose(groups: Iterable[Group], filters: Sequence[str]) -> list[Task]:
    """Choose cases to run: those that fit a filter (in any letter case, a part of ``"file: name"``, or an operation); all without filters.

    Raises:
        ValueError: A filter fits no case.
    """
    tasks = [(case, group.corrections.get(case.name)) for group in groups for case in group.cases]
    if not filters:
        return tasks
    unused = next((text for text in filters if not any(_fits(case, text) for case, _ in tasks)), None)
    if unused is not None:
        raise ValueError(f"no case fits the filter {unused!r}")
    return [task for task in tasks if any(_fits(task[0], text) for text in filters)]


def _fits(case: Case, text: str) -> bool:
    text = text.casefold()
    return text in f"{case.file}: {case.name}".casefold() or any(text == operation.casefold() for operation in case.operations)


def replay(tasks: Sequence[Task], deviceType: DeviceType, *, jobs: int, timeout: float) -> Generator[Outcome]:
    """Run cases in parallel, and yield the outcome of each when it ends. Closing the iterator ends the processes at once."""
    with closing(run_tasks(tasks, partial(prepare, deviceType), jobs=jobs, limit=lambda _: timeout)) as finished:
        for each in finished:
            case, _ = each.task
            if each.result is None:
                yield Outcome(case=case, status=_STATUSES[each.end], failure=each.problem, worst=None, seconds=each.seconds)
            else:
                yield replace(each.result, case=case, seconds=each.seconds)


def prepare(deviceType: DeviceType) -> Callable[[Task, Callable[[None], None]], Outcome]:
    """Prepare a process: it replays cases, each in a context of its own."""
    find_ml = cache(Level.make_ml)

    def work(task: Task, _: Callable[[None], None]) -> Outcome:
        with warnings.catch_warnings():
            # The process that reports names the fallback of the device once.
            warnings.simplefilter("ignore")
            ml = find_ml(level_of(task[0].level))
            return run_case(task[0], ml.createContextSync(deviceType=deviceType), task[1])

    return work


def describe_device(deviceType: DeviceType) -> list[str]:
    """Return notes on a device of this machine: whether it falls back to another one.

    Raises:
        NotSupportedError: There is no such device.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        webnn.ML().createContextSync(deviceType=deviceType)
    return [str(each.message) for each in caught]


def find_stale(groups: Iterable[Group], outcomes: Iterable[Outcome]) -> list[str]:
    """Return the stale corrections, judged by the cases that ran and the files that were read."""
    ran = list(outcomes)
    stale: list[str] = []
    for group in groups:
        names = {case.name for case in group.cases}
        files = {case.file for case in group.cases}
        levels = {case.level for case in group.cases}
        here = [outcome for outcome in ran if outcome.case.level in levels]
        known = {outcome.case.name for outcome in here}
        hidden = names - known
        relevant = {name: each for name, each in group.corrections.items() if name in known or (name not in hidden and each.file in files)}
        stale += check_corrections(relevant, here)
    return stale
