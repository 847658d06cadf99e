"""The first table of the page about a graph: the operators that a reader looks for, each with a link to its place in the picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from webnn.display.table import Cell, Table
from webnn.formats.cost import multiply_adds, parameters
from webnn.inspect.show import printable, seconds

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription
    from webnn.context.inspections import Accuracy, FirstNaN, GraphProfile
    from webnn.context.placement import Placement

__all__ = ["answer", "find_shades", "link_rows"]

#: How many operators an answer has.
_MOST = 5
#: The column of the numbers of operators.
_NUMBER = "#"
#: The shades show the times from the longest one down to this part of it.
_RANGE = 1e-3


def answer(
    description: GraphDescription,
    *,
    profile: GraphProfile | None = None,
    accuracy: Accuracy | None = None,
    nan: FirstNaN | None = None,
    placement: Placement | None = None,
) -> Table:
    """Return the slowest and the least accurate operators, the first NaN, what left the device, and what the graph costs."""
    rows: list[Sequence[str]] = []

    def add(question: str, index: int, operation: str, label: str, found: str) -> None:
        # Only the first row of a question names it.
        asked = "" if any(row[0] == question for row in rows) else question
        rows.append([asked, Cell(str(index) if index else "", index), operation, printable(label), found])

    if profile is not None:
        whole = math.fsum([each.seconds for each in profile.operators]) + profile.engine
        slowest = sorted([each for each in profile.operators if each.nodes], key=lambda each: -each.seconds)
        for each in slowest[:_MOST]:
            share = f", {each.seconds / whole:.0%} of the operators" if whole else ""
            add("slowest", each.index, each.operation, each.label, f"{seconds(each.seconds)}{share}")
    if accuracy is not None:
        worst: dict[int, str] = {}
        for judged in accuracy.operators:
            if judged.relative > 0 and judged.index not in worst and len(worst) < _MOST:
                worst[judged.index] = f"off by {judged.relative:.2g} of its largest value, {judged.ulp:.3g} ULP"
                add("least accurate", judged.index, judged.operation, judged.label, worst[judged.index])
    if nan is not None:
        statistics = nan.value.statistics
        bad = statistics.nans if nan.kind == "NaN" else statistics.infinities
        add(f"first {nan.kind}", nan.index, nan.operation, nan.label, f"{bad:,} of {statistics.count:,} elements")
    if placement is not None:
        for stray in placement.fallbacks[:_MOST]:
            found = f"runs on the {stray.device}{f': {printable(stray.reason, 200)}' if stray.reason else ''}"
            add("left the device", stray.index, stray.operation, stray.label, found)
        if len(placement.fallbacks) > _MOST:
            rows.append(["", "", "", "", f"and {len(placement.fallbacks) - _MOST:,} more"])
    return Table(
        title="Answers", facts=[_cost(description, profile, placement)], columns=("", _NUMBER, "operation", "label", "answer"), rows=rows
    )


def _cost(description: GraphDescription, profile: GraphProfile | None, placement: Placement | None) -> str:
    """Describe what a run costs."""
    known = description.descriptors()
    work = sum([multiply_adds(operator, known) for operator in description.operators])
    facts = [] if profile is None else [f"one run takes {seconds(profile.plain)}"]
    facts += [f"{sum(parameters(description)):,} parameters", f"{work:,} multiply-adds"]
    if placement is not None:
        facts.append(f"{placement.transferredBytes:,} bytes cross between devices in each run")
    return "; ".join(facts)


def link_rows(table: Table, names: str) -> Table:
    """Make the numbers of operators links to their places: to ``names`` and the number. Tables without them stay."""
    if _NUMBER not in table.columns:
        return table
    place = list(table.columns).index(_NUMBER)
    rows = [[_link(cell, names) if here == place else cell for here, cell in enumerate(row)] for row in table.rows]
    return replace(table, rows=rows)


def _link(cell: str, names: str) -> str:
    # An input or a constant has no number.
    if not isinstance(cell, Cell) or not cell.value:
        return cell
    return Cell(cell, cell.value, cell.style, f"{names}{cell.value:.0f}")


def find_shades(profile: GraphProfile) -> dict[int, float]:
    """Return the heat of operators from 0 to 1: the logarithm of their times, from a thousandth of the longest one to that."""
    most = max((each.seconds for each in profile.operators), default=0.0)
    timed = {each.index: each.seconds / most if most else 0.0 for each in profile.operators if each.nodes}
    return {index: 1 - math.log(part) / math.log(_RANGE) if part > _RANGE else 0.0 for index, part in timed.items()}
