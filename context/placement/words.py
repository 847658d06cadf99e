"""What a terminal and a notebook show alike of a placement: the words, and which operators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from webnn.context.placement.placements import OperatorPlacement, Placement

__all__ = ["NUMBERS", "Row", "columns", "headline", "rows", "show_bytes", "totals"]

#: The columns that are aligned to the right.
NUMBERS = frozenset({"#", "partition"})
#: How many operators stand in a table that is not shortened, and how many at each end of one that is.
_WHOLE, _END = 60, 20
#: How many in between are shown because they left the device that the context got.
_STRAYS = 100
#: Labels are a program's own and may be of any length.
_LONGEST_LABEL = 60
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")
_SUFFIX = "ExecutionProvider"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table.

    Attributes:
        cells: What stands in the columns, by their headings; what a terminal would obey is written out.
        device: The device type that gives the row its colour, empty for none.
        stray: It is about an operator that left the device that the context got.
    """

    cells: Mapping[str, str]
    device: str
    stray: bool


def headline(placement: Placement) -> str:
    """Say what the table is about."""
    how = f'simulated by the device profile "{placement.profile}"' if placement.simulated else "as the engine assigned it"
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
    """Yield the table's rows: a long graph is shortened in its middle, but for what left the device that the context got."""
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
    """Yield what stands for the operators that are left out."""
    if len(gap) == 1:
        # A row about one operator is no shorter than its own.
        yield _row(placement, gap[0])
    elif gap:
        strays = Counter(each.device for each in gap if each.device not in {"", placement.device})
        reason = ", ".join(f"{count:,} of them on the {device}" for device, count in strays.items())
        yield Row({"#": "...", "operation": f"{len(gap):,} more", "reason": reason}, "", False)


def totals(placement: Placement) -> list[tuple[str, str]]:
    """Return the lines below the table: a word and what there is of it."""
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
    """Write a number of bytes in the largest binary unit of which it has one."""
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
