"""The report for continuous integration: JUnit XML, and annotations of GitHub Actions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from webnn.check.report import Report, Run, Verdict
from webnn.check.show import explain
from webnn.commands.annotations import write_annotation
from webnn.commands.junit import Case, Outcome, Suite, write_suites

__all__ = ["annotate", "write_junit"]


def write_junit(report: Report, path: Path, started: float) -> None:
    """Write JUnit XML: one suite, a case for each profile. Failures of profiles that are not required are ``<skipped>``."""
    cases = [Case(run.profile or "without a profile", _outcome(run)) for run in (report.baseline, *report.profiles)]
    if report.model is not None and report.model.refusal:
        cases.insert(0, Case("ONNX Runtime", Outcome("failure", "refused", report.model.refusal)))
    suite = Suite(name=report.program, group="webnn check", seconds=report.seconds, cases=cases)
    write_suites(path, "webnn check", [suite], started=started, seconds=report.seconds)


def annotate(report: Report) -> Iterator[str]:
    """Yield a workflow command for each profile on which the program does not build: an error if it is required, else a warning."""
    if report.model is not None and report.model.refusal:
        yield write_annotation("error", report.model.refusal, file=report.program, title="webnn check: ONNX Runtime refuses the model")
    for run in (report.baseline, *report.profiles):
        if not run.passed:
            level: Literal["error", "warning"] = "error" if run.required or run.profile is None else "warning"
            title = f"webnn check: {run.profile or 'without a profile'}"
            yield write_annotation(level, f"{run.verdict.value}: {explain(run)}", file=report.program, title=title)


def _outcome(run: Run) -> Outcome | None:
    if run.passed:
        return None
    if run.verdict in {Verdict.REFUSED, Verdict.NO_GRAPH}:
        return Outcome("failure" if run.required else "skipped", run.verdict.value, explain(run))
    return Outcome("error" if run.required or run.profile is None else "skipped", run.verdict.value, explain(run))
