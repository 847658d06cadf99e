"""The files of the page: for the server, and for a site without one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import webnn
from webnn.context.profiles import PROFILES
from webnn.display.pages import read
from webnn.playground.order import LONGEST
from webnn.validation.drafts import DRAFTS, NEWEST

__all__ = ["PYODIDE", "TYPES", "describe", "load", "write_site"]

#: The files beside the page, with their types.
TYPES: Mapping[str, str] = MappingProxyType(
    {
        "native.html": "text/html",
        "playground.css": "text/css",
        "playground.js": "text/javascript",
        "editor.js": "text/javascript",
        "links.js": "text/javascript",
        "native.js": "text/javascript",
        "codemirror.js": "text/javascript",
        "reads.js": "text/javascript",
    }
)
_SITE = ("python.js", "python_worker.js")
#: The version of Pyodide that the page without a server was written for.
PYODIDE = "314.0.7"


def load(name: str) -> str:
    """Return the text of a file of the page."""
    parts = ["webnn.display/page.css"] if name == "playground.css" else []
    return "".join(map(read, [*parts, f"webnn.playground/{name}"]))


def describe(languages: Sequence[str], start: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return what the page shows before a program runs: the choices, and the examples in the languages that may run, as JSON."""
    examples = json.loads(read("webnn.playground/examples.json"))
    return {
        "version": webnn.__version__,
        "newest": NEWEST,
        "languages": [*languages],
        "profiles": [*PROFILES],
        "revisions": [*DRAFTS],
        "longest": LONGEST,
        "start": start,
        "examples": [each for each in examples if each["language"] in languages],
    }
