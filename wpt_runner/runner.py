"""Runs tests of web-platform-tests in processes, and puts their results together."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from functools import partial
from importlib import metadata

import webnn
from webnn.processes.pool import End, Finished, Worker, run_tasks
from webnn.wpt_runner.checkout import Checkout, Test
from webnn.wpt_runner.harness import Settings, run_test, time_limit
from webnn.wpt_runner.results import FileResult, FileStatus, Subtest

__all__ = ["OneByOne", "describe_run", "run_tests"]

#: A process is killed this many seconds after the test's own time-out. Until then the harness can report what it waits for.
_GRACE = 3.0


Work = Callable[[Test, Callable[[Subtest], None]], FileResult]


def _prepare(checkout: Checkout, settings: Settings) -> Work:
    """Prepare a process: it runs tests of a checkout."""
    return lambda test, note: run_test(checkout, test, settings, note)


def _limit(settings: Settings, test: Test) -> float:
    return time_limit(test, settings) + _GRACE


def run_tests(
    checkout: Checkout, tests: Sequence[Test], settings: Settings, *, processes: int, on_result: Callable[[FileResult], None]
) -> list[FileResult]:
    """Run tests.

    Args:
        checkout: The checkout.
        tests: The tests.
        settings: How they run.
        processes: How many processes work at a time.
        on_result: Called with the result of each test that has ended.

    Returns:
        The results, in the tests' order.

    Raises:
        StartError: The processes do not start.
    """
    # Long tests begin first, so that the run does not wait for them at its end.
    order = sorted(tests, key=lambda test: not test.file.long)
    results: dict[Test, FileResult] = {}
    finished: Generator[Finished[Test, Subtest, FileResult]]
    with closing(run_tasks(order, partial(_prepare, checkout, settings), jobs=processes, limit=partial(_limit, settings))) as finished:
        for each in finished:
            results[each.task] = result = _result(each)
            on_result(result)
    return [results[test] for test in tests]


class OneByOne:
    """Runs tests on demand, one after another, in a child process.

    Args:
        checkout: The checkout.
        settings: How the tests run.
    """

    def __init__(self, checkout: Checkout, settings: Settings) -> None:
        self._prepare = partial(_prepare, checkout, settings)
        self._limit = partial(_limit, settings)
        self._worker: Worker[Test, Subtest, FileResult] | None = None

    def run(self, test: Test) -> FileResult:
        """Run a test.

        Raises:
            StartError: The process does not start.
        """
        worker = self._worker = self._worker or Worker(self._prepare, self._limit)
        finished = worker.run(test)
        if worker.dead:
            self._worker = None
        return _result(finished)

    def close(self) -> None:
        """End the process."""
        if self._worker is not None:
            self._worker.kill()
            self._worker = None


def _result(finished: Finished[Test, Subtest, FileResult]) -> FileResult:
    if finished.result is not None:
        return finished.result
    file = finished.task.file
    return FileResult(
        file=file.path,
        variant=finished.task.variant,
        status=FileStatus.TIMEOUT if finished.end is End.TIMEOUT else FileStatus.CRASH,
        message=finished.problem,
        subtests=finished.notes,
        seconds=finished.seconds,
        title=file.title,
    )


def describe_run(checkout: Checkout, settings: Settings) -> dict[str, str]:
    """Return what runs where, for the reports."""
    return {
        "product": "webnn",
        "product_version": webnn.__version__,
        "engine": ", ".join(f"{name} {_version(name)}" for name in ("quickjs-ng", "onnxruntime")),
        "os": {"Darwin": "mac", "Windows": "win"}.get(platform.system(), platform.system().lower()),
        "os_version": platform.release(),
        "python_version": platform.python_version(),
        "processor": platform.machine(),
        "revision": checkout.revision(),
        "webnn": settings.revision,
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "(unknown version)"
