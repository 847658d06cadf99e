"""A graph in the language of Graphviz: one box for each operator, nothing folded. `webnn.formats.svg` needs no Graphviz."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from webnn.formats import files, plain
from webnn.formats.cards import Card, make_picture
from webnn.formats.families import COLOURS, family

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription

__all__ = ["as_dot", "write"]


def write(description: GraphDescription, path: Path) -> None:
    """Write a graph to a file ``.dot``; see `as_dot`."""
    files.write(path, as_dot(description))


def as_dot(description: GraphDescription) -> str:
    """Return a graph in the language of Graphviz, UTF-8.

    Raises as `webnn.formats.cards.make_picture` does.
    """
    picture = make_picture(description, fold=False)
    names = [_name(card, position) for position, card in enumerate(picture.cards)]
    lines = [
        f"digraph {_quote(description.name or 'graph')} {{",
        '  node [shape=box, style=rounded, fontname="Helvetica", fontsize=11];',
        "  edge [arrowsize=0.7];",
    ]
    for name, card in zip(names, picture.cards, strict=True):
        row = card.rows[0]
        look = f'color="{COLOURS[family(row.operation)][0]}"' if card.kind == "operators" else "shape=oval"
        text = _quote(*filter(None, (row.title, row.label, row.shape)))
        lines.append(f"  {_quote(name)} [label={text}, tooltip={_quote(*row.details)}, {look}];")
    lines += [f"  {_quote(names[edge.source])} -> {_quote(names[edge.target])};" for edge in picture.edges]
    return "\n".join([*lines, "}", ""])


def _name(card: Card, position: int) -> str:
    """Return a name that no other card has: some viewers show it."""
    row = card.rows[0]
    return f"{row.operation}#{row.numbers[0]}" if row.numbers else f"{card.kind} {position}"


def _quote(*lines: str) -> str:
    """Write a string; its lines are centred. A literal backslash is doubled: a single one begins an escape."""
    text = "\\n".join(plain.printable(line).replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return f'"{text}"'
