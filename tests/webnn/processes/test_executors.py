"""Executors by name, what tasks share, and tasks whose workers die."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import PATIENCE, each_row
from tests.webnn.processes.tasks import die, die_once, do, odd, raises, size, square
from webnn._extras import install_command
from webnn.processes.executors import Stored, Workers, open_workers
from webnn.processes.spread import Outcome, spread


class Doubtful(Executor):
    """Runs tasks at once, or loses them, as a function of a task and of how often it was tried decides."""

    _max_workers = 2

    def __init__(self, loses: Callable[[int, int], bool]) -> None:
        self.loses = loses
        self.tried: dict[int, int] = {}
        #: How many tasks went together.
        self.counts: list[int] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        future: Future[Any] = Future()
        _, count, *numbers = args
        assert len(numbers) == count
        self.counts.append(count)
        for number in numbers:
            self.tried[number] = self.tried.get(number, 0) + 1
        if any(self.loses(number, self.tried[number]) for number in numbers):
            future.set_exception(BrokenProcessPool("a test"))
        else:
            future.set_result(fn(*args, **options))
        return future


def run(workers: Workers, function: Callable[..., Any], tasks: Sequence[int], *more: Any, ordered: bool = False) -> list[Outcome[int, Any]]:
    with closing(spread(workers, function, tasks, lambda task: [task, *more], ordered=ordered)) as outcomes:
        return list(outcomes)


class Costly(Workers):
    """Workers of which each task costs much."""

    costly = True


@each_row("ordered", [True, False])
@each_row("kind", [Workers, Costly])
@given(losses=st.lists(st.integers(0, 3), max_size=40))
@settings(deadline=None)
def test_nothing_is_lost_and_nothing_runs_twice(ordered: bool, kind: type[Workers], losses: list[int]) -> None:
    executor = Doubtful(lambda number, tried: tried <= losses[number])
    outcomes = run(kind(executor), square, range(len(losses)), ordered=ordered)
    assert sorted(each.task for each in outcomes) == list(range(len(losses)))
    assert all(each.result == each.task**2 and not each.problem for each in outcomes)
    if kind is Workers:
        assert executor.tried == {number: count + 1 for number, count in enumerate(losses)}
    else:
        # Tasks that are lost together are tried again one by one.
        assert all(losses[number] < tried <= losses[number] + 2 for number, tried in executor.tried.items())
    if ordered:
        assert [each.task for each in outcomes] == list(range(len(losses)))


def test_a_task_that_ends_each_worker_is_found() -> None:
    executor = Doubtful(lambda number, tried: number == 7)
    outcomes = {each.task: each for each in run(Workers(executor), square, range(20))}
    assert outcomes[7].problem == "its worker ends each time (BrokenProcessPool: a test)"
    assert [number for number, each in outcomes.items() if each.problem] == [7]
    assert executor.tried[7] == 4


def test_short_tasks_go_together() -> None:
    executor = Doubtful(lambda *_: False)
    outcomes = run(Costly(executor), square, range(60), ordered=True)
    assert [each.result for each in outcomes] == [number**2 for number in range(60)]
    # The first ones show how long they take; towards the end every worker gets as much as the others.
    assert executor.counts[:4] == [1, 1, 1, 1]
    assert executor.counts[4] == max(executor.counts) == 4
    assert executor.counts[-8:] == [1] * 8
    assert executor.counts[4:] == sorted(executor.counts[4:], reverse=True)
    assert len(executor.counts) < 35


@each_row("kind", [Workers, Costly])
def test_long_tasks_go_alone(kind: type[Workers], monkeypatch: pytest.MonkeyPatch) -> None:
    # Each look at the clock takes 0.3 s.
    monkeypatch.setattr("webnn.processes.spread.time", SimpleNamespace(perf_counter=partial(next, itertools.count(0, 0.3))))
    executor = Doubtful(lambda *_: False)
    run(kind(executor), square, range(60))
    assert executor.counts == [1] * 60


def test_how_many_tasks_there_are_need_not_be_known() -> None:
    executor = Doubtful(lambda *_: False)
    with closing(spread(Costly(executor), square, iter(range(60)), lambda task: [task])) as outcomes:
        assert sorted(each.task for each in outcomes) == list(range(60))
    assert executor.counts == [1] * 60


def test_one_that_fails_among_others() -> None:
    outcomes = run(Costly(Doubtful(lambda *_: False)), odd, range(60), ordered=True)
    assert [bool(each.problem) for each in outcomes] == [number % 2 == 0 for number in range(60)]
    assert [each.result for each in outcomes if not each.problem] == list(range(1, 60, 2))
    assert outcomes[40].problem.startswith("KeyError: 'no 40' (in tasks.py, line ")


def test_a_bounded_number_is_under_way() -> None:
    taken: list[int] = []

    def tasks() -> Iterator[int]:
        for number in itertools.count():
            taken.append(number)
            yield number

    with closing(spread(Workers(Doubtful(lambda *_: False)), square, tasks(), lambda task: [task], ordered=True)) as outcomes:
        assert next(outcomes).result == 0
        assert len(taken) == 4


def test_what_is_given_up_is_cancelled() -> None:
    gate = threading.Event()
    with ThreadPoolExecutor(1) as executor, open_workers(executor) as workers:
        outcomes = spread(workers, wait_for, range(10), lambda task: [task, gate])
        threading.Timer(0.05, gate.set).start()
        next(outcomes)
        outcomes.close()
        assert executor.submit(square, 3).result(PATIENCE) == 9


def wait_for(number: int, gate: threading.Event) -> int:
    assert gate.wait(PATIENCE)
    return number


def test_an_error_of_a_task() -> None:
    with open_workers("threads:1") as workers:
        [outcome] = run(workers, raises, [3])
    assert outcome.result is None
    assert outcome.problem.startswith("KeyError: 'no 3' (in tasks.py, line ")


def test_a_broken_pool_of_the_program() -> None:
    class Broken(Workers):
        def renew(self) -> bool:
            return False

    with pytest.raises(OSError, match="the executor is broken: BrokenProcessPool: a test"):
        run(Broken(Doubtful(lambda *_: True)), square, [1])


def test_stored_values(tmp_path: Path) -> None:
    arrays = [np.arange(1000, dtype=np.float64), np.empty((0, 3)), np.array(5, np.int8), np.asfortranarray(np.ones((3, 4)))]
    stored = Stored.write({"arrays": arrays, "text": "x"}, tmp_path / "value")
    loaded = stored.load()
    assert loaded["text"] == "x"
    for array, own in zip(loaded["arrays"], arrays, strict=True):
        np.testing.assert_array_equal(array, own)
    # The elements are the file's own, beyond the pickle.
    assert not loaded["arrays"][0].flags.writeable
    with pytest.raises(FileExistsError):
        Stored.write(1, tmp_path / "value")


def test_dask_and_ray_need_their_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in (("distributed", "dask://127.0.0.1:1"), ("ray", "ray://127.0.0.1:1")):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(ImportError, match=re.escape(install_command(text.partition(":")[0]))), open_workers(text):
            pytest.fail("it is not there")


@pytest.mark.processes
class TestProcesses:
    def test_they_share_values(self) -> None:
        with open_workers("processes:2") as workers:
            assert (workers.count, workers.same_files, workers.same_memory) == (2, True, False)
            shared = workers.share({"array": np.arange(10)})
            assert isinstance(shared, Stored)
            found = list(spread(workers, size, range(10), lambda task: [shared, task], ordered=True))
        assert [each.result for each in found] == list(range(10))
        assert not Path(shared.path).exists()

    def test_one_that_dies_is_replaced(self, tmp_path: Path) -> None:
        with open_workers("processes:2") as workers:
            outcomes = run(workers, die_once, range(12), str(tmp_path))
        assert sorted(each.task for each in outcomes) == list(range(12))
        assert [each.problem for each in outcomes if each.problem] == []

    def test_a_task_that_ends_each_process(self) -> None:
        with open_workers("processes:2") as workers:
            outcomes = {each.task: each for each in run(workers, die, range(8), 5)}
        assert sorted(outcomes) == list(range(8))
        assert outcomes[5].problem.startswith("its worker ends each time")
        assert [number for number, each in outcomes.items() if each.problem] == [5]

    def test_a_pool_of_the_program(self) -> None:
        import multiprocessing

        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            with open_workers(pool) as workers:
                shared = workers.share({"array": np.arange(4)})
                assert [each.result for each in spread(workers, size, [2], lambda task: [shared, task])] == [2]
            # It stays open.
            assert pool.submit(square, 4).result(PATIENCE) == 16

    def test_it_is_not_this_process(self) -> None:
        with open_workers("processes:1") as workers:
            [outcome] = run(workers, do, [1])
        assert outcome.result is not None
        assert outcome.result[1] != os.getpid()

    def test_a_script_needs_no_guard(self, tmp_path: Path) -> None:
        script = tmp_path / "script.py"
        script.write_text(
            textwrap.dedent(
                """
                print("started")
                from webnn.processes.executors import open_workers
                with open_workers("processes:2") as workers:
                    print(workers.submit(abs, -3).result())
                """
            )
        )
        done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert (done.stdout.split(), done.stderr) == (["started", "3"], "")
