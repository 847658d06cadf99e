"""Tests with marks: those that read the data beside the checkout, and those that start processes.

A test that needs the data carries the mark ``shared``. Where the environment variable ``WEBNN_REQUIRE_SHARED`` is set, as in continuous
integration, a run in which no such test ran fails.

A test that needs a real browser takes the fixture ``browser_program``: the program that the environment variable ``WEBNN_BROWSER`` names.

A test that starts a process and does not carry the mark ``processes`` fails.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

#: As in `tests.shared`, which cannot be imported here: with a checkout elsewhere, `pytest --wpt CHECKOUT` does not find pyproject.toml,
#: which puts this repository on the path.
SHARED = Path(__file__).resolve().parents[2] / "shared"
RAN = pytest.StashKey[int]()


def pytest_configure(config: pytest.Config) -> None:
    # A shell has what it runs in the background ignore Ctrl-C; `nohup` has it ignore the end of the terminal. The processes of tests would
    # inherit that.
    for name, handler in (("SIGINT", signal.default_int_handler), ("SIGHUP", signal.SIG_DFL)):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)
    config.stash[RAN] = 0


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not SHARED.is_dir():
        skip = pytest.mark.skip(reason=f"the folder {SHARED.name}/ is not beside this checkout")
        for item in items:
            if item.get_closest_marker("shared"):
                item.add_marker(skip)


@pytest.fixture(scope="session")
def browser_program() -> Path:
    """A Chromium with WebNN."""
    program = os.environ.get("WEBNN_BROWSER")
    if not program:
        pytest.skip("the environment variable WEBNN_BROWSER names no browser")
    return Path(program)


class Counter:
    """Counts the tests with the mark that passed or failed, in the process that reports."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and "shared" in report.keywords:
            self.config.stash[RAN] += 1


class Processes:
    """Fails a test that starts a process without the mark ``processes``."""

    #: The interpreter's audit events of a start.
    EVENTS = frozenset({"subprocess.Popen", "os.fork", "os.posix_spawn", "_winapi.CreateProcess"})

    def __init__(self) -> None:
        # Older versions of NumPy start a process when this module loads, which is not the test's doing.
        import numpy.testing  # noqa: F401

        self.started = False
        sys.addaudithook(self.hear)

    def hear(self, event: str, _: object) -> None:
        if event in self.EVENTS:
            self.started = True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        self.started = False
        outcome = yield
        if self.started and item.get_closest_marker("processes") is None:
            pytest.fail("a test that starts a process must have the mark 'processes'", pytrace=False)
        return outcome


def pytest_sessionstart(session: pytest.Session) -> None:
    session.config.pluginmanager.register(Counter(session.config))
    session.config.pluginmanager.register(Processes())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    terminalreporter.write_line(f"tests on shared data: {config.stash[RAN]} ran")


def pytest_sessionfinish(session: pytest.Session) -> None:
    worker = hasattr(session.config, "workerinput")
    if not worker and os.environ.get("WEBNN_REQUIRE_SHARED") and session.config.stash[RAN] == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
