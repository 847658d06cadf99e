"""Runs tasks in processes: a task that kills its process, or hangs, does not affect other tasks.

`concurrent.futures.ProcessPoolExecutor` gives up all tasks when one of its processes dies, and has no time limit. Processes are started
afresh (*spawn*) on every system: what they run, and what they are given, must be importable and picklable.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from io import BytesIO
from multiprocessing import connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any, Generic, TypeVar

from webnn.context.devices.selection import usable_cores as cores
from webnn.context.processes import describe_code, end_with_parent
from webnn.processes.spawn import MOST_PROCESSES, describe_error, starting

__all__ = ["Distrust", "End", "Finished", "StartError", "Worker", "cores", "run_tasks"]

T = TypeVar("T")
N = TypeVar("N")
R = TypeVar("R")

#: Does a task; its second argument takes notes, which are kept even if the task fails.
Work = Callable[[T, Callable[[N], None]], R]

#: How long a process may take from its start to its first task, in seconds; an import of everything takes about one.
_START_LIMIT = 120.0
#: How many times its limit a task may take altogether, if its process gets too little of the processor to use up the limit.
_PATIENCE = 10
#: A task that had too little of the processor gets at least this number of seconds more.
_LEAST_WAIT = 0.1
#: The size of a thread's stack. Recursion in an interpreter needs more than the default of some systems.
_STACK = 32 << 20

_SPAWN = multiprocessing.get_context("spawn")


class StartError(RuntimeError):
    """A process could not start, or not prepare itself for tasks."""


class End(Enum):
    """How a task ended."""

    RETURNED = auto()
    RAISED = auto()
    TIMEOUT = auto()
    DIED = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished(Generic[T, N, R]):
    """A task that has ended, with its result or the reason why there is none, what it noted, and how long it ran, in seconds."""

    task: T
    end: End
    result: R | None
    problem: str
    notes: Sequence[N]
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Distrust:
    """How a process is treated whose tasks may take it over.

    Attributes:
        confine: Puts walls around the process, before it loads what its tasks need.
        types: The classes of which its messages may hold objects, beside plain data: loading any other one could run code.
    """

    confine: Callable[[], object]
    types: tuple[type, ...]


def run_tasks(
    tasks: Sequence[T], prepare: Callable[[], Work[T, N, R]], *, jobs: int, limit: Callable[[T], float], distrust: Distrust | None = None
) -> Generator[Finished[T, N, R]]:
    """Run tasks in several processes, and yield each one when it ends. Closing the iterator ends the processes at once.

    ``prepare`` runs once in each process, and returns the function that does a task; `StartError` if it fails. ``limit`` is how long a task
    may take, in seconds; its process is killed then. On a busy machine it gets more time, until it has had so much of the processor: at
    most ten times as much. (Elsewhere than on Linux nothing is known of that, and every task gets it.)
    """
    waiting = deque(tasks)
    workers: list[Worker[T, N, R]] = []
    try:
        while waiting or workers:
            while waiting and len(workers) < min(jobs, MOST_PROCESSES):
                workers.append(Worker(prepare, limit, distrust))
                workers[-1].send(waiting.popleft())
            for worker in _wait(workers):
                finished = worker.receive()
                if finished is None:
                    continue
                if waiting and not worker.dead:
                    worker.send(waiting.popleft())
                else:
                    worker.kill()
                    workers.remove(worker)
                yield finished
    finally:
        for worker in workers:
            worker.kill()


def _wait(workers: Sequence[Worker[T, N, R]]) -> list[Worker[T, N, R]]:
    """Wait until processes send a message or run out of time; return these."""
    patience = min(worker.deadline for worker in workers) - time.monotonic()
    ready = connection.wait([worker.connection for worker in workers], max(0.0, patience))
    now = time.monotonic()
    return [worker for worker in workers if worker.connection in ready or worker.deadline <= now]


class Worker(Generic[T, N, R]):
    """A process that does tasks, seen from the one that started it. Its arguments are those of `run_tasks`."""

    def __init__(self, prepare: Callable[[], Work[T, N, R]], limit: Callable[[T], float], distrust: Distrust | None = None) -> None:
        self.connection, theirs = _SPAWN.Pipe()
        self._types = None if distrust is None else {End, *distrust.types}
        # As bytes, because loading it imports much, which must happen behind the walls.
        given = (theirs, None if distrust is None else distrust.confine, pickle.dumps(prepare))
        self.process: SpawnProcess = _SPAWN.Process(target=_serve, args=given, daemon=True)
        try:
            with starting():
                self.process.start()
        except OSError as error:
            raise StartError(f"a process could not start: {error}") from error
        # The connection ends with the process, because no other process holds its other side.
        theirs.close()
        self.dead = False
        self._limit = limit
        self._ready = False
        self._thread = 0
        self._began = time.monotonic()
        self.deadline = self._began + _START_LIMIT

    def send(self, task: T) -> None:
        """Give it a task, which it begins as soon as it is ready."""
        self._task = task
        self._notes: list[N] = []
        if self._ready:
            self._begin()

    def _begin(self) -> None:
        self._began = time.monotonic()
        self._worked = self._processor_time() or 0.0
        self.deadline = self._began + self._limit(self._task)
        # If it has just died, `receive` reports that.
        with contextlib.suppress(OSError):
            self.connection.send(self._task)

    def receive(self) -> Finished[T, N, R] | None:
        """Receive its message, which `_wait` has waited for; return its task if that has ended."""
        try:
            if self.connection.poll():
                end, value, seconds = self._load(self.connection.recv_bytes())
            elif (rest := self._rest()) > 0:
                self.deadline = time.monotonic() + max(rest, _LEAST_WAIT)
                return None
            else:
                seconds = time.monotonic() - self._began
                limit = self._limit(self._task) if self._ready else _START_LIMIT
                end, value = End.TIMEOUT, f"took longer than {limit:.3g} s, and its process was killed"
        except (EOFError, OSError):
            self.process.join(1)
            code = self.process.exitcode
            value = "the process closed its connection" if code is None else f"the process died ({describe_code(code)})"
            end, seconds = End.DIED, time.monotonic() - self._began
        except pickle.UnpicklingError as error:
            end, value, seconds = End.DIED, f"the process sent what it must not: {error}", time.monotonic() - self._began
        if end is None:
            self._notes.append(value)
            return None
        if not self._ready:
            if end is not End.RETURNED:
                raise StartError(f"a process could not start: {value}")
            self._ready, self._thread = True, value
            self._begin()
            return None
        self.dead = end in (End.TIMEOUT, End.DIED)
        result, problem = (value, "") if end is End.RETURNED else (None, value)
        return Finished(task=self._task, end=end, result=result, problem=problem, notes=tuple(self._notes), seconds=seconds)

    def _load(self, message: bytes) -> Any:
        if self._types is None:
            return pickle.loads(message)
        try:
            return _Loader(message, self._types).load()
        except Exception as error:  # hostile bytes can raise anything
            raise pickle.UnpicklingError(f"{error!r:.200}") from None

    def _rest(self) -> float:
        """Return how many seconds the task may still take, when its time by the clock is over."""
        if not self._ready:
            return 0.0
        limit, worked = self._limit(self._task), self._processor_time()
        elapsed = time.monotonic() - self._began
        return min(limit * _PATIENCE - elapsed, limit - (0.0 if worked is None else worked - self._worked))

    def _processor_time(self) -> float | None:
        """Return how long the thread of the tasks has run, in seconds; ``None`` if the system does not say it."""
        try:
            numbers = Path(f"/proc/{self.process.pid}/task/{self._thread}/stat").read_text().rpartition(")")[2].split()
            return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")
        except (OSError, IndexError, ValueError):  # another system, or the process has just died
            return None

    def run(self, task: T) -> Finished[T, N, R]:
        """Do a task, and wait for its end; the process may be dead then. If it cannot start, that is a `StartError`."""
        self.send(task)
        finished: Finished[T, N, R] | None = None
        while finished is None:
            _wait([self])
            finished = self.receive()
        if self.dead:
            self.kill()
        return finished

    def kill(self) -> None:
        """End it at once."""
        self.process.kill()
        self.process.join()
        self.connection.close()


class _Loader(pickle.Unpickler):
    """Loads a message that holds objects of some classes only."""

    def __init__(self, message: bytes, types: Collection[type]) -> None:
        super().__init__(BytesIO(message))
        self._types = {(each.__module__, each.__qualname__): each for each in types}

    def find_class(self, module: str, name: str) -> Any:
        """Return a class by its name."""
        try:
            return self._types[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"an object of {module}.{name}") from None


def _serve(link: connection.Connection, confine: Callable[[], object] | None, prepare: bytes) -> None:
    """Do tasks until the connection ends: the main function of a process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if confine is not None:
        _close_others(link)
        confine()
    end_with_parent()
    threading.stack_size(_STACK)
    thread = threading.Thread(target=_do_tasks, args=(link, prepare))
    thread.start()
    thread.join()


def _close_others(link: connection.Connection) -> None:
    """Close what this process has inherited but its outputs and its connection: another process may act on what comes there."""
    if sys.platform == "linux":
        os.closerange(3, link.fileno())
        os.closerange(link.fileno() + 1, os.sysconf("SC_OPEN_MAX"))


def _do_tasks(link: connection.Connection, prepare: bytes) -> None:
    # Its parent closes the connection, or dies.
    with contextlib.suppress(EOFError, OSError):
        try:
            work: Work[Any, Any, Any] = pickle.loads(prepare)()
        except Exception as error:  # whatever it is, the parent tells it
            link.send((End.RAISED, describe_error(error), 0.0))
            return
        link.send((End.RETURNED, threading.get_native_id(), 0.0))
        while True:
            task = link.recv()
            began = time.perf_counter()
            end, value = End.RETURNED, None
            try:
                value = work(task, lambda note: link.send((None, note, 0.0)))
            except Exception as error:  # as above
                end, value = End.RAISED, describe_error(error)
            link.send((end, value, time.perf_counter() - began))
