"""A context's timeline: order, threads, failures, interrupts, and the worker's life."""

from __future__ import annotations

import random
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from tests.context.tensors import busy
from tests.support import PATIENCE, wait_until
from webnn.context import timeline as module
from webnn.context.timeline import BUSY, Timeline


@pytest.fixture
def patient() -> Iterator[Timeline]:
    """A timeline whose worker leaves the jobs that nobody waits for to others."""
    timeline = Timeline(grace=PATIENCE)
    yield timeline
    timeline._grace = 0.001
    timeline._wake()


class Order:
    """Jobs that write down when and where they ran."""

    def __init__(self) -> None:
        self.names: list[object] = []
        self.threads: list[int] = []

    def job(self, name: object) -> Callable[[], object]:
        def run() -> object:
            self.names.append(name)
            self.threads.append(threading.get_ident())
            return name

        return run


def test_an_idle_timeline_runs_on_the_callers_thread() -> None:
    timeline = Timeline()
    assert timeline.run(threading.get_ident) == threading.get_ident()
    assert timeline.attempt(threading.get_ident) == threading.get_ident()
    assert not timeline._employed


def test_jobs_in_need_run_in_order_on_one_other_thread() -> None:
    timeline, order = Timeline(), Order()
    for index in range(100):
        timeline.hurry(order.job(index))
    wait_until(lambda: len(order.names) == 100)
    assert order.names == list(range(100))
    assert len(set(order.threads)) == 1
    assert threading.get_ident() not in order.threads


def test_who_waits_runs_what_stands_before(patient: Timeline) -> None:
    timeline, order = patient, Order()
    for index in range(100):
        timeline.post(order.job(index))
    assert timeline.run(order.job("last")) == "last"
    assert order.names == [*range(100), "last"]
    assert set(order.threads) == {threading.get_ident()}


def test_jobs_that_nobody_waits_for_run_all_the_same() -> None:
    timeline, order = Timeline(), Order()
    for index in range(10):
        timeline.post(order.job(index))
    wait_until(lambda: len(order.names) == 10)
    assert order.names == list(range(10))
    assert threading.get_ident() not in order.threads


def test_a_job_in_need_takes_those_before_it_along(patient: Timeline) -> None:
    timeline, order = patient, Order()
    timeline.post(order.job("first"))
    timeline.hurry(order.job("second"))
    wait_until(lambda: len(order.names) == 2)
    assert order.names == ["first", "second"]


def test_nothing_is_done_at_once_while_others_wait() -> None:
    timeline, order = Timeline(), Order()
    with busy(timeline) as release:
        assert timeline.attempt(order.job("too early")) is BUSY
        timeline.hurry(order.job("second"))
        threading.Timer(0.02, release).start()
        assert timeline.run(order.job("third")) == "third"
    assert order.names == ["second", "third"]
    wait_until(lambda: timeline.attempt(order.job("fourth")) == "fourth")


def test_a_job_that_is_queued_while_the_turn_is_taken(patient: Timeline) -> None:
    """Another thread is faster: it queues a job just before this one has the turn."""
    timeline, order = patient, Order()
    turn = timeline._turn

    def run(*arguments: Any) -> Any:
        timeline._turn = turn
        timeline.post(order.job("faster"))
        return turn.run(*arguments)

    timeline._turn = SimpleNamespace(run=run)  # type: ignore[assignment]
    assert timeline.attempt(order.job("too early")) is BUSY
    assert timeline.run(order.job("last")) == "last"
    assert order.names == ["faster", "last"]


class Late(Timeline):
    """A timeline whose worker ends just when a job comes."""

    __slots__ = ("job", "workers")

    def __init__(self, job: Callable[[], object]) -> None:
        super().__init__(grace=0.001)
        self.job: Callable[[], object] | None = job
        self.workers: list[threading.Thread] = []

    def _resign(self, worker: threading.Thread) -> None:
        if self.job is not None:
            job, self.job = self.job, None
            self.workers.append(worker)
            self.post(job)
        super()._resign(worker)


def test_a_job_that_is_queued_while_the_worker_ends() -> None:
    order = Order()
    timeline = Late(order.job("late"))
    timeline.post(order.job("first"))
    wait_until(lambda: order.names == ["first", "late"])
    # The same worker went on.
    assert set(order.threads) == {worker.ident for worker in timeline.workers}
    wait_until(lambda: not timeline._employed)


