"""Marks and options of this suite.

A test that needs the data beside the checkout carries the mark ``shared``. Where the environment variable ``WEBNN_REQUIRE_SHARED`` is set,
as in continuous integration, a run in which no such test ran fails.

A run of the whole suite runs samples: ``CASES`` of the cases of a parametrized test, ``PROCESSES`` of the tests of a file that start
processes, or as many as the mark ``sample`` says. ``--seed`` chooses them. A run of some folders, files or names (``-k``) takes no samples,
nor does one with ``--no-samples`` or the environment variable ``WEBNN_NO_SAMPLES``. ``--all`` runs everything, tests with the mark ``slow``
too.

A run stores the names of the tests that passed in pytest's cache. ``--not-passed-in CHECKOUT`` runs all others, without samples.

A test that needs a software GPU or the simulator of an NPU carries the mark ``simulators``, with the device types, and uses
``ML(simulators=True)``. The environment variable ``WEBNN_REQUIRE_SIMULATORS`` has the device types that must be there: ``"gpu npu"``.

A test that needs a real browser takes the fixture ``browser_program``: the program that the environment variable ``WEBNN_BROWSER`` names.

A test that starts a process and does not carry the mark ``processes`` fails.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import json
import os
import random
import re
import signal
import sys
import threading
import tomllib
from collections import defaultdict
from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings

T = TypeVar("T")
#: The end of the `repr` of most objects.
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
#: As in `tests.shared`, which cannot be imported here: with a checkout elsewhere, `pytest --wpt CHECKOUT` does not find pyproject.toml,
#: which puts this repository on the path.
SHARED = Path(__file__).resolve().parents[2] / "shared"
TESTS = Path(__file__).parent
RAN = pytest.StashKey[int]()
#: Of how many cases of a test, and of how many tests of a file that start processes, a run of the whole suite consists.
CASES, PROCESSES = 5, 1
#: The key of pytest's cache for the names of the tests that passed.
PASSED = "webnn/passed"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("this suite")
    group.addoption("--all", action="store_true", help="run every case, the slow ones too; takes an hour")
    without = bool(os.environ.get("WEBNN_NO_SAMPLES"))
    group.addoption("--no-samples", action="store_true", default=without, help="run every case, except for tests with the mark slow")
    group.addoption("--seed", type=int, default=0, help="the seed of samples of cases (default: %(default)s)")
    group.addoption(
        "--not-passed-in",
        type=Path,
        metavar="CHECKOUT",
        help="run only the tests that did not pass in the last run in another checkout; write it with an equals sign",
    )


def pytest_configure(config: pytest.Config) -> None:
    # A shell has what it runs in the background ignore Ctrl-C; `nohup` has it ignore the end of the terminal. The processes of tests would
    # inherit that.
    for name, handler in (("SIGINT", signal.default_int_handler), ("SIGHUP", signal.SIG_DFL)):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)
    config.stash[RAN] = 0
    # On a loaded machine a draw can take a second: no test may fail for the time that it takes.
    settings.register_profile("webnn", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("webnn")
    check_installation()
    if config.option.all and config.option.markexpr == "not slow":
        config.option.markexpr = ""


def check_installation() -> None:
    """Fail if pyproject.toml has entry points that an editable installation does not know yet: extras would be missing."""
    project = Path(__file__).resolve().parents[1] / "pyproject.toml"
    # `test_samples` copies this file.
    declared = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["entry-points"] if project.is_file() else {}
    for group, entries in declared.items():
        if not entries.keys() <= entry_points(group=group).names:
            # A build leaves webnn.egg-info in the checkout, where Python finds it before the installation.
            again = "delete webnn.egg-info, and run 'python -m pip install --no-deps -e .' again"
            raise pytest.UsageError(f"pyproject.toml has new entry points in {group}: {again}")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    # One more than there are cores: many tests wait for a process.
    return 1 + (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def pytest_report_header(config: pytest.Config) -> str:
    return f"tests: {f'samples, --seed {config.option.seed}' if sampled(config) else 'all'}"


def sampled(config: pytest.Config) -> bool:
    """Return whether this run takes samples: it is one of the whole suite."""
    option = config.option
    return whole(config) and not (option.all or option.no_samples or option.keyword or option.not_passed_in)


def whole(config: pytest.Config) -> bool:
    """Return whether the arguments are the whole suite."""
    return all(config.invocation_params.dir.joinpath(each).resolve() in (TESTS, TESTS.parent) for each in config.args)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    check_names(items)
    if not SHARED.is_dir():
        skip = pytest.mark.skip(reason=f"the folder {SHARED.name}/ is not beside this checkout")
        for item in items:
            if item.get_closest_marker("shared"):
                item.add_marker(skip)
    left = unsampled(items, config.option.seed) if sampled(config) else set()
    if config.option.not_passed_in:
        left |= passed_in(config.option.not_passed_in)
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in left])
    items[:] = [item for item in items if item.nodeid not in left]


def check_names(items: Collection[pytest.Item]) -> None:
    """Fail if the name of a test has an address, which is another one in each process: several could not share the tests."""
    for item in items:
        if _ADDRESS.search(item.nodeid):
            raise pytest.UsageError(f"{item.nodeid}: a test's name must not have an address: give the case an id")


def unsampled(items: Collection[pytest.Item], seed: int) -> set[str]:
    """Return the names of the cases that are not in the samples of their families."""
    families, sizes = defaultdict[str, list[str]](list), dict[str, int]()
    for item in items:
        name, count = family_of(item)
        families[name].append(item.nodeid)
        sizes[name] = count
    chosen = {case for name, cases in families.items() for case in Sample(name, seed, everything=False)(cases, sizes[name])}
    return {item.nodeid for item in items} - chosen


def family_of(item: pytest.Item) -> tuple[str, int]:
    """Return the name of the family of a test, and the size of its sample."""
    test, file = item.nodeid.partition("[")[0], item.nodeid.partition("::")[0]
    for node, mark in item.iter_markers_with_node("sample"):
        # The family of a mark of a class or a module is all of it.
        return test if node is item else node.nodeid, mark.args[0]
    return (file, PROCESSES) if item.get_closest_marker("processes") else (test, CASES)


def passed_in(checkout: Path) -> set[str]:
    """Return the names of the tests that passed in the last run in a checkout."""
    try:
        stored = json.loads((checkout / ".pytest_cache" / "v" / PASSED).read_text(encoding="utf-8"))
    except OSError as error:
        raise pytest.UsageError(f"--not-passed-in must be a checkout whose tests ran, got {checkout}: {error}") from None
    return set(stored)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Keep the garbage collector from the tests: thousands of objects that stay, which each full collection would visit."""
    gc.disable()
    try:
        if whole(session.config) and hasattr(session.config, "workerinput"):
            import_share(**session.config.workerinput)
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def import_share(*, workerid: str, workercount: int, **_: object) -> None:
    """Import a share of the test files first: each worker of pytest-xdist compiles another one, and finds the rest compiled."""
    for file in sorted(TESTS.rglob("test_*.py"))[int(workerid.removeprefix("gw")) :: workercount]:
        # A file that fails does so again where it is collected.
        with contextlib.suppress(Exception, pytest.skip.Exception):
            importlib.import_module(".".join(file.relative_to(TESTS.parent).with_suffix("").parts))


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Keep it from what a file of tests leaves for good, too: parsed sources of the product take 0.7 s in each full collection."""
    if nextitem is None or nextitem.path != item.path:
        gc.collect()
        gc.freeze()


@pytest.fixture
def sample(request: pytest.FixtureRequest) -> Callable[[Sequence[Any], int], list[Any]]:
    """Chooses some of many cases in one test: a `Sample`."""
    return Sample(request.node.nodeid, request.config.option.seed, everything=not sampled(request.config))


@functools.cache
def why_no_simulator(deviceType: str) -> str:
    """Return why there is no simulator of a device type here; empty if there is one."""
    from webnn import ML, DOMException

    try:
        ML(simulators=True, fallback="deny").createContextSync(deviceType=deviceType)
    except DOMException as error:
        return str(error)
    return ""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    mark = item.get_closest_marker("simulators")
    for deviceType in mark.args if mark else ():
        if reason := why_no_simulator(deviceType):
            if deviceType in os.environ.get("WEBNN_REQUIRE_SIMULATORS", "").split():
                pytest.fail(reason, pytrace=False)
            pytest.skip(reason)


@pytest.fixture(scope="session")
def browser_program() -> Path:
    """A Chromium with WebNN."""
    program = os.environ.get("WEBNN_BROWSER")
    if not program:
        pytest.skip("the environment variable WEBNN_BROWSER names no browser")
    return Path(program)


@dataclass(frozen=True)
class Sample:
    """Chooses cases of a family.

    Attributes:
        family: The name of the family: another one has another sample.
        seed: The option ``--seed``.
        everything: Whether this run takes all cases.
    """

    family: str
    seed: int
    everything: bool

    def __call__(self, cases: Sequence[T], count: int) -> list[T]:
        """Return some cases, in their order; all of them if there are no more."""
        if self.everything or count >= len(cases):
            return list(cases)
        return [cases[index] for index in sorted(random.Random(f"{self.seed} {self.family}").sample(range(len(cases)), count))]


class Counter:
    """Counts the tests with the mark ``shared`` that ran, and keeps the names of those that passed, in the process that reports."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.passed: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            self.config.stash[RAN] += "shared" in report.keywords
            if report.passed:
                self.passed.append(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        cache = getattr(self.config, "cache", None)  # missing with `-p no:cacheprovider`
        if cache is not None and not hasattr(self.config, "workerinput"):
            cache.set(PASSED, sorted(self.passed))


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
        # Where plug-ins are installed, a process looks for their devices before the first context is made.
        if event in self.EVENTS and threading.current_thread().name != "webnn process":
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


def lacks_shared(config: pytest.Config) -> bool:
    """Whether tests on shared data are required here and none ran."""
    return bool(os.environ.get("WEBNN_REQUIRE_SHARED")) and config.stash[RAN] == 0


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    reason = ": a failure, WEBNN_REQUIRE_SHARED is set" if lacks_shared(config) else ""
    terminalreporter.write_line(f"tests on shared data: {config.stash[RAN]} ran{reason}")


def pytest_sessionfinish(session: pytest.Session) -> None:
    if not hasattr(session.config, "workerinput") and lacks_shared(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
