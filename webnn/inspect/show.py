"""The results of an inspection as tables: for people, in a terminal, in a notebook and on a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import singledispatch
from typing import TYPE_CHECKING

from webnn.context.inspections import Accuracy, CallAccuracy, FirstNaN, GraphProfile, Trace, TracedValue
from webnn.context.placement import Placement
from webnn.context.placement.show import tabulate as tabulate_placement
from webnn.display import table
from webnn.display.table import Cell, Table
from webnn.display.text import clip
from webnn.inspect.compare import Comparison

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["as_html", "as_renderable", "as_text", "number", "printable", "seconds", "tabulate"]

_LONGEST_LABEL, _LONGEST_REASON = 60, 300
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "\N{MICRO SIGN}s"))


def as_text(result: object) -> str:
    """Draw a result as wide as the terminal, without colours."""
    return table.as_text(tabulate(result))


def as_renderable(result: object) -> RenderableType:
    """Draw a result for rich."""
    return table.as_renderable(tabulate(result))


def as_html(result: object) -> str:
    """Draw a result for a notebook."""
    return table.as_html(tabulate(result))


# Text


def printable(text: str, limit: int = _LONGEST_LABEL) -> str:
    """Return a label on one line, its control characters escaped, and cut if it is long."""
    return clip(text, limit, ellipsis="...")


def seconds(value: float) -> str:
    """Write a time in the largest unit that it reaches."""
    for size, unit in _UNITS[:-1]:
        if value >= size:
            return f"{value / size:.3g} {unit}" if value < 1000 * size else f"{value / size:,.0f} {unit}"
    return f"{value * 1e6:.3g} {_UNITS[-1][1]}"


def number(value: float | None) -> str:
    """Write a number with four significant digits; an integer in full."""
    if value is None:
        return ""
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4g}"


def _figure(value: float | None) -> str:
    return Cell(number(value), value)


def _shape(dataType: str, shape: Sequence[int]) -> str:
    return f"{dataType} [{', '.join(map(str, shape))}]"


# Tables


@singledispatch
def tabulate(result: object) -> list[Table]:
    """Return the tables of a result."""
    raise TypeError(f"no table for {type(result).__name__}")


@tabulate.register
def _(result: GraphProfile) -> list[Table]:
    whole = sum(each.seconds for each in result.operators) + result.engine
    rows: list[Sequence[str]] = []
    for each in sorted(result.operators, key=lambda operator: -operator.seconds):
        share = each.seconds / whole if whole else 0.0
        rows.append(
            [
                Cell(str(each.index), each.index),
                each.operation,
                printable(each.label),
                Cell(seconds(each.seconds) if each.nodes else "", each.seconds),
                Cell(f"{share:.1%}" if each.nodes else "", share),
                Cell(str(each.nodes), each.nodes),
                ", ".join(each.kernels),
                printable(each.note, _LONGEST_REASON),
            ]
        )
    facts = [
        f"one run: {seconds(result.plain)}; with profiling {seconds(result.profiled)}, {result.overhead:.2f} times as long "
        f"(medians of {result.runs} runs)",
        f"the medians of the operators: {seconds(whole - result.engine)}; the engine's own nodes: {seconds(result.engine)}; between nodes: "
        f"{seconds(result.outside)}; to build it again: {seconds(result.building)}",
    ]
    names = ("#", "operation", "label", "time", "share", "nodes", "kernels", "note")
    return [Table(title="Times", facts=facts, columns=names, numbers=frozenset({"#", "time", "share", "nodes"}), rows=rows)]


_VALUE_NUMBERS = ("min", "max", "mean", "std", "zeros", "NaN", "inf")


def _value_cells(value: TracedValue) -> list[str]:
    statistics = value.statistics
    bad = [Cell(number(count) if count else "", count) for count in (statistics.zeros, statistics.nans, statistics.infinities)]
    figures = (statistics.minimum, statistics.maximum, statistics.mean, statistics.deviation)
    return [_shape(value.dataType, value.shape), *map(_figure, figures), *bad]


@tabulate.register
def _(result: Trace) -> list[Table]:
    rows: list[Sequence[str]] = []
    for value in result.values:
        index = Cell(str(value.index) if value.index else "", value.index)
        rows.append([index, value.operation, printable(value.name), *_value_cells(value)])
    parts = "in one part" if result.groups == 1 else f"in {result.groups} parts"
    facts = [
        f"{len(result.values)} values {parts}, in {seconds(result.seconds)}: {result.overhead:,.1f} times an ordinary run "
        f"of {seconds(result.plain)}"
    ]
    columns = ("#", "operation", "value", "type", *_VALUE_NUMBERS)
    return [Table(title="Values", facts=facts, columns=columns, numbers=frozenset({"#", *_VALUE_NUMBERS}), rows=rows)]


@tabulate.register
def _(result: FirstNaN) -> list[Table]:
    label = f" {printable(result.label)!r}" if result.label else ""
    where = f"{result.operation}#{result.index}{label}" if result.index else f"{result.operation} {printable(result.value.name)!r}"
    verb = "makes" if result.index else "holds"
    statistics = result.value.statistics
    count = statistics.nans if result.kind == "NaN" else statistics.infinities
    facts = [f"{where} {verb} {result.kind}: {count:,} of {statistics.count:,} elements"]
    rows = [["result", *_value_cells(result.value)]]
    rows += [[printable(title), *_value_cells(value)] for title, value in result.operands.items()]
    notes = []
    for each in result.offenders:
        there = ", ".join(f"{printable(title)} {element:.6g}" for title, element in each.operands.items())
        notes.append(f"at [{', '.join(map(str, each.position))}]: {each.value}" + (f" from {there}" if there else ""))
    columns = ("", "type", *_VALUE_NUMBERS)
    numbers = frozenset(_VALUE_NUMBERS)
    return [Table(title=f"First {result.kind}", facts=facts, columns=columns, numbers=numbers, rows=rows, notes=notes)]


@tabulate.register
def _(result: Accuracy) -> list[Table]:
    rows: list[Sequence[str]] = []
    for each in result.operators:
        figures = (each.relative, each.ulp, each.accumulated, each.actual, each.expected)
        rows.append(
            [
                Cell(str(each.index), each.index),
                each.operation,
                printable(each.label),
                _shape(each.dataType, each.shape),
                *map(_figure, figures),
                f"[{', '.join(map(str, each.position))}]",
            ]
        )
    facts = [
        f"in {seconds(result.seconds)}, of which the reference takes {seconds(result.reference)}",
        *([f"not in the reference: {', '.join(result.missing)}"] if result.missing else []),
        "relative: to the largest value of the result; ulp: in units of the last place of its type",
        *([] if result.outputs else ["the outputs, and how errors accumulate: accuracy(inputs, whole=True)"]),
    ]
    columns = ("#", "operation", "label", "type", "relative", "ulp", "accumulated", "actual", "exact", "at")
    numbers = frozenset({"#", "relative", "ulp", "accumulated", "actual", "exact"})
    details = frozenset({"actual", "exact", "at"})
    outputs = [
        [printable(output.name), output.dataType, *map(_figure, (output.relative, output.ulp, output.absolute))]
        for output in result.outputs
    ]
    title = "Accuracy of the operators, each by itself"
    notes = [
        f"{each.operation} {each.index}{f' [{printable(each.label)}]' if each.label else ''}: equal with {each.explanation}"
        for each in result.operators
        if each.explanation
    ]
    tables = [Table(title=title, facts=facts, columns=columns, numbers=numbers, rows=rows, details=details, notes=notes)]
    if result.calls:
        tables.append(_calls(result.calls))
    if outputs:
        title = "Accuracy of the outputs, against the whole graph in float64"
        names = ("output", "type", "relative", "ulp", "absolute")
        tables.append(Table(title=title, columns=names, numbers=frozenset({"relative", "ulp", "absolute"}), rows=outputs))
    return tables


def _calls(calls: Sequence[CallAccuracy]) -> Table:
    rows: list[Sequence[str]] = []
    for each in calls:
        figures = (each.relative, each.ulp, each.fusedRelative, each.fusedUlp)
        how = each.kernel or printable(each.reason, _LONGEST_REASON)
        names = (printable(each.name), printable(each.output), _shape(each.dataType, each.shape))
        rows.append([*names, *map(_figure, figures), how])
    return Table(
        title="Accuracy of the calls of subgraphs, against their operators in float64",
        columns=("subgraph", "value", "type", "relative", "ulp", "fused: relative", "fused: ulp", "kernel, or why not"),
        numbers=frozenset({"relative", "ulp", "fused: relative", "fused: ulp"}),
        rows=rows,
        details=frozenset({"relative", "fused: relative"}),
    )


@tabulate.register
def _(result: Comparison) -> list[Table]:
    rows: list[Sequence[str]] = []
    for each in result.values:
        figures = (each.relative, each.ulp, each.accumulated, each.one, each.other)
        names = (each.operation, printable(each.name), _shape(each.dataType, each.shape))
        rows.append([*names, *map(_figure, figures), f"[{', '.join(map(str, each.position))}]"])
    return [
        Table(
            title="Differences of the operators",
            facts=[f"one: {result.one}", f"other: {result.other}"],
            columns=("operation", "value", "type", "relative", "ulp", "accumulated", "one", "other", "at"),
            numbers=frozenset({"relative", "ulp", "accumulated", "one", "other"}),
            rows=rows,
            details=frozenset({"one", "other", "at"}),
        )
    ]


@tabulate.register
def _(result: Placement) -> list[Table]:
    drawn = tabulate_placement(result, every=True)
    facts = [drawn.title, *[f"{word}: {content}" for word, content in drawn.totals]]
    return [replace(drawn, title="Placement", facts=facts, totals=())]
