"""The results of a run: a table for people, JSON for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from statistics import median
from typing import Any

from rich.table import Table

from tools.evidence.ort_web.verdicts import FAILURES, Verdict

__all__ = ["as_json", "make_models_table", "make_operators_table", "make_table"]

STATUSES = ("ok", *FAILURES)


def make_table(verdicts: Sequence[Verdict], alone: Mapping[str, Verdict]) -> Table:
    """Make the table of the numbers of tests by status.

    Args:
        verdicts: The verdicts on the tests.
        alone: The verdicts without WebNN on tests that failed with it.
    """
    table = Table("tests", *STATUSES, "all")
    for column in table.columns[1:]:
        column.justify = "right"

    def add(name: str, some: Iterable[Verdict]) -> None:
        counts = Counter(verdict.status for verdict in some)
        table.add_row(name, *(str(counts[status]) for status in STATUSES), str(counts.total()))

    add("reach WebNN", (verdict for verdict in verdicts if verdict.reaches))
    add("... and fail without it, too", (verdict for verdict in verdicts if verdict.reaches and _fails(alone.get(verdict.name))))
    add("stay in ONNX Runtime Web", (verdict for verdict in verdicts if not verdict.reaches))
    return table


def _fails(verdict: Verdict | None) -> bool:
    return verdict is not None and verdict.status != "ok"


def make_models_table(verdicts: Sequence[Verdict]) -> Table | None:
    """Make the table of what sessions cost, of the tests that were run several times; ``None`` if there are none."""
    measured = [verdict for verdict in verdicts if verdict.runMs]
    if not measured:
        return None
    table = Table("model", "result", "operators in WebNN", "graphs", "left", "difference", "session, ms", "run, ms (median)")
    for verdict in measured:
        # The session was made twice: once to see where the operators go.
        graphs = verdict.calls.get("MLGraphBuilder.build", 0) // 2
        left = " ".join(sorted(set(verdict.left)))
        figures = f"{verdict.difference:.1e}", f"{verdict.createMs:.0f}", f"{median(verdict.runMs):.2f}"
        table.add_row(verdict.name, verdict.status, str(len(verdict.claimed)), str(graphs), left, *figures)
    return table


def make_operators_table(verdicts: Sequence[Verdict]) -> Table:
    """Make the table of the operators that ONNX Runtime Web kept for itself, and in how many tests it gave the same ones to WebNN."""
    left = Counter(operator for verdict in verdicts for operator in set(verdict.left))
    claimed = Counter(operator for verdict in verdicts for operator in set(verdict.claimed))
    table = Table("operator of ONNX", "left, number of tests", "in WebNN")
    for operator, count in sorted(left.items(), key=lambda item: (-item[1], item[0])):
        table.add_row(operator, str(count), str(claimed[operator]))
    return table


def as_json(
    verdicts: Sequence[Verdict], alone: Mapping[str, Verdict], skipped: Mapping[str, int], where: Mapping[str, str], seconds: float
) -> dict[str, Any]:
    """Return the results as JSON's values.

    Args:
        verdicts: The verdicts on the tests.
        alone: The verdicts without WebNN on tests that failed with it.
        skipped: How many tests were not run, by reason.
        where: The versions of what ran.
        seconds: How long it took.
    """
    tests = []
    for verdict in verdicts:
        entry = {**asdict(verdict), "reaches": verdict.reaches}
        if verdict.name in alone:
            entry["alone"] = alone[verdict.name].status
        tests.append(entry)
    return {"versions": dict(where), "seconds": seconds, "skipped": dict(skipped), "tests": tests}
