"""`Table`: rows for people, as text, for rich, and as HTML for notebooks.

A `Table` holds printable text. rich and Jinja2 are imported lazily.
"""

from __future__ import annotations

import io
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from webnn.display.pages import render
from webnn.display.text import clip

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table as RichTable

__all__ = ["Cell", "Table", "as_data", "as_html", "as_renderable", "as_text", "facts"]

#: The most rows of a table in a notebook.
_ROWS = 300


class Cell(str):
    """A text with a number, a colour or a link.

    Attributes:
        value: The number that the cell is sorted by; without one, the text is used.
        link: The name of the place on the same page that it leads to; empty if it leads nowhere.
    """

    __slots__ = ("link", "style", "value")

    value: float | None
    style: str
    link: str

    def __new__(cls, text: str, value: float | None = None, style: str = "", link: str = "") -> Cell:
        """Return the cell."""
        cell = super().__new__(cls, text)
        cell.value, cell.style, cell.link = value, style, link
        return cell


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table: a headline, lines, rows, and lines again. Columns that are empty are not shown.

    Attributes:
        facts: Lines below it.
        rows: The texts of each row, some of them with a number or a colour: `Cell`.
        numbers: The columns that are aligned to the right.
        whole: Other columns that are not folded.
        details: The columns that a terminal leaves out.
        marks: The colours of the rows that are pointed out, by their positions.
        notes: Lines below the rows.
        totals: Lines below the notes, each a heading and its content.
        most: The most rows in a terminal.
        narrowest: The least width of a column that is folded.
        widest: The largest widths of columns, by their names.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    facts: Sequence[str] = ()
    numbers: Collection[str] = ()
    whole: Collection[str] = ("line", "operation")
    details: Collection[str] = ()
    marks: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))
    notes: Sequence[str] = ()
    totals: Sequence[tuple[str, str]] = ()
    most: int = 60
    narrowest: int | None = 8
    widest: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))

    def shown(self, rows: Sequence[Sequence[str]] | None = None) -> list[int]:
        """Return the positions of the columns that are not empty in some rows, by default in all."""
        return [place for place in range(len(self.columns)) if any(row[place] for row in (self.rows if rows is None else rows))]


def as_data(table: Table, most: int, longest: int) -> dict[str, Any]:
    """Return a table as JSON for the script of a page: at most ``most`` rows, and texts of at most ``longest`` columns."""
    return {
        "title": table.title,
        "facts": [*table.facts, *table.notes],
        "columns": [{"name": name, "number": name in table.numbers} for name in table.columns],
        "rows": [[clip(text, longest, ellipsis="...") for text in row] for row in table.rows[:most]],
        "more": max(0, len(table.rows) - most),
    }


def as_text(tables: Sequence[Table]) -> str:
    """Draw tables as wide as the terminal, without colours."""
    from rich.console import Console  # noqa: PLC0415 (loaded when something is printed)

    output = io.StringIO()
    console = Console(file=output, force_terminal=False, force_jupyter=False, color_system=None, legacy_windows=False)
    console.print(as_renderable(tables))
    return "\n".join(line.rstrip() for line in output.getvalue().splitlines())


def as_renderable(tables: Sequence[Table], *, framed: bool = False) -> RenderableType:
    """Draw tables for rich, framed ones with a line below the names of the columns."""
    from rich.console import Group  # noqa: PLC0415 (as above)
    from rich.table import Table as RichTable  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    parts: list[RenderableType] = []
    for table in tables:
        parts += [Text(table.title, "bold"), *map(Text, table.facts)]
        gap = [Text()] if table.totals else []
        if table.rows:
            parts += [*gap, _draw(table, framed=framed)]
        if len(table.rows) > table.most:
            parts.append(Text(f"... and {len(table.rows) - table.most} more rows"))
        parts += map(Text, table.notes)
        if table.totals:
            totals = RichTable.grid(padding=(0, 2, 0, 0))
            for word, content in table.totals:
                totals.add_row(Text(word, "cyan"), Text(content))
            parts += [*gap, totals]
    return Group(*parts)


def _draw(table: Table, *, framed: bool) -> RichTable:
    from rich import box  # noqa: PLC0415 (as above)
    from rich.table import Table as RichTable  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    frame = box.SIMPLE_HEAD if framed else None
    drawn = RichTable(box=frame, pad_edge=False, show_edge=False, padding=(0, 2, 0, 0), collapse_padding=True)
    rows = table.rows[: table.most]
    shown = [place for place in table.shown(rows) if table.columns[place] not in table.details]
    for name in [table.columns[place] for place in shown]:
        right = name in table.numbers
        whole = right or name in table.whole
        narrowest, widest = None if whole else table.narrowest, table.widest.get(name)
        drawn.add_column(name, justify="right" if right else "left", overflow="fold", no_wrap=whole, min_width=narrowest, max_width=widest)
    for number, row in enumerate(rows):
        mark = table.marks.get(number)
        drawn.add_row(*[Text(row[place], getattr(row[place], "style", "")) for place in shown], style=f"bold {mark}" if mark else None)
    return drawn


def as_html(tables: Sequence[Table]) -> str:
    """Write tables as HTML with inline styles, which also work in a notebook that is not trusted."""
    return render("webnn.display/notebook.html", tables=tables, most=_ROWS)


def facts(title: str, values: Mapping[str, str]) -> str:
    """Write an object as HTML: what it is, and facts about it, by name. Empty ones are left out."""
    return render("webnn.display/facts.html", title=title, values={name: value for name, value in values.items() if value})
