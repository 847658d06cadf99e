"""The component as one text of JavaScript, and pages of HTML that hold it with graphs: without a server, and without the network."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from webnn.display import pages
from webnn.formats import files
from webnn.viewer.document import describe

if TYPE_CHECKING:
    from markupsafe import Markup

    from webnn.builder.description import GraphDescription

__all__ = ["as_page", "embed", "script", "write"]

#: The parts of the component in the order in which they need each other. The first one is the library for layouts, dagre.
_PARTS = ("dagre.min.js", "tree.js", "drawing.js", "details.js", "view.js", "controls.js", "viewer.js")


@functools.cache
def script() -> str:
    """Return the component: JavaScript that gives a page the function ``webnnViewer.show(element, document)``.

    It is one text without dependencies; the library for layouts and the styles are in it. It adds one name to the page, `webnnViewer`.
    """
    # The library has control characters in its strings, which pages show in another way.
    parts = [pages.read(f"webnn.viewer/{name}").strip().replace("\x01", "\\x01") for name in _PARTS]
    style = json.dumps(pages.read("webnn.viewer/viewer.css")).replace("<", "\\u003c")
    return "\n".join(['var webnnViewer = (() => {\n"use strict";', f"const STYLE = {style};", *parts, "return { show };\n})();"])


def embed(document: dict[str, Any]) -> Markup:
    """Return a document as JSON for an element ``<script type="application/json">``, whatever its texts hold."""
    text = json.dumps(document, allow_nan=False, separators=(",", ":"))
    return pages.mark_ready(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def as_page(documents: Sequence[dict[str, Any]], title: str = "") -> str:
    """Return a page that shows documents of `describe` or `describe_two`; of several the reader chooses one.

    The page loads nothing: a Content-Security-Policy allows its own script and nothing else. Texts of graphs are never markup.
    """
    names = [str(each["title"]) for each in documents]
    values = {"title": title or ", ".join(names), "names": names, "documents": embed({"documents": list(documents)})}
    return pages.render("webnn.viewer/page.html", viewer=pages.mark_ready(script()), **values)


def write(path: str | os.PathLike[str], *graphs: GraphDescription, title: str = "") -> None:
    """Write a page that shows graphs. An existing file is replaced.

    Raises:
        ValueError: No graph is given.
        DescriptionError: A description contradicts itself.
        OSError: The file cannot be written.
    """
    if not graphs:
        raise ValueError("write: at least one graph must be given, got none")
    files.write(Path(path), as_page([describe(each) for each in graphs], title))
