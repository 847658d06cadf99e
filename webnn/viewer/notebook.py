"""The component in a notebook: a frame that can reach neither the notebook nor the network."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from webnn.builder.description import GraphDescription
from webnn.display import pages
from webnn.viewer.document import describe, find_lines
from webnn.viewer.page import as_page

if TYPE_CHECKING:
    from webnn import MLGraph

__all__ = ["GraphView", "show"]


@dataclass(frozen=True, slots=True, repr=False)
class GraphView:
    """A graph in a notebook.

    Attributes:
        document: The document of the graph; see `describe`.
        height: The height of the frame, in pixels.
    """

    document: dict[str, Any]
    height: int = 600

    def __repr__(self) -> str:
        return f"<GraphView: {self.document['title']}>"

    def _repr_html_(self) -> str:
        values = {"title": self.document["title"], "height": self.height, "page": as_page([self.document])}
        return pages.render("webnn.viewer/notebook.html", **values)


def show(graph: GraphDescription | MLGraph, *, height: int = 600, **options: Any) -> GraphView:
    """Return a graph as a notebook shows it: to look around in. Without a notebook, `write` makes a page.

    Args:
        graph: The graph. One that cells built after ``%load_ext webnn`` has the lines of its operators.
        height: The height in pixels, at least 100.
        options: The options of `describe`: the title, the placement, times and errors.

    Raises:
        ValueError: The height is too small.
        DescriptionError: The description contradicts itself.
        InvalidStateError: The graph was destroyed.
    """
    if height < 100:
        raise ValueError(f"show: height must be at least 100, got {height}")
    if isinstance(graph, GraphDescription):
        return GraphView(describe(graph, **options), height)
    return GraphView(describe(graph.description, **{"lines": _name_cells(find_lines(graph)), **options}), height)


def _name_cells(lines: Mapping[int, tuple[str, int]]) -> Mapping[int, tuple[str, int]]:
    """Name the cells as IPython does, in place of their files."""
    ipython: Any = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if shell is None:
        return lines
    return {number: (" ".join(shell.compile.format_code_name(file) or [file]), line) for number, (file, line) in lines.items()}