class Drowsy(Timeline):
    """A timeline whose worker notes its pauses; a job comes just when it falls asleep."""

    __slots__ = ("_awake", "_looks", "late", "pauses")

    def __init__(self, late: Callable[[], object]) -> None:
        self.late: Callable[[], object] | None = late
        self.pauses: list[float] = []
        super().__init__(grace=0.001)
        self._signal = self  # type: ignore[assignment]
        self._awake = threading.Semaphore(0)

    def acquire(self, timeout: float = 0.0) -> bool:
        self.pauses.append(timeout)
        return self._awake.acquire(timeout=timeout)

    def release(self) -> None:
        self._awake.release()

    @property
    def _watching(self) -> bool:
        return self._looks

    @_watching.setter
    def _watching(self, value: bool) -> None:
        if not value and self.late is not None and threading.current_thread().name == "webnn" and len(self.pauses) > 4:
            # Another thread saw that the worker looks often, and did not wake it.
            late, self.late = self.late, None
            self.pauses.append(0)
            self._pending.append(late)
        self._looks = value


def test_a_job_that_is_queued_while_the_worker_falls_asleep() -> None:
    """It waits no longer than others."""
    order = Order()
    timeline = Drowsy(order.job("late"))
    timeline.post(order.job("first"))
    wait_until(lambda: not timeline._employed)
    assert order.names == ["first", "late"]
    asleep = timeline.pauses.index(0)
    assert max(timeline.pauses[:asleep]) > timeline._grace
    assert timeline.pauses[asleep + 1 : asleep + 3] == [timeline._grace] * 2


def test_failures_belong_to_their_job() -> None:
    timeline, fail = Timeline(), Mock(side_effect=KeyError("mine"))
    with pytest.raises(KeyError, match="mine"):
        timeline.run(fail)
    gate = threading.Event()
    timeline.hurry(gate.wait)
    threading.Timer(0.02, gate.set).start()
    # Now another thread runs it.
    with pytest.raises(KeyError, match="mine"):
        timeline.run(fail)
    assert timeline.run(lambda: 3) == 3


def test_a_fault_of_ours_does_not_stop_the_timeline(monkeypatch: pytest.MonkeyPatch) -> None:
    timeline, order = Timeline(), Order()
    faults: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", faults.append)
    timeline.post(lambda: order.names[0])
    timeline.post(order.job("next"))
    assert timeline.run(order.job("last")) == "last"
    assert order.names == ["next", "last"]
    assert [fault.exc_type for fault in faults] == [IndexError]


def test_an_interrupt_leaves_the_queue_whole(patient: Timeline) -> None:
    timeline, order = patient, Order()
    interrupts = [KeyboardInterrupt()]

    def interrupted() -> None:
        if interrupts:
            raise interrupts.pop()
        order.names.append("interrupted")

    timeline.post(order.job("before"))
    timeline.post(interrupted)
    timeline.post(order.job("after"))
    with pytest.raises(KeyboardInterrupt):
        timeline.run(order.job("last"))
    timeline.run(order.job("next call"))
    assert order.names == ["before", "interrupted", "after", "next call"]


class Interrupted:
    """A thread's place among those that wait for the turn: its wait is interrupted, after something has happened."""

    def __init__(self, meanwhile: Callable[[], object]) -> None:
        self.lock, self.meanwhile = threading.Lock(), meanwhile
        self.release = self.lock.release

    def acquire(self, *, timeout: float | None = None) -> bool:
        if timeout is None:
            return self.lock.acquire()
        self.meanwhile()
        raise KeyboardInterrupt


@pytest.mark.parametrize("given", [False, True], ids=["before it is given the turn", "just when it is given the turn"])
def test_an_interrupt_of_a_thread_that_waits(monkeypatch: pytest.MonkeyPatch, *, given: bool) -> None:
    timeline, order = Timeline(), Order()
    gate, running = threading.Event(), threading.Event()

    def hold() -> None:
        running.set()
        gate.wait(PATIENCE)

    def meanwhile() -> None:
        if given:
            gate.set()
            thread.join()

    thread = threading.Thread(target=timeline.run, args=(hold,))
    thread.start()
    assert running.wait(PATIENCE)
    interrupted: Any = Interrupted(meanwhile)
    with monkeypatch.context() as patch:
        patch.setattr(threading, "Lock", lambda: interrupted)
        patch.setattr(module, "_PATIENCE", -1)
        with pytest.raises(KeyboardInterrupt):
            timeline.run(order.job("interrupted"))
    gate.set()
    thread.join()
    assert not timeline._waiting
    assert timeline.run(order.job("later")) == "later"
    assert order.names == ["later"]


