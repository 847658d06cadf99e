"""A context's timeline: its work runs in order, one job at a time.

A hand-over to another thread costs more than a small graph, so the timeline avoids it where a program cannot notice. Jobs are queued. A
thread that waits for a result runs the jobs before it itself. If another thread has the turn, it waits, at most a few milliseconds longer
than that thread's job: until then the other one may go on with short jobs. Jobs that no thread waits for are left to a worker thread. It
looks at the queue every two
milliseconds, less often while another thread is running jobs, and runs those that were already there when it looked last. The worker
starts with the first job and ends when the queue has been quiet for a while: an idle timeline has no thread. The interpreter's exit waits
for queued jobs.

A fork waits for the jobs that are running. The child has the queues, but none of the workers: it starts its own.
"""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable
from threading import get_ident
from time import monotonic
from typing import TypeVar

__all__ = ["Timeline"]

T = TypeVar("T")

#: How often the worker looks at the queue, in seconds.
_GRACE = 0.002
#: A worker that finds nothing makes longer and longer pauses, and ends when the next one would be this many times the first.
_LONGEST_PAUSE = 25
#: While another thread runs jobs, the pauses grow up to this many times the first.
_BUSY_PAUSE = 8
#: When a thread that waits for the turn looks for the first time whether it is free, in seconds; then in eight times the time, and so on,
#: up to the second number.
_FIRST_LOOK, _LAST_LOOK = 0.00005, 0.05
#: How long a thread with many short jobs keeps the turn while others wait, in seconds. It hands the turn over earlier if its jobs take
#: longer than the second number.
_PATIENCE, _LONG_JOB = 0.005, 0.0005
#: The most jobs, and the most bytes held by jobs, that a program may queue before it must wait. They bound the use of memory.
_MOST_JOBS = 2**16
_MOST_BYTES = 2**28


