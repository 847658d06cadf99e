"""Work that waits for bytes from outside."""

from __future__ import annotations

import threading
from functools import partial

import pytest

from webnn.context import holding
from webnn.context.holding import Coming, HoldingTimeline
from webnn.context.timeline import BUSY


class Work:
    def __init__(self) -> None:
        self.timeline = HoldingTimeline()
        self.done: list[str] = []

    def job(self, name: str) -> None:
        self.timeline.post(lambda: self.done.append(name))

    def hold(self, name: str) -> object:
        return self.timeline.hold(lambda: self.done.append(name))


def test_work_waits_in_its_order() -> None:
    work = Work()
    work.job("before")
    first, second = work.hold("first"), work.hold("second")
    work.job("after")
    work.timeline.finish()
    assert (work.done, work.timeline.holds) == (["before"], True)
    assert callable(first)
    assert callable(second)
    second()
    work.timeline.finish()
    assert work.done == ["before"]
    epoch = work.timeline.epoch
    first()
    work.timeline.finish()
    assert work.done == ["before", "first", "second", "after"]
    assert (work.timeline.holds, work.timeline.epoch) == (False, epoch + 1)


def test_what_depends_on_nothing_runs_at_once() -> None:
    work = Work()
    work.hold("never")
    assert work.timeline.run(lambda: 3) == 3
    assert work.timeline.attempt(lambda: 3) is BUSY


def test_a_read_is_done_by_the_worker() -> None:
    work, done = Work(), threading.Event()
    let_go = work.timeline.hold(lambda: None)
    work.timeline.hurry(done.set)
    assert not done.is_set()
    let_go()
    assert done.wait(60)


@pytest.mark.parametrize(("jobs", "size"), [(4, 1), (2, 1 << 27)])
def test_a_program_that_never_yields(jobs: int, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holding, "_MOST_JOBS", 5)
    timeline = HoldingTimeline()
    let_go = timeline.hold(lambda: None)
    for _ in range(jobs):
        assert not timeline.isFull
        timeline.post(lambda: None, size)
    assert timeline.isFull
    timeline.post(lambda: None)  # what ends a tensor
    let_go()
    assert not timeline.isFull
    timeline.finish()


def test_several_threads_let_go() -> None:
    """Each job runs once, in the order of the calls."""
    work = Work()
    gates = [work.timeline.hold(partial(work.done.append, str(number))) for number in range(64)]
    threads = [threading.Thread(target=gate) for gate in reversed(gates)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    work.timeline.finish()
    assert work.done == [str(number) for number in range(64)]


def test_bytes_are_given_once() -> None:
    coming, given = Coming(), list[object]()
    coming.then(given.append)
    coming.give(None)
    coming.give(None)
    assert given == [None]
