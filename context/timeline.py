"""A context's timeline: its work runs in order, one job at a time.

A hand-over to another thread costs more than a small graph, so the timeline avoids it where a program cannot notice. Jobs are queued. A
thread that waits for a result runs the jobs before it itself. If another thread has the turn, it waits, at most a few milliseconds longer
than that thread's job: until then the other one may go on with short jobs. Jobs that no thread waits for are left to a worker thread. It
looks at the queue every two milliseconds, less often while another thread is running jobs, and runs those that were already there when it
looked last. The worker starts with the first job and ends when the queue has been quiet for a while: an idle timeline has no thread. The
interpreter's exit waits for queued jobs.

An interrupt (`KeyboardInterrupt`) may end any call at any bytecode, and must not leave the turn taken. So no bytecode takes it or gives it
back. The turn is a `contextvars.Context`, and a job runs in a call of its method `run`. The interpreter lets one thread at a time into a
context, raises RuntimeError in all others, and leaves the context however the call ends, all in C. Everything else that an interrupt can
leave behind loses its effect with time: the place of a thread that waits no longer, and a worker that was never started.

A fork waits for the jobs that are running. The child has the queues, but none of the workers: it starts its own.
"""

from __future__ import annotations

import contextlib
import enum
import os
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from contextvars import Context
from functools import partial
from time import monotonic
from types import FrameType
from typing import Any, Final, Generic, TypeVar, TypeVarTuple

__all__ = ["BUSY", "Busy", "Living", "Timeline"]

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")


class Busy(enum.Enum):
    """The class of `BUSY`."""

    BUSY = enum.auto()


#: Returned in place of a job's result: the job did not run, because the timeline is not idle.
BUSY: Final = Busy.BUSY
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


class Living(Generic[T]):
    """A set of objects by identity, which does not keep them alive. Any thread may call any method.

    Python discards an exception in the callback of a weak reference. An interrupt there would be lost, and leave an entry that a later
    object of the same address is mistaken for. So the callback is a method that is written in C, in which no interrupt can come, and an
    entry counts as long as its reference has an object.

    Attributes:
        entries: The references by the identity of the objects.
    """

    __slots__ = ("entries",)

    def __init__(self) -> None:
        self.entries: dict[int, weakref.ref[Any]] = {}

    def __contains__(self, member: object) -> bool:
        entry = self.entries.get(id(member))
        return entry is not None and entry() is not None

    def __len__(self) -> int:
        return len(self.entries)

    def entry(self, member: T, witness: Any = None) -> weakref.ref[Any]:
        """Make the entry of an object; if it has no weak references, that of a witness, which keeps it alive."""
        # The reference is the argument, and so the default of `pop`.
        forget = partial(self.entries.pop, id(member))
        try:
            return weakref.ref(member, forget)
        except TypeError:
            return weakref.ref(witness, forget)

    def add(self, member: T, entry: weakref.ref[Any] | None = None) -> bool:
        """Remember an object; tell whether it is new. The test and the change are one step."""
        entry = entry or self.entry(member)
        return self.entries.setdefault(id(member), entry) is entry

    def discard(self, member: T) -> None:
        """Forget an object."""
        self.entries.pop(id(member), None)

    def all(self) -> list[T]:
        """Return the objects."""
        return [member for entry in list(self.entries.values()) if (member := entry()) is not None]


