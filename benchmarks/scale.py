"""Whole data sets on one worker and on two: python -m benchmarks.scale.

Inferences of a network in the shape of MobileNetV2 on local processes and on Dask, the overhead of a task, and what a killed worker costs.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import psutil  # of Dask

import webnn
from benchmarks.mobilenet import make_network, webnn_side

__all__ = ["main"]

#: How many samples a part has, and how many parts may wait for graphs.
_PART, _STARTING = 25, 4

#: Opens this number of workers, and yields what names them.
_Opened = Callable[[int], AbstractContextManager[str]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print what was found."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description="Measure webnn.batch on one worker and on two.")
    parser.add_argument("--inferences", type=int, default=2000, help="how many images (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="how many times one worker and two take turns (default: %(default)s)")
    options = parser.parse_args(arguments)
    description = _describe()
    with tempfile.TemporaryDirectory() as folder:
        images = Path(folder, "images.npy")
        shape = (options.inferences, *description.inputs["image"].dimensions[1:])
        rows = np.lib.format.open_memmap(images, "w+", np.float32, shape)
        rows[:] = np.random.default_rng(0).uniform(-1, 1, shape[1:]).astype(np.float32)
        rows.flush()
        del rows
        unwatched = partial(_dask, profiler=False)
        for name, opened in (("local processes", _processes), ("Dask", _dask), ("Dask without its profiler", unwatched)):
            _compare(name, description, images, opened, options.rounds)
        _kill(description, images)
    _overhead(options.rounds)
    return 0


def _describe() -> webnn.GraphDescription:
    found: list[webnn.GraphDescription] = []
    with webnn.emulate(on_build=lambda description, graph: found.append(description)):
        webnn_side(webnn.ML(revision="2024-06").createContextSync(), make_network())
    return found[0]


@dataclass(frozen=True, slots=True)
class _Run:
    """A run of the whole data.

    Attributes:
        seconds: By the clock, with the start of the workers.
        rate: Images in a second, by the clock, once every worker has built its graph.
        processor: The milliseconds of the workers' processors for an image, from then on.
    """

    seconds: float
    rate: float
    processor: float


def _compare(name: str, description: webnn.GraphDescription, images: Path, opened: _Opened, rounds: int) -> None:
    """Time one worker and two in turns. Nothing else runs meanwhile: workers that wait have work, too."""
    single: list[_Run] = []
    double: list[_Run] = []
    for _ in range(rounds):
        for count, runs in ((1, single), (2, double)):
            with opened(count) as executor:
                runs.append(_time(description, images, executor))
    whole = [first.seconds / second.seconds for first, second in zip(single, double, strict=True)]
    steady = [second.rate / first.rate for first, second in zip(single, double, strict=True)]
    for count, found in ((1, single), (2, double)):
        print(
            f"{name}, {count}: {_show([run.seconds for run in found])} s in all, {_show([run.rate for run in found])} images/s, "
            f"{_show([run.processor for run in found])} ms of a processor for an image"
        )
    print(f"{name}: 2 workers are {_show(whole, 2)} times as fast in all, {_show(steady, 2)} times once they have started")


def _show(values: Sequence[float], digits: int = 1) -> str:
    median, low, high = statistics.median(values), min(values), max(values)
    return f"{median:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def _time(description: webnn.GraphDescription, images: Path, executor: str) -> _Run:
    began = time.perf_counter()
    first, last, rows = (0, 0.0, 0.0), (0, 0.0, 0.0), 0
    count = len(np.load(images, mmap_mode="r"))
    for number, part in enumerate(_batch(description, images, executor)):
        rows += len(next(iter(part.values())))
        # The first parts of each worker wait for its graph. To look at the processors takes a while: not between.
        if number == _STARTING:
            first = rows, time.perf_counter(), _processor()
        elif rows == count:
            last = rows, time.perf_counter(), _processor()
    assert rows == count
    steady = last[0] - first[0]
    return _Run(last[1] - began, steady / (last[1] - first[1]), (last[2] - first[2]) / steady * 1e3)


def _processor() -> float:
    """Return how long the processors have worked for the children of this process, in seconds."""
    total = 0.0
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            times = child.cpu_times()
            total += times.user + times.system
    return total


def _batch(description: webnn.GraphDescription, data: Path, executor: str, size: int = _PART) -> webnn.Batch:
    return webnn.batch(description, data, batchSize=size, executor=executor, threads=1, progress=False)


def _kill(description: webnn.GraphDescription, images: Path) -> None:
    """Kill one of two processes in the middle, and compare with a run without that."""
    before = set(multiprocessing.active_children())
    want, found = _batch(description, images, "processes:2").collect(), []
    began = time.perf_counter()
    made = _batch(description, images, "processes:2")
    for number, part in enumerate(made):
        found.append(part)
        if number == len(made) // 2:
            victim = (set(multiprocessing.active_children()) - before).pop()
            os.kill(victim.pid or 0, signal.SIGKILL)
    seconds = time.perf_counter() - began
    same = all(np.array_equal(np.concatenate([part[name] for part in found]), want[name]) for name in want)
    print(f"one of 2 processes killed in the middle: {seconds:.1f} s, {len(found)} of {len(made)} parts, all rows equal: {same}")


def _overhead(rounds: int) -> None:
    """Time tasks of a graph that takes no time."""
    builder = webnn.MLGraphBuilder(webnn.ML(revision="2026-06").createContextSync())
    description = webnn.describe({"y": builder.relu(builder.input("x", dataType="float32", shape=[1, 4]))})
    rows = np.ones((2000, 4), np.float32)
    with _dask(1) as dask, tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "rows.npy")
        np.save(file, rows)
        for name, executor in (("threads", "threads:1"), ("local processes", "processes:1"), ("Dask", dask)):
            found = []
            for _ in range(rounds):
                # The start cancels out.
                few, many = (_time_parts(description, file, executor, size) for size in (2000, 2))
                found.append((many - few) / 999 * 1e3)
            print(f"overhead of a task, {name}: {statistics.median(found):.2f} ms ({min(found):.2f} to {max(found):.2f})")


def _time_parts(description: webnn.GraphDescription, rows: Path, executor: str, size: int) -> float:
    began = time.perf_counter()
    for _ in _batch(description, rows, executor, size):
        pass
    return time.perf_counter() - began


@contextmanager
def _processes(workers: int) -> Iterator[str]:
    yield f"processes:{workers}"


@contextmanager
def _dask(workers: int, *, profiler: bool = True) -> Iterator[str]:
    """Start a scheduler of Dask with some workers; yield its address."""
    import dask
    from distributed import LocalCluster

    # The workers get the settings of this process.
    settings = dask.config.set({"distributed.worker.profile.enabled": profiler})
    with settings, LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50) as cluster:
        yield cluster.scheduler_address.replace("tcp", "dask")


if __name__ == "__main__":
    raise SystemExit(main())
