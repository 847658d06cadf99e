"""The table of scores as a page: one file without a script, which needs no server."""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path

from webnn.commands.text import show_controls
from webnn.wpt_runner.scores import Row, Run, Score, Table

__all__ = ["render_scores", "write_scores"]

_REVISION = 10
_STYLE = """
:root { color-scheme: light dark; font: 15px/1.4 system-ui, sans-serif; }
body { margin: 2rem auto; max-width: max-content; padding: 0 1rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .7rem; text-align: right; border-bottom: 1px solid #8884; }
th:first-child { text-align: left; }
thead th { position: sticky; top: 0; background: Canvas; vertical-align: bottom; max-width: 12rem; overflow-wrap: anywhere; }
small { display: block; font-weight: normal; opacity: .7; }
.all { background: #2a82; } .some { background: #c922; } .none { background: #c332; }
"""


def write_scores(runs: Sequence[Run], table: Table, path: Path) -> None:
    """Write the page; an existing file is replaced."""
    path.write_text(render_scores(runs, table), encoding="utf-8", newline="\n")


def render_scores(runs: Sequence[Run], table: Table) -> str:
    """Return the page."""
    heads = "".join(_head(name, run) for name, run in zip(table.names, runs, strict=True))
    groups = "".join(f"<tbody>{''.join(map(_row, rows))}</tbody>" for rows in (table.operations, table.others) if rows)
    return (
        '<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>WebNN: subtests that pass</title>'
        f"<style>{_STYLE}</style>\n<h1>WebNN: subtests that pass</h1>\n"
        f"<table><thead><tr><th scope=col>operation</th>{heads}</tr></thead>\n{groups}<tfoot>{_row(table.total)}</tfoot></table>\n</html>\n"
    )


def _head(name: str, run: Run) -> str:
    notes = [run.revision[:_REVISION], "counts each test's own status, too" if run.old else ""]
    small = "".join(f"<small>{_text(note)}</small>" for note in notes if note)
    return f"<th scope=col>{_text(name)}{small}</th>"


def _row(row: Row) -> str:
    return f"<tr><th scope=row>{_text(row.name)}</th>{''.join(map(_cell, row.scores))}</tr>\n"


def _cell(score: Score | None) -> str:
    if score is None:
        return "<td></td>"
    kind = "all" if score.passed >= score.total else "some" if score.passed else "none"
    return f'<td class="{kind}">{score.passed:,}/{score.total:,}</td>'


def _text(text: str) -> str:
    return html.escape(show_controls(text))
