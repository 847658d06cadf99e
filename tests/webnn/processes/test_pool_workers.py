"""Tasks in processes: one that ends badly costs nothing but itself."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support import PATIENCE
from webnn.processes.pool import Distrust, End, StartError, Worker, cores, run_tasks

pytestmark = pytest.mark.processes

Note = Callable[[str], None]
#: How long a task may take that hangs, in seconds. While it does not work, it gets ten times as much: time enough to take its first note.
LIMIT = 0.4


def work(task: str, note: Note) -> str:
    """Do what a task says."""
    note(f"began {task}")
    match task.split():
        case ["hang"]:
            time.sleep(10 * PATIENCE)
        case ["spin"]:
            while True:
                pass
        case ["starve", seconds]:
            # As on a machine that is busy with something else.
            subprocess.Popen(["sh", "-c", f"sleep {seconds}; kill -CONT {os.getpid()}"])
            os.kill(os.getpid(), signal.SIGSTOP)
            time.sleep(0.1)  # the signal may stop another thread first
        case ["exit", code]:
            os._exit(int(code))
        case ["signal", number]:
            signal.raise_signal(int(number))
        case ["raise", text]:
            raise LookupError(text)
        case ["recurse", depth]:
            return str(recurse(int(depth)))
    note(f"ended {task}")
    return task.upper()


def recurse(depth: int) -> int:
    return depth and 1 + recurse(depth - 1)


def prepare() -> Callable[[str, Note], str]:
    return work


def fail_to_prepare() -> Callable[[str, Note], str]:
    raise LookupError("no engine here")


def limit(task: str) -> float:
    return LIMIT if task.split(maxsplit=1)[0] in {"hang", "spin", "starve"} else PATIENCE


ENDS = [
    ("one", End.RETURNED, "ONE", "", ["began one", "ended one"]),
    ("raise text", End.RAISED, None, "LookupError: text (in test_pool_workers.py, line ", ["began raise text"]),
    ("exit 3", End.DIED, None, "the process died (exit code 3)", ["began exit 3"]),
    ("hang", End.TIMEOUT, None, f"took longer than {LIMIT:g} s, and its process was killed", ["began hang"]),
]
if sys.platform != "win32":
    ENDS.append((f"signal {signal.SIGSEGV}", End.DIED, None, "the process died (signal 11, SIGSEGV)", [f"began signal {signal.SIGSEGV}"]))


def test_each_task_ends_in_its_own_way() -> None:
    # A good one after each bad one: the others go on.
    tasks = [task for task, *_ in ENDS] + ["two", "three"]
    began = time.monotonic()
    finished = {each.task: each for each in run_tasks(tasks, prepare, jobs=2, limit=limit)}
    whole = time.monotonic() - began
    assert list(finished) != []
    for task, end, result, problem, notes in ENDS:
        each = finished[task]
        assert (each.end, each.result, list(each.notes)) == (end, result, notes)
        assert each.problem.startswith(problem)
        assert bool(each.problem) == bool(problem)
        assert 0 <= each.seconds <= whole
    assert [finished[task].result for task in ("two", "three")] == ["TWO", "THREE"]
    assert finished["hang"].seconds >= 10 * LIMIT


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the time of a process is not known")
def test_a_task_has_its_time_of_the_processor() -> None:
    worker: Worker[str, str, str] = Worker(prepare, limit)
    try:
        finished = worker.run(f"starve {2 * LIMIT}")
        assert (finished.end, finished.problem) == (End.RETURNED, "")
        assert finished.seconds >= 2 * LIMIT
        finished = worker.run("spin")
        assert (finished.end, finished.problem) == (End.TIMEOUT, f"took longer than {LIMIT:g} s, and its process was killed")
    finally:
        worker.kill()


def test_no_tasks() -> None:
    assert list(run_tasks([], prepare, jobs=2, limit=limit)) == []


def test_closing_ends_the_processes_at_once() -> None:
    others = set(multiprocessing.active_children())
    with closing(run_tasks(["one", "hang"], prepare, jobs=2, limit=lambda _: 10 * PATIENCE)) as finished:
        assert next(finished).task == "one"
        assert set(multiprocessing.active_children()) - others
    assert set(multiprocessing.active_children()) <= others


def test_a_failed_preparation() -> None:
    with pytest.raises(StartError, match="a process could not start: LookupError: no engine here"):
        list(run_tasks(["one"], fail_to_prepare, jobs=2, limit=limit))


class Message:
    """An object whose loading makes a folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (self.folder,)


def prepare_messages() -> Callable[[str, Any], object]:
    return lambda folder, _: Message(folder)


@pytest.mark.parametrize("distrusted", [False, True])
def test_a_message_cannot_run_code_in_the_parent_of_a_process_that_is_not_trusted(tmp_path: Path, distrusted: bool) -> None:
    folder = tmp_path / "made"
    distrust = Distrust(confine=nothing, types=(Path,)) if distrusted else None
    worker: Worker[str, Any, object] = Worker(prepare_messages, limit, distrust)
    try:
        finished = worker.run(str(folder))
    finally:
        worker.kill()
    assert folder.exists() != distrusted
    assert finished.end is (End.DIED if distrusted else End.RETURNED)
    assert ("mkdir" in finished.problem) == distrusted


def nothing() -> None:
    pass


def test_one_worker() -> None:
    worker: Worker[str, str, str] = Worker(prepare, limit)
    try:
        # There is room to recurse.
        assert [worker.run(task).result for task in ("one", "two", "recurse 900")] == ["ONE", "TWO", "900"]
        assert not worker.dead
        finished = worker.run("exit 3")
        assert (finished.end, worker.dead) == (End.DIED, True)
    finally:
        worker.kill()


def test_a_worker_that_is_killed_has_ended() -> None:
    worker: Worker[str, str, str] = Worker(prepare, limit)
    try:
        assert worker.run("one").result == "ONE"
    finally:
        worker.kill()
    # Not only soon.
    assert worker.process.exitcode is not None


def test_cores() -> None:
    assert 1 <= cores() <= (os.cpu_count() or 1)