class Timeline:
    """A queue of jobs, and the threads that take turns at it.

    A job takes no arguments. It runs again if a `KeyboardInterrupt` interrupted it, so it must be idempotent: it may read and write only
    what later jobs may change.

    Args:
        grace: How often the worker looks at the queue, in seconds. A job waits one to two such intervals for a thread that needs its
            result.
    """

    __slots__ = (
        "__weakref__",
        "_active",
        "_employed",
        "_grace",
        "_held",
        "_lock",
        "_owner",
        "_passed",
        "_pending",
        "_signal",
        "_since",
        "_turn",
        "_urgent",
        "_waiting",
        "_watching",
    )

    def __init__(self, grace: float = _GRACE) -> None:
        self._grace = grace
        #: The jobs. Each is taken off once it has run, by the thread that has the turn.
        self._pending: deque[Callable[[], object]] = deque()
        #: How many bytes were queued since the queue was empty.
        self._held = 0
        #: Held by the thread that runs jobs, the owner.
        self._turn = threading.Lock()
        self._owner = 0
        #: The threads that wait for the turn, the one first that has waited longest: locks that are released when they are given it.
        self._waiting: deque[threading.Lock] = deque()
        #: Since when threads wait while one keeps the turn, and how many times it has given the turn back since then.
        self._since = 0.0
        self._passed = 0
        #: Whether there is a worker. The lock guards its start and its end.
        self._employed = False
        self._lock = threading.Lock()
        #: Whether the worker looks often. Otherwise a release of the signal must wake it.
        self._watching = False
        self._signal = threading.Lock()
        self._signal.acquire()
        #: Whether a job was queued since the worker looked last, and whether a thread waits for one.
        self._active = False
        self._urgent = False
        _FORKS.add(self)

    def post(self, job: Callable[[], object], size: int = 0) -> None:
        """Append a job that holds so many bytes, and return; nobody waits for it."""
        self._pending.append(job)
        self._held += size
        self._active = True
        if not self._watching:
            self._wake()
        if (len(self._pending) > _MOST_JOBS or self._held > _MOST_BYTES) and self._owner != get_ident():
            self.finish()

    def hurry(self, job: Callable[[], object]) -> None:
        """Append a job and return. Its result is awaited, so the worker begins at once."""
        self._pending.append(job)
        self._urgent = self._active = True
        if not self._wake() and self._owner != get_ident():
            self._run_all(blocking=True)

    def begin(self) -> bool:
        """Take the turn if the timeline is idle; tell whether it was. Then the work must be followed by `end`, in any case."""
        if not self._turn.acquire(False):
            return False
        self._owner = get_ident()
        if self._pending:
            self.end()
            return False
        return True

    def end(self) -> None:
        """Give the turn back, or to a thread that waits for it."""
        self._owner = 0
        if self._waiting and self._hand_over():
            return
        self._turn.release()
        if self._pending:
            self._look_after()

    def attempt(self, job: Callable[[], object]) -> bool:
        """Run a job at once if the timeline is idle; tell whether it was."""
        if not self.begin():
            return False
        try:
            job()
        finally:
            self.end()
        return True

    def run(self, job: Callable[[], T]) -> T:
        """Run a job after all that are queued, and return what it returns.

        Raises:
            RuntimeError: This thread is already running a job: the call comes from a finalizer or a signal handler.
        """
        if not self._turn.acquire(False):
            if self._owner == get_ident():
                raise RuntimeError("webnn cannot wait in a finalizer or a signal handler that interrupts the context's own work")
            self._wait_for_turn()
        try:
            self._owner = get_ident()
            pending = self._pending
            if pending:
                # What others queue from now on comes later.
                for _ in range(len(pending)):
                    self._run_first()
                self._held = 0
            return job()
        finally:
            self.end()

    def _wait_for_turn(self) -> None:
        """Take the turn as soon as the other threads let this one.

        A thread that calls again and again keeps the turn for a while: to hand it over takes much longer than a small graph. Therefore the
        one that waits looks for itself whether the turn is free, until it has waited so long that it is handed the turn.
        """
        waiter = threading.Lock()
        waiter.acquire()
        if not self._waiting:
            self._since, self._passed = monotonic(), 0
        self._waiting.append(waiter)
        try:
            pause = _FIRST_LOOK
            while not waiter.acquire(timeout=pause):
                if self._turn.acquire(False):
                    self._waiting.remove(waiter)
                    return
                pause = min(8 * pause, _LAST_LOOK)
        except BaseException:
            # An interrupt of the main thread. A waiter that is not in the queue any more was given the turn.
            try:
                self._waiting.remove(waiter)
            except ValueError:
                self.end()
            raise

    def _hand_over(self) -> bool:
        """Give the turn to the thread that has waited longest, if this one has had it for long; tell whether it has."""
        self._passed += 1
        # The clock takes long beside a short job.
        if self._passed > 2 and self._passed & 15:
            return False
        now = monotonic()
        if now - self._since <= min(_PATIENCE, self._passed * _LONG_JOB):
            return False
        try:
            waiter = self._waiting.popleft()
        except IndexError:  # an interrupt has ended its wait
            return False
        self._since, self._passed = now, 0
        waiter.release()
        return True

    def finish(self) -> None:
        """Wait until what is queued is done."""
        self.run(_nothing)

    def _run_first(self) -> None:
        """Run the first job of the queue, with the turn."""
        try:
            self._pending[0]()
        except Exception as error:  # jobs handle their own errors: this is a bug here, and the next job must still run
            threading.excepthook(threading.ExceptHookArgs((type(error), error, error.__traceback__, threading.current_thread())))
        self._pending.popleft()

    def _run_all(self, *, blocking: bool) -> None:
        """Run what is queued, until nothing is."""
        if not self._turn.acquire(False):
            if not blocking:
                return
            self._wait_for_turn()
        try:
            self._owner = get_ident()
            self._urgent = False
            while self._pending:
                self._run_first()
            self._held = 0
        finally:
            self.end()

    def _look_after(self) -> None:
        """Look at the queue after the turn was given back: the worker could not take jobs that were queued meanwhile."""
        if self._pending:
            self._wake()

    def _wake(self) -> bool:
        """Have the worker look at the queue; start one if there is none. Tell whether there is one: none starts during the exit."""
        if not self._employed:
            with self._lock:
                if not self._employed:
                    # The interpreter is exiting and would not wait for a new thread.
                    if threading.current_thread() is threading.main_thread() and not threading.main_thread().is_alive():
                        return False
                    self._employed = self._watching = True
                    try:
                        threading.Thread(target=self._work, name="webnn", daemon=False).start()
                    except RuntimeError:  # the interpreter, or the system, allows no more threads
                        self._employed = self._watching = False
                        return False
                    # It may have ended by now, but then it found the job.
                    return True
        with contextlib.suppress(RuntimeError):  # it was released already
            self._signal.release()
        return True

    def _work(self) -> None:
        """Run the worker's loop."""
        try:
            self._watch()
        except BaseException:  # whatever it was, the next job needs another worker
            self._employed = self._watching = False
            raise

    def _watch(self) -> None:
        """Run jobs that no other thread runs, until there are none for a while."""
        seen: Callable[[], object] | None = None
        pause = self._grace
        while True:
            self._signal.acquire(timeout=pause)
            self._watching = True
            first = _first(self._pending)
            if first is not None and self._turn.locked():
                # Another thread runs the jobs. It wakes the worker when it gives the turn back, if there are some left.
                seen = None
                pause = min(2 * pause, _BUSY_PAUSE * self._grace)
                continue
            if self._urgent or (first is not None and first is seen):
                self._run_all(blocking=False)
                seen = first = None
                pause = self._grace
                continue
            seen = first
            if first is not None or self._active:
                self._active = False
                pause = self._grace
                continue
            # From here on, a thread that queues a job sees that it must wake the worker. Earlier jobs are in the queue.
            self._watching = False
            if self._pending:
                pause = self._grace
                continue
            pause *= 2
            if (pause > _LONGEST_PAUSE * self._grace or not threading.main_thread().is_alive()) and self._resign():
                return

    def _resign(self) -> bool:
        """End the worker if the queue is still empty; tell whether it was."""
        with self._lock:
            self._employed = False
            if self._pending:
                self._employed = True
            return not self._employed


