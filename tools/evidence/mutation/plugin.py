"""The pytest plugin of mutation testing: ``-p tools.evidence.mutation.plugin``.

When coverage is measured, it names each test as the context of the lines that it reaches, and writes the results of the tests to the file
``MUTATION_RECORD``. When a mutant is tried, it runs the tests that the file ``MUTATION_TESTS`` names, in that order, each with a limit of
CPU time, and writes the first failure to ``MUTATION_RECORD``.
"""

from __future__ import annotations

import json
import os
import resource
import signal
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

import webnn
from tools.evidence.mutation.reach import ENDLESS

#: How much memory a process may have, in bytes.
_MOST_MEMORY = 8 << 30
_RECORD = os.environ["MUTATION_RECORD"]
_SELECTION = os.environ.get("MUTATION_TESTS")
#: The limit of each test, in seconds, by name; in the order in which they run.
_LIMITS: dict[str, float] = json.loads(Path(_SELECTION).read_text(encoding="utf-8")) if _SELECTION else {}


class Recorder:
    """Keeps how long each test took, and which of them failed."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.failed: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add a stage of a test."""
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Write the record."""
        Path(_RECORD).write_text(json.dumps({"seconds": self.seconds, "failed": self.failed}), encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    """Check which code is tested, and record unless this is a process of `pytest-xdist`."""
    if not Path(webnn.__file__).is_relative_to(config.rootpath):
        raise pytest.UsageError(f"webnn comes from {webnn.__file__}, but must be that of {config.rootpath}")
    if _SELECTION:
        # For processes that tests start: they have no limit of their own.
        resource.setrlimit(resource.RLIMIT_CPU, (int(sum(_LIMITS.values())) + 600,) * 2)
        resource.setrlimit(resource.RLIMIT_DATA, (_MOST_MEMORY,) * 2)
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Recorder())


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests that were chosen."""
    if _SELECTION:
        found = {item.nodeid: item for item in items}
        items[:] = [found[name] for name in _LIMITS if name in found]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Run a test as a context of the coverage, or with a limit."""
    if _SELECTION:
        signal.signal(signal.SIGPROF, _end)
        signal.setitimer(signal.ITIMER_PROF, _LIMITS[item.nodeid])
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    from coverage import Coverage  # noqa: PLC0415 (a run of mutants does not need it)

    measured = Coverage.current()
    assert measured is not None, "coverage must be started by its file a1_coverage.pth: install coverage 7.13 or newer"
    measured.switch_context(item.nodeid)
    try:
        return (yield)
    finally:
        measured.switch_context("")


def pytest_unconfigure() -> None:
    """Save what was measured: a process of `pytest-xdist` does not end as others do."""
    if not _SELECTION:
        from coverage import Coverage  # noqa: PLC0415 (a run of mutants does not need it)

        measured = Coverage.current()
        if measured is not None:
            measured.stop()
            measured.save()


def _end(number: int, frame: FrameType | None) -> None:
    test, _, _ = os.environ["PYTEST_CURRENT_TEST"].partition(" (")
    Path(_RECORD).write_text(json.dumps({"failed": [test]}), encoding="utf-8")
    os._exit(ENDLESS)
