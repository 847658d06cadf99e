"""The report as one page of HTML: it loads nothing, runs no script, and escapes every text of the program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from importlib import resources
from pathlib import Path

from webnn.check.report import Report, Run
from webnn.check.show import by_partitions, describe_refusal, explain, partition_figures, summary
from webnn.commands.text import replace_surrogates, show_controls

__all__ = ["render", "write_page"]

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_NO_PROFILE = "(none)"


def write_page(report: Report, path: Path) -> None:
    """Write the page; an existing file is replaced.

    Raises:
        OSError: It cannot be written.
    """
    path.write_text(render(report), encoding="utf-8", newline="\n")


def render(report: Report) -> str:
    """Return the page."""
    style = resources.files("webnn.check").joinpath("page.css").read_text(encoding="utf-8")
    title = f"webnn check {report.program}"
    parts = [
        "<!doctype html>",
        '<html lang="en">',
        '<head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{_text(title)}</title>",
        f"<style>{style}</style></head>",
        "<body>",
        f"<h1>{_text(title)}</h1>",
        f"<p>{_text(summary(report))}</p>",
        *_refusal(report),
        *_profiles(report),
        *_partitions(report),
        *_nodes(report),
        *_refusals(report),
        f'<p class="soft">webnn {_text(report.version)}</p>',
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def _refusal(report: Report) -> Iterable[str]:
    if report.model is not None and report.model.refusal:
        yield f'<p class="bad">ONNX Runtime refuses the model: {_text(report.model.refusal)}</p>'


def _profiles(report: Report) -> Iterable[str]:
    heads = ["profile", "verdict", "falls back", *(["ONNX Runtime Web"] if report.has_partitions else []), "why, and what to change"]
    rows = []
    for run in (report.baseline, *report.profiles):
        total = sum(graph.operators for graph in run.graphs)
        figures = [partition_figures(run)] if report.has_partitions else []
        fallbacks = f"{run.fallbacks} of {total}" if run.fallbacks else ""
        verdict = f'<span class="{"good" if run.passed else "bad"}">{_text(run.verdict.value)}</span>'
        why = "" if run.passed and not run.refusals else explain(run)
        rows.append([_text(_name(run)), verdict, _text(fallbacks), *map(_text, figures), _text(why)])
    yield _table(heads, rows)


def _partitions(report: Report) -> Iterable[str]:
    runs = (report.baseline, *report.profiles)
    found = list(by_partitions(runs))
    if found:
        yield "<h2>Partitions in ONNX Runtime Web</h2>"
    for title, lines in found:
        yield f"<p>{_text(title)}</p><ul>{''.join(f'<li>{_text(line)}</li>' for line in lines)}</ul>"


def _nodes(report: Report) -> Iterable[str]:
    if report.model is None:
        return
    yield f"<h2>{len(report.model.nodes)} nodes</h2>"
    remarks = [*(f"cannot be imported: {each}" for each in report.model.reasons), *report.model.notes]
    if remarks:
        yield f"<ul>{''.join(f'<li>{_text(each)}</li>' for each in remarks)}</ul>"
    first: dict[str, dict[str, str]] = {}
    for run in report.profiles:
        for refusal in run.refusals:
            change = f" (change: {refusal.change.text})" if refusal.change else ""
            first.setdefault(refusal.label, {}).setdefault(_name(run), f"{describe_refusal(refusal)}{change}")
    rows = []
    for node in report.model.nodes:
        limits = [*node.reasons, *(f"{profile}: {text}" for profile, text in first.get(node.name, {}).items())]
        becomes = " ".join(node.operations) or node.outcome
        rows.append([_text(node.name), _text(node.operator), _text(becomes), "<br>".join(map(_text, limits))])
    yield _table(["node", "operator", "WebNN operations", "the first limit that each profile has"], rows)


def _refusals(report: Report) -> Iterable[str]:
    if report.model is not None:
        return
    for run in report.profiles:
        if run.refusals:
            lines = [f"{describe_refusal(each)}{f' (change: {each.change.text})' if each.change else ''}" for each in run.refusals]
            yield f"<h2>Refused by {_text(_name(run))}</h2><ul>{''.join(f'<li>{_text(line)}</li>' for line in lines)}</ul>"


def _name(run: Run) -> str:
    return run.profile or _NO_PROFILE


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table; the cells are HTML."""
    head = "".join(f"<th>{escape(each)}</th>" for each in heads)
    body = "\n".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="table"><table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>'


def _text(value: str) -> str:
    return "<br>".join(escape(show_controls(replace_surrogates(line))) for line in value.split("\n"))
