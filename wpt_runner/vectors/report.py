"""The results of a run of cases: a table, the first difference of each failure, and a JSON report."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

import webnn
from webnn.commands.text import cut, show_controls
from webnn.display.text import plural
from webnn.wpt_runner.devices import Found
from webnn.wpt_runner.terminal import encodable, print_line
from webnn.wpt_runner.vectors.cases import Case, Outcome, Status, subject
from webnn.wpt_runner.vectors.comparison import show_number

__all__ = ["Report", "encode", "print_outcome", "print_report", "write_json"]

#: How many failures are printed, and how much of each.
_FAILURES = 20
_LONGEST_FAILURE = 600
_LONGEST_NAME = 200
#: From this width on, columns are two spaces apart.
_WIDE = 90
#: How the modules of the engine and of its plug-ins begin.
_ENGINE = "onnxruntime"
_STYLES = {Status.PASSED: "green", Status.CORRECTED: "yellow", Status.EXPECTED: "yellow", Status.REFUSED: "yellow"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A run: the outcomes of cases in the order in which they were read, stale expectations, and the device."""

    outcomes: Sequence[Outcome]
    stale: Sequence[str]
    deviceType: str
    found: Found
    jobs: int
    seconds: float

    @property
    def failures(self) -> list[Outcome]:
        """The cases that did not end as expected."""
        return [outcome for outcome in self.outcomes if not outcome.as_expected]

    @property
    def totals(self) -> dict[str, int]:
        """How many cases ran, and how they ended."""
        return {
            "run": len(self.outcomes),
            "passed": sum(outcome.passed for outcome in self.outcomes),
            "failed": len(self.failures),
            **{each.value: _count(self.outcomes, each) for each in (Status.CORRECTED, Status.EXPECTED, Status.REFUSED)},
        }

    @property
    def as_expected(self) -> bool:
        """Every case ended as expected, and no expectation is stale."""
        return not self.failures and not self.stale


def _label(case: Case) -> str:
    return cut(_line(case.title), _LONGEST_NAME)


def print_outcome(console: Console, outcome: Outcome) -> None:
    """Print a case in a line."""
    status = (f"{outcome.status.value:<9}", _STYLES.get(outcome.status, "red"))
    details = "" if outcome.worst is None else f"{_worst(outcome)}, "
    print_line(console, Text.assemble(status, f"  {_label(outcome.case)}", (f"  {details}{outcome.seconds:.3f} s", "dim")))


def print_report(console: Console, report: Report) -> None:
    """Print a table of the operations, why cases failed, stale corrections, and the totals."""
    console.print(_table(console, report.outcomes))
    console.print()
    failed = len(report.failures)
    for outcome in report.failures[:_FAILURES]:
        print_line(console, Text(_label(outcome.case), "bold"))
        word = f"{outcome.status.value}: " if outcome.status is Status.CRASHED else ""
        print_line(console, Text("  " + cut(word + _line(outcome.failure), _LONGEST_FAILURE), "red"))
    if failed > _FAILURES:
        print_line(console, Text(f"... and {failed - _FAILURES} more failures: --json FILE writes all of them"))
    if failed:
        console.print()
    for text in report.stale:
        print_line(console, Text.assemble(("stale expectation: ", "bold red"), _line(text)))
    totals = report.totals
    line = f"{totals['passed']} passed"
    if totals["corrected"]:
        line += f" ({totals['corrected']} with a correction)"
    if totals["expected"]:
        line += f", {totals['expected']} failed as expected"
    if totals["refused"]:
        line += f", {totals['refused']} refused by the device"
    line += f", {failed} failed"
    if report.stale:
        line += f", {plural(len(report.stale), 'stale expectation')}"
    print_line(console, Text.assemble((line, "bold green" if report.as_expected else "bold red"), f" in {report.seconds:.1f} s"))


