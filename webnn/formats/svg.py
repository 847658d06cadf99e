"""A graph as a picture in SVG: `draw` returns it, `write` saves it.

`webnn.formats.cards` decides what is shown and what is folded, `webnn.formats.layout` where it is placed. The text has a fixed-width font,
because its width is then known without a browser. The picture follows the reader's light or dark colour scheme. It holds no script, links
nothing, and escapes every text of the graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from webnn.formats import cards, files, layout, plain
from webnn.formats.cards import Card, Frame, Picture, Row
from webnn.formats.cost import multiply_adds, parameters
from webnn.formats.families import COLOURS, FAMILIES, OTHER, family
from webnn.formats.layout import Box, Placed, Rectangle

if TYPE_CHECKING:
    from webnn import Placement
    from webnn.builder.description import GraphDescription

__all__ = ["WIDTH", "draw", "write"]

#: The width that a picture fills, in pixels.
WIDTH = 780
#: Sizes in pixels. A letter of a fixed-width font is 0.6 of the font's size wide; some are a little wider.
_FONT, _SMALL = 12.0, 11.0
_LETTER, _SMALL_LETTER = 7.3, 6.7
_LINE, _SMALL_LINE = 18.0, 15.0
_PADDING, _STRIPE, _GAP, _MARGIN = 8.0, 4.0, 12.0, 12.0
_CORNER, _ARROW = 5.0, 7.0
#: The most columns of text in a title, a label, a shape and an annotation; and of one line of a tooltip.
_TITLE, _LABEL, _SHAPE, _NOTE, _TOOLTIP = 28, 32, 30, 40, 200

#: The colours of families, of devices, and of heat, on light and on dark ground.
_COLOURS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {**COLOURS, "cpu": COLOURS["convert"], "gpu": COLOURS["reduce"], "npu": COLOURS["normalize"], "heat": ("#EA580C", "#C2410C")}
)
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
    drawing = _Drawing(picture, devices, annotations or {}, shades or {})
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
        self, picture: Picture, devices: Mapping[int, str] | None, annotations: Mapping[int, str], shades: Mapping[int, float]
    ) -> None:
        self._picture = picture
        self._devices = devices
        self._annotations = annotations
        self._shades = shades

    def box(self, card: Card) -> Box:
        """Return the size of a card."""
        lines = [line for row in card.rows for line in self._lines(card, row)]
        width = max(line.width for line in lines) + 2 * _PADDING + _STRIPE
        return Box(width=float(round(width)), height=sum(line.height for line in lines) + 4 * len(card.rows), frame=card.frame)

    def draw(self, placed: Placed, headline: str) -> str:
        """Return the picture."""
        legend, top = self._legend(headline, max(placed.width, 320))
        width, height = max(placed.width, legend[0]) + 2 * _MARGIN, placed.height + top + 2 * _MARGIN
        parts = [
            f'<svg class="webnn-graph" xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{_text(headline)}" '
            f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}">',
            f"<style>{_style()}</style>",
            f'<rect class="ground" width="{width:.0f}" height="{height:.0f}" rx="6"/>',
            f'<g transform="translate({_MARGIN:.0f} {_MARGIN:.0f})">{legend[1]}</g>',
            f'<g transform="translate({_MARGIN:.0f} {top + _MARGIN:.0f})">',
        ]
        # Lines run along the border that the layout knows: the drawn one is a little inside.
        parts += [
            f'<rect class="frame" x="{place.x + 4:.1f}" y="{place.y + 4:.1f}" width="{place.width - 8:.1f}" '
            f'height="{place.height - 8:.1f}" rx="8"/>'
            for place in placed.frames
        ]
        parts += [
            f"<g><title>{_tooltip(edge.values)}</title>{_arrow(points)}</g>"
            for edge, points in zip(self._picture.edges, placed.lines, strict=True)
            if len(points) > 1
        ]
        # Above the lines: one may run behind a title.
        parts += [self._frame_title(frame, place) for frame, place in zip(self._picture.frames, placed.frames, strict=True)]
        for card, place in zip(self._picture.cards, placed.boxes, strict=True):
            parts += self._card(card, place)
        return "".join([*parts, "</g></svg>\n"])

    def _frame_title(self, frame: Frame, place: Rectangle) -> str:
        """Write the number of copies on the border of a frame."""
        word = f"× {frame.count:,}"
        width = len(word) * _LETTER + 2 * _PADDING
        return (
            f"<g><title>{frame.count:,} equal copies of {frame.operators:,} operators, one after another</title>"
            f'<rect class="times" x="{place.x + 14:.1f}" y="{place.y - 5:.1f}" width="{width:.1f}" height="18" rx="9"/>'
            f'<text class="title" x="{place.x + 14 + _PADDING:.1f}" y="{place.y + 8:.1f}">{word}</text></g>'
        )

    def _card(self, card: Card, place: Rectangle) -> Iterator[str]:
        round_ends = place.height / 2 if card.kind != "operators" else 4
        size = f'x="{place.x:.1f}" y="{place.y:.1f}" width="{place.width:.1f}" height="{place.height:.1f}" rx="{round_ends:.0f}"'
        yield f'<g class="card"><rect class="paper" {size}/>'
        top = place.y
        for row in card.rows:
            lines = list(self._lines(card, row))
            height = sum(line.height for line in lines) + 4
            yield f'<g class="{"hot" if self._shades else "calm"}"><title>{_tooltip(self._details(row))}</title>'
            if card.kind == "operators":
                colour, strength = self._colour(row)
                area = f'y="{top + 1:.1f}" height="{height - 2:.1f}"'
                yield f'<rect class="{colour} row" x="{place.x + 1:.1f}" width="{place.width - 2:.1f}" {area}{strength}/>'
                yield f'<rect class="{self._class(row)}" x="{place.x + 1:.1f}" width="{_STRIPE:.0f}" {area}/>'
            baseline = top + 2
            for line in lines:
                baseline += line.height
                left = place.x + _PADDING + (_STRIPE if card.kind == "operators" else _STRIPE / 2)
                yield f'<text class="{line.style or "title"}" x="{left:.1f}" y="{baseline - 5:.1f}">{_text(line.left)}</text>'
                if line.right:
                    right = place.x + place.width - _PADDING
                    yield f'<text class="shape" x="{right:.1f}" y="{baseline - 5:.1f}">{_text(line.right)}</text>'
            yield "</g>"
            top += height
        yield f'<rect class="border {card.kind}" {size}/></g>'

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

    def _details(self, row: Row) -> tuple[str, ...]:
        notes = [f"{self._annotations[number]} (operator {number})" for number in row.numbers[:_LABEL] if number in self._annotations]
        return (*row.details, *notes)

    def _class(self, row: Row) -> str:
        """Return the class with the colour of a row: a device or a family."""
        if self._devices is None:
            return f"c-{family(row.operation)}"
        device = next((self._devices[number] for number in row.numbers if number in self._devices), "")
        return f"c-{device if device in _COLOURS else OTHER}"

    def _colour(self, row: Row) -> tuple[str, str]:
        """Return the class of a row's area, and the attribute with the strength of its colour."""
        if not self._shades:
            return self._class(row), ""
        shade = max([self._shades.get(number, 0.0) for number in row.numbers], default=0.0)
        return "c-heat", f' style="fill-opacity: {0.85 * shade:.2f}"'

    def _legend(self, headline: str, room: float) -> tuple[tuple[float, str], float]:
        """Return the width and the elements of the heading and of the explanation of colours, and their height."""
        rows = [row for card in self._picture.cards if card.kind == "operators" for row in card.rows if row.operation]
        present = {self._class(row).removeprefix("c-") for row in rows}
        names = [*FAMILIES, OTHER] if self._devices is None else ["cpu", "gpu", "npu", OTHER]
        words = {OTHER: "other" if self._devices is None else "nothing left to run"}
        parts = [f'<text class="title" x="0" y="12">{_text(headline)}</text>']
        x, y, right = 0.0, 32.0, plain.width(headline) * _LETTER
        for name in [name for name in names if name in present]:
            word = words.get(name, name)
            step = 12 + plain.width(word) * _SMALL_LETTER + _GAP
            if x and x + step > room:
                x, y = 0.0, y + _SMALL_LINE
            parts.append(f'<rect class="c-{name}" x="{x:.1f}" y="{y - 8:.1f}" width="8" height="8" rx="2"/>')
            parts.append(f'<text class="label" x="{x + 12:.1f}" y="{y:.1f}">{word}</text>')
            x += step
            right = max(right, x - _GAP)
        return (right, "".join(parts)), y + _GAP


