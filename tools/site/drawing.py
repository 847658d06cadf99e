"""Flowcharts of Mermaid as SVG. Mermaid itself would be loaded from another host when a page is read."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from html import escape
from typing import Any

from webnn.formats.layout import Box, Placed, place

__all__ = ["draw", "fence"]

_NODE = re.compile(r'\s*(\w+)\["(.*)"\]')
_EDGE = re.compile(r"\s*(\w+) --> (\w+)")
_LABEL = re.compile(r"(.*?)<br/><small>(.*)</small>")
#: The characters of a line, its width and height, and the space around the lines of a box, in pixels.
_CHARACTERS, _CHARACTER, _LINE, _SPACE = 30, 6.2, 15.0, 8.0
_WIDTH = _CHARACTERS * _CHARACTER + 2 * _SPACE


def fence(source: str, language: str, css_class: str, options: Any, md: Any, **more: Any) -> str:
    """Draw a block of code, as `pymdownx.superfences` asks for it."""
    del language, css_class, options, md, more
    return draw(source)


def draw(source: str) -> str:
    """Draw a flowchart of boxes with a title and a text, and arrows from top to bottom.

    Raises:
        ValueError: A line is neither of these.
    """
    first, *lines = source.strip().splitlines()
    if first.strip() != "flowchart TB":
        raise ValueError(f"a drawing must begin with 'flowchart TB', got {first!r}")
    nodes: dict[str, list[str]] = {}
    edges: list[tuple[int, int]] = []
    for line in lines:
        if node := _NODE.fullmatch(line):
            nodes[node[1]] = _lines(node[2])
        elif edge := _EDGE.fullmatch(line):
            places = list(nodes)
            edges.append((places.index(edge[1]), places.index(edge[2])))
        else:
            raise ValueError(f"a line of a drawing must be a box or an arrow, got {line!r}")
    boxes = [Box(width=_WIDTH, height=len(text) * _LINE + 2 * _SPACE) for text in nodes.values()]
    placed = place(boxes, 0, edges, 0)
    return "\n".join(_svg(placed, list(nodes.values())))


def _lines(label: str) -> list[str]:
    match = _LABEL.fullmatch(label)
    if match is None:
        return [label]
    return [match[1], *textwrap.wrap(match[2].replace("#quot;", '"'), _CHARACTERS)]


def _svg(placed: Placed, texts: list[list[str]]) -> Iterator[str]:
    yield f'<figure class="drawing"><svg viewBox="-2 -2 {placed.width + 4:.0f} {placed.height + 4:.0f}" role="img">'
    yield '<marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
    yield '<path d="M0,0 8,4 0,8z"/></marker>'
    for line in placed.lines:
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in line)
        yield f'<polyline points="{points}" marker-end="url(#arrow)"/>'
    for box, (title, *rest) in zip(placed.boxes, texts, strict=True):
        yield f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="4"/>'
        for index, text in enumerate([title, *rest]):
            kind = ' class="title"' if index == 0 else ""
            y = box.y + _SPACE + _LINE * (index + 0.75)
            yield f'<text x="{box.x + box.width / 2:.1f}" y="{y:.1f}"{kind}>{escape(text)}</text>'
    yield "</svg></figure>"
