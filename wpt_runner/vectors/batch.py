"""Batches of recorded cases: chooses them, finds their corrections, and replays them in parallel processes."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import TypeAlias, TypeVar

import webnn
from webnn.context.devices.selection import Device
from webnn.processes.pool import End, cores, run_tasks
from webnn.wpt_runner.devices import DeviceType
from webnn.wpt_runner.expectations import NO_EXPECTATIONS, bundled
from webnn.wpt_runner.levels import Level, level_of
from webnn.wpt_runner.vectors.cases import Case, Outcome, Status
from webnn.wpt_runner.vectors.corrections import (
    Correction,
    Fault,
    check_corrections,
    check_faults,
    load_corrections,
    load_faults,
    read_corrections,
)
from webnn.wpt_runner.vectors.replay import run_case

__all__ = [
    "Group",
    "Task",
    "choose",
    "choose_levels",
    "default_jobs",
    "expect",
    "find_stale",
    "group_cases",
    "prepare",
    "replay",
    "sample",
]

E = TypeVar("E", Correction, Fault)
Task: TypeAlias = tuple[Case, Correction | None, Fault | None]

#: Starting a process takes as long as some tens of small cases.
_CASES_PER_PROCESS = 32
_STATUSES = {End.RAISED: Status.ERROR, End.TIMEOUT: Status.TIMEOUT, End.DIED: Status.CRASHED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Cases that share their corrections, and the faults of the device, both by the case's name."""

    cases: Sequence[Case]
    corrections: Mapping[str, Correction]
    faults: Mapping[str, Fault] = field(default_factory=dict)


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


def group_cases(cases: Sequence[Case], expectations: str | None, device: Device) -> list[Group]:
    """Find the corrections of cases: by a level that the package has, a TOML file, or ``"none"``; by default those of each case's level.

    A level's corrections come with the faults of a device. On another device than the CPU, recorded values that are a little wrong may be
    within the tolerance: there, a correction of values is not used where the case passes without it.

    Raises:
        OSError: The file cannot be read.
        ValueError: There are no such expectations, or they are not valid.
    """
    if expectations == NO_EXPECTATIONS:
        return [Group(cases=cases, corrections={})]
    if expectations is not None and expectations in bundled():
        return [_of_level(cases, expectations, device)]
    if expectations is not None:
        path = Path(expectations)
        if not path.exists():
            known = ", ".join(bundled())
            raise ValueError(f"expectations must be a file, {NO_EXPECTATIONS}, or one of {known}, got {expectations!r}")
        return [Group(cases=cases, corrections=read_corrections(path))]
    levels: dict[str, list[Case]] = {}
    for case in cases:
        levels.setdefault(case.level, []).append(case)
    return [_of_level(each, level, device) for level, each in levels.items()]


def _of_level(cases: Sequence[Case], level: str, device: Device) -> Group:
    return Group(cases=cases, corrections=load_corrections(level), faults=load_faults(level, device))


def default_jobs(count: int) -> int:
    """Return a suitable number of processes for a number of cases, at most the number of cores."""
    return max(1, min(cores(), -(-count // _CASES_PER_PROCESS)))


def choose(groups: Iterable[Group], filters: Sequence[str]) -> list[Task]:
    """Choose cases to run: those that fit a filter (in any letter case, a part of ``"file: name"``, or an operation); all without filters.

    Raises:
        ValueError: A filter fits no case.
    """
    tasks = [(case, group.corrections.get(case.name), group.faults.get(case.name)) for group in groups for case in group.cases]
    if not filters:
        return tasks
    unused = next((text for text in filters if not any(_fits(case, text) for case, *_ in tasks)), None)
    if unused is not None:
        raise ValueError(f"no case fits the filter {unused!r}")
    return [task for task in tasks if any(_fits(task[0], text) for text in filters)]


def sample(tasks: list[Task], count: int, seed: int) -> list[Task]:
    """Return a random sample of cases, in their order; all of them if there are no more."""
    return tasks if count >= len(tasks) else [tasks[place] for place in sorted(random.Random(seed).sample(range(len(tasks)), count))]


def _fits(case: Case, text: str) -> bool:
    text = text.casefold()
    return text in case.title.casefold() or any(text == operation.casefold() for operation in case.operations)


def replay(tasks: Sequence[Task], deviceType: DeviceType, *, jobs: int, timeout: float) -> Generator[Outcome]:
    """Run cases in parallel, and yield the outcome of each when it ends. Closing the iterator ends the processes at once."""
    with closing(run_tasks(tasks, partial(prepare, deviceType), jobs=jobs, limit=lambda _: timeout)) as finished:
        for each in finished:
            case, _, fault = each.task
            if each.result is None:
                outcome = Outcome(case=case, status=_STATUSES[each.end], failure=each.problem, worst=None, seconds=each.seconds)
            else:
                outcome = replace(each.result, case=case, seconds=each.seconds)
            yield expect(outcome, fault)


def expect(outcome: Outcome, fault: Fault | None) -> Outcome:
    """Return the outcome of a case that may have a fault: it is expected if the case fails as the fault says."""
    return replace(outcome, status=Status.EXPECTED) if fault is not None and outcome.status == fault.status else outcome


def prepare(deviceType: DeviceType) -> Callable[[Task, Callable[[None], None]], Outcome]:
    """Prepare a process: it replays cases, those of a level in one context until one does not pass. A context may have a process itself."""
    find_ml = cache(Level.make_ml)
    contexts: dict[str, webnn.MLContext] = {}

    def work(task: Task, _: Callable[[None], None]) -> Outcome:
        level = task[0].level
        with warnings.catch_warnings():
            # The process that reports names the fallback of the device once.
            warnings.simplefilter("ignore")
            context = contexts.pop(level, None) or find_ml(level_of(level)).createContextSync(deviceType=deviceType)
            outcome = run_case(task[0], context, task[1])
        if outcome.passed:
            contexts[level] = context
        return outcome

    return work


def find_stale(groups: Iterable[Group], outcomes: Iterable[Outcome], *, numbers: bool = True) -> list[str]:
    """Return the stale corrections and faults, judged by the cases that ran and the files that were read.

    Args:
        groups: The cases that were read.
        outcomes: The outcomes of the cases that ran.
        numbers: Corrections of values are judged, too: they are for the default CPU provider.
    """
    ran = list(outcomes)
    stale: list[str] = []
    for group in groups:
        levels = {case.level for case in group.cases}
        here = [outcome for outcome in ran if outcome.case.level in levels]
        corrections = {name: each for name, each in group.corrections.items() if numbers or each.error}
        stale += check_corrections(_judge(corrections, group, here), here)
        stale += check_faults(_judge(group.faults, group, here), here)
    return stale


def _judge(entries: Mapping[str, E], group: Group, ran: Sequence[Outcome]) -> dict[str, E]:
    """Return the entries of cases that ran, and of cases that the files that were read do not have."""
    names, files = {case.name for case in group.cases}, {case.file for case in group.cases}
    known = {outcome.case.name for outcome in ran}
    return {name: each for name, each in entries.items() if name in known or (name not in names and each.file in files)}
