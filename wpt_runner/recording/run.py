"""Records tests of web-platform-tests in processes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from functools import partial
from pathlib import PurePosixPath

from webnn.processes.pool import End, Finished, run_tasks
from webnn.wpt_runner.checkout import Checkout, CheckoutError, Test
from webnn.wpt_runner.harness import Settings, time_limit
from webnn.wpt_runner.recording.recorder import Recording, record_test
from webnn.wpt_runner.results import FileResult, FileStatus

__all__ = ["choose_tests", "record_tests", "stem"]

_FOLDER = "webnn/conformance_tests/"
_DEFAULT_VARIANT = "?cpu"
#: A process is killed this many seconds after the test's own time-out. Until then the harness can report what it waits for.
_GRACE = 3.0

_Work = Callable[[Test, Callable[[None], None]], Recording]


def stem(test: Test) -> str:
    """Return the name of the file for a test's cases, without its suffix: ``"relu"`` for ``webnn/conformance_tests/relu.https.any.js``."""
    return PurePosixPath(test.file.path).name.partition(".")[0]


def choose_tests(checkout: Checkout, patterns: Sequence[str] = (), variant: str | None = None) -> list[Test]:
    """Choose conformance tests, each in one variant.

    Args:
        checkout: The checkout.
        patterns: Parts of paths, or shell patterns for whole paths; all conformance tests if there are none.
        variant: The variant; by default cpu, or a file's first variant if it has no cpu.

    Raises:
        CheckoutError: There are none, or none for a pattern or variant, or two would be written to one file.
    """
    for pattern in patterns:
        if not any(map(_is_conformance, checkout.tests([pattern]))):
            raise CheckoutError(f"no conformance test of {checkout.root} matches {pattern!r}: they are in {_FOLDER}")
    chosen: dict[str, Test] = {}
    for test in filter(_is_conformance, checkout.tests(patterns, [variant] if variant is not None else [])):
        first = chosen.setdefault(test.file.path, test)
        if test.variant == _DEFAULT_VARIANT and first is not test:
            chosen[test.file.path] = test
    if not chosen:
        raise CheckoutError(f"{checkout.root} has no conformance tests: they would be in {_FOLDER}")
    paths: dict[str, str] = {}
    for test in chosen.values():
        other = paths.setdefault(stem(test), test.file.path)
        if other != test.file.path:
            raise CheckoutError(f"{other} and {test.file.path} would both be recorded in {stem(test)}.json: choose one of them")
    return list(chosen.values())


def _is_conformance(test: Test) -> bool:
    return test.file.path.startswith(_FOLDER)


def record_tests(
    checkout: Checkout, tests: Sequence[Test], settings: Settings, *, processes: int, on_recording: Callable[[Test, Recording], None]
) -> dict[Test, Recording]:
    """Record tests.

    Args:
        checkout: The checkout.
        tests: The tests.
        settings: How they run.
        processes: How many processes work at a time.
        on_recording: Called for each test that has ended.

    Returns:
        What was recorded, in the tests' order.

    Raises:
        StartError: The processes do not start.
    """
    recordings: dict[Test, Recording] = {}
    finished: Generator[Finished[Test, None, Recording]]
    with closing(run_tasks(tests, partial(_prepare, checkout, settings), jobs=processes, limit=partial(_limit, settings))) as finished:
        for each in finished:
            recordings[each.task] = recording = _recording(each)
            on_recording(each.task, recording)
    return {test: recordings[test] for test in tests}


def _prepare(checkout: Checkout, settings: Settings) -> _Work:
    """Prepare a process: it records tests of a checkout."""
    return lambda test, _: record_test(checkout, test, settings)


def _limit(settings: Settings, test: Test) -> float:
    return time_limit(test, settings) + _GRACE


def _recording(finished: Finished[Test, None, Recording]) -> Recording:
    if finished.result is not None:
        return finished.result
    status = FileStatus.TIMEOUT if finished.end is End.TIMEOUT else FileStatus.CRASH
    test = finished.task
    result = FileResult(
        file=test.file.path,
        variant=test.variant,
        status=status,
        message=finished.problem,
        seconds=finished.seconds,
        title=test.file.title,
    )
    return Recording(result=result)
