"""The report for continuous integration: JUnit XML, and annotations of GitHub Actions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from webnn.check.report import Report, Run, Verdict
from webnn.check.show import explain
from webnn.commands.junit import Case, Outcome, Suite, write_suites
from webnn.commands.text import show_controls

__all__ = ["annotate", "write_junit"]

#: How a workflow command spells what would end it.
_ESCAPES = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_ESCAPES_OF_PROPERTIES = {**_ESCAPES, ":": "%3A", ",": "%2C"}


def write_junit(report: Report, path: Path, started: float) -> None:
    """Write JUnit XML: one suite, a case for each profile. What fails and is not required is ``<skipped>``."""
    cases = [Case(run.profile or "without a profile", _outcome(run)) for run in (report.baseline, *report.profiles)]
    suite = Suite(name=report.program, group="webnn check", seconds=report.seconds, cases=cases)
    write_suites(path, "webnn check", [suite], started=started, seconds=report.seconds)


def annotate(report: Report) -> Iterator[str]:
    """Yield a workflow command for each profile on which the program does not build: an error if it is required, else a warning."""
    for run in (report.baseline, *report.profiles):
        if not run.passed:
            level = "error" if run.required or run.profile is None else "warning"
            properties = {"file": report.program, "title": f"webnn check: {run.profile or 'without a profile'}"}
            given = ",".join(f"{name}={_escape(value, _ESCAPES_OF_PROPERTIES)}" for name, value in properties.items())
            yield f"::{level} {given}::{_escape(f'{run.verdict.value}: {explain(run)}', _ESCAPES)}"


def _outcome(run: Run) -> Outcome | None:
    if run.passed:
        return None
    if run.verdict in {Verdict.REFUSED, Verdict.NO_GRAPH}:
        return Outcome("failure" if run.required else "skipped", run.verdict.value, explain(run))
    return Outcome("error" if run.required or run.profile is None else "skipped", run.verdict.value, explain(run))


def _escape(text: str, escapes: dict[str, str]) -> str:
    return "".join(escapes.get(character, character) for character in show_controls(text))
