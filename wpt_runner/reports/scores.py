"""The table of scores as a page: one file without a script, which needs no server."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from webnn.display import pages
from webnn.wpt_runner.scores import Run, Table

__all__ = ["render_scores", "write_scores"]

_REVISION = 10
_OLD = "counts each test's own status, too"


def write_scores(runs: Sequence[Run], table: Table, path: Path) -> None:
    """Write the page; an existing file is replaced."""
    path.write_text(render_scores(runs, table), encoding="utf-8", newline="\n")


def render_scores(runs: Sequence[Run], table: Table) -> str:
    """Return the page."""
    notes = [(*[f"{fact} {value}" for fact, value in run.facts.items()], run.revision[:_REVISION], _OLD if run.old else "") for run in runs]
    # The notes have the facts that tell runs apart.
    heads = list(zip([name.partition(", ")[0] for name in table.names], notes, strict=True))
    return pages.render("webnn.wpt_runner.reports/scores.html", title="WebNN: subtests that pass", heads=heads, table=table)
