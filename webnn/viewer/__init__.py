"""A graph to look around in: the document of a graph, the script that shows it in a page, and pages that hold both.

`describe` makes the document, plain data for JSON; `script` returns the component, one text of JavaScript without dependencies; and
``webnnViewer.show(element, document)`` in it shows a document in an element of any page. docs/viewing.md describes both.
"""

from __future__ import annotations

from webnn.viewer.compared import describe_two
from webnn.viewer.document import describe, find_lines
from webnn.viewer.exports import as_model_explorer, as_node_data, as_notes
from webnn.viewer.notebook import GraphView, show
from webnn.viewer.page import as_page, embed, script, write

__all__ = [
    "GraphView",
    "as_model_explorer",
    "as_node_data",
    "as_notes",
    "as_page",
    "describe",
    "describe_two",
    "embed",
    "find_lines",
    "script",
    "show",
    "write",
]
