"""Everything about graphs on one page of HTML: picture, times, values, accuracy, placement, warnings.

The page holds its style and its script, and loads nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

from webnn import viewer
from webnn.builder.description import DescriptionError
from webnn.context.graph import MLGraph
from webnn.context.inspections import Accuracy, FirstNaN, GraphProfile, Trace
from webnn.display import pages
from webnn.display.table import Table
from webnn.display.text import few
from webnn.formats import files, svg
from webnn.inspect.accuracy import judge
from webnn.inspect.answers import answer, find_shades, link_rows
from webnn.inspect.capture import Capture, Captured
from webnn.inspect.profile import profile_subject
from webnn.inspect.show import printable, seconds, tabulate
from webnn.inspect.subject import Subject
from webnn.inspect.trace import find_nan, trace_subject
from webnn.validation import webidl
from webnn.validation.errors import DOMException, WebNNTypeError

if TYPE_CHECKING:
    from markupsafe import Markup

    from webnn.context.placement import Placement

__all__ = ["PHASES", "AccuracyChoice", "Section", "inspect_graph", "render", "write_capture", "write_page", "write_tables"]

T = TypeVar("T")
#: How much of the accuracy is found: the operators and the whole graph in float64, the operators by themselves, or nothing.
AccuracyChoice = Literal["whole", "operators", "none"]
#: The parts of an inspection, in order.
PHASES = ("placement", "times", "values", "accuracy")
#: How many runs the times are taken of.
_RUNS = 10
#: From which share of the largest number of float16 on a value is said to be near it.
_NEAR = 0.5
_LARGEST_HALF = 65504.0
#: An output whose error, relative to its largest value, is larger than this gets a warning.
_INACCURATE = 1e-3
#: How many operators a warning names.
_NAMED = 5
#: The names of the rows of times begin with it; those of the places in the picture follow.
_ROW = "row-"


@dataclass(slots=True, kw_only=True)
class Section:
    """The page's content about one graph. Results that could not be computed are ``None``.

    Attributes:
        note: Why there are no times and values.
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
    *,
    accuracy: AccuracyChoice = "whole",
) -> None:
    """Look into graphs, and write a page about them; an existing file is replaced.

    Args:
        path: The file.
        graphs: A graph, or several.
        inputs: The inputs of the graph, as `MLGraph.profile` takes them; a sequence of them for a sequence of graphs.
        accuracy: ``"whole"`` compares each operator with the reference, and the graph with itself in float64; ``"operators"`` leaves
            out the latter, which takes longest; ``"none"`` leaves out both.

    Raises:
        ValueError: ``accuracy`` is something else.
        WebNNTypeError: An input does not fit; or there are not as many inputs as graphs.
        InvalidStateError: A graph was destroyed.
        OSError: The file cannot be written.
    """
    if accuracy not in get_args(AccuracyChoice):
        raise ValueError(f"write_page: accuracy must be one of {', '.join(get_args(AccuracyChoice))}, got {webidl.describe(accuracy)}")
    every = [graphs] if isinstance(graphs, MLGraph) else list(graphs)
    given = [inputs] if isinstance(inputs, Mapping) else list(inputs)
    if len(every) != len(given):
        raise WebNNTypeError(f"write_page: inputs must be {len(every)} mappings, one for each graph, got {len(given)}", argument="inputs")
    sections = []
    for number, (graph, arrays) in enumerate(zip(every, given, strict=True), 1):
        subject = Subject.of(graph, "write_page")
        title = subject.description.name or ("Graph" if len(every) == 1 else f"Graph {number}")
        sections.append(inspect_graph(title, graph, subject, arrays, accuracy=accuracy))
    _write(Path(path), render(sections))


def write_capture(
    path: Path,
    capture: Capture,
    title: str,
    *,
    accuracy: AccuracyChoice = "whole",
    on_phase: Callable[[str, str], None] = lambda graph, phase: None,
) -> None:
    """Write the page about the graphs of a program; see `write_page`.

    Args:
        path: The file.
        capture: The graphs.
        title: The title of the page.
        accuracy: As for `write_page`.
        on_phase: Called with a graph's name and one of `PHASES` before each of them begins.
    """
    sections = []
    for number, captured in enumerate(capture.graphs, 1):
        name = captured.subject.description.name or f"Graph {number}"
        sections.append(
            inspect_graph(
                f"{name}{_times(captured)}",
                captured.graph,
                captured.subject,
                captured.inputs,
                captured.note,
                accuracy=accuracy,
                on_phase=partial(on_phase, name),
            )
        )
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


def inspect_graph(
    title: str,
    graph: MLGraph,
    subject: Subject,
    inputs: Mapping[str, Any] | None,
    note: str = "",
    *,
    accuracy: AccuracyChoice = "whole",
    on_phase: Callable[[str], None] = lambda phase: None,
) -> Section:
    """Inspect a graph. Failures become warnings, except those of inputs that do not fit."""
    section = Section(title=title, subject=subject, note=note if inputs is None else "")
    on_phase("placement")
    section.placement = _try(section, "placement", lambda: graph.placement)
    if inputs is not None:
        on_phase("times")
        section.profile = _try(section, "times", partial(profile_subject, subject, inputs, _RUNS))
        on_phase("values")
        section.trace = _try(section, "values", partial(trace_subject, subject, inputs, ()))
        if section.trace is None or any(each.statistics.nans or each.statistics.infinities for each in section.trace.values):
            section.nan = _try(section, "the first NaN", partial(find_nan, subject, inputs))
        if accuracy != "none":
            on_phase("accuracy")
            section.accuracy = _try(section, "accuracy", partial(judge, subject, inputs, whole=accuracy == "whole"))
    section.warnings += _warn(section)
    return section


