"""Stand-ins for parts of a pool, for tests that are not about processes or about time."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Generator, Sequence
from typing import Any

import pytest

from webnn.processes.pool import End, Finished, Work, Worker

__all__ = ["expire", "run_tasks_here"]


def run_tasks_here(
    tasks: Sequence[Any], prepare: Callable[[], Work[Any, Any, Any]], *, jobs: int, limit: Callable[[Any], float], distrust: object = None
) -> Generator[Finished[Any, Any, Any]]:
    """Do what `run_tasks` does, in this process and one after another. No task may fail."""
    work = prepare()
    for task in tasks:
        notes: list[Any] = []
        began = time.perf_counter()
        with warnings.catch_warnings():
            # Each process has its own.
            warnings.simplefilter("ignore")
            result = work(task, notes.append)
        seconds = time.perf_counter() - began
        yield Finished(task=task, end=End.RETURNED, result=result, problem="", notes=tuple(notes), seconds=seconds)


def expire(monkeypatch: pytest.MonkeyPatch, is_due: Callable[[Any, Sequence[Any]], bool]) -> None:
    """Move the clock of a task on to its time limit, when it is due: no test waits for it, and no slow machine gets there too early.

    Args:
        monkeypatch: Undoes it.
        is_due: Tells by the task and its notes so far whether it is.
    """
    begin, receive = Worker._begin, Worker.receive

    def begin_and_expire(worker: Worker[Any, Any, Any]) -> None:
        begin(worker)
        look(worker)

    def receive_and_expire(worker: Worker[Any, Any, Any]) -> Finished[Any, Any, Any] | None:
        finished = receive(worker)
        if finished is None:
            look(worker)
        return finished

    def look(worker: Worker[Any, Any, Any]) -> None:
        if is_due(worker._task, worker._notes):
            rest = worker.deadline - time.monotonic()
            worker._began -= rest
            worker._worked -= rest
            worker.deadline -= rest

    monkeypatch.setattr(Worker, "_begin", begin_and_expire)
    monkeypatch.setattr(Worker, "receive", receive_and_expire)