def test_a_thread_that_waits_takes_the_turn_that_nobody_has() -> None:
    """The other thread has given it back, and does not come again."""
    timeline = Timeline()
    for _ in range(50):
        running = threading.Event()

        def job(running: threading.Event = running) -> None:
            running.set()
            time.sleep(0.0002)

        thread = threading.Thread(target=timeline.run, args=(job,))
        thread.start()
        assert running.wait(PATIENCE)
        assert timeline.run(threading.get_ident) == threading.get_ident()
        thread.join()
    assert not timeline._waiting


def test_short_jobs_of_one_thread_go_on_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hand-over takes much longer than they do. In the end the other thread gets the turn all the same."""
    monkeypatch.setattr(module, "_LONG_JOB", 3600)
    for patience, least, most in ((0.05, 5, 10**6), (0, 0, 1)):
        monkeypatch.setattr(module, "_PATIENCE", patience)
        timeline = Timeline()
        stop, started = threading.Event(), threading.Event()
        passed = 0

        def job(timeline: Timeline = timeline, started: threading.Event = started) -> None:
            nonlocal passed
            passed += bool(timeline._waiting)
            started.set()
            time.sleep(0.0005)

        def loop(timeline: Timeline = timeline, stop: threading.Event = stop, job: Callable[[], None] = job) -> None:
            while not stop.is_set():
                timeline.run(job)

        thread = threading.Thread(target=loop)
        thread.start()
        assert started.wait(PATIENCE)
        timeline.run(lambda: None)
        counted = passed
        stop.set()
        thread.join()
        assert least <= counted <= most


def test_a_thread_that_did_not_take_its_turn_in_time_gets_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a busy machine."""
    timeline, stop, started = Timeline(), threading.Event(), threading.Event()
    promise, promises = Timeline._promise, Order()

    def expire(self: Timeline) -> None:
        promise(self)
        if self._next is not None and not promises.names:
            promises.job("expired")()
            self._until = 0.0

    monkeypatch.setattr(Timeline, "_promise", expire)

    def job() -> None:
        started.set()
        time.sleep(0.0005)

    def loop() -> None:
        while not stop.is_set():
            timeline.run(job)

    threads = [threading.Thread(target=loop), threading.Thread(target=timeline.run, args=(lambda: None,))]
    threads[0].start()
    assert started.wait(PATIENCE)
    threads[1].start()
    threads[1].join(PATIENCE)
    gotATurn = not threads[1].is_alive()
    stop.set()
    for thread in threads:
        thread.join()
    assert gotATurn
    assert promises.names == ["expired"]


def test_a_job_cannot_wait_for_its_own_timeline() -> None:
    """As a finalizer does that the garbage collector calls in the midst of a job."""
    timeline, order = Timeline(), Order()

    def nested() -> None:
        assert timeline.attempt(order.job("nested")) is BUSY
        timeline.post(order.job("queued"))
        with pytest.raises(RuntimeError, match="finalizer or a signal handler"):
            timeline.run(order.job("nested"))

    timeline.run(nested)
    timeline.finish()
    assert order.names == ["queued"]


def test_callers_of_many_threads_take_turns() -> None:
    timeline = Timeline()
    running, most, ran = 0, 0, 0

    def job() -> None:
        nonlocal running, most, ran
        running += 1
        most = max(most, running)
        time.sleep(0.0005)
        running -= 1
        ran += 1

    def work(index: int) -> None:
        for count in range(20):
            (timeline.run, timeline.post, timeline.hurry)[(index + count) % 3](job)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    timeline.finish()
    assert (most, ran) == (1, 160)


