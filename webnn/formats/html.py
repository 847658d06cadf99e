"""Graphs and the objects of the API in notebooks: small HTML with inline styles, which inherits the notebook's colours.

A picture stands in an image of its own, with its own ground: neither its styles nor a hostile name can reach the notebook.
"""

from __future__ import annotations

import base64
from collections.abc import Collection, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from webnn.formats import plain
from webnn.formats.layout import PicturesMissingError
from webnn.formats.summary import as_text
from webnn.formats.svg import draw

if TYPE_CHECKING:
    from webnn import Placement
    from webnn.builder.description import GraphDescription

__all__ = ["as_html", "facts", "table"]

#: The most operators that a notebook draws, the longest value of a fact, and the most rows of a table.
_DRAWN, _LONGEST, _ROWS = 2000, 200, 300
#: The columns of the table. A notebook's cell is wider than a terminal.
_COLUMNS = 120
#: Overrides a notebook's style sheet, as in `webnn.context.placement.show`.
_CELL = "text-align: left; vertical-align: top; background: none; border: none; padding: 0.1em 1em 0.1em 0"
_NAME = f"{_CELL}; font-weight: normal; opacity: 0.7"
_VALUE = f"{_CELL}; overflow-wrap: anywhere; white-space: pre-wrap"
_TABLE = "border-collapse: collapse; margin: 0.3em 0; color: inherit"
_HEAD = f"{_CELL}; border-bottom: 1px solid rgba(128, 128, 128, 0.6); font-weight: 600"


def as_html(description: GraphDescription, placement: Placement | None = None, title: str = "") -> str:
    """Write a graph: its picture, where the library for it is installed and the graph is not too long, and its table.

    Args:
        description: The graph.
        placement: Where it runs. If there are several devices, or if they are simulated, the picture has their colours.
        title: What stands above it, by default the representation of the description.
    """
    if placement is not None and not placement.simulated and len(placement.devices) < 2:
        placement = None
    table = f'<pre style="line-height: 1.3; overflow-x: auto">{escape(as_text(description, width=_COLUMNS))}</pre>'
    title = f"<div><b>{_show(title or repr(description)[1:-1])}</b></div>"
    if len(description.operators) > _DRAWN:
        return f"<div>{title}{table}</div>"
    try:
        picture = draw(description, placement=placement)
    except PicturesMissingError as error:
        return f"<div>{title}{table}<div style='opacity: 0.7'>{escape(str(error))}</div></div>"
    data = base64.b64encode(picture.encode()).decode()
    image = f'<img alt="the graph" style="max-width: none" src="data:image/svg+xml;base64,{data}">'
    return f'<div>{title}<div style="overflow-x: auto">{image}</div><details><summary>Table</summary>{table}</details></div>'


def facts(title: str, values: Mapping[str, str]) -> str:
    """Write an object: what it is, and facts about it, by name. Empty ones are left out."""
    rows = "".join(
        f'<tr style="background: none"><th style="{_NAME}">{escape(name)}</th><td style="{_VALUE}">{_show(value)}</td></tr>'
        for name, value in values.items()
        if value
    )
    drawn = f'<table style="{_TABLE}"><tbody>{rows}</tbody></table>'
    return f"<div><b>{escape(plain.printable(title))}</b>{drawn if rows else ''}</div>"


def table(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    numbers: Collection[str] = (),
    before: Sequence[str] = (),
    after: Sequence[str] = (),
) -> str:
    """Write a table: a title, lines, rows, and lines again. Columns that are empty are left out.

    Args:
        title: What it is about.
        columns: The names of the columns.
        rows: The cells of each row.
        numbers: The columns that are aligned to the right.
        before: Lines before the rows.
        after: Lines behind them.
    """
    kept = [place for place in range(len(columns)) if any(row[place] for row in rows)]
    sides = {place: "; text-align: right" if columns[place] in numbers else "" for place in kept}
    head = "".join(f'<th style="{_HEAD}{sides[place]}">{escape(columns[place])}</th>' for place in kept)
    body = "".join(
        f'<tr style="background: none">{"".join(f"""<td style="{_VALUE}{sides[place]}">{_show(row[place])}</td>""" for place in kept)}</tr>'
        for row in rows[:_ROWS]
    )
    drawn = f'<table style="{_TABLE}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>' if rows else ""
    rest = [f"... and {len(rows) - _ROWS} more rows"] if len(rows) > _ROWS else []
    lines = ["".join(f"<div>{_show(line)}</div>" for line in each) for each in (before, [*rest, *after])]
    return f"<div><b>{_show(title)}</b>{lines[0]}{drawn}{lines[1]}</div>"


def _show(value: str) -> str:
    return escape(plain.clip(value, _LONGEST))
