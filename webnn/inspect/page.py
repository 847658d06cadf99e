"""Everything about graphs on one page of HTML: picture, times, values, accuracy, placement, warnings.

The page holds its style and its script, loads nothing, and escapes every text of a graph.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from html import escape
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from webnn.builder.description import DescriptionError
from webnn.context.graph import MLGraph
from webnn.context.inspections import Accuracy, FirstNaN, GraphProfile, Trace
from webnn.formats import files, svg
from webnn.inspect.accuracy import judge
from webnn.inspect.capture import Capture, Captured
from webnn.inspect.profile import profile_subject
from webnn.inspect.show import Cell, Table, printable, seconds, tabulate
from webnn.inspect.subject import Subject
from webnn.inspect.trace import find_nan, trace_subject
from webnn.validation.errors import DOMException, WebNNTypeError

if TYPE_CHECKING:
    from webnn.context.placement import Placement

__all__ = ["Section", "inspect_graph", "render", "write_capture", "write_page", "write_tables"]

T = TypeVar("T")
#: How many runs the times are taken of.
_RUNS = 10
#: From which share of the largest number of float16 on a value is said to be near it.
_NEAR = 0.5
_LARGEST_HALF = 65504.0
#: An output whose error, relative to its largest value, is larger than this gets a warning.
_INACCURATE = 1e-3
#: How many operators a warning names.
_NAMED = 5
_PLACE = re.compile("@(\\w+)@")
_LONGEST = 400
#: The columns of text that are not folded.
_WHOLE = frozenset({"at", "operation", "type"})


@dataclass(slots=True, kw_only=True)
class Section:
    """What the page shows of one graph. What could not be found out is ``None``.

    Attributes:
        title: The headline.
        subject: The graph.
        note: Why there are no times and values.
        warnings: What a reader should know first.
    """

    title: str
    subject: Subject
    note: str = ""
    placement: Placement | None = None
    profile: GraphProfile | None = None
    trace: Trace | None = None
    nan: FirstNaN | None = None
    accuracy: Accuracy | None = None
    warnings: list[str] = field(default_factory=list)


def write_page(
    path: str | os.PathLike[str],
    graphs: MLGraph | Sequence[MLGraph],
    inputs: Mapping[str, Any] | Sequence[Mapping[str, Any]],
) -> None:
    """Look into graphs, and write a page about them; an existing file is replaced.

    Args:
        path: The file.
        graphs: A graph, or several.
        inputs: The inputs of the graph, as `MLGraph.profile` takes them; a sequence of them for a sequence of graphs.

    Raises:
        WebNNTypeError: An input does not fit; or there are not as many inputs as graphs.
        InvalidStateError: A graph was destroyed.
        OSError: The file cannot be written.
    """
    every = [graphs] if isinstance(graphs, MLGraph) else list(graphs)
    given = [inputs] if isinstance(inputs, Mapping) else list(inputs)
    if len(every) != len(given):
        raise WebNNTypeError(f"write_page: inputs must be {len(every)} mappings, one for each graph, got {len(given)}", argument="inputs")
    sections = []
    for number, (graph, arrays) in enumerate(zip(every, given, strict=True), 1):
        subject = Subject.of(graph, "write_page")
        title = subject.description.name or ("Graph" if len(every) == 1 else f"Graph {number}")
        sections.append(inspect_graph(title, graph, subject, arrays))
    _write(Path(path), render(sections))


def write_capture(path: Path, capture: Capture, title: str) -> None:
    """Write the page about the graphs of a program; see `write_page`."""
    sections = []
    for number, captured in enumerate(capture.graphs, 1):
        name = captured.subject.description.name or f"Graph {number}"
        sections.append(inspect_graph(f"{name}{_times(captured)}", captured.graph, captured.subject, captured.inputs, captured.note))
    notes = list(dict.fromkeys(capture.warnings))
    if capture.more:
        notes.append(f"{capture.more} graphs more were built than the {len(capture.graphs)} on this page")
    if not sections:
        notes.append("the program built no graph")
    _write(path, render(sections, title=title, warnings=notes))


def write_tables(path: Path, result: object, title: str) -> None:
    """Write a page with the tables of a result; an existing file is replaced."""
    _write(path, render([], title=title, tables=tabulate(result)))


def _times(captured: Captured) -> str:
    if not captured.computations:
        return ""
    return ", computed once" if captured.computations == 1 else f", computed {captured.computations:,} times; inputs of the first"


def inspect_graph(title: str, graph: MLGraph, subject: Subject, inputs: Mapping[str, Any] | None, note: str = "") -> Section:
    """Find out everything about a graph. What fails becomes a warning, but for inputs that do not fit."""
    section = Section(title=title, subject=subject, note=note if inputs is None else "")
    section.placement = _try(section, "placement", lambda: graph.placement)
    if inputs is not None:
        section.profile = _try(section, "times", partial(profile_subject, subject, inputs, _RUNS))
        section.trace = _try(section, "values", partial(trace_subject, subject, inputs, ()))
        if section.trace is None or any(each.statistics.nans or each.statistics.infinities for each in section.trace.values):
            section.nan = _try(section, "the first NaN", partial(find_nan, subject, inputs))
        section.accuracy = _try(section, "accuracy", partial(judge, subject, inputs, whole=True))
    section.warnings += _warn(section)
    return section


def _try(section: Section, what: str, find: Callable[[], T]) -> T | None:
    try:
        return find()
    except (DOMException, DescriptionError, MemoryError) as error:
        section.warnings.append(f"no {what}: {error}")
        return None


def _warn(section: Section) -> list[str]:
    """Return what a reader should know first."""
    found: list[str] = []
    if section.nan is not None:
        (table,) = tabulate(section.nan)
        found += table.facts
    if section.placement is not None and section.placement.fallbacks:
        names = [f"{each.operation}#{each.index}" for each in section.placement.fallbacks]
        found.append(f"{len(names)} operators do not run on the device that was asked for: {_list(names)}")
    if section.trace is not None:
        values = [each for each in section.trace.values if each.statistics.count > 1]
        zeros = [f"{each.operation}#{each.index}" for each in values if each.index and each.statistics.zeros == each.statistics.count]
        if zeros:
            found.append(f"results that are zero everywhere: {_list(zeros)}")
        large = [
            f"{each.operation}#{each.index}"
            for each in section.trace.values
            if each.dataType == "float16"
            and max(abs(each.statistics.minimum or 0), abs(each.statistics.maximum or 0)) > _NEAR * _LARGEST_HALF
        ]
        if large:
            found.append(f"close to the largest number of float16, {_LARGEST_HALF:,.0f}: {_list(large)}")
    if section.accuracy is not None and section.accuracy.operators:
        bad = [each for each in section.accuracy.outputs if not each.relative <= _INACCURATE]
        worst = section.accuracy.operators[0]
        found += [
            f"the output {printable(each.name)!r} is off by {each.relative:.2g} of its largest value; the least accurate operator is "
            f"{worst.operation}#{worst.index}, off by {worst.relative:.2g}"
            for each in bad
        ]
    return found


def _list(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


# HTML


def render(sections: Sequence[Section], *, title: str = "", warnings: Sequence[str] = (), tables: Sequence[Table] = ()) -> str:
    """Return the page."""
    folder = resources.files("webnn.inspect")
    style, script = ((folder / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    heading = title or (sections[0].title if len(sections) == 1 else f"{len(sections)} graphs")
    links = "".join(f'<li><a href="#graph-{number}">{_text(each.title)}</a></li>' for number, each in enumerate(sections, 1))
    parts = {
        "title": _text(heading),
        "style": style,
        "script": script,
        # The content of the element, as the browser sees it.
        "hash": base64.b64encode(hashlib.sha256(f"\n{script}".encode()).digest()).decode(),
        "links": f"<nav><ul>{links}</ul></nav>" if len(sections) > 1 else "",
        "warnings": _warnings(warnings),
        "sections": "".join([*(_table(each, opened=True) for each in tables), *(_section(*each) for each in enumerate(sections, 1))]),
    }
    template = (folder / "page.html").read_text(encoding="utf-8")
    return _PLACE.sub(lambda match: parts[match[1]], template)


def _write(path: Path, page: str) -> None:
    # A label may hold half of a surrogate pair, which no encoding has.
    files.write(path, page.encode("utf-8", "replace").decode("utf-8"))


def _text(text: str) -> str:
    return escape(printable(text, _LONGEST))


def _section(number: int, section: Section) -> str:
    description = section.subject.description
    facts = [
        ("Inputs", ", ".join(f"{printable(name)}: {each}" for name, each in description.inputs.items()) or "none"),
        ("Outputs", ", ".join(f"{printable(name)}: {each}" for name, each in _outputs(section).items())),
        ("Operators", f"{len(description.operators):,}"),
        ("Constants", f"{len(description.constants):,}, {sum(each.value.nbytes for each in description.constants.values()):,} bytes"),
        ("Draft", description.draft),
        ("Runs on", ", ".join(section.subject.implementation.providers)),
    ]
    if section.profile is not None:
        facts.append(("One run", seconds(section.profile.plain)))
    parts = [
        f'<section id="graph-{number}"><h2>{_text(section.title)}</h2><dl class="facts">',
        *[f"<div><dt>{escape(name)}</dt><dd>{_text(value)}</dd></div>" for name, value in facts],
        f"</dl>{_warnings(section.warnings)}",
        f'<p class="note">No times and values: {_text(section.note)}.</p>' if section.note else "",
        f"<details open><summary>Picture</summary>{_picture(section)}</details>",
    ]
    for result in (section.nan, section.profile, section.accuracy, section.trace, section.placement):
        if result is not None:
            parts += [_table(table, opened=not isinstance(result, Trace) or section.nan is not None) for table in tabulate(result)]
    return "".join([*parts, "</section>"])


def _outputs(section: Section) -> dict[str, object]:
    known = section.subject.description.descriptors()
    return {name: known[value] for name, value in section.subject.description.outputs.items()}


def _warnings(warnings: Sequence[str]) -> str:
    if not warnings:
        return ""
    return f'<ul class="warnings" aria-label="Warnings">{"".join(f"<li>{_text(each)}</li>" for each in warnings)}</ul>'


def _picture(section: Section) -> str:
    times: dict[int, str] = {}
    shades: dict[int, float] = {}
    if section.profile is not None:
        most = max((each.seconds for each in section.profile.operators), default=0.0)
        for each in section.profile.operators:
            if each.nodes:
                times[each.index] = seconds(each.seconds)
                shades[each.index] = each.seconds / most if most else 0.0
    placement = section.placement if section.placement is not None and len(section.placement.devices) > 1 else None
    try:
        drawn = svg.draw(section.subject.description, placement=placement, annotations=times, shades=shades)
    except (ImportError, ValueError, DescriptionError) as error:
        return f'<p class="note">No picture: {_text(str(error))}</p>'
    shaded = "<p>The warmer the colour of a box, the more time it takes.</p>" if shades else ""
    return f'{shaded}<div class="picture" tabindex="0">{drawn}</div>'


def _table(table: Table, *, opened: bool) -> str:
    kept = [place for place in range(len(table.columns)) if any(row[place][0] for row in table.rows)]
    heads = "".join(
        f'<th{_class(table, place)} aria-sort="none"><button type="button">{escape(table.columns[place]) or "&nbsp;"}</button></th>'
        for place in kept
    )
    rows = "".join(f"<tr>{''.join(_cell(table, place, row[place]) for place in kept)}</tr>" for row in table.rows)
    facts = "".join(f"<p>{escape(fact)}</p>" for fact in table.facts)
    notes = "".join(f"<li>{escape(note)}</li>" for note in table.notes)
    body = (
        f'<div class="table" tabindex="0"><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>' if table.rows else ""
    )
    lines = f'<ul class="notes">{notes}</ul>' if notes else ""
    return f"<details{' open' if opened else ''}><summary>{escape(table.title)}</summary>{facts}{body}{lines}</details>"


def _class(table: Table, place: int) -> str:
    name = table.columns[place]
    return ' class="number"' if name in table.numbers else ' class="whole"' if name in _WHOLE else ""


def _cell(table: Table, place: int, cell: Cell) -> str:
    text, value = cell
    # The order of numbers is not that of their texts.
    key = f' data-value="{value!r}"' if value is not None else ""
    return f"<td{_class(table, place)}{key}>{escape(text)}</td>"
