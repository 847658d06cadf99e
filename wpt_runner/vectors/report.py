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
from webnn.wpt_runner.terminal import encodable, print_line
from webnn.wpt_runner.vectors.cases import Case, Outcome, Status
from webnn.wpt_runner.vectors.comparison import show_number

__all__ = ["Report", "print_outcome", "print_report", "write_json"]

#: How many failures are printed, and how much of each.
_FAILURES = 20
_LONGEST_FAILURE = 600
_LONGEST_NAME = 200
#: From this width on, columns are two spaces apart.
_WIDE = 90
_ENGINE = "onnxruntime"
_STYLES = {Status.PASSED: "green", Status.CORRECTED: "yellow"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A run.

    Attributes:
        outcomes: The outcomes of the cases, in the order in which they were read.
        stale: The stale corrections.
        deviceType: The device that was asked for.
        notes: Notes on the device.
        jobs: The largest number of processes.
        seconds: How long it took.
    """

    outcomes: Sequence[Outcome]
    stale: Sequence[str]
    deviceType: str
    notes: Sequence[str]
    jobs: int
    seconds: float

    @property
    def failures(self) -> list[Outcome]:
        """The cases that did not pass."""
        return [outcome for outcome in self.outcomes if not outcome.passed]

    @property
    def corrected(self) -> int:
        """How many cases passed with their correction."""
        return _count(self.outcomes, Status.CORRECTED)

    @property
    def as_expected(self) -> bool:
        """Every case passed, and no correction is stale."""
        return not self.failures and not self.stale


def _label(case: Case) -> str:
    """Write a case's file and name for a terminal."""
    return cut(_line(f"{case.file}: {case.name}"), _LONGEST_NAME)


def print_outcome(console: Console, outcome: Outcome) -> None:
    """Print a case in a line."""
    details = "" if outcome.worst is None else f"{_worst(outcome)}, "
    style = _STYLES.get(outcome.status, "red")
    print_line(
        console,
        Text.assemble((f"{outcome.status.value:<9}", style), f"  {_label(outcome.case)}", (f"  {details}{outcome.seconds:.3f} s", "dim")),
    )


def print_report(console: Console, report: Report) -> None:
    """Print a table of the operations, why cases failed, what is stale, and the totals."""
    _print_table(console, report.outcomes)
    console.print()
    if report.failures:
        _print_failures(console, report.failures)
        console.print()
    for text in report.stale:
        print_line(console, Text.assemble(("stale correction: ", "bold red"), _line(text)))
    failed = len(report.failures)
    correction = f" ({report.corrected} with a correction)" if report.corrected else ""
    line = f"{len(report.outcomes) - failed} passed{correction}, {failed} failed"
    if report.stale:
        line += f", {len(report.stale)} stale correction{'s' if len(report.stale) > 1 else ''}"
    style = "bold green" if report.as_expected else "bold red"
    print_line(console, Text.assemble((line, style), f" in {report.seconds:.1f} s"))


def _print_table(console: Console, outcomes: Iterable[Outcome]) -> None:
    """Print a row for each operation; a graph of several operations counts for its file."""
    rows: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        rows.setdefault(_operation(outcome.case), []).append(outcome)
    table = Table(box=None, pad_edge=False, padding=(0, 1), collapse_padding=console.width < _WIDE, header_style="bold")
    # On a narrow terminal, names and distances are cut (their columns may shrink, their texts do not wrap), numbers are not.
    table.add_column("operation")
    for name in ("run", "passed", "failed", "corrected"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("worst distance")
    table.add_column("seconds", justify="right", no_wrap=True)
    for name, cases in rows.items():
        passed = sum(outcome.passed for outcome in cases)
        corrected = _count(cases, Status.CORRECTED)
        table.add_row(
            Text(encodable(console, cut(_line(name), _LONGEST_NAME)), "cyan", no_wrap=True, overflow="ellipsis"),
            str(len(cases)),
            str(passed),
            Text(str(len(cases) - passed), "bold red" if passed < len(cases) else "dim"),
            Text(str(corrected), "yellow" if corrected else "dim"),
            Text(_worst(max(cases, key=_severity)), no_wrap=True, overflow="ellipsis"),
            f"{sum(outcome.seconds for outcome in cases):.2f}",
        )
    console.print(table)


def _print_failures(console: Console, failures: Sequence[Outcome]) -> None:
    """Print why cases failed, the first ones."""
    for outcome in failures[:_FAILURES]:
        print_line(console, Text.assemble((_label(outcome.case), "bold")))
        print_line(console, Text.assemble(("  " + cut(_line(outcome.failure), _LONGEST_FAILURE), "red")))
    if len(failures) > _FAILURES:
        print_line(console, Text(f"... and {len(failures) - _FAILURES} more failures: --json FILE writes all of them"))


def write_json(path: Path, report: Report) -> None:
    """Write a report that programs can read; infinities and NaNs are the strings that recorded cases use.

    Raises:
        OSError: The file cannot be written.
    """
    content = {
        "versions": _versions(),
        "device": report.deviceType,
        "notes": report.notes,
        "jobs": report.jobs,
        "seconds": round(report.seconds, 3),
        "totals": {
            "run": len(report.outcomes),
            "passed": len(report.outcomes) - len(report.failures),
            "failed": len(report.failures),
            "corrected": report.corrected,
        },
        "stale": report.stale,
        "cases": [_describe(outcome) for outcome in report.outcomes],
    }
    path.write_text(json.dumps(_encode(content), indent=1, allow_nan=False) + "\n", encoding="utf-8")


def _describe(outcome: Outcome) -> dict[str, Any]:
    case = outcome.case
    return {
        "name": case.name,
        "file": case.file,
        "level": case.level,
        "operations": case.operations,
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
    engines = metadata.packages_distributions().get(_ENGINE, [])
    packages = {package: metadata.version(package) for package in ("numpy", "onnx", *sorted(set(engines)))}
    system = f"{platform.system()} {platform.machine()}"
    return {"webnn": webnn.__version__, "python": platform.python_version(), **packages, "system": system}


def _operation(case: Case) -> str:
    operations = set(case.operations)
    return operations.pop() if len(operations) == 1 else case.file


def _severity(outcome: Outcome) -> tuple[float, float]:
    """Order cases by the fraction of their tolerance, those without a distance first."""
    if outcome.worst is None:
        return -1.0, 0.0
    return _fraction(outcome.worst, outcome.case.tolerance), outcome.case.tolerance


def _fraction(distance: float, tolerance: float) -> float:
    if tolerance:
        return distance / tolerance
    return math.inf if distance else 0.0


def _worst(outcome: Outcome) -> str:
    """Write the largest distance beside what is allowed, for example ``"12 of 18 ULP (67 %)"``."""
    if outcome.worst is None:
        return "-"
    tolerance = outcome.case.tolerance
    text = f"{show_number(outcome.worst)} of {show_number(tolerance)} {outcome.case.metric}"
    share = _fraction(outcome.worst, tolerance)
    return f"{text} ({round(share * 100)} %)" if 0.01 <= share < 10 else text


def _count(outcomes: Iterable[Outcome], status: Status) -> int:
    return sum(outcome.status is status for outcome in outcomes)


def _line(text: str) -> str:
    """Make one line of an untrusted text, without control characters."""
    return show_controls(" ".join(text.split()))
