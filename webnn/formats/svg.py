"""A graph as a picture in SVG: `draw` returns it, `write` saves it.

`webnn.formats.cards` decides what is shown and what is folded, `webnn.formats.layout` where it is placed. The text has a fixed-width
font, because its width is then known without a browser. The picture follows the reader's light or dark colour scheme. It holds no script,
and links nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from webnn.display.pages import render
from webnn.formats import cards, files, layout, plain
from webnn.formats.cards import Card, Picture, Row
from webnn.formats.cost import multiply_adds, parameters
from webnn.formats.families import COLOURS, DEVICES, FAMILIES, OTHER, family
from webnn.formats.layout import Box, Placed, Rectangle

if TYPE_CHECKING:
    from webnn import Placement
    from webnn.builder.description import GraphDescription

__all__ = ["WIDTH", "draw", "write"]

#: The width that a picture fills, in pixels.
WIDTH = 780
#: Sizes in pixels, for fonts of 12 and 11 pixels. A letter of a fixed-width font is 0.6 of the font's size wide; some are a little wider.
_LETTER, _SMALL_LETTER = 7.3, 6.7
_LINE, _SMALL_LINE = 18.0, 15.0
_PADDING, _STRIPE, _GAP, _MARGIN = 8.0, 4.0, 12.0, 12.0
_CORNER, _ARROW = 5.0, 7.0
#: The most columns of text in a title, a label, a shape and an annotation; and of one line of a tooltip.
_TITLE, _LABEL, _SHAPE, _NOTE, _TOOLTIP = 28, 32, 30, 40, 200

#: The colours of families, of devices, and of heat, on light and on dark ground.
_COLOURS: Mapping[str, tuple[str, str]] = MappingProxyType({**COLOURS, **DEVICES, "heat": ("#EA580C", "#C2410C")})
#: The graph's own colours: ground, text, less important text, lines, borders.
_LIGHT = ("#FFFFFF", "#1B1F24", "#57606A", "#6E7781", "#C5CCD3")
_DARK = ("#14181D", "#E6EDF3", "#A3ADB8", "#8B949E", "#3D444D")
_PLAIN = ("ground", "text", "dim", "line", "border")


def write(description: GraphDescription, path: Path) -> None:
    """Write a graph to a file ``.svg``; see `draw`."""
    files.write(path, draw(description))


def draw(
    description: GraphDescription,
    *,
    placement: Placement | None = None,
    annotations: Mapping[int, str] | None = None,
    shades: Mapping[int, float] | None = None,
    fold: bool = True,
    names: str = "",
    back: str = "",
    width: float = WIDTH,
) -> str:
    """Draw a graph.

    An operator shows operation, label and the shape of its result; a tooltip shows its operands, options and results.

    Args:
        description: The graph.
        placement: Where its operators run: the colours are those of devices. By default they are those of families of operations.
        annotations: A line of text for operators, by `OperatorDescription.index`; in a graph from a file, where this is 0, by the position
            among the operators, from 1. Of copies of a repeated block the first annotation is shown, or that of the highest shade.
        shades: The heat of operators from 0 to 1, by the same numbers: it colours the box. Of several operators the highest one is shown.
        fold: Show repeated blocks once, and chains as one box; see `webnn.formats.cards`.
        names: With it, an operator's place has a name for links: this, and the operator's number.
        back: With it, an operator is a link to the name that is this, ``names`` and the number of its row's first operator.
        width: How many pixels wide the picture may be, so that a long graph has several columns. A wide graph may be wider.

    Returns:
        An ``<svg>`` element, for a page or a file.

    Raises:
        ImportError: The library for layouts is not installed; the message says how to get it.
        ValueError: The graph is too large to be drawn; or an argument is wrong.
        DescriptionError: The description contradicts itself.
    """
    wrong = [f"{number}: {shade}" for number, shade in (shades or {}).items() if not 0 <= shade <= 1]
    if wrong:
        raise ValueError(f"draw: shades must be from 0 to 1, got {wrong[0]}")
    if not all(operator.descriptors for operator in description.operators):
        description = description.infer()
    devices = None if placement is None else {each.index: each.device for each in placement.operators}
    picture = cards.make_picture(description, devices=devices, fold=fold)
    drawing = _Drawing(picture, devices, annotations or {}, shades or {}, names, back)
    placed = layout.place(
        [drawing.box(card) for card in picture.cards],
        len(picture.frames),
        [(edge.source, edge.target) for edge in picture.edges],
        width - 2 * _MARGIN,
    )
    return drawing.draw(placed, _headline(description))


def _headline(description: GraphDescription) -> str:
    known = description.descriptors()
    work = sum([multiply_adds(operator, known) for operator in description.operators])
    facts = [f"{len(description.operators):,} operators", f"{plain.count(sum(parameters(description)))} parameters"]
    facts += [f"{plain.count(work)} multiply-adds"] if work else []
    name = [plain.clip(description.name, _LABEL)] if description.name else []
    return " · ".join(name + facts)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """A line of text on a card: its left part, its right part, and the class that styles the left one."""

    left: str
    right: str = ""
    style: str = ""

    @property
    def width(self) -> float:
        left = plain.width(self.left) * (_SMALL_LETTER if self.style else _LETTER)
        return left + (_GAP + plain.width(self.right) * _SMALL_LETTER if self.right else 0)

    @property
    def height(self) -> float:
        return _SMALL_LINE if self.style else _LINE


class _Drawing:
    """The state of one `draw`."""

    def __init__(
        self,
        picture: Picture,
        devices: Mapping[int, str] | None,
        annotations: Mapping[int, str],
        shades: Mapping[int, float],
        names: str,
        back: str,
    ) -> None:
        self._picture = picture
        self._devices = devices
        self._annotations = annotations
        self._shades = shades
        self._names = names
        self._back = back

    def box(self, card: Card) -> Box:
        """Return the size of a card."""
        lines = [line for row in card.rows for line in self._lines(card, row)]
        width = max(line.width for line in lines) + 2 * _PADDING + _STRIPE
        return Box(width=float(round(width)), height=sum(line.height for line in lines) + 4 * len(card.rows), frame=card.frame)

    def draw(self, placed: Placed, headline: str) -> str:
        """Return the picture."""
        legend, width, top = self._legend(headline, max(placed.width, 320))
        return render(
            "webnn.formats/picture.svg",
            width=max(placed.width, width) + 2 * _MARGIN,
            height=placed.height + top + 2 * _MARGIN,
            top=top,
            headline=plain.printable(headline),
            legend=legend,
            margin=_MARGIN,
            stripe=_STRIPE,
            frames=[(frame, place, f"× {frame.count:,}") for frame, place in zip(self._picture.frames, placed.frames, strict=True)],
            letter=_LETTER,
            edges=[
                (_tooltip(edge.values), *_arrow(points))
                for edge, points in zip(self._picture.edges, placed.lines, strict=True)
                if len(points) > 1
            ],
            cards=[(card, place, list(self._rows(card, place))) for card, place in zip(self._picture.cards, placed.boxes, strict=True)],
            light=dict(zip(_PLAIN, _LIGHT, strict=True)) | {name: colours[0] for name, colours in _COLOURS.items()},
            dark=dict(zip(_PLAIN, _DARK, strict=True)) | {name: colours[1] for name, colours in _COLOURS.items()},
            colours=list(_COLOURS),
            hot=bool(self._shades),
            linked=bool(self._back),
        )

    def _rows(self, card: Card, place: Rectangle) -> Iterator[dict[str, object]]:
        """Yield what the template needs of each row of a card."""
        left = place.x + _PADDING + (_STRIPE if card.kind == "operators" else _STRIPE / 2)
        top = place.y
        for row in card.rows:
            texts: list[tuple[str, float, float, str]] = []
            height = 0.0
            for line in self._lines(card, row):
                height += line.height
                baseline = top + height - 3
                texts.append((line.style or "title", left, baseline, line.left))
                if line.right:
                    texts.append(("shape", place.x + place.width - _PADDING, baseline, line.right))
            height += 4
            shade = max([self._shades.get(number, 0.0) for number in row.numbers], default=0.0)
            notes = [f"{self._annotations[number]} (operator {number})" for number in row.numbers[:_LABEL] if number in self._annotations]
            names = [f"{self._names}{number}" for number in row.numbers] if self._names and card.kind == "operators" else []
            yield {
                "names": names,
                "link": f"#{self._back}{names[0]}" if self._back and names else "",
                "title": _tooltip([*row.details, *notes]),
                "texts": texts,
                "top": top,
                "height": height,
                "colour": self._colour(row),
                "shade": shade,
            }
            top += height

    def _lines(self, card: Card, row: Row) -> Iterator[_Line]:
        yield _Line(left=plain.clip(row.title, _TITLE), right=plain.clip(row.shape, _SHAPE))
        if row.label:
            yield _Line(left=plain.clip(row.label, _LABEL), style="label")
        if (note := self._note(row)) and card.kind == "operators":
            yield _Line(left=plain.clip(note, _NOTE), style="note")

    def _note(self, row: Row) -> str:
        """Return the annotation of the hottest of a row's operators; operators that a chain leaves out show none."""
        noted = [number for number in row.numbers if number in self._annotations] if row.operation else []
        return self._annotations[max(noted, key=lambda number: self._shades.get(number, 0.0))] if noted else ""

    def _colour(self, row: Row) -> str:
        """Return the name of a row's colour: a device or a family."""
        if self._devices is None:
            return family(row.operation)
        device = next((self._devices[number] for number in row.numbers if number in self._devices), "")
        return device if device in _COLOURS else OTHER

    def _legend(self, headline: str, room: float) -> tuple[list[tuple[str, str, float, float]], float, float]:
        """Return the explanation of colours, each with its word and place, and the width and the height with the headline."""
        rows = [row for card in self._picture.cards if card.kind == "operators" for row in card.rows if row.operation]
        present = {self._colour(row) for row in rows}
        names = [*FAMILIES, OTHER] if self._devices is None else [*DEVICES, OTHER]
        words = {OTHER: "other" if self._devices is None else "nothing left to run"}
        found: list[tuple[str, str, float, float]] = []
        x, y, right = 0.0, 32.0, plain.width(headline) * _LETTER
        for name in [name for name in names if name in present]:
            word = words.get(name, name)
            step = 12 + plain.width(word) * _SMALL_LETTER + _GAP
            if x and x + step > room:
                x, y = 0.0, y + _SMALL_LINE
            found.append((name, word, x, y))
            x += step
            right = max(right, x - _GAP)
        return found, right, y + _GAP


