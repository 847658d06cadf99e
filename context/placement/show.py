"""A placement in a terminal: the only module here that imports rich."""

from __future__ import annotations

import io
from collections.abc import Mapping
from types import MappingProxyType

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from webnn.context.placement.placements import Placement
from webnn.context.placement.words import NUMBERS, columns, headline, rows, totals

__all__ = ["as_renderable", "as_text"]

#: The colour of each device type.
_STYLES: Mapping[str, str] = MappingProxyType({"cpu": "yellow", "gpu": "green", "npu": "magenta"})
_DIM = "bright_black"
_COLOURED = ("device", "reason")
_WIDEST_LABEL = 24


def as_text(placement: Placement) -> str:
    """Draw a placement as wide as the terminal, in characters that every encoding has, without colours."""
    output = io.StringIO()
    console = Console(file=output, force_terminal=False, force_jupyter=False, color_system=None, legacy_windows=False)
    console.print(_draw(placement, None))
    return "\n".join(line.rstrip() for line in output.getvalue().splitlines())


def as_renderable(placement: Placement) -> RenderableType:
    """Draw a placement for rich: each device type has a colour."""
    return _draw(placement, box.SIMPLE_HEAD)


def _draw(placement: Placement, frame: box.Box | None) -> RenderableType:
    table = Table(box=frame, pad_edge=False, show_edge=False, padding=(0, 2, 0, 0), collapse_padding=True)
    names = columns(placement)
    for name in names:
        table.add_column(
            name,
            justify="right" if name in NUMBERS else "left",
            overflow="fold",
            no_wrap=name in NUMBERS or name == "device",
            max_width=_WIDEST_LABEL if name == "label" else None,
        )
    for row in rows(placement):
        style = _STYLES.get(row.device, _DIM)
        styles = dict.fromkeys(_COLOURED, f"bold {style}" if row.stray else style)
        table.add_row(*[Text(row.cells.get(name, ""), styles.get(name, "")) for name in names])
    summary = Table.grid(padding=(0, 2, 0, 0))
    for word, what in totals(placement):
        summary.add_row(Text(word, "cyan"), Text(what))
    parts: list[RenderableType] = [Text(headline(placement), "bold"), Text()]
    if placement.operators:
        parts += [table, Text()]
    return Group(*parts, summary)