def test_no_thread_keeps_the_turn_from_another() -> None:
    timeline = Timeline()
    stop, started = threading.Event(), threading.Event()
    overtaken = 0

    def take() -> None:
        nonlocal overtaken
        # Waiting work was queued after the thread looked at the queue. It must run before this thread's next job.
        overtaken += bool(timeline._waiting)
        started.set()
        time.sleep(0.002)

    def loop() -> None:
        while not stop.is_set():
            timeline.run(take)

    thread = threading.Thread(target=loop)
    thread.start()
    assert started.wait(PATIENCE)
    worst = 0
    for _ in range(20):
        before = overtaken
        timeline.run(lambda: None)
        worst = max(worst, overtaken - before)
    stop.set()
    thread.join()
    assert worst <= 1


@pytest.mark.parametrize(("limit", "size"), [("_MOST_JOBS", 0), ("_MOST_BYTES", 1)], ids=["jobs", "bytes"])
def test_a_program_that_never_waits_is_made_to_wait(patient: Timeline, monkeypatch: pytest.MonkeyPatch, limit: str, size: int) -> None:
    monkeypatch.setattr(module, limit, 10)
    timeline, order = patient, Order()
    longest = 0
    for index in range(100):
        timeline.post(order.job(index), size)
        longest = max(longest, len(timeline._pending))
    assert 5 < longest <= 10
    assert len(order.names) > 80
    timeline.finish()
    assert order.names == list(range(100))


def test_the_worker_ends_and_another_one_begins() -> None:
    timeline, order = Timeline(), Order()
    for count in (1, 2, 3):
        timeline.post(order.job(count))
        wait_until(lambda: not timeline._employed)
        assert len(order.names) == count
    assert len(timeline._pending) == 0


@pytest.mark.parametrize("method", ["post", "hurry"])
def test_no_job_is_overlooked(method: str) -> None:
    """Jobs that come just when the worker falls asleep, or ends."""
    generator = random.Random(0)
    timeline = Timeline(grace=0.00002)
    for _ in range(1000):
        done = threading.Event()
        getattr(timeline, method)(done.set)
        assert done.wait(PATIENCE)
        if generator.random() < 0.7:
            time.sleep(generator.random() * 0.001)


def test_a_worker_that_dies_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    timeline, order = Timeline(), Order()
    deaths = [SystemExit(), KeyboardInterrupt()]
    reported: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", reported.append)

    def die() -> None:
        if deaths:
            raise deaths.pop()
        order.names.append("survived")

    timeline.hurry(die)
    for _ in range(2):
        wait_until(lambda: not timeline._employed)
        timeline.hurry(order.job("next"))
    wait_until(lambda: len(order.names) == 3)
    assert order.names == ["survived", "next", "next"]
    wait_until(lambda: len(reported) == 2)


def test_no_more_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading.Thread, "start", Mock(side_effect=RuntimeError("can't start new thread")))
    timeline, order = Timeline(), Order()
    timeline.post(order.job("posted"))
    assert order.names == []
    timeline.hurry(order.job("in need"))
    assert order.names == ["posted", "in need"]
    assert timeline.run(order.job("waited for")) == "waited for"
    assert set(order.threads) == {threading.get_ident()}


@pytest.mark.processes
def test_a_job_of_the_interpreters_end() -> None:
    """No thread can begin any more: who waits runs the jobs. The interpreter does not wait for a worker that is not there."""
    program = """
        import atexit, threading
        from webnn.context.timeline import Timeline

        timeline, ran = Timeline(), []

        def end():
            assert not threading.main_thread().is_alive()
            timeline.post(lambda: ran.append("posted"))
            timeline.hurry(lambda: ran.append("in need"))
            assert len(ran) == 2
            assert timeline.run(lambda: len(ran)) == 2
            print(*ran, [thread.name for thread in threading.enumerate()])

        atexit.register(end)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "posted in need ['MainThread']\n", "")


def test_the_worker_looks_less_often_while_another_thread_runs_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = 0
    first = module._first

    def count(pending: Any) -> Any:
        nonlocal looks
        looks += 1
        return first(pending)

    monkeypatch.setattr(module, "_first", count)
    timeline, go = Timeline(grace=0.001), threading.Event()

    def job() -> None:
        nonlocal looks
        looks = 0
        # Long enough for a hundred looks.
        go.wait(0.1)

    timeline.post(job)
    timeline.finish()
    assert looks <= 20
    done = threading.Event()
    timeline.post(done.set)
    assert done.wait(PATIENCE)
