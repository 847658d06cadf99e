"""The viewer of ``webnn show``: its page, opened in a browser if it is asked for, and the files for other programs."""

from __future__ import annotations

import json
import tempfile
import webbrowser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import webnn
from webnn.commands.feeds import build, seeded_inputs
from webnn.commands.graphs import graph_name
from webnn.commands.text import show_controls
from webnn.formats import files, onnx_file
from webnn.formats.cards import numbers
from webnn.viewer import as_model_explorer, as_node_data, as_notes, as_page, describe, describe_two

if TYPE_CHECKING:
    from webnn import Placement

__all__ = ["Lines", "Wanted", "open_browser", "open_page", "view", "write_two"]

#: The file and the line of the program that made an operator, by the number of the operator.
Lines: TypeAlias = Mapping[int, tuple[str, int]]
#: How many runs the times are taken of, and the seed of their inputs.
_RUNS, _SEED = 10, 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The files that are asked for, and what is shown in them.

    Attributes:
        html: The page.
        explorer: The graph for Model Explorer.
        onnx: The ONNX model.
        placement: Whether the devices of operators are shown.
        times: Whether the times of operators are.
        profile: The device profile.
    """

    html: Path | None = None
    explorer: Path | None = None
    onnx: Path | None = None
    placement: bool = False
    times: bool = False
    profile: str | None = None


def view(graphs: Sequence[webnn.GraphDescription], title: str, lines: Sequence[Lines], wanted: Wanted) -> None:
    """Write the files about the graphs of a file or a program; those for other programs are of the first graph.

    ``lines`` has the program's lines of each graph.

    Raises what building and writing raise.
    """
    several = len(graphs) > 1
    documents = []
    for number, (graph, own) in enumerate(zip(graphs, lines, strict=True), 1):
        name = graph.name or (f"{number}: {graph_name(graph)}" if several else title)
        documents.append(describe(graph, title=name, lines=own, **_measure(graph, wanted)))
    if wanted.html is not None:
        files.write(wanted.html, as_page(documents, title))
    if wanted.explorer is not None:
        files.write(wanted.explorer, json.dumps(as_model_explorer(documents[0])))
        for each in documents[0]["colourings"]:
            if each["name"] != "kind":
                data = json.dumps(as_node_data(documents[0], each["name"]))
                files.write(wanted.explorer.with_name(f"{wanted.explorer.stem}.{each['name']}.json"), data)
    if wanted.onnx is not None:
        onnx_file.write(graphs[0], wanted.onnx, as_notes(graphs[0], documents[0]))


def write_two(path: Path, one: webnn.GraphDescription, other: webnn.GraphDescription, titles: tuple[str, str]) -> None:
    """Write a page of two graphs beside each other, with what differs."""
    files.write(path, as_page([describe_two(one, other, titles=titles)]))


def open_page(path: Path | None) -> Path:
    """Return the file of a page that is opened: the given one, or a new one in the folder of temporary files."""
    return path if path is not None else Path(tempfile.mkdtemp(prefix="webnn-")) / "graph.html"


def open_browser(path: Path) -> str:
    """Open a page in the user's browser, and return a line about it."""
    opened = webbrowser.open(path.resolve().as_uri())
    return show_controls(str(path) if opened else f"no browser was found: open {path}")


def _measure(graph: webnn.GraphDescription, wanted: Wanted) -> dict[str, Any]:
    """Return the devices and times of a graph's operators, by its own numbers."""
    if not wanted.placement and not wanted.times:
        return {}
    context, built = build(graph, profile=wanted.profile, fallback="silent")
    own = dict(zip(numbers(built.description), numbers(graph.select(graph.outputs)), strict=True))
    found: dict[str, Any] = {}
    if wanted.placement:
        found["placement"] = _renumber(built.placement, own)
    if wanted.times:
        profile = built.profile(seeded_inputs(graph.inputs, _SEED), runs=_RUNS)
        found["seconds"] = {own[each.index]: each.seconds for each in profile.operators if each.nodes and each.index in own}
    context.destroy()
    return found


def _renumber(placement: Placement, own: dict[int, int]) -> Placement:
    return replace(placement, operators=tuple([replace(each, index=own.get(each.index, 0)) for each in placement.operators]))
