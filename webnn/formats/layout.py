"""Places boxes in layers and routes the lines between them: by the library graphlay, the extra ``pictures``.

No other module knows the library. Its interface is small: sizes and edges go in, positions and polylines come out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from webnn._extras import install_command

__all__ = ["MAX_BOXES", "Box", "PicturesMissingError", "Placed", "Rectangle", "place"]

#: The most boxes and lines of a layout, which may take ten seconds with them; and the most that are broken into columns.
MAX_BOXES, _MOST_IN_COLUMNS = 5_000, 1_000
#: The space between layers and between boxes of a layer, around the boxes of a frame, and above them, for its title.
_LAYER_GAP, _BOX_GAP, _LINE_GAP, _FRAME_PADDING, _FRAME_HEADER = 30.0, 26.0, 18.0, 18.0, 16.0
#: The most columns of a long graph.
_MOST_COLUMNS = 4


class PicturesMissingError(ImportError):
    """The library that makes layouts is not installed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """Something to place: its size, and the position of its frame among the frames, if it is in one."""

    width: float
    height: float
    frame: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rectangle:
    """A place: the left upper corner, and the size."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A layout. Coordinates grow to the right and downwards, from 0.

    Attributes:
        lines: The points of each edge, from the border of its source to the border of its target.
    """

    width: float
    height: float
    boxes: tuple[Rectangle, ...]
    frames: tuple[Rectangle, ...]
    lines: tuple[tuple[tuple[float, float], ...], ...]


def place(boxes: Sequence[Box], frames: int, edges: Sequence[tuple[int, int]], width: float) -> Placed:
    """Place boxes in layers from top to bottom. A long graph is broken into columns, as many as fit into the width.

    Each frame has a box or more. The edges are positions of source and target, without circles. Raises `PicturesMissingError` if the
    library is not installed, and `ValueError` if there are more than `MAX_BOXES` boxes or edges.
    """
    if max(len(boxes), len(edges)) > MAX_BOXES:
        raise ValueError(
            f"a picture has at most {MAX_BOXES:,} boxes and lines, got {len(boxes):,} boxes and {len(edges):,} lines: draw a part of the "
            "graph, or write it for Graphviz"
        )
    if not boxes:
        return Placed(width=0, height=0, boxes=(), frames=(), lines=())
    try:
        import graphlay  # noqa: PLC0415 (an extra, loaded when used)
    except ImportError as error:
        raise PicturesMissingError(f"a picture needs the package graphlay: {install_command('pictures')}") from error
    nodes: list[dict[str, Any]] = [{"size": {"width": 1.0, "height": 1.0}, "shape": "box"} for _ in range(frames)]
    for box in boxes:
        node: dict[str, Any] = {"size": {"width": box.width, "height": box.height}, "shape": "box"}
        nodes.append(node if box.frame is None else {**node, "parent": box.frame})
    graph = {"nodes": nodes, "edges": [{"source": a + frames, "target": b + frames, "weight": 1.0} for a, b in edges]}
    best = _read(graphlay.layout(graph, options=_options(1, 0.0)).raw, frames)
    # Each layout is a new one: the library knows the shape of a window, not its width.
    for columns in range(2, _MOST_COLUMNS + 1):
        if len(boxes) > _MOST_IN_COLUMNS or best.height <= best.width or best.width * columns / (columns - 1) > width:
            break
        wrapped = _read(graphlay.layout(graph, options=_options(columns, 1.0)).raw, frames)
        if wrapped.width > width:
            break
        best = wrapped
    return best


def _options(columns: int, aspect: float) -> dict[str, Any]:
    return {
        "direction": "topbottom",
        "spacing": {
            "layer_gap": _LAYER_GAP,
            "node_gap": _BOX_GAP,
            "dummy_gap": _LINE_GAP,
            "isolated_gap": _BOX_GAP,
            "stub": 10.0,
            "compound_padding": _FRAME_PADDING,
            "compound_header": _FRAME_HEADER,
        },
        "wrap": {"viewport_aspect": aspect},
        "tuning": {"wrap": {"max_rows": columns}},
    }


def _read(raw: Any, frames: int) -> Placed:
    left, top = (float(raw["bounds"]["min"][axis]) for axis in "xy")
    right, bottom = (float(raw["bounds"]["max"][axis]) for axis in "xy")
    rectangles = [
        Rectangle(
            x=node["center"]["x"] - node["size"]["width"] / 2 - left,
            y=node["center"]["y"] - node["size"]["height"] / 2 - top,
            width=node["size"]["width"],
            height=node["size"]["height"],
        )
        for node in raw["nodes"]
    ]
    lines = tuple(tuple((point["x"] - left, point["y"] - top) for point in edge["points"]) for edge in raw["edges"])
    if not all(map(math.isfinite, (left, top, right, bottom))):
        raise ValueError("the layout has no size")
    return Placed(width=right - left, height=bottom - top, boxes=tuple(rectangles[frames:]), frames=tuple(rectangles[:frames]), lines=lines)
