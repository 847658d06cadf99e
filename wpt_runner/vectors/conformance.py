"""Conformance of devices: what became of the recorded cases on each of them, by operation and data types, as tables.

A run is the report that `webnn wpt vectors --json` writes. So runs of several machines can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from webnn.display.table import Cell, Table
from webnn.display.text import clip
from webnn.wpt_runner.foreign import check_json, load_json
from webnn.wpt_runner.vectors.cases import Status, subject
from webnn.wpt_runner.vectors.format import decode_number

__all__ = ["Run", "check_run", "describe_runs", "list_failures", "read_runs", "tabulate"]

#: The member of a file that holds several runs.
_RUNS = "runs"
_FINE = (Status.PASSED, Status.CORRECTED, Status.REFUSED)
_LONGEST_NAME, _LONGEST_FAILURE = 100, 300


class _Part(BaseModel):
    """A part of a report, which may have more members."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class RanCase(_Part):
    """A case of a report."""

    name: str
    file: str
    operations: list[str]
    types: str
    left: list[str]
    status: Status
    metric: str
    tolerance: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    worst: Annotated[float | None, BeforeValidator(lambda value: decode_number(value) if isinstance(value, str) else value)]
    failure: str
    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Run(_Part):
    """A report: a column of the tables."""

    versions: dict[str, str]
    device: str
    provider: str
    adapter: str
    profile: str
    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    cases: list[RanCase]

    @property
    def name(self) -> str:
        """The device, its adapter (without the version of the driver) and the device profile."""
        adapter = self.adapter.partition(" (")[0] or self.provider.removesuffix("ExecutionProvider")
        words = [self.device, *([] if adapter.lower() == self.device else [adapter]), *([self.profile] if self.profile else [])]
        return clip(" ".join(words), _LONGEST_NAME)


def check_run(content: object, name: str = "the report") -> Run:
    """Check a report.

    Raises:
        ValueError: It does not have the form of one.
    """
    return check_json(Run, content, f"{name} is not a report of conformance")


def read_runs(path: Path) -> tuple[list[dict[str, Any]], list[Run]]:
    """Read a report, or a file of several; return them as they are, and checked.

    Raises:
        OSError: The file cannot be read.
        ValueError: It does not hold reports.
    """
    content = load_json(path, "report of conformance")
    given = content.get(_RUNS, [content]) if isinstance(content, dict) else [content]
    several = given if isinstance(given, list) else [given]
    return several, [check_run(each, str(path)) for each in several]


@dataclass(frozen=True, slots=True)
class _Group:
    """Cases of one run that share a cell."""

    cases: Sequence[RanCase]

    def count(self, holds: Callable[[RanCase], object]) -> int:
        return sum(bool(holds(case)) for case in self.cases)

    @property
    def right(self) -> int:
        return self.count(lambda case: case.status in (Status.PASSED, Status.CORRECTED))

    @property
    def refused(self) -> int:
        return self.count(lambda case: case.status is Status.REFUSED)

    @property
    def wrong(self) -> list[RanCase]:
        """The cases whose numbers are too far off."""
        return [case for case in self.cases if case.status not in _FINE and case.worst is not None]

    @property
    def without(self) -> int:
        """How many have no result, because of an error, a crash or a time-out."""
        return len(self.cases) - self.right - self.refused - len(self.wrong)

    @property
    def left(self) -> int:
        return self.count(lambda case: case.left)

    @property
    def seconds(self) -> float:
        return sum(case.seconds for case in self.cases)

    @property
    def fine(self) -> bool:
        """All are right, and ran on the device."""
        return self.right == len(self.cases) and not self.left

    def show(self) -> Cell:
        """Write a cell: how many cases are right, how far off the others are, how many have no result or left the device."""
        if not self.cases:
            return Cell("")
        total = len(self.cases)
        parts = [str(total) if self.right == total else f"{self.right} of {total}"]
        if wrong := self.wrong:
            parts.append(f"{len(wrong)} wrong by {_distance(max(wrong, key=_share))}")
        parts += [
            f"{number} {word}" for number, word in ((self.without, "failed"), (self.refused, "refused"), (self.left, "left")) if number
        ]
        style = "bad" if wrong or self.without else "good" if self.fine else ""
        return Cell(", ".join(parts), value=self.right / total, style=style)