def _table(console: Console, outcomes: Iterable[Outcome]) -> Table:
    """Make a row for each operation; a graph of several operations counts for its file."""
    rows: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        rows.setdefault(subject(outcome.case), []).append(outcome)
    table = Table(box=None, pad_edge=False, padding=(0, 1), collapse_padding=console.width < _WIDE, header_style="bold")
    # On a narrow terminal, names and distances are cut (their columns may shrink, their texts do not wrap), numbers are not.
    table.add_column("operation")
    for name in ("run", "passed", "failed", "corrected"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("worst distance")
    table.add_column("seconds", justify="right", no_wrap=True)
    for name, cases in rows.items():
        passed, failed = sum(outcome.passed for outcome in cases), sum(not outcome.as_expected for outcome in cases)
        corrected = _count(cases, Status.CORRECTED)
        table.add_row(
            Text(encodable(console, cut(_line(name), _LONGEST_NAME)), "cyan", no_wrap=True, overflow="ellipsis"),
            str(len(cases)),
            str(passed),
            Text(str(failed), "bold red" if failed else "dim"),
            Text(str(corrected), "yellow" if corrected else "dim"),
            Text(_worst(max(cases, key=lambda outcome: (_share(outcome), outcome.case.tolerance))), no_wrap=True, overflow="ellipsis"),
            f"{sum(outcome.seconds for outcome in cases):.2f}",
        )
    return table


def write_json(path: Path, report: Report) -> None:
    """Write a report that programs can read; infinities and NaNs are the strings that recorded cases use."""
    path.write_text(json.dumps(encode(report), indent=1, allow_nan=False) + "\n", encoding="utf-8")


def encode(report: Report) -> dict[str, Any]:
    """Return what `write_json` writes."""
    content = {
        "versions": _versions(),
        "device": report.deviceType,
        "provider": report.found.device.provider,
        "adapter": report.found.device.name,
        "profile": report.found.profile,
        "notes": report.found.notes,
        "jobs": report.jobs,
        "seconds": round(report.seconds, 3),
        "totals": report.totals,
        "stale": report.stale,
        "cases": [_describe(outcome) for outcome in report.outcomes],
    }
    encoded: dict[str, Any] = _encode(content)
    return encoded


def _describe(outcome: Outcome) -> dict[str, Any]:
    case = outcome.case
    return {
        "name": case.name,
        "file": case.file,
        "level": case.level,
        "operations": case.operations,
        "types": case.types,
        "left": outcome.left,
        "status": outcome.status.value,
        "metric": case.metric,
        "tolerance": case.tolerance,
        "worst": outcome.worst,
        "failure": outcome.failure,
        "first_difference": None if outcome.difference is None else asdict(outcome.difference),
        "seconds": round(outcome.seconds, 6),
    }


def _encode(value: Any) -> Any:
    """Replace the numbers that JSON cannot write by strings."""
    if isinstance(value, Mapping):
        return {key: _encode(each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_encode(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def _versions() -> dict[str, str]:
    engines = [name for module, names in metadata.packages_distributions().items() if module.startswith(_ENGINE) for name in names]
    packages = {package: metadata.version(package) for package in ("numpy", "onnx", *sorted(set(engines)))}
    system = f"{platform.system()} {platform.machine()}"
    return {"webnn": webnn.__version__, "python": platform.python_version(), **packages, "system": system}


def _share(outcome: Outcome) -> float:
    """Return the largest distance as a part of the tolerance, -1 where nothing was compared."""
    if outcome.worst is None:
        return -1.0
    tolerance = outcome.case.tolerance
    return outcome.worst / tolerance if tolerance else math.inf if outcome.worst else 0.0


def _worst(outcome: Outcome) -> str:
    """Write the largest distance beside the allowed one, for example ``"12 of 18 ULP (67 %)"``."""
    if outcome.worst is None:
        return "-"
    text = f"{show_number(outcome.worst)} of {show_number(outcome.case.tolerance)} {outcome.case.metric}"
    return f"{text} ({round(_share(outcome) * 100)} %)" if 0.01 <= _share(outcome) < 10 else text


def _count(outcomes: Iterable[Outcome], status: Status) -> int:
    return sum(outcome.status is status for outcome in outcomes)


def _line(text: str) -> str:
    """Make one line of an untrusted text, without control characters."""
    return show_controls(" ".join(text.split()))