class Timeline:
    """A queue of jobs, and the threads that take turns at it.

    A queued job takes no arguments. It runs again if a `KeyboardInterrupt` interrupted it, so it must be idempotent: it may read and write
    only what later jobs may change.

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
        "_next",
        "_passed",
        "_pending",
        "_signal",
        "_since",
        "_turn",
        "_until",
        "_urgent",
        "_waiting",
        "_watching",
        "_worker",
    )

    def __init__(self, grace: float = _GRACE) -> None:
        self._grace = grace
        #: The jobs. Each is taken off once it has run, by the thread that has the turn.
        self._pending: deque[Callable[[], object]] = deque()
        #: How many bytes were queued since the queue was empty.
        self._held = 0
        #: Entered by the thread that runs jobs.
        self._turn = Context()
        #: The threads that wait for the turn, the one first that has waited longest: locks that are released when the turn is theirs.
        self._waiting: deque[threading.Lock] = deque()
        #: Since when threads wait while one keeps the turn, and how many times it has given the turn back since then.
        self._since = 0.0
        self._passed = 0
        #: The thread that nobody may overtake any more, and until when.
        self._next: threading.Lock | None = None
        self._until = 0.0
        #: The worker, from just before its start, and whether it works: it says so itself.
        self._worker: dict[None, threading.Thread] = {}
        self._employed = False
        #: Whether the worker looks often. Otherwise a release of the signal must wake it.
        self._watching = False
        self._signal = threading.Lock()
        self._signal.acquire()
        #: Whether a job was queued since the worker looked last, and whether a thread waits for one.
        self._active = False
        self._urgent = False
        _TIMELINES.add(self)

    def post(self, job: Callable[[], object], size: int = 0) -> None:
        """Append a job that holds this number of bytes, and return; nobody waits for it."""
        self._pending.append(job)
        self._held += size
        self._active = True
        if not self._watching:
            self._wake()
        if (len(self._pending) > _MOST_JOBS or self._held > _MOST_BYTES) and not self._is_mine():
            self.finish()

    def hurry(self, job: Callable[[], object]) -> None:
        """Append a job and return. Its result is awaited, so the worker begins at once."""
        self._pending.append(job)
        self._urgent = self._active = True
        if not self._wake() and not self._is_mine():
            self._take(_run_all, None)

    def attempt(self, job: Callable[[*Arguments], T], *arguments: *Arguments) -> T | Busy:
        """Run a job at once if the timeline is idle, and return what it returns; return `BUSY` if it is not."""
        return self._enter(_run_alone, job, arguments)

    def run(self, job: Callable[[], T]) -> T:
        """Run a job after all that are queued, and return what it returns.

        Raises:
            RuntimeError: This thread is already running a job: the call comes from a finalizer or a signal handler.
        """
        value: T = self._take(_run_after_others, job)
        return value

    def _take(self, body: Callable[[Timeline, Any, threading.Lock | None], Any], job: object) -> Any:
        """Call a function with the turn, and return what it returns. Wait for the turn if another thread has it.

        A thread that calls again and again keeps the turn for a while: to hand it over takes much longer than a small graph. Therefore the
        one that waits looks for itself whether the turn is free, until it has waited so long that nobody may overtake it.
        """
        value = self._enter(body, job, None)
        if value is not BUSY:
            return value
        if self._is_mine():
            raise RuntimeError("webnn cannot wait in a finalizer or a signal handler that interrupts the context's own work")
        waiter = threading.Lock()
        waiter.acquire()
        pause = _FIRST_LOOK
        try:
            if not self._waiting:
                self._since, self._passed = monotonic(), 0
            self._waiting.append(waiter)
            while True:
                isNext = waiter.acquire(timeout=pause)
                value = self._enter(body, job, waiter)
                if value is not BUSY:
                    return value
                if waiter not in self._waiting and self._next is not waiter:
                    # This thread came next, but it did not run in time.
                    self._waiting.appendleft(waiter)
                pause = _FIRST_LOOK if isNext else min(8 * pause, _LAST_LOOK)
        finally:
            # If an interrupt prevents this, the others wait for this thread once more, and at most until the time that is set then.
            self._step_out(waiter)

    def _enter(self, body: Callable[[Timeline, Any, Any], T | Busy], job: object, argument: object) -> T | Busy:
        """Call a function with the turn; return what it returns, or `BUSY` if another thread has the turn, or this one has it already."""
        try:
            value = self._turn.run(body, self, job, argument)
        except BaseException as error:
            # The function is written in Python. If it was called, its frame is in the traceback.
            if type(error) is RuntimeError and error.__traceback__ is not None and error.__traceback__.tb_next is None:
                return BUSY
            self._look_after()
            raise
        # If it is busy with queued jobs, the caller queues its own, or runs all of them.
        if self._waiting or (self._pending and value is not BUSY):
            self._look_after()
        return value

    def _is_mine(self) -> bool:
        """Tell whether this thread has the turn: the call comes from a job."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if frame.f_code in _BODIES and frame.f_locals["timeline"] is self:
                return True
            frame = frame.f_back
        return False

    def _is_free(self) -> bool:
        """Tell whether no thread has the turn."""
        try:
            # A function that is written in C: while it has the turn, no other thread runs.
            self._turn.run(bool)
        except RuntimeError:
            return False
        return True

    def _is_promised(self, waiter: threading.Lock | None) -> bool:
        """Tell whether another thread comes next. It has the turn or will soon; if not, it was interrupted, and the promise ends."""
        if self._next is None or self._next is waiter or monotonic() > self._until:
            self._next = None
            return False
        return True

    def _step_out(self, waiter: threading.Lock) -> None:
        """Give up a thread's place among those that wait."""
        with contextlib.suppress(ValueError):  # it was the first, and comes next
            self._waiting.remove(waiter)
        if self._next is waiter:
            self._next = None

    def _promise(self) -> None:
        """Let the thread that has waited longest come next, if others have had the turn for long."""
        self._passed += 1
        # The clock takes long beside a short job.
        if self._passed > 2 and self._passed & 15:
            return
        now = monotonic()
        if now - self._since <= min(_PATIENCE, self._passed * _LONG_JOB):
            return
        try:
            waiter = self._waiting.popleft()
        except IndexError:  # it waits no longer
            return
        self._since, self._passed = now, 0
        self._next, self._until = waiter, now + _LAST_LOOK
        with contextlib.suppress(RuntimeError):  # it was released already
            waiter.release()

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

    def _look_after(self) -> None:
        """Look at the threads that wait, and at the queue: the worker could not take jobs that were queued meanwhile."""
        if self._waiting:
            self._promise()
        if self._pending:
            self._wake()

    def _wake(self) -> bool:
        """Have the worker look at the queue; start one if there is none. Tell whether there is one: none starts during the exit."""
        if not self._employed:
            worker = self._worker.get(None)
            # One that does not live will not start: its start was interrupted. It ends at once if it does start.
            if worker is None or not worker.is_alive():
                return self._employ()
        with contextlib.suppress(RuntimeError):  # it was released already
            self._signal.release()
        return True

    def _employ(self) -> bool:
        """Start a worker; tell whether that is possible."""
        # The interpreter is exiting and would not wait for a new thread.
        if threading.current_thread() is threading.main_thread() and not threading.main_thread().is_alive():
            return False
        worker = self._worker[None] = threading.Thread(target=self._work, name="webnn", daemon=False)
        try:
            worker.start()
        except RuntimeError:  # the interpreter, or the system, allows no more threads
            self._resign(worker)
            return False
        # It may have ended by now, but then it found the job.
        return True

    def _work(self) -> None:
        """Run the worker's loop."""
        worker = threading.current_thread()
        if self._worker.get(None) is not worker:  # there is another one
            return
        self._employed = self._watching = True
        try:
            self._watch(worker)
        finally:  # whatever it was, the next job needs another worker
            self._resign(worker)

    def _resign(self, worker: threading.Thread) -> None:
        """Forget a worker, so that the next job starts another one."""
        if self._worker.get(None) is worker:
            self._employed = self._watching = False
            self._worker.pop(None, None)

    def _watch(self, worker: threading.Thread) -> None:
        """Run jobs that no other thread runs, until there are none for a while."""
        seen: Callable[[], object] | None = None
        pause = self._grace
        while True:
            self._signal.acquire(timeout=pause)
            self._watching = True
            first = _first(self._pending)
            if first is not None and not self._is_free():
                # Another thread runs the jobs. It wakes the worker when it gives the turn back, if there are some left.
                seen = None
                pause = min(2 * pause, _BUSY_PAUSE * self._grace)
                continue
            if self._urgent or (first is not None and first is seen):
                self._enter(_run_all, None, None)
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
            if pause > _LONGEST_PAUSE * self._grace or not threading.main_thread().is_alive():
                self._resign(worker)
                # A thread that queued a job until now took this worker for one that sees it.
                if not self._pending or self._worker.setdefault(None, worker) is not worker:
                    return
                self._employed = True
                pause = self._grace