def _style() -> str:
    """Return the style sheet. Its rules hold in this picture only, although the page may have others."""
    letters = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace"
    dark = dict(zip(_PLAIN, _DARK, strict=True)) | {name: colours[1] for name, colours in _COLOURS.items()}
    light = dict(zip(_PLAIN, _LIGHT, strict=True)) | {name: colours[0] for name, colours in _COLOURS.items()}

    def variables(colours: Mapping[str, str]) -> str:
        return "; ".join(f"--wg-{name}: {colour}" for name, colour in colours.items())

    rules = {
        "": f"{variables(light)}; font: {_FONT:.0f}px {letters}",
        " text": "fill: var(--wg-text); white-space: pre",
        " .ground, .paper": "fill: var(--wg-ground)",
        " .border": "fill: none; stroke: var(--wg-border)",
        " .title": "font-weight: 600",
        " .label, .shape": f"font-size: {_SMALL:.0f}px; fill: var(--wg-dim)",
        " .note": f"font-size: {_SMALL:.0f}px; font-style: italic",
        " .shape": "text-anchor: end",
        # Less important text would be hard to read on a strong colour.
        " .hot .label, .hot .shape": "fill: var(--wg-text)",
        " .row": "fill-opacity: 0.14",
        " .frame": "fill: none; stroke: var(--wg-dim); stroke-dasharray: 5 4",
        " .times": "fill: var(--wg-ground); stroke: var(--wg-dim)",
        " .line": "fill: none; stroke: var(--wg-line); stroke-width: 1.3",
        " .head": "fill: var(--wg-line)",
        **{f" .c-{name}": f"fill: var(--wg-{name})" for name in _COLOURS},
    }
    root = "svg.webnn-graph"
    sheet = "".join(
        f"{', '.join(f'{root} {each.strip()}'.strip() for each in selector.split(','))} {{ {rule} }}\n" for selector, rule in rules.items()
    )
    return f"{sheet}@media (prefers-color-scheme: dark) {{ {root} {{ {variables(dark)} }} }}"


def _arrow(points: Sequence[tuple[float, float]]) -> str:
    """Return a line with rounded corners, and its head."""
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
    corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in head)
    return f'<path class="line" d="{"".join(path)}"/><polygon class="head" points="{corners}"/>'


def _toward(start: tuple[float, float], end: tuple[float, float]) -> tuple[float, float]:
    """Return the point at which the rounding of a corner begins or ends: never further than half the way."""
    length = max(abs(end[0] - start[0]) + abs(end[1] - start[1]), 1e-9)
    part = min(_CORNER, length / 2) / length
    return start[0] + (end[0] - start[0]) * part, start[1] + (end[1] - start[1]) * part


def _text(text: str) -> str:
    return escape(plain.printable(text))


def _tooltip(lines: Sequence[str]) -> str:
    return "\n".join(_text(plain.clip(line, _TOOLTIP)) for line in lines)