def _try(section: Section, what: str, find: Callable[[], T]) -> T | None:
    try:
        return find()
    except (DOMException, DescriptionError, MemoryError) as error:
        section.warnings.append(f"no {what}: {error}")
        return None


def _warn(section: Section) -> list[str]:
    """Return the most important findings."""
    found: list[str] = []
    if section.nan is not None:
        (table,) = tabulate(section.nan)
        found += table.facts
    if section.placement is not None and section.placement.fallbacks:
        names = [f"{each.operation}#{each.index}" for each in section.placement.fallbacks]
        found.append(f"{len(names)} operators do not run on the device that was asked for: {few(names, _NAMED)}")
    if section.trace is not None:
        values = [each for each in section.trace.values if each.statistics.count > 1]
        zeros = [f"{each.operation}#{each.index}" for each in values if each.index and each.statistics.zeros == each.statistics.count]
        if zeros:
            found.append(f"results that are zero everywhere: {few(zeros, _NAMED)}")
        large = [
            f"{each.operation}#{each.index}"
            for each in section.trace.values
            if each.dataType == "float16"
            and max(abs(each.statistics.minimum or 0), abs(each.statistics.maximum or 0)) > _NEAR * _LARGEST_HALF
        ]
        if large:
            found.append(f"close to the largest number of float16, {_LARGEST_HALF:,.0f}: {few(large, _NAMED)}")
    if section.accuracy is not None and section.accuracy.operators:
        bad = [each for each in section.accuracy.outputs if not each.relative <= _INACCURATE]
        worst = section.accuracy.operators[0]
        found += [
            f"the output {printable(each.name)!r} is off by {each.relative:.2g} of its largest value; the least accurate operator is "
            f"{worst.operation}#{worst.index}, off by {worst.relative:.2g}"
            for each in bad
        ]
    return found


# HTML


def render(sections: Sequence[Section], *, title: str = "", warnings: Sequence[str] = (), tables: Sequence[Table] = ()) -> str:
    """Return the page."""
    heading = title or (sections[0].title if len(sections) == 1 else f"{len(sections)} graphs")
    shown = [_describe(each, f"operator-{number}-") for number, each in enumerate(sections, 1)]
    values = {"title": heading, "sections": shown, "warnings": warnings, "tables": tables}
    return pages.render("webnn.inspect/page.html", viewer=pages.mark_ready(viewer.script()), **values)


def _write(path: Path, page: str) -> None:
    # A label may hold half of a surrogate pair, which no encoding has.
    files.write(path, page.encode("utf-8", "replace").decode("utf-8"))


def _describe(section: Section, names: str) -> dict[str, Any]:
    """Return what the template needs of a graph. ``names`` begins the names of the operators' places in the picture."""
    description = section.subject.description
    known = description.descriptors()
    facts = [
        ("Inputs", ", ".join(f"{printable(name)}: {each}" for name, each in description.inputs.items()) or "none"),
        ("Outputs", ", ".join(f"{printable(name)}: {known[value]}" for name, value in description.outputs.items())),
        ("Operators", f"{len(description.operators):,}"),
        ("Constants", f"{len(description.constants):,}, {sum(each.value.nbytes for each in description.constants.values()):,} bytes"),
        ("Draft", description.draft),
        ("Runs on", ", ".join(section.subject.implementation.providers)),
    ]
    if section.profile is not None:
        facts.append(("One run", seconds(section.profile.plain)))
    results = [each for each in (section.nan, section.profile, section.accuracy, section.trace, section.placement) if each is not None]
    picture = _draw(section, names)
    answers = answer(description, profile=section.profile, accuracy=section.accuracy, nan=section.nan, placement=section.placement)
    #: Each table with whether it is open, and what the names of its rows begin with.
    tables = [
        (table, not isinstance(result, Trace) or section.nan is not None, _ROW if result is section.profile else "")
        for result in results
        for table in tabulate(result)
    ]
    if not picture["problem"]:
        answers = link_rows(answers, names)
        tables = [(link_rows(table, names), isOpen, rows) for table, isOpen, rows in tables]
    return {
        "title": section.title,
        "facts": facts,
        "warnings": section.warnings,
        "note": section.note,
        "answers": answers,
        "tables": tables,
        "document": _view(section),
        **picture,
    }


def _view(section: Section) -> Markup:
    """Return the document for the viewer, with all that was found."""
    seconds = None if section.profile is None else {each.index: each.seconds for each in section.profile.operators if each.nodes}
    errors: dict[int, float] = {}
    for each in () if section.accuracy is None else section.accuracy.operators:
        errors[each.index] = max(each.relative, errors.get(each.index, 0.0))
    description, placement = section.subject.description, section.placement
    lines = section.subject.source.lines
    return viewer.embed(viewer.describe(description, title=section.title, placement=placement, seconds=seconds, errors=errors, lines=lines))


def _draw(section: Section, names: str) -> dict[str, Any]:
    """Return the picture and whether it shows times, or why there is no picture. Its boxes lead back to the rows of the times."""
    times: dict[int, str] = {}
    shades: dict[int, float] = {}
    if section.profile is not None:
        times = {each.index: seconds(each.seconds) for each in section.profile.operators if each.nodes}
        shades = find_shades(section.profile)
    placement = section.placement if section.placement is not None and len(section.placement.devices) > 1 else None
    try:
        drawn = svg.draw(
            section.subject.description,
            placement=placement,
            annotations=times,
            shades=shades,
            names=names,
            back="" if section.profile is None else _ROW,
        )
    except (ImportError, ValueError, DescriptionError) as error:
        return {"problem": str(error)}
    return {"problem": "", "picture": drawn, "shaded": bool(shades)}
