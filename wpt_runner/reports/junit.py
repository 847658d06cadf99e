"""A run as JUnit XML: a suite for each test, a case for each subtest."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from webnn.commands.junit import Case, Outcome, Suite, write_suites
from webnn.wpt_runner.results import FileResult, FileStatus, RunResult, Subtest

__all__ = ["find_outcome", "write_junit"]


def write_junit(run: RunResult, path: Path) -> None:
    """Write JUnit XML; an existing file is replaced.

    Unexpected failures are ``<failure>``; a test that does not end well, unexpectedly, is an ``<error>``; an expected failure is
    ``<skipped>`` with the reason; an unexpected pass, a problem of the expectations and a flaky result are ``<failure>``.
    """
    write_suites(path, "web-platform-tests", _suites(run), started=run.started, seconds=run.seconds)


def _suites(run: RunResult) -> Iterator[Suite]:
    for result in run.results:
        cases = [Case(subtest.name, find_outcome(subtest), subtest.seconds) for subtest in result.subtests]
        if result.status is not FileStatus.OK or result.unexpected or not cases:
            cases.insert(0, Case(result.test, find_outcome(result)))
        yield Suite(name=result.test, group=result.test.removeprefix("/"), seconds=result.seconds, cases=cases, output=result.output)
    for name, problems in (("expectations", run.problems), ("flaky", run.flaky)):
        if problems:
            yield Suite(name=name, group=name, cases=[Case(problem, Outcome("failure", name, problem)) for problem in problems])


def find_outcome(each: FileResult | Subtest) -> Outcome | None:
    """Return how a test or a subtest is reported; ``None`` if it passes as expected."""
    passes = each.status in {"OK", "PASS"}
    if not each.unexpected:
        return None if passes else Outcome("skipped", each.status, each.reason or "expected, without a reason")
    if passes:
        return Outcome("failure", each.status, f"passes, but the expectations say {each.expected}")
    text = "\n".join(filter(None, [each.message or each.status, each.stack]))
    return Outcome("error" if isinstance(each, FileResult) else "failure", each.status, text)
