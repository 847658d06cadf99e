"""Runs tests of web-platform-tests in processes, and puts their results together."""

from __future__ import annotations

import os
import platform
import re
import sys
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from functools import lru_cache, partial
from importlib import metadata
from pathlib import Path
from typing import TypeVar

import webnn
from webnn.context import emulation
from webnn.context.devices.selection import REFERENCE
from webnn.context.engines import ONNX_RUNTIME
from webnn.processes.executors import open_workers
from webnn.processes.pool import Distrust, End, Finished, Worker, run_tasks
from webnn.processes.spread import spread
from webnn.processes.walls.python import confine
from webnn.validation.drafts import find_revision
from webnn.wpt_runner.checkout import Checkout, Test
from webnn.wpt_runner.flavours import Flavour
from webnn.wpt_runner.harness import run_test
from webnn.wpt_runner.results import FileResult, FileStatus, Subtest, SubtestStatus
from webnn.wpt_runner.settings import Settings, time_limit

__all__ = ["OneByOne", "Work", "describe_run", "run_each", "run_one", "run_tests", "run_tests_on"]

R = TypeVar("R")
#: The function of a process that runs a test; its last argument takes subtests as they end.
Work = Callable[[Checkout, Settings, Test, Callable[[Subtest], None]], R]

#: A process is killed this many seconds after the test's own time-out. Until then the harness can report what it waits for.
_GRACE = 3.0


#: Features that only Node has. A test that names one of them may not need it, but runs in Node all the same.
_LACKS = re.compile(r"\b(?:WebAssembly|MessageChannel|maxByteLength|new\s+Worker)\b")
#: Where the harness and its helpers are, which name much that tests do not use.
_RESOURCES = "/resources/"


def _find_lack(checkout: Checkout, test: Test) -> str:
    """Return a feature that a test names, that quickjs-ng lacks and Node has; empty if there is none."""
    # Node is neither a shared worker nor a service worker, and has no frames.
    scripts = test.file.sources if test.flavour in (Flavour.WINDOW, Flavour.WORKER) and not test.file.is_page else ()
    return next(filter(None, (_find_word(checkout.root, path) for path in scripts if not path.startswith(_RESOURCES))), "")


@lru_cache(maxsize=1024)
def _find_word(root: Path, path: str) -> str:
    found = _LACKS.search(Checkout(root).read(path) or "")
    return found[0] if found else ""


def _run(checkout: Checkout, settings: Settings, test: Test, note: Callable[[Subtest], None]) -> FileResult:
    return run_test(checkout, test, settings, note)


def _run_in_node(checkout: Checkout, settings: Settings, test: Test, note: Callable[[Subtest], None]) -> FileResult:
    from webnn.wpt_runner.node_tests import run_test_in_node  # noqa: PLC0415 (few tests need Node)

    return run_test_in_node(checkout, test, settings, _find_lack(checkout, test), note)


def _prepare(work: Work[R], checkout: Checkout, settings: Settings) -> Callable[[Test, Callable[[Subtest], None]], R]:
    """Prepare a process behind walls for its tests."""
    # A test must not put models there that another program takes.
    os.environ.pop("WEBNN_CACHE", None)
    return partial(work, checkout, settings)


def _distrust(checkout: Checkout, settings: Settings, types: Sequence[type]) -> Distrust:
    """Return how processes are treated that run tests in the engine.

    They read Python, the engine, the checkout, the profile, and the folders of modules that the name of the revision has, only.
    """
    files = [str(checkout.root), *_sources(settings.revision), *filter(None, [os.environ.get("WEBNN_PROFILE")])]
    return Distrust(confine=partial(confine, files), types=(FileResult, FileStatus, Subtest, SubtestStatus, Flavour, *types))


def _sources(revision: str) -> list[str]:
    """Return the folders in which the modules in a revision's name are found."""
    names = [each.partition(":")[0].partition(".")[0] for each in revision.split("+") if ":" in each]
    if names:
        find_revision(revision)  # it imports them
    # A module is a file of the folder, a package a folder in it.
    places = [next(iter(getattr(sys.modules[name], "__path__", ())), sys.modules[name].__file__) for name in names]
    return [os.path.dirname(place) for place in places if place]


def _limit(settings: Settings, test: Test) -> float:
    return time_limit(test, settings) + _GRACE


def run_tests_on(
    executor: str, checkout: Checkout, tests: Sequence[Test], settings: Settings, *, on_result: Callable[[FileResult], None]
) -> list[FileResult]:
    """Run tests on the workers of an executor, which find the checkout under the same path: like `run_tests`.

    Raises:
        ImportError: The package that the executor needs is not installed.
        OSError: The executor is broken, or a worker cannot start processes.
        ValueError: There is no such executor.
    """
    order = sorted(tests, key=lambda test: not test.file.long)
    results: dict[Test, FileResult] = {}
    with (
        open_workers(executor, "--executor") as workers,
        closing(spread(workers, run_one, order, lambda test: [checkout, settings, test])) as outcomes,
    ):
        for outcome in outcomes:
            lost: Finished[Test, Subtest, FileResult] = Finished(
                task=outcome.task, end=End.DIED, result=None, problem=outcome.problem, notes=(), seconds=0.0
            )
            results[outcome.task] = result = _ended(lost) if outcome.result is None else outcome.result
            on_result(result)
    return [results[test] for test in tests]


