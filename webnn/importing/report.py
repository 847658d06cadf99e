"""The report of an import: `Report`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from webnn.validation.errors import NotSupportedError

__all__ = ["NodeReport", "Outcome", "Refusal", "RefusedModelError", "Report"]

#: The outcome of a node: WebNN operators; a value that is known at import; nothing, because the import refuses it; or nothing, because it
#: takes the result of a refused node.
Outcome = Literal["converted", "folded", "refused", "blocked"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a node or an input cannot be imported.

    Attributes:
        place: The node with the bodies and functions around it: ``"loop/body/conv"``. Or ``"inputs['x']"``.
        operator: The operator of the node, with its domain if that is not ONNX's own; empty for an input.
        reason: The condition, and what was given.
        advice: Advice for the caller; empty if there is none.
        never: Why no settings of the import help; empty if they may.
    """

    place: str
    operator: str
    reason: str
    advice: str = ""
    never: str = ""

    def __str__(self) -> str:
        operator = f" ({self.operator})" if self.operator else ""
        return f"{self.place}{operator}: {self.reason}{f'; {self.advice}' if self.advice else ''}"


class NodeReport(NamedTuple):
    """A node of the model's graph: a tuple, because an import makes one for each node.

    Attributes:
        index: Its position in the file, from 0.
        name: Its name, or that of its first output if it has none.
        operator: The operator, with its domain if that is not ONNX's own: ``"com.microsoft.FusedConv"``.
        outcome: Its outcome.
        operators: The WebNN operators that it became: their numbers in the builder, as `OperatorDescription.index`.
        refusals: Why it was refused; those of nodes in its bodies too.
    """

    index: int  # type: ignore[assignment]  # hides a method of tuples, which nobody calls
    name: str
    operator: str
    outcome: Outcome
    operators: range
    refusals: tuple[Refusal, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Report:
    """The report of an import.

    Attributes:
        nodes: The nodes of the model's graph, in the order of the file. Nodes of functions and bodies count with the node that has them.
        refusals: All refusals; empty if the model was imported.
        notes: Differences from the model that do not keep it from working: float64 that became float32, for example.
    """

    nodes: tuple[NodeReport, ...]
    refusals: tuple[Refusal, ...]
    notes: tuple[str, ...]

    def count(self, outcome: Outcome) -> int:
        """Count the nodes with an outcome."""
        return sum(node.outcome == outcome for node in self.nodes)

    def __repr__(self) -> str:
        counts = [f"{count} {outcome}" for outcome in get_args(Outcome) if (count := self.count(outcome))]
        notes = [f"{len(self.notes)} note{'s' * (len(self.notes) > 1)}"] if self.notes else []
        return f"<Report: {', '.join(counts + notes) or 'no nodes'}>"

    def _repr_html_(self) -> str:
        from webnn.display.table import Table, as_html  # noqa: PLC0415 (only notebooks need it)

        counts: dict[str, Counter[Outcome]] = {}
        for node in self.nodes:
            counts.setdefault(node.operator, Counter())[node.outcome] += 1
        outcomes: tuple[Outcome, ...] = get_args(Outcome)
        rows = [[operator, *[str(count[each] or "") for each in outcomes]] for operator, count in sorted(counts.items())]
        tables = [Table(title=repr(self)[1:-1], columns=("operator", *outcomes), rows=rows, numbers=outcomes, notes=self.notes)]
        if self.refusals:
            refusals = [(each.place, each.operator, each.reason, each.advice) for each in self.refusals]
            tables.append(Table(title="Refused", columns=("place", "operator", "reason", "advice"), rows=refusals))
        return as_html(tables)


class RefusedModelError(NotSupportedError):
    """A model cannot be imported. The message lists all refusals, which are those of `report`."""

    def __init__(self, file: str, report: Report) -> None:
        refusals: Sequence[Refusal] = report.refusals
        nevers = " and ".join(dict.fromkeys(each.never for each in refusals if each.never))
        what = f"the model can never run on WebNN as it is: {nevers}; it" if nevers else "the model"
        lines = [f"{file}: {what} cannot be imported, for {len(refusals)} reason{'s' * (len(refusals) > 1)}:"]
        super().__init__("\n".join([*lines, *(f"  {each}" for each in refusals)]))
        self.report = report
