"""Programs that run on other workers: other processes, or other machines."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass

import webnn
from webnn.fuzz.campaign import Campaign
from webnn.fuzz.hosts import Emulator
from webnn.fuzz.judges import Finding, Rebuilding
from webnn.fuzz.programs import FuzzProgram
from webnn.processes.executors import Workers
from webnn.processes.spread import spread

__all__ = ["Setting", "examine_elsewhere", "examine_group"]

#: The hosts watch all graphs of their process: one group runs at a time.
_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """The settings of an `Emulator`."""

    ml: webnn.ML
    revision: str
    dialect: str | None


def examine_group(setting: Setting, programs: Sequence[FuzzProgram]) -> tuple[list[list[Finding]], int]:
    """Run programs, in a worker; return the findings of each, and how many graphs they computed."""
    with _LOCK:
        campaign = Campaign(Emulator(setting.ml, setting.revision, setting.dialect), Rebuilding(setting.ml))
        found = campaign.examine(programs)
        # Programs that ended a realm were classed there.
        for each in campaign.classes.values():
            found[programs.index(each.program)].append(each.finding)
        return found, campaign.graphs


def examine_elsewhere(
    workers: Workers, setting: Setting, groups: Iterable[Sequence[FuzzProgram]]
) -> Generator[tuple[Sequence[FuzzProgram], list[list[Finding]], int]]:
    """Run groups of programs on workers; see `webnn.fuzz.campaign.Examine`. The order of the groups is kept.

    A program that ends its worker is a finding.
    """
    with closing(spread(workers, examine_group, groups, lambda group: [setting, group], ordered=True)) as outcomes:
        for outcome in outcomes:
            if outcome.result is not None:
                yield outcome.task, *outcome.result
            elif len(outcome.task) > 1:
                # One of them ended the worker: run each one alone.
                yield from examine_elsewhere(workers, setting, [[program] for program in outcome.task])
            else:
                [program] = outcome.task
                yield [program], [[Finding("emulator", " ".join(program.operations), "crash", "", outcome.problem)]], 0