def _run_alone(timeline: Timeline, job: Callable[..., T], arguments: tuple[object, ...]) -> T | Busy:
    """Run a job if the timeline is idle. With the turn, as the next two."""
    if timeline._pending or _FORKING or (timeline._next is not None and timeline._is_promised(None)):
        return BUSY
    return job(*arguments)


def _run_after_others(timeline: Timeline, job: Callable[[], T], waiter: threading.Lock | None) -> T | Busy:
    """Run a job after all that are queued, unless another thread comes next."""
    if _FORKING or (timeline._next is not None and timeline._is_promised(waiter)):
        return BUSY
    if waiter is not None:
        timeline._step_out(waiter)
    pending = timeline._pending
    if pending:
        # Jobs that others queue from now on run later.
        for _ in range(len(pending)):
            timeline._run_first()
        timeline._held = 0
    return job()


def _run_all(timeline: Timeline, _: object, waiter: threading.Lock | None) -> Busy | None:
    """Run what is queued until nothing is, unless another thread comes next."""
    if _FORKING or (timeline._next is not None and timeline._is_promised(waiter)):
        return BUSY
    if waiter is not None:
        timeline._step_out(waiter)
    timeline._urgent = False
    while timeline._pending:
        timeline._run_first()
    timeline._held = 0
    return None


_BODIES = frozenset(body.__code__ for body in (_run_alone, _run_after_others, _run_all))
_TIMELINES: Living[Timeline] = Living()
#: One entry for each fork that is under way. While there is one, no job begins.
_FORKING: deque[None] = deque()


def _wait_for_jobs() -> None:
    """Wait for the jobs that run. In the child, a job of another thread would stay half done, and the engine's locks would stay held."""
    for timeline in _TIMELINES.all():
        pause = _FIRST_LOOK
        # A job of this thread may fork, too.
        while not timeline._is_free() and not timeline._is_mine():
            time.sleep(pause)
            pause = min(2 * pause, _LAST_LOOK)


def _begin_child() -> None:
    """Forget the threads that the child does not have."""
    for timeline in _TIMELINES.all():
        if not timeline._is_mine():
            timeline._turn = Context()
        timeline._worker.clear()
        timeline._employed = timeline._watching = timeline._urgent = timeline._active = False
        timeline._waiting.clear()
        timeline._next = None
        timeline._signal = threading.Lock()
        timeline._signal.acquire()


if hasattr(os, "register_at_fork"):
    # Functions that run before are called in the reverse order. Methods that are written in C cannot be interrupted.
    os.register_at_fork(before=_wait_for_jobs)
    os.register_at_fork(before=partial(_FORKING.append, None), after_in_parent=_FORKING.pop, after_in_child=_FORKING.clear)
    os.register_at_fork(after_in_child=_begin_child)


def _first(pending: deque[Callable[[], object]]) -> Callable[[], object] | None:
    try:
        return pending[0]
    except IndexError:
        return None


def _nothing() -> None:
    """Do nothing: a job that is queued to wait for the jobs before it."""
