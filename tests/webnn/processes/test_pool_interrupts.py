"""Ctrl-C at the places where a signal can come while tasks run in processes: all processes end."""

from __future__ import annotations

import multiprocessing
import signal
import sys
from collections.abc import Callable
from contextlib import closing

import pytest

from tests.interrupts import BYTECODES, SIGNALS, signals
from tests.support import wait_until
from webnn.processes import pool, spawn

pytestmark = [pytest.mark.processes, BYTECODES]
FILES = frozenset(module.__file__ for module in (pool, spawn))


def prepare() -> Callable[[int, Callable[[str], None]], int]:
    return work


def work(task: int, note: Callable[[str], None]) -> int:
    note("begun")
    return task + 1


# An interrupt inside of `multiprocessing` leaves a connection to the collector.
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
@SIGNALS
def test_tasks(step: int) -> None:
    before = {*multiprocessing.active_children()}
    state = signal.getsignal(signal.SIGINT), sys.modules["__main__"], [*sys.path], multiprocessing.current_process().daemon
    count = 0
    for interrupt in signals(FILES, step, 3):
        results = []
        with interrupt.armed(), closing(pool.run_tasks([1, 2], prepare, jobs=2, limit=lambda _: 60)) as running:
            results = sorted(each.result or 0 for each in running)
        assert results in ([], [2, 3]), interrupt.place
        assert interrupt.place or results
        count += 1
        wait_until(lambda: {*multiprocessing.active_children()} <= before)
        assert state == (signal.getsignal(signal.SIGINT), sys.modules["__main__"], sys.path, multiprocessing.current_process().daemon)
        assert spawn._LOCK.acquire(blocking=False), interrupt.place
        spawn._LOCK.release()
    print(f"{count} interrupts")
