"""The component in a notebook: a frame that can reach neither the notebook nor the network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from webnn.display import pages
from webnn.viewer.document import describe
from webnn.viewer.page import as_page

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription

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


def show(description: GraphDescription, *, height: int = 600, **options: Any) -> GraphView:
    """Return a graph as a notebook shows it: to look around in. Without a notebook, `write` makes a page.

    Args:
        description: The graph.
        height: The height in pixels, at least 100.
        options: The options of `describe`: the title, the placement, times and errors.

    Raises:
        ValueError: The height is too small.
        DescriptionError: The description contradicts itself.
    """
    if height < 100:
        raise ValueError(f"show: height must be at least 100, got {height}")
    return GraphView(describe(description, **options), height)