def run_one(checkout: Checkout, settings: Settings, test: Test) -> FileResult:
    """Run a test, in a worker: a task of `run_tests_on`. It runs in a child of the worker, so that it can be ended."""
    return _CHILDREN.child(checkout, settings).run(test)


def run_tests(
    checkout: Checkout, tests: Sequence[Test], settings: Settings, *, processes: int, on_result: Callable[[FileResult], None]
) -> list[FileResult]:
    """Run tests in processes: see `run_each`. Tests that need Node come last: Node has its own sandbox, and its processes have none."""
    results: dict[Test, FileResult] = {}
    for work, confined in ((_run, True), (_run_in_node, False)):
        chosen = [test for test in tests if confined != bool(_find_lack(checkout, test))]
        results |= run_each(
            work, lambda result: result, checkout, chosen, settings, processes, lambda _, result: on_result(result), confined=confined
        )
    return [results[test] for test in tests]


def run_each(
    work: Work[R],
    fail: Callable[[FileResult], R],
    checkout: Checkout,
    tests: Sequence[Test],
    settings: Settings,
    processes: int,
    on_result: Callable[[Test, R], None],
    *,
    types: Sequence[type] = (),
    confined: bool = True,
) -> dict[Test, R]:
    """Do something with tests in processes; return the results in the tests' order, and hand each over as soon as its test has ended.

    A test whose process died or was too slow has a `FileResult`, of which `fail` makes a result. Results may hold objects of `types`. The
    processes are behind walls if they are confined. Raises `StartError` if the processes do not start.
    """
    # Long tests begin first, so that the run does not wait for them at its end.
    order = sorted(tests, key=lambda test: not test.file.long)
    results: dict[Test, R] = {}
    finished: Generator[Finished[Test, Subtest, R]]
    prepare = partial(_prepare if confined else partial, work, checkout, settings)
    distrust = _distrust(checkout, settings, types) if confined else None
    with closing(run_tasks(order, prepare, jobs=processes, limit=partial(_limit, settings), distrust=distrust)) as finished:
        for each in finished:
            results[each.task] = result = fail(_ended(each)) if each.result is None else each.result
            on_result(each.task, result)
    return {test: results[test] for test in tests}


class OneByOne:
    """Runs tests on demand, one after another, in a child process, or in another one that starts Node."""

    def __init__(self, checkout: Checkout, settings: Settings) -> None:
        self._checkout = checkout
        self._settings = settings
        self._workers: dict[bool, Worker[Test, Subtest, FileResult]] = {}

    def run(self, test: Test) -> FileResult:
        """Run a test; raises `StartError` if the process does not start."""
        confined = not _find_lack(self._checkout, test)
        worker = self._workers.get(confined)
        if worker is None:
            distrust = _distrust(self._checkout, self._settings, ()) if confined else None
            begin, work = (_prepare, _run) if confined else (partial, _run_in_node)
            prepare = partial(begin, work, self._checkout, self._settings)
            worker = self._workers[confined] = Worker(prepare, partial(_limit, self._settings), distrust)
        finished = worker.run(test)
        if worker.dead:
            del self._workers[confined]
        return _ended(finished) if finished.result is None else finished.result

    def close(self) -> None:
        """End the processes."""
        while self._workers:
            self._workers.popitem()[1].kill()


class _Children(threading.local):
    """The child of a thread of a worker: that of the checkout and the settings that it used last."""

    def __init__(self) -> None:
        self._key: tuple[Path, Settings] | None = None
        self._child: OneByOne | None = None

    def child(self, checkout: Checkout, settings: Settings) -> OneByOne:
        """Return the child; start it unless it is there."""
        # Each task brings a copy of the checkout.
        key = (checkout.root, settings)
        if self._child is None or self._key != key:
            if self._child is not None:
                self._child.close()
            self._key, self._child = key, OneByOne(checkout, settings)
        return self._child


_CHILDREN = _Children()


def _ended(finished: Finished[Test, Subtest, R]) -> FileResult:
    """Return the result of a test whose process died or was too slow."""
    file = finished.task.file
    return FileResult(
        file=file.path,
        variant=finished.task.variant,
        flavour=finished.task.flavour,
        status=FileStatus.TIMEOUT if finished.end is End.TIMEOUT else FileStatus.CRASH,
        message=finished.problem,
        subtests=finished.notes,
        seconds=finished.seconds,
        title=file.title,
    )


def describe_run(checkout: Checkout, settings: Settings) -> dict[str, str]:
    """Return the product and its system, for the reports."""
    return {
        "product": "webnn",
        "product_version": webnn.__version__,
        "engine": f"quickjs-ng {_version('quickjs-ng')}, {_describe_engine(settings)}",
        "os": {"Darwin": "mac", "Windows": "win"}.get(platform.system(), platform.system().lower()),
        "os_version": platform.release(),
        "python_version": platform.python_version(),
        "processor": platform.machine(),
        "revision": checkout.revision(),
        "webnn": settings.revision,
        "dialect": settings.dialect or "",
        "profile": os.environ.get(emulation.PROFILE_VARIABLE, ""),
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def _describe_engine(settings: Settings) -> str:
    """Say what computes: the name, and the version of the usual one."""
    if settings.reference:
        return REFERENCE
    engine = emulation.ambient().engine
    return f"{ONNX_RUNTIME} {_version(ONNX_RUNTIME)}" if engine in (None, ONNX_RUNTIME) else engine


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "(unknown version)"