def _share(case: RanCase) -> float:
    worst = case.worst or 0.0
    return worst / case.tolerance if case.tolerance else worst


def _distance(case: RanCase) -> str:
    """Write how far off a case is: in tolerances, or in its unit where none is allowed."""
    return f"{_share(case):,.3g} {'tolerances' if case.tolerance else case.metric}"


def tabulate(runs: Sequence[Run], *, types: bool) -> Table:
    """Make a table of operations, with or without their data types, and a pair of columns for each run: the cases, and the time of each.

    Without types, operations that are right on every device have no rows; a note counts them.
    """
    names = _names(runs)
    groups: dict[tuple[str, str], list[list[RanCase]]] = {}
    for place, run in enumerate(runs):
        for case in run.cases:
            row = groups.setdefault((subject(case), case.types if types else ""), [[] for _ in runs])
            row[place].append(case)
    rows, fine = [], 0
    for key in sorted(groups, key=lambda key: (key[0].lower(), key[1])):
        cells = [_Group(cases) for cases in groups[key]]
        if not types and all(each.fine for each in cells):
            fine += 1
            continue
        rows.append([*key, *(cell for each in cells for cell in (each.show(), _time(each)))])
    notes = [f"{fine} more operations are right on every device, and stay there"] if fine else []
    return Table(
        title="Operations and data types" if types else "Operations",
        columns=("operation", "types", *(column for name in names for column in (name, f"{name}: ms"))),
        rows=rows,
        facts=["A cell has the number of cases that are right, and the time of one: its build and its computation."],
        numbers=[f"{name}: ms" for name in names],
        details=[f"{name}: ms" for name in names],
        most=200,
        notes=notes,
    )


def _time(group: _Group) -> Cell:
    if not group.cases:
        return Cell("")
    milliseconds = group.seconds / len(group.cases) * 1000
    return Cell(f"{milliseconds:.1f}", value=milliseconds)


def describe_runs(runs: Sequence[Run]) -> Table:
    """Make a table of the runs: a row for each, with its totals."""
    rows = []
    for name, run in zip(_names(runs), runs, strict=True):
        group = _Group(run.cases)
        figures = (len(run.cases), group.right, len(group.wrong), group.without, group.refused, group.left)
        versions = ", ".join(f"{package} {version}" for package, version in run.versions.items())
        rows.append(
            [
                name,
                *(Cell(f"{each:,}", value=each) for each in figures),
                Cell(f"{run.seconds:.0f}", value=run.seconds),
                run.adapter,
                versions,
            ]
        )
    counts = ("cases", "right", "wrong", "failed", "refused", "left", "seconds")
    facts = (
        "wrong: a number is farther off than web-platform-tests allow. failed: an error, a crash or a time-out.",
        "refused: the device does not have a data type or a rank. left: a part of the graph ran on another device.",
    )
    return Table(
        title="Devices",
        columns=("device", *counts, "adapter", "versions"),
        rows=rows,
        facts=facts,
        numbers=counts,
        details=["adapter", "versions"],
    )


def list_failures(runs: Sequence[Run]) -> Table:
    """Make a table of the cases that are wrong or have no result."""
    rows = [
        [subject(case), case.types, name, clip(case.name, _LONGEST_NAME), clip(case.failure, _LONGEST_FAILURE)]
        for name, run in zip(_names(runs), runs, strict=True)
        for case in run.cases
        if case.status not in _FINE
    ]
    return Table(title="Cases that are not right", columns=("operation", "types", "device", "case", "result"), rows=rows)


def _names(runs: Iterable[Run]) -> list[str]:
    """Return the names of the columns, each once."""
    counts: dict[str, int] = {}
    names = []
    for run in runs:
        counts[run.name] = number = counts.get(run.name, 0) + 1
        names.append(run.name if number == 1 else f"{run.name} #{number}")
    return names