class _Forks:
    """Handles forks for all timelines of the process."""

    def __init__(self) -> None:
        self._timelines: weakref.WeakSet[Timeline] = weakref.WeakSet()
        self._lock = threading.Lock()
        #: One fork at a time: two that wait for the turns in different orders would wait for ever.
        self._fork = threading.Lock()
        self._held: list[Timeline] = []

    def add(self, timeline: Timeline) -> None:
        """Remember a timeline as long as it lives."""
        with self._lock:
            self._timelines.add(timeline)

    def begin(self) -> None:
        """Take every turn. Otherwise a job of another thread would stay half done in the child, and the engine's locks would stay held."""
        self._fork.acquire()
        with self._lock:
            timelines = list(self._timelines)
        for timeline in timelines:
            # A job of this thread may fork, too.
            if timeline._owner != get_ident():
                if not timeline._turn.acquire(False):
                    timeline._wait_for_turn()
                timeline._owner = get_ident()
                self._held.append(timeline)

    def end_in_parent(self) -> None:
        """Give the turns back."""
        held, self._held = self._held, []
        self._fork.release()
        for timeline in held:
            timeline.end()

    def end_in_child(self) -> None:
        """Give the turns back, and forget the threads that the child does not have."""
        held, self._held = self._held, []
        self._lock, self._fork = threading.Lock(), threading.Lock()
        for timeline in list(self._timelines):
            timeline._employed = timeline._watching = timeline._urgent = timeline._active = False
            timeline._waiting.clear()
            timeline._lock = threading.Lock()
            timeline._signal = threading.Lock()
            timeline._signal.acquire()
        for timeline in held:
            timeline._owner = 0
            timeline._turn.release()


_FORKS = _Forks()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_FORKS.begin, after_in_parent=_FORKS.end_in_parent, after_in_child=_FORKS.end_in_child)


def _first(pending: deque[Callable[[], object]]) -> Callable[[], object] | None:
    try:
        return pending[0]
    except IndexError:
        return None


def _nothing() -> None:
    """Do nothing: a job that is queued to wait for the jobs before it."""
