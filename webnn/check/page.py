"""The report as one page of HTML: it loads nothing, and runs no script."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from webnn.check.report import ModelReport, Refusal, Report, Run
from webnn.check.show import by_partitions, describe_refusal, explain, partition_figures, summary
from webnn.display import pages
from webnn.display.table import Cell, Table

__all__ = ["render", "tabulate_profiles", "write_page"]

_NO_PROFILE = "(none)"


def write_page(report: Report, path: Path) -> None:
    """Write the page; an existing file is replaced. Raises `OSError` if it cannot be written."""
    path.write_text(render(report), encoding="utf-8", newline="\n")


def render(report: Report) -> str:
    """Return the page."""
    model = report.model
    return pages.render(
        "webnn.check/page.html",
        title=f"webnn check {report.program}",
        summary=summary(report),
        report=report,
        profiles=tabulate_profiles(report),
        partitions=list(by_partitions((report.baseline, *report.profiles))),
        remarks=[] if model is None else [*(f"cannot be imported: {each}" for each in model.reasons), *model.notes],
        nodes=None if model is None else _nodes(report.profiles, model),
        refusals=[(_name(run), [_advise(each) for each in run.refusals]) for run in report.profiles if run.refusals],
    )


def tabulate_profiles(report: Report) -> Table:
    """Return how the program runs on each profile: a row for each."""
    rows = []
    for run in (report.baseline, *report.profiles):
        fallbacks = f"{run.fallbacks} of {sum(graph.operators for graph in run.graphs)}" if run.fallbacks else ""
        figures = partition_figures(run) if report.has_partitions else ""
        why = "" if run.passed and not run.refusals else explain(run)
        rows.append([_name(run), Cell(run.verdict.value, style="good" if run.passed else "bad"), fallbacks, figures, why])
    return Table(title="", columns=("profile", "verdict", "falls back", "ONNX Runtime Web", "why, and what to change"), rows=rows)


def _nodes(runs: Sequence[Run], model: ModelReport) -> Table:
    first: dict[str, dict[str, str]] = {}
    for run in runs:
        for refusal in run.refusals:
            first.setdefault(refusal.label, {}).setdefault(_name(run), _advise(refusal))
    rows = []
    for node in model.nodes:
        limits = [*node.reasons, *(f"{profile}: {text}" for profile, text in first.get(node.name, {}).items())]
        rows.append([node.name, node.operator, " ".join(node.operations) or node.outcome, "\n".join(limits)])
    return Table(title="", columns=("node", "operator", "WebNN operations", "the first limit that each profile has"), rows=rows)


def _advise(refusal: Refusal) -> str:
    return describe_refusal(refusal) + (f" (change: {refusal.change.text})" if refusal.change else "")


def _name(run: Run) -> str:
    return run.profile or _NO_PROFILE
