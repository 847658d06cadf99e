"""A placement in a terminal and in a notebook. Both show the same words and the same operators.

rich is imported lazily: a notebook does without it.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from types import MappingProxyType
from typing import TYPE_CHECKING

from webnn.context.devices.selection import REFERENCE
from webnn.context.placement.placements import OperatorPlacement, Placement

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["as_html", "as_renderable", "as_text", "rows", "show_bytes"]

#: The columns that are aligned to the right.
NUMBERS = frozenset({"#", "partition"})
#: The most operators that a table shows in full, and how many a shortened table shows at each end.
_WHOLE, _END = 60, 20
#: How many in between are shown because they left the device that the context got.
_STRAYS = 100
#: Labels are a program's own and may be of any length.
_LONGEST_LABEL = 60
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")
_SUFFIX = "ExecutionProvider"
#: The colour of each device type.
_STYLES: Mapping[str, str] = MappingProxyType({"cpu": "yellow", "gpu": "green", "npu": "magenta"})
_DIM = "bright_black"
_COLOURED = ("device", "reason")
_WIDEST_LABEL = 24
#: The colour of each device type, as red, green, blue.
_RGB: Mapping[str, str] = MappingProxyType({"cpu": "217, 149, 0", "gpu": "34, 160, 92", "npu": "168, 85, 220"})
_OTHER = "128, 128, 128"
_TABLE = "border-collapse: collapse; margin: 0.5em 0; font-size: 0.9em; color: inherit"
#: Overrides a notebook's style sheet, which aligns to the right, stripes and forbids wrapping.
_CELL = "padding: 0.15em 0.8em 0.15em 0.4em; text-align: {}; vertical-align: top; white-space: {}; background: none; border: none"
_LABEL = "max-width: 18em; overflow-wrap: anywhere"
_HEADING = "; border-bottom: 1px solid rgba(128, 128, 128, 0.6); font-weight: 600"


# In a terminal


def as_text(placement: Placement) -> str:
    """Draw a placement as wide as the terminal, in characters that every encoding has, without colours."""
    from rich.console import Console  # noqa: PLC0415

    output = io.StringIO()
    console = Console(file=output, force_terminal=False, force_jupyter=False, color_system=None, legacy_windows=False)
    console.print(_draw(placement, framed=False))
    return "\n".join(line.rstrip() for line in output.getvalue().splitlines())


def as_renderable(placement: Placement) -> RenderableType:
    """Draw a placement for rich: each device type has a colour."""
    return _draw(placement, framed=True)


def _draw(placement: Placement, *, framed: bool) -> RenderableType:
    from rich import box  # noqa: PLC0415
    from rich.console import Group  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    frame = box.SIMPLE_HEAD if framed else None
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


# In a notebook


def as_html(placement: Placement) -> str:
    """Write a placement as HTML with inline styles, which also work in a notebook that is not trusted."""
    names = columns(placement)
    body = "".join(_html_row(row, names) for row in rows(placement))
    heading = "".join(f'<th style="{_cell(name)}{_HEADING}">{name}</th>' for name in names)
    table = f'<table style="{_TABLE}"><thead><tr>{heading}</tr></thead><tbody>{body}</tbody></table>'
    lines = "".join(f"<div><b>{word}</b> {escape(what)}</div>" for word, what in totals(placement))
    return f"<div><div><b>{escape(headline(placement))}</b></div>{table if placement.operators else ''}{lines}</div>"


def _cell(name: str) -> str:
    style = _CELL.format("right" if name in NUMBERS else "left", "normal" if name in {"label", "reason"} else "nowrap")
    return f"{style}; {_LABEL}" if name == "label" else style


def _html_row(row: Row, names: list[str]) -> str:
    texts = {name: escape(text) for name, text in row.cells.items()}
    colour = _RGB.get(row.device, _OTHER)
    if row.device:
        badge = f"background: rgba({colour}, 0.25); border: 1px solid rgba({colour}, 0.7); border-radius: 0.4em; padding: 0 0.5em"
        texts["device"] = f'<span style="{badge}">{texts["device"]}</span>'
    # Colour is not the only sign: the row also begins with a bar and shows the reason.
    style = f' style="background: rgba({colour}, 0.1); box-shadow: inset 3px 0 rgb({colour})"' if row.stray else ""
    data = "".join(f'<td style="{_cell(name)}">{texts.get(name, "")}</td>' for name in names)
    return f"<tr{style}>{data}</tr>"


# What both show


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table.

    Attributes:
        cells: The text of each column, by its heading; control characters are escaped.
        device: The device type that gives the row its colour, empty for none.
        stray: The row is about an operator that left the device that the context got.
    """

    cells: Mapping[str, str]
    device: str
    stray: bool


