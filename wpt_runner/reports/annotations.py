"""A run as annotations of GitHub Actions: one for each unexpected result."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from webnn.commands.annotations import write_annotation
from webnn.wpt_runner.reports.junit import find_outcome
from webnn.wpt_runner.results import FileResult, RunResult, Subtest

__all__ = ["annotate"]


def annotate(run: RunResult, checkout: Path) -> Iterator[str]:
    """Yield a line for each test, subtest, problem of the expectations and flaky result that is not as expected."""
    for result in run.results:
        named: list[tuple[str, FileResult | Subtest]] = [(result.test, result)]
        named += [(f"{result.test}: {subtest.name}", subtest) for subtest in result.subtests]
        for name, each in named:
            outcome = find_outcome(each)
            if each.unexpected and outcome is not None:
                file = checkout / result.file
                yield write_annotation("error", outcome.message, file=str(file), title=f"webnn wpt: {name}")
    for title, problems in (("expectations", run.problems), ("flaky", run.flaky)):
        for problem in problems:
            yield write_annotation("error", problem, title=f"webnn wpt: {title}")