def _arrow(points: Sequence[tuple[float, float]]) -> tuple[str, str]:
    """Return the path of a line with rounded corners, and the corners of its head."""
    (x0, y0), (x1, y1) = points[-2:]
    length = max(abs(x1 - x0) + abs(y1 - y0), 1e-9)
    # The last part is vertical or horizontal, but for rounding.
    dx, dy = (x1 - x0) / length, (y1 - y0) / length
    back = (x1 - dx * _ARROW, y1 - dy * _ARROW)
    path = [f"M{points[0][0]:.1f} {points[0][1]:.1f}"]
    route = [*points[:-1], back]
    for before, corner, after in zip(route, route[1:], route[2:], strict=False):
        begin, end = _toward(corner, before), _toward(corner, after)
        path.append(f"L{begin[0]:.1f} {begin[1]:.1f}Q{corner[0]:.1f} {corner[1]:.1f} {end[0]:.1f} {end[1]:.1f}")
    path.append(f"L{back[0]:.1f} {back[1]:.1f}")
    side = _ARROW / 2
    head = [(x1, y1), (back[0] - dy * side, back[1] + dx * side), (back[0] + dy * side, back[1] - dx * side)]
    return "".join(path), " ".join(f"{x:.1f},{y:.1f}" for x, y in head)


def _toward(start: tuple[float, float], end: tuple[float, float]) -> tuple[float, float]:
    """Return the point at which the rounding of a corner begins or ends: never further than half the way."""
    length = max(abs(end[0] - start[0]) + abs(end[1] - start[1]), 1e-9)
    part = min(_CORNER, length / 2) / length
    return start[0] + (end[0] - start[0]) * part, start[1] + (end[1] - start[1]) * part


def _tooltip(lines: Sequence[str]) -> str:
    return "\n".join(plain.clip(line, _TOOLTIP) for line in lines)