def headline(placement: Placement) -> str:
    """Say what the table is about."""
    computed = placement.operators and placement.operators[0].providers == (REFERENCE,)
    assigned = "computed by the reference" if computed else "as the engine assigned it"
    how = f'simulated by the device profile "{placement.profile}"' if placement.simulated else assigned
    if placement.device == placement.requested:
        return f"{placement.requested} requested, {how}"
    why = f": {_printable(placement.reason)}" if placement.reason else ""
    return f"{placement.requested} requested, {placement.device} here, {how}{why}"


def columns(placement: Placement) -> list[str]:
    """Return the table's headings; a column that would be empty is left out."""
    present = {
        "label": any(each.label for each in placement.operators),
        "provider": any(each.providers for each in placement.operators),
        "reason": any(_reason(placement, each) for each in placement.operators),
    }
    return [name for name in ("#", "operation", "label", "device", "provider", "partition", "reason") if present.get(name, True)]


def rows(placement: Placement) -> Iterator[Row]:
    """Yield the table's rows. The middle of a long graph is left out, except operators that left the device that the context got."""
    operators, device = placement.operators, placement.device
    shortened = len(operators) > _WHOLE
    last = len(operators) - _END
    budget = _STRAYS
    gap: list[OperatorPlacement] = []
    for position, operator in enumerate(operators):
        if shortened and _END <= position < last:
            if operator.device in {"", device} or not budget:
                gap.append(operator)
                continue
            budget -= 1
        yield from _close(placement, gap)
        gap.clear()
        yield _row(placement, operator)
    yield from _close(placement, gap)


def _row(placement: Placement, operator: OperatorPlacement) -> Row:
    label = _printable(operator.label)
    texts = {
        "#": str(operator.index),
        "operation": operator.operation,
        "label": label if len(label) <= _LONGEST_LABEL else f"{label[: _LONGEST_LABEL - 3]}...",
        "device": operator.device or "-",
        "provider": ", ".join(provider.removesuffix(_SUFFIX) for provider in operator.providers),
        "partition": "-" if operator.partition is None else str(operator.partition),
        "reason": _printable(_reason(placement, operator)).replace(_SUFFIX, ""),
    }
    return Row(texts, operator.device, operator.device not in {"", placement.device})


def _close(placement: Placement, gap: Sequence[OperatorPlacement]) -> Iterator[Row]:
    """Yield the rows that replace omitted operators."""
    if len(gap) == 1:
        # Replacing a single operator would not make the table shorter.
        yield _row(placement, gap[0])
    elif gap:
        strays = Counter(each.device for each in gap if each.device not in {"", placement.device})
        reason = ", ".join(f"{count:,} of them on the {device}" for device, count in strays.items())
        yield Row({"#": "...", "operation": f"{len(gap):,} more", "reason": reason}, "", False)


def totals(placement: Placement) -> list[tuple[str, str]]:
    """Return the lines below the table, each a heading and its content."""
    counts = Counter(each.device for each in placement.operators)
    nothing = counts.pop("", 0)
    where = [f"{count:,} on the {device}" for device, count in counts.items()]
    if nothing:
        where.append(f"{nothing:,} with nothing left to run")
    lines = [
        ("operators", f"{len(placement.operators):,}" + (f": {', '.join(where)}" if where else "")),
        ("partitions", f"{len(placement.partitions):,}"),
        ("transfers", _transfers(placement)),
    ]
    if placement.constantBytes:
        lines.append(("constants", f"{show_bytes(placement.constantBytes)} once, at the build"))
    return lines


def _transfers(placement: Placement) -> str:
    if not placement.transfers:
        return "none"
    ways: Counter[str] = Counter()
    for transfer in placement.transfers:
        ways[f"{transfer.source} to {transfer.destination}"] += transfer.bytes
    each = ", ".join(f"{show_bytes(size)} {way}" for way, size in ways.items())
    return f"{len(placement.transfers):,} in each run, {show_bytes(placement.transferredBytes)}: {each}"


def show_bytes(size: int) -> str:
    """Write a number of bytes in the largest binary unit that it reaches."""
    number, unit = float(size), 0
    while number >= 1024 and unit < len(_UNITS) - 1:
        number, unit = number / 1024, unit + 1
    if unit == 0:
        return f"{size} byte{'' if size == 1 else 's'}"
    return f"{number:,.1f} {_UNITS[unit]}"


def _reason(placement: Placement, operator: OperatorPlacement) -> str:
    """Return an operator's own reason; that of the whole context stands in the headline."""
    return "" if operator.reason == placement.reason else operator.reason


def _printable(text: str) -> str:
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)
