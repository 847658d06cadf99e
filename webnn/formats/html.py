"""Graphs in notebooks: small HTML with inline styles, which inherits the notebook's colours.

A picture is an image with its own background: neither its styles nor a hostile name can reach the notebook.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from webnn.display.pages import render
from webnn.formats.layout import PicturesMissingError
from webnn.formats.summary import as_text
from webnn.formats.svg import draw

if TYPE_CHECKING:
    from webnn import Placement
    from webnn.builder.description import GraphDescription

__all__ = ["as_html"]

#: The most operators that a notebook draws.
_DRAWN = 2000
#: The columns of the table. A notebook's cell is wider than a terminal.
_COLUMNS = 120


def as_html(description: GraphDescription, placement: Placement | None = None, title: str = "") -> str:
    """Write a graph: its picture, where the library for it is installed and the graph is not too long, and its table.

    The picture has the colours of devices if there are several, or if they are simulated.
    """
    if placement is not None and not placement.simulated and len(placement.devices) < 2:
        placement = None
    picture, problem = "", ""
    if len(description.operators) <= _DRAWN:
        try:
            picture = base64.b64encode(draw(description, placement=placement).encode()).decode()
        except PicturesMissingError as error:
            problem = str(error)
    values = {"title": title or repr(description)[1:-1], "table": as_text(description, width=_COLUMNS)}
    return render("webnn.formats/graph.html", picture=picture, problem=problem, **values)
