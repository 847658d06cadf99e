"""The report of a run as one HTML page: it contains the run as data, and needs no server and no other files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from webnn.commands.text import cut, show_controls
from webnn.display import pages
from webnn.display.text import plural
from webnn.wpt_runner.results import FileResult, RunResult, Subtest, SubtestStatus

__all__ = ["render_html", "write_html"]

_LONGEST_MESSAGE, _LONGEST_OUTPUT = 10_000, 50_000
_REVISION = 10


def write_html(run: RunResult, path: Path) -> None:
    """Write the page of a run; an existing file is replaced."""
    path.write_text(render_html(run), encoding="utf-8", newline="\n")


def render_html(run: RunResult) -> str:
    """Return the page of a run: HTML with its style, its script and its data.

    Very long messages and console output are cut, with a note; ``wptreport.json`` has the full text.
    """
    kind, verdict = _verdict(run)
    return pages.render(
        "webnn.wpt_runner.reports/page.html",
        title=f"web-platform-tests: {verdict}",
        verdict=verdict,
        kind=kind,
        facts=_facts(run),
        problems=[("Problems of the expectations", run.problems), ("Flaky", run.flaky)],
        data=_data(run.results),
    )


def _verdict(run: RunResult) -> tuple[str, str]:
    """Return the style of the verdict, and the verdict."""
    words = [plural(run.unexpected, "unexpected result")] if run.unexpected else []
    if run.problems:
        words.append(f"{plural(len(run.problems), 'problem')} of the expectations")
    if run.flaky:
        words.append(plural(len(run.flaky), "flaky result"))
    if words:
        return "fail", ", ".join(words)
    return ("pass", "everything as expected") if run.results else ("known", "no tests")


def _facts(run: RunResult) -> list[tuple[str, str]]:
    """Return the facts above the table, without unknown ones."""
    info = run.info
    counts = run.counts()
    known = [
        ("Tests", f"{len(run.results):,}"),
        ("Subtests passed", f"{counts[SubtestStatus.PASS]:,} of {counts.total():,}"),
        ("Duration", _duration(run.seconds) if run.seconds else ""),
        ("Product", f"{info.get('product', '')} {info.get('product_version', '')}"),
        ("Engine", info.get("engine", "")),
        ("Draft", info.get("webnn", "")),
        ("Revision of the tests", info.get("revision", "")[:_REVISION]),
        ("System", f"{info.get('os', '')} {info.get('os_version', '')} {info.get('processor', '')}"),
        ("Python", info.get("python_version", "")),
        ("Started", f"{datetime.fromtimestamp(run.started, UTC):%Y-%m-%d %H:%M} UTC" if run.started else ""),
    ]
    return [(name, " ".join(show_controls(value).split())) for name, value in known if value.strip()]


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if seconds >= 60 else f"{seconds:.1f} s"


def _data(results: Sequence[FileResult]) -> str:
    r"""Return the tests as JSON for a script element: ASCII only, and ``<`` is written ``\u003c``."""
    return json.dumps([_test(result) for result in results], separators=(",", ":")).replace("<", "\\u003c")


def _test(result: FileResult) -> list[object]:
    texts = [
        show_controls(result.title),
        cut(show_controls(result.output), _LONGEST_OUTPUT),
        show_controls(result.subsuite),
        show_controls(result.stack),
    ]
    numbers = [
        round(result.seconds * 1000),
        [_trimmed([show_controls(each.name), each.status, *_why(each), show_controls(each.stack)]) for each in result.subtests],
    ]
    return _trimmed([show_controls(result.test), result.status, *numbers, *_why(result), *texts])


def _why(each: FileResult | Subtest) -> list[object]:
    return [cut(show_controls(each.message), _LONGEST_MESSAGE), each.expected or "", show_controls(each.reason)]


def _trimmed(values: list[object]) -> list[object]:
    """Drop the empty texts at the end."""
    while values and values[-1] == "":
        values.pop()
    return values
