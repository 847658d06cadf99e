"""Notes about a program: its graphs for the viewer with their placements, the numbers that it reads, and where it failed."""

from __future__ import annotations

import json
import re
import threading
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from webnn.display.table import as_data
from webnn.display.text import clip
from webnn.inspect.show import tabulate
from webnn.validation.errors import DOMException
from webnn.viewer import describe, find_lines

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription
    from webnn.context.graph import MLGraph

__all__ = ["MARK", "Record", "find_place", "locate"]

#: The most graphs that are shown, the most operators that one is shown with, the most rows of a table, and the longest text in one.
_MOST_GRAPHS, _MOST_OPERATORS, _MOST_ROWS, _LONGEST = 12, 10_000, 300, 200
#: The most results that a program reads whose numbers are shown, and the longest of their notes in bytes.
_MOST_READS, _LONGEST_READ = 32, 1 << 18
#: A line of a program's output begins with it if `reads.js` wrote the line.
MARK = b"\x01webnn-read "
_ERROR = re.compile(r"^(?:Uncaught |webnn: )?((?:\w+\.)*\w*(?:Error|Exception|NotSupportedError)\b.*)$", re.MULTILINE)


class Record:
    """Notes the graphs that a program builds, and the numbers that it reads. Any thread may use it.

    Args:
        on_change: Called with the graphs and numbers so far, after each.
    """

    def __init__(self, on_change: Callable[[dict[str, Any]], None] = lambda noted: None) -> None:
        self._on_change = on_change
        self._lock = threading.Lock()
        self._graphs: list[dict[str, Any]] = []
        self._more = 0
        self._reads: list[Any] = []

    def describe(self) -> dict[str, Any]:
        """Return what was noted so far, as JSON."""
        return {"graphs": self._graphs, "moreGraphs": self._more, "reads": self._reads, "error": None, "ended": False}

    def note_graph(self, description: GraphDescription, graph: MLGraph) -> None:
        """Note a graph that was built, as `webnn.emulate` calls it."""
        with self._lock:
            if len(self._graphs) == _MOST_GRAPHS:
                self._more += 1
            else:
                self._graphs.append(_describe(description, graph))
            self._on_change(self.describe())

    def note_read(self, line: bytes) -> None:
        """Note numbers that a program has read: what follows `MARK`. A program can write such a line itself; a wrong one is left out."""
        with self._lock:
            if len(self._reads) == _MOST_READS or len(line) > _LONGEST_READ:
                return
            try:
                self._reads.append(_check_read(json.loads(line)))
            except (ValueError, RecursionError, TypeError, KeyError):
                return
            self._on_change(self.describe())


def _check_read(value: Any) -> dict[str, Any]:
    numbers = [each if isinstance(each, int | float) and not isinstance(each, bool) else str(each)[:24] for each in value["values"]]
    shape = [int(each) for each in value["shape"]]
    return {"dataType": str(value["dataType"])[:16], "shape": shape[:32], "values": numbers, "size": int(value["size"])}


def _describe(description: GraphDescription, graph: MLGraph) -> dict[str, Any]:
    placement = None
    try:
        placement = graph.placement
    except DOMException as error:
        note = str(error)
    else:
        note = ""
    count = len(description.operators)
    isShown = count <= _MOST_OPERATORS
    if not isShown:
        note = f"{note}\nThe graph has {count:,} operators: up to {_MOST_OPERATORS:,} are shown.".strip()
    return {
        "name": clip(", ".join(description.outputs), _LONGEST),
        "operators": count,
        "document": describe(description, placement=placement, lines=find_lines(graph)) if isShown else None,
        "note": note,
        "tables": [] if placement is None else [as_data(each, _MOST_ROWS, _LONGEST) for each in tabulate(placement)],
    }


def locate(error: BaseException, file: str) -> dict[str, Any]:
    """Describe what a Python program raised: the message, and the last line of the program on the way to it."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    line, column = (lines[-1] if lines else None), None
    if isinstance(error, SyntaxError) and error.filename == file:
        line, column = error.lineno, error.offset
    message = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
    return {"message": clip(message, 1000), "line": line, "column": column}


def find_place(output: str, file: str) -> dict[str, Any] | None:
    """Find the error that ended a program in what an engine of JavaScript reported; ``None`` if there is none."""
    found = list(_ERROR.finditer(output))
    if not found:
        return None
    last = found[-1]
    place = re.compile(rf"{re.escape(file)}:([0-9]{{1,9}})(?::([0-9]{{1,9}}))?")
    # The stack follows the message; a mistake in the syntax has its place before it.
    match = place.search(output, last.end()) or next(iter(list(place.finditer(output, 0, last.start()))[-1:]), None)
    line, column = (int(match[1]), int(match[2]) if match[2] else None) if match else (None, None)
    return {"message": clip(last[1], 1000), "line": line, "column": column}
