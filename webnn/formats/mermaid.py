"""A graph in the language of Mermaid, which GitHub and other pages draw. Repeated blocks and chains are folded: they limit the size."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from webnn.formats import files, plain
from webnn.formats.cards import Card, make_picture
from webnn.formats.families import COLOURS, family

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription

__all__ = ["as_mermaid", "write"]

#: The longest line of a box.
_LINE = 60
#: Characters that may begin markup: they are written as numbers.
_SPECIAL = re.compile(r"[^\w\s.,:×…⋮-]")


def write(description: GraphDescription, path: Path) -> None:
    """Write a graph to a file ``.mmd``; see `as_mermaid`."""
    files.write(path, as_mermaid(description))


def as_mermaid(description: GraphDescription, *, fold: bool = True) -> str:
    """Return a graph as a flowchart of Mermaid; ``fold`` shows repeated blocks once, and chains as one box.

    Raises as `webnn.formats.cards.make_picture` does.
    """
    picture = make_picture(description, fold=fold)
    boxes = [f"n{position}{_box(card)}" for position, card in enumerate(picture.cards)]
    lines = ["flowchart TB"]
    lines += [f"  {box}" for box, card in zip(boxes, picture.cards, strict=True) if card.frame is None]
    for number, frame in enumerate(picture.frames):
        lines.append(f'  subgraph f{number}["× {frame.count}"]')
        lines += [f"    {box}" for box, card in zip(boxes, picture.cards, strict=True) if card.frame == number]
        lines.append("  end")
    lines += [f"  n{edge.source} --> n{edge.target}" for edge in picture.edges]
    classes: dict[str, list[str]] = {}
    for position, card in enumerate(picture.cards):
        if card.kind == "operators":
            classes.setdefault(family(card.rows[0].operation), []).append(f"n{position}")
    for name, members in sorted(classes.items()):
        lines.append(f"  classDef {name} stroke:{COLOURS[name][0]},stroke-width:2px")
        lines.append(f"  class {','.join(members)} {name}")
    return "\n".join([*lines, ""])


def _box(card: Card) -> str:
    lines = [" ".join(filter(None, (row.title, row.label, row.shape))) for row in card.rows]
    text = "<br/>".join(_SPECIAL.sub(lambda match: f"#{ord(match[0])};", plain.clip(line, _LINE)) for line in lines)
    return f'["{text}"]' if card.kind == "operators" else f'(["{text}"])'
