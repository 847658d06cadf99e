"""A context's timeline: order, threads, failures."""

from __future__ import annotations

import threading
import time
from concurrent.futures import CancelledError

import pytest

from webnn.context.timeline import Timeline


def test_an_idle_timeline_runs_on_the_callers_thread() -> None:
    timeline = Timeline()
    assert timeline.run(threading.get_ident) == threading.get_ident()


def test_submitted_jobs_run_in_order_on_one_other_thread() -> None:
    timeline = Timeline()
    order: list[int] = []
    futures = [timeline.submit(lambda index=index: (order.append(index), threading.get_ident())[1]) for index in range(100)]  # type: ignore[misc]
    threads = {future.result() for future in futures}
    assert order == list(range(100))
    assert len(threads) == 1
    assert threading.get_ident() not in threads


def test_a_waiting_caller_comes_after_submitted_jobs() -> None:
    timeline = Timeline()
    order: list[str] = []
    gate = threading.Event()
    first = timeline.submit(gate.wait)
    second = timeline.submit(lambda: order.append("second"))
    threading.Timer(0.05, gate.set).start()
    timeline.run(lambda: order.append("third"))
    assert order == ["second", "third"]
    assert first.result()
    assert second.done()
    # And the timeline is idle again.
    while timeline._pending:
        time.sleep(0.001)
    assert timeline.run(threading.get_ident) == threading.get_ident()


def test_failures_belong_to_their_job() -> None:
    timeline = Timeline()

    def fail() -> None:
        raise KeyError("mine")

    future = timeline.submit(fail)
    with pytest.raises(KeyError, match="mine"):
        future.result()
    with pytest.raises(KeyError, match="mine"):
        timeline.run(fail)
    assert timeline.run(lambda: 3) == 3


def test_cancelled_jobs_do_not_run() -> None:
    timeline = Timeline()
    gate = threading.Event()
    timeline.submit(gate.wait)
    cancelled = timeline.submit(lambda: pytest.fail("must not run"))
    assert cancelled.cancel()
    gate.set()
    assert timeline.submit(lambda: 3).result() == 3
    with pytest.raises(CancelledError):
        cancelled.result()


def test_callers_of_many_threads_take_turns() -> None:
    timeline = Timeline()
    running, most = 0, 0

    def job() -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        time.sleep(0.0005)
        running -= 1

    threads = [threading.Thread(target=lambda: [timeline.run(job) for _ in range(20)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1
