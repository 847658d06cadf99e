"""The results of an inspection as tables: for people, in a terminal and on a page.

A `Table` holds text only. What draws it decides about colours and escapes.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import TYPE_CHECKING, Any

from webnn.context.inspections import Accuracy, CallAccuracy, FirstNaN, GraphProfile, Trace, TracedValue
from webnn.context.placement import Placement
from webnn.formats import html, plain
from webnn.inspect.compare import Comparison

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["Cell", "Table", "as_html", "as_renderable", "as_text", "number", "printable", "seconds", "tabulate"]

#: The most rows of a table in a terminal.
_ROWS = 60
_LONGEST_LABEL, _LONGEST_REASON = 60, 300
#: Columns that are never folded, and the least width of others.
_WHOLE, _NARROWEST = frozenset({"line", "operation"}), 8
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "\N{MICRO SIGN}s"))

#: What a cell shows, and the number that it is sorted by; text sorts by itself.
Cell = tuple[str, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table: a headline, facts, and rows.

    Attributes:
        title: The headline.
        facts: Lines below it.
        columns: The names of the columns; those of numbers are aligned to the right.
        numbers: The columns of numbers.
        rows: The cells of each row.
        notes: Lines below the rows.
        details: The columns that a terminal leaves out.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    facts: Sequence[str] = ()
    numbers: frozenset[str] = frozenset()
    notes: Sequence[str] = ()
    details: frozenset[str] = frozenset()


def as_text(result: object) -> str:
    """Draw a result as wide as the terminal, without colours."""
    from rich.console import Console  # noqa: PLC0415 (loaded when something is printed)

    output = io.StringIO()
    Console(file=output, force_terminal=False, force_jupyter=False, color_system=None, legacy_windows=False).print(as_renderable(result))
    return "\n".join(line.rstrip() for line in output.getvalue().splitlines())


def as_renderable(result: object) -> RenderableType:
    """Draw a result for rich."""
    from rich import table as rich_table  # noqa: PLC0415 (as above)
    from rich.console import Group  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    parts: list[Any] = []
    for table in tabulate(result):
        parts += [Text(table.title, "bold"), *[Text(fact) for fact in table.facts]]
        if table.rows:
            drawn = rich_table.Table(box=None, pad_edge=False, show_edge=False, padding=(0, 2, 0, 0), collapse_padding=True)
            rows = table.rows[:_ROWS]
            kept = [place for place, name in enumerate(table.columns) if name not in table.details]
            shown = [place for place in kept if any(row[place][0] for row in rows)]
            for name in [table.columns[place] for place in shown]:
                right = name in table.numbers
                whole = right or name in _WHOLE
                width = None if whole else _NARROWEST
                drawn.add_column(name, justify="right" if right else "left", overflow="fold", no_wrap=whole, min_width=width)
            for row in rows:
                drawn.add_row(*[Text(row[place][0]) for place in shown])
            parts.append(drawn)
        if len(table.rows) > _ROWS:
            parts.append(Text(f"... and {len(table.rows) - _ROWS} more rows"))
        parts += [Text(note) for note in table.notes]
    return Group(*parts)


def as_html(result: object) -> str:
    """Draw a result for a notebook."""
    drawn = []
    for each in tabulate(result):
        cells = [[text for text, _ in row] for row in each.rows]
        drawn.append(html.table(each.title, each.columns, cells, numbers=each.numbers, before=each.facts, after=each.notes))
    return f"<div>{''.join(drawn)}</div>"


# Text


def printable(text: str, limit: int = _LONGEST_LABEL) -> str:
    """Return a label on one line, its control characters escaped, and cut if it is long."""
    return plain.clip(text, limit, ellipsis="...")


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
    rows: list[list[Cell]] = []
    for each in sorted(result.operators, key=lambda operator: -operator.seconds):
        share = each.seconds / whole if whole else 0.0
        rows.append(
            [
                (str(each.index), each.index),
                (each.operation, None),
                (printable(each.label), None),
                (seconds(each.seconds) if each.nodes else "", each.seconds),
                (f"{share:.1%}" if each.nodes else "", share),
                (str(each.nodes), each.nodes),
                (", ".join(each.kernels), None),
                (printable(each.note, _LONGEST_REASON), None),
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


def _value_cells(value: TracedValue) -> list[Cell]:
    statistics = value.statistics
    bad = [(number(count) if count else "", float(count)) for count in (statistics.zeros, statistics.nans, statistics.infinities)]
    figures = (statistics.minimum, statistics.maximum, statistics.mean, statistics.deviation)
    return [(_shape(value.dataType, value.shape), None), *[(number(each), None if each is None else float(each)) for each in figures], *bad]


@tabulate.register
def _(result: Trace) -> list[Table]:
    rows: list[list[Cell]] = []
    for value in result.values:
        names: list[Cell] = [(str(value.index) if value.index else "", value.index), (value.operation, None), (printable(value.name), None)]
        rows.append([*names, *_value_cells(value)])
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
    rows = [[("result", None), *_value_cells(result.value)]]
    rows += [[(printable(title), None), *_value_cells(value)] for title, value in result.operands.items()]
    notes = []
    for each in result.offenders:
        there = ", ".join(f"{printable(title)} {element:.6g}" for title, element in each.operands.items())
        notes.append(f"at [{', '.join(map(str, each.position))}]: {each.value}" + (f" from {there}" if there else ""))
    columns = ("", "type", *_VALUE_NUMBERS)
    numbers = frozenset(_VALUE_NUMBERS)
    return [Table(title=f"First {result.kind}", facts=facts, columns=columns, numbers=numbers, rows=rows, notes=notes)]


@tabulate.register
def _(result: Accuracy) -> list[Table]:
    rows: list[list[Cell]] = []
    for each in result.operators:
        figures = (each.relative, each.ulp, each.accumulated, each.actual, each.expected)
        rows.append(
            [
                (str(each.index), each.index),
                (each.operation, None),
                (printable(each.label), None),
                (_shape(each.dataType, each.shape), None),
                *[(number(figure), figure) for figure in figures],
                (f"[{', '.join(map(str, each.position))}]", None),
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
    outputs: list[list[Cell]] = []
    for output in result.outputs:
        distances = [(number(figure), figure) for figure in (output.relative, output.ulp, output.absolute)]
        outputs.append([(printable(output.name), None), (output.dataType, None), *distances])
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
    rows: list[list[Cell]] = []
    for each in calls:
        figures = (each.relative, each.ulp, each.fusedRelative, each.fusedUlp)
        names: list[Cell] = [(printable(each.name), None), (printable(each.output), None), (_shape(each.dataType, each.shape), None)]
        how: Cell = (each.kernel or printable(each.reason, _LONGEST_REASON), None)
        rows.append([*names, *[(number(figure), figure) for figure in figures], how])
    return Table(
        title="Accuracy of the calls of subgraphs, against their operators in float64",
        columns=("subgraph", "value", "type", "relative", "ulp", "fused: relative", "fused: ulp", "kernel, or why not"),
        numbers=frozenset({"relative", "ulp", "fused: relative", "fused: ulp"}),
        rows=rows,
        details=frozenset({"relative", "fused: relative"}),
    )


@tabulate.register
def _(result: Comparison) -> list[Table]:
    rows: list[list[Cell]] = []
    for each in result.values:
        figures = (each.relative, each.ulp, each.accumulated, each.one, each.other)
        names: list[Cell] = [(each.operation, None), (printable(each.name), None), (_shape(each.dataType, each.shape), None)]
        rows.append([*names, *[(number(figure), figure) for figure in figures], (f"[{', '.join(map(str, each.position))}]", None)])
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
    rows: list[list[Cell]] = []
    for each in result.operators:
        partition = "" if each.partition is None else str(each.partition)
        providers = ", ".join(provider.removesuffix("ExecutionProvider") for provider in each.providers)
        names: list[Cell] = [(str(each.index), each.index), (each.operation, None), (printable(each.label), None)]
        place: list[Cell] = [(each.device or "nowhere", None), (providers, None), (partition, each.partition)]
        rows.append([*names, *place, (printable(each.reason, _LONGEST_REASON), None)])
    how = f"simulated by the device profile {result.profile}" if result.simulated else "as the engine assigned it"
    why = f": {printable(result.reason, _LONGEST_REASON)}" if result.reason else ""
    facts = [f"{result.requested} requested, {result.device} here, {how}{why}"]
    facts += [f"{len(result.partitions)} partitions, {result.transferredBytes:,} bytes in {len(result.transfers)} transfers per run"]
    columns = ("#", "operation", "label", "device", "provider", "partition", "reason")
    return [Table(title="Placement", facts=facts, columns=columns, numbers=frozenset({"#", "partition"}), rows=rows)]
