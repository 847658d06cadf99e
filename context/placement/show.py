"""A placement as a table, in a terminal and in a notebook."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from webnn.context.devices.selection import REFERENCE
from webnn.context.placement.placements import OperatorPlacement, Placement
from webnn.display import table, text
from webnn.display.table import Cell, Table
from webnn.display.text import clip, printable

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["as_html", "as_renderable", "as_text", "tabulate"]

_COLUMNS = ("#", "operation", "label", "device", "provider", "partition", "reason")
#: The most operators that a table shows in full, and how many a shortened table shows at each end.
_WHOLE, _END = 60, 20
#: How many in between are shown because they left the device that the context got.
_STRAYS = 100
#: Labels are a program's own and may be of any length.
_LONGEST_LABEL = 60
_WIDEST_LABEL = 24
_SUFFIX = "ExecutionProvider"
#: The colour of each device type.
_STYLES: Mapping[str, str] = MappingProxyType({"cpu": "yellow", "gpu": "green", "npu": "magenta"})
_DIM = "bright_black"


def as_text(placement: Placement) -> str:
    """Draw a placement as wide as the terminal, without colours."""
    return table.as_text([tabulate(placement)])


def as_renderable(placement: Placement) -> RenderableType:
    """Draw a placement for rich: each device type has a colour."""
    return table.as_renderable([tabulate(placement)], framed=True)


def as_html(placement: Placement) -> str:
    """Write a placement for a notebook."""
    return table.as_html([tabulate(placement)])


def tabulate(placement: Placement, *, every: bool = False) -> Table:
    """Return the table of a placement.

    Args:
        placement: The placement.
        every: Show every operator. By default the middle of a long graph is left out, except operators that left the context's device.
    """
    rows: list[Sequence[str]] = []
    marks: dict[int, str] = {}
    for each in _choose(placement, every=every):
        if isinstance(each, OperatorPlacement):
            if each.device not in {"", placement.device}:
                marks[len(rows)] = _STYLES.get(each.device, _DIM)
            rows.append(_row(placement, each))
        else:
            rows.append(_gap(placement, each))
    return Table(
        title=_headline(placement),
        columns=_COLUMNS,
        rows=rows,
        numbers=("#", "partition"),
        whole=("device",),
        marks=marks,
        totals=_totals(placement),
        most=len(rows),
        narrowest=None,
        widest={"label": _WIDEST_LABEL},
    )


def _headline(placement: Placement) -> str:
    """Describe the context and where the placement comes from."""
    computed = placement.operators and placement.operators[0].providers == (REFERENCE,)
    assigned = "computed by the reference" if computed else "as the engine assigned it"
    how = f'simulated by the device profile "{placement.profile}"' if placement.simulated else assigned
    if placement.device == placement.requested:
        return f"{placement.requested} requested, {how}"
    why = f": {printable(placement.reason)}" if placement.reason else ""
    return f"{placement.requested} requested, {placement.device} here, {how}{why}"


def _choose(placement: Placement, *, every: bool) -> Iterator[OperatorPlacement | Sequence[OperatorPlacement]]:
    """Yield the operators of the table's rows, and the groups of operators that are left out."""
    operators, device = placement.operators, placement.device
    shortened = len(operators) > _WHOLE and not every
    last = len(operators) - _END
    budget = _STRAYS
    gap: list[OperatorPlacement] = []
    for position, operator in enumerate(operators):
        if shortened and _END <= position < last:
            if operator.device in {"", device} or not budget:
                gap.append(operator)
                continue
            budget -= 1
        if gap:
            # To leave out a single operator would not make the table shorter.
            yield gap if len(gap) > 1 else gap[0]
            gap = []
        yield operator


def _row(placement: Placement, operator: OperatorPlacement) -> Sequence[str]:
    return (
        Cell(str(operator.index), operator.index),
        operator.operation,
        clip(operator.label, _LONGEST_LABEL, ellipsis="..."),
        Cell(operator.device or "-", style=_STYLES.get(operator.device, _DIM)),
        ", ".join(provider.removesuffix(_SUFFIX) for provider in operator.providers),
        Cell("-" if operator.partition is None else str(operator.partition), operator.partition),
        printable(_reason(placement, operator)).replace(_SUFFIX, ""),
    )


def _gap(placement: Placement, gap: Sequence[OperatorPlacement]) -> Sequence[str]:
    """Return the row that replaces omitted operators."""
    strays = Counter(each.device for each in gap if each.device not in {"", placement.device})
    reason = ", ".join(f"{count:,} of them on the {device}" for device, count in strays.items())
    return ("...", f"{len(gap):,} more", "", "", "", "", reason)


def _totals(placement: Placement) -> list[tuple[str, str]]:
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
        lines.append(("constants", f"{text.size(placement.constantBytes)} once, at the build"))
    return lines


def _transfers(placement: Placement) -> str:
    if not placement.transfers:
        return "none"
    ways: Counter[str] = Counter()
    for transfer in placement.transfers:
        ways[f"{transfer.source} to {transfer.destination}"] += transfer.bytes
    each = ", ".join(f"{text.size(size)} {way}" for way, size in ways.items())
    return f"{len(placement.transfers):,} in each run, {text.size(placement.transferredBytes)}: {each}"


def _reason(placement: Placement, operator: OperatorPlacement) -> str:
    """Return an operator's own reason; the headline has that of the whole context."""
    said = operator.reason == placement.reason and placement.device != placement.requested
    return "" if said else operator.reason
