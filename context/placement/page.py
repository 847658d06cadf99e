"""A placement in a notebook: one small table, readable on light and on dark."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from types import MappingProxyType

from webnn.context.placement.placements import Placement
from webnn.context.placement.words import NUMBERS, Row, columns, headline, rows, totals

__all__ = ["as_html"]

#: The colour of each device type, as red, green, blue.
_COLOURS: Mapping[str, str] = MappingProxyType({"cpu": "217, 149, 0", "gpu": "34, 160, 92", "npu": "168, 85, 220"})
_OTHER = "128, 128, 128"
_TABLE = "border-collapse: collapse; margin: 0.5em 0; font-size: 0.9em; color: inherit"
#: A notebook's own style sheet aligns to the right, stripes and forbids wrapping.
_CELL = "padding: 0.15em 0.8em 0.15em 0.4em; text-align: {}; vertical-align: top; white-space: {}; background: none; border: none"
_LABEL = "max-width: 18em; overflow-wrap: anywhere"
_HEADING = "; border-bottom: 1px solid rgba(128, 128, 128, 0.6); font-weight: 600"


def as_html(placement: Placement) -> str:
    """Write a placement as HTML, with the styles in place: a notebook need not trust it."""
    names = columns(placement)
    body = "".join(_row(row, names) for row in rows(placement))
    heading = "".join(f'<th style="{_cell(name)}{_HEADING}">{name}</th>' for name in names)
    table = f'<table style="{_TABLE}"><thead><tr>{heading}</tr></thead><tbody>{body}</tbody></table>'
    lines = "".join(f"<div><b>{word}</b> {escape(what)}</div>" for word, what in totals(placement))
    return f"<div><div><b>{escape(headline(placement))}</b></div>{table if placement.operators else ''}{lines}</div>"


def _cell(name: str) -> str:
    style = _CELL.format("right" if name in NUMBERS else "left", "normal" if name in {"label", "reason"} else "nowrap")
    return f"{style}; {_LABEL}" if name == "label" else style


def _row(row: Row, names: list[str]) -> str:
    texts = {name: escape(text) for name, text in row.cells.items()}
    colour = _COLOURS.get(row.device, _OTHER)
    if row.device:
        badge = f"background: rgba({colour}, 0.25); border: 1px solid rgba({colour}, 0.7); border-radius: 0.4em; padding: 0 0.5em"
        texts["device"] = f'<span style="{badge}">{texts["device"]}</span>'
    # Not by colour alone: the row begins with a bar, and the reason is there.
    style = f' style="background: rgba({colour}, 0.1); box-shadow: inset 3px 0 rgb({colour})"' if row.stray else ""
    data = "".join(f'<td style="{_cell(name)}">{texts.get(name, "")}</td>' for name in names)
    return f"<tr{style}>{data}</tr>"
