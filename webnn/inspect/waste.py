"""The copies and allocations of each step of a program's loop: the results of `record_waste`, and their tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import PurePath

from webnn.context.inspections import Inspection
from webnn.display.table import Cell, Table
from webnn.inspect.show import printable, tabulate

__all__ = ["NAMES", "SMALL", "Waste", "WasteCounts", "WasteLine", "WasteStep"]

#: A small copy has at most this number of bytes: a token, a position.
SMALL = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class WasteCounts:
    """How often something happened.

    Attributes:
        dispatches: Dispatches.
        copies: Copies between the program's memory and tensors, and those that the emulator makes beside them; without small ones.
        copiedBytes: Their bytes.
        small: Small copies: those of at most 256 bytes.
        smallBytes: Their bytes.
        allocations: New tensors, and other memory: arrays that ``readTensor`` returns, data that waits to be written, and results that the
            device does not write to the tensors in place. Memory that a small copy needs is not counted.
        allocatedBytes: Their bytes.
        rebinds: Dispatches whose tensors are not those of the last dispatch of the same graph.
        builds: Graphs that were built.
        transferredBytes: The bytes that crossed between devices, as `Placement.transferredBytes` counts them.
    """

    dispatches: int = 0
    copies: int = 0
    copiedBytes: int = 0
    small: int = 0
    smallBytes: int = 0
    allocations: int = 0
    allocatedBytes: int = 0
    rebinds: int = 0
    builds: int = 0
    transferredBytes: int = 0


#: The names of the counts.
NAMES = tuple(each.name for each in fields(WasteCounts))


@dataclass(frozen=True, slots=True, kw_only=True)
class WasteStep(WasteCounts):
    """The copies and allocations of one step.

    Attributes:
        alive: The tensors that were made in the block, and neither destroyed nor dropped at the end of the step.
        aliveBytes: Their bytes.
    """

    alive: int
    aliveBytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WasteLine(WasteCounts):
    """The calls of one method in one line of the program, after the warm-up.

    Attributes:
        method: The method that it called.
        file: The program's file, or the address of a script.
        line: The line, from 1; 0 if it is not known.
        steps: In how many steps it did so.
        combinations: Of a dispatch: how many combinations of tensors a graph had there, at most; 64 also means more.
        alive: The tensors that the line made, also in the warm-up, and that are neither destroyed nor dropped.
        aliveBytes: Their bytes.
        kept: The tensors that the line made after the warm-up, and that were not destroyed. The program may have dropped them: a browser
            keeps their memory until it collects garbage.
        grows: Their number at the end is larger than at the end of any step in the first half, and no step of the second half ended with
            fewer than that. The steps are those from the first on in which the line made a tensor.
    """

    method: str
    file: str
    line: int
    steps: int
    combinations: int
    alive: int
    aliveBytes: int
    kept: int
    grows: bool

    @property
    def isLeak(self) -> bool:
        """More and more of the line's tensors are not destroyed, in at least two steps. Destroying them in turn is fine."""
        return self.grows and self.kept > 1 and self.steps > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Waste(Inspection):
    """The copies and allocations of a program's steps: the result of `webnn.inspect.WasteRecorder.report`.

    Attributes:
        count: How many steps there were after the warm-up.
        warmup: How many steps there were in the warm-up.
        total: The sum over the steps after the warm-up.
        steps: The first 10,000 steps, those of the warm-up included.
        lines: The lines of the program that did something after the warm-up, or whose tensors are alive, the most wasteful first.
        alive: The tensors that were made in the block, and are neither destroyed nor dropped.
        aliveBytes: Their bytes.
        peak: The most tensors that were alive at a time.
        peakBytes: The most bytes that they had.
        others: How many contexts were not recorded, because their draft has no tensors.
        computes: How many calls of `MLContext.compute` were not recorded.
    """

    count: int
    warmup: int
    total: WasteCounts
    steps: tuple[WasteStep, ...]
    lines: tuple[WasteLine, ...]
    alive: int
    aliveBytes: int
    peak: int
    peakBytes: int
    others: int = 0
    computes: int = 0

    @property
    def leaks(self) -> tuple[WasteLine, ...]:
        """The lines that leak tensors."""
        return tuple(each for each in self.lines if each.isLeak)


def place(file: str, line: int, files: Sequence[str] = ()) -> str:
    """Write a line of a program in short: the whole path only where another file has the same name."""
    name = PurePath(file).name or file
    short = name if all(each == file or PurePath(each).name != name for each in files) else file
    return f"{printable(short, 200)}:{line}" if line else printable(short, 200)


@tabulate.register
def _(result: Waste) -> list[Table]:
    total, per = result.total, max(result.count, 1)
    figures: list[tuple[str, float | None, float | None]] = [
        ("copies", total.copies / per, total.copiedBytes / per),
        ("small copies", total.small / per, total.smallBytes / per),
        ("allocations", total.allocations / per, total.allocatedBytes / per),
        ("rebinds", total.rebinds / per, None),
        ("graphs built", total.builds / per, None),
        ("between devices", None, total.transferredBytes / per),
        ("tensors alive", result.alive, result.aliveBytes),
        ("at most", result.peak, result.peakBytes),
    ]
    summary = [[name, Cell(_rate(count), count), Cell(_rate(size), size)] for name, count, size in figures]
    told = [f"{result.count:,} steps after {result.warmup:,} for warm-up; the average step:"]
    if result.others:
        told.insert(0, f"{result.others:,} contexts were not recorded: their draft has no tensors")
    if result.computes:
        told.insert(0, f"{result.computes:,} calls of compute() were not recorded: only work over tensors is")
    tables = [Table(title="Waste", facts=told, columns=("", "count", "bytes"), numbers=frozenset({"count", "bytes"}), rows=summary)]
    if result.lines:
        files = list(dict.fromkeys(each.file for each in result.lines))
        rows = []
        for each in result.lines:
            row = [place(each.file, each.line, files), each.method, Cell(f"{each.steps:,}", each.steps)]
            row += [Cell(_rate(figure / per), figure / per) for figure in (each.copiedBytes, each.allocations, each.allocatedBytes)]
            rows.append([*row, Cell(f"{each.alive:,}" if each.alive else "", each.alive), "; ".join(_notes(each))])
        columns = ("line", "operation", "steps", "copied", "new", "bytes", "alive", "note")
        told = ["bytes copied, new tensors and arrays, and their bytes: for the average step"]
        tables.append(Table(title="Lines", facts=told, columns=columns, numbers=frozenset(columns[2:7]), rows=rows))
    return tables


def _notes(each: WasteLine) -> list[str]:
    found = []
    if each.isLeak:
        found.append(f"leak: {each.kept:,} not destroyed")
    if each.rebinds:
        found.append(f"rebinds: {'over 63' if each.combinations > 63 else each.combinations} sets of tensors")
    if each.small:
        found.append(f"{each.small:,} small copies")
    if each.builds:
        found.append(f"{each.builds:,} graphs built")
    if each.transferredBytes:
        found.append(f"{each.transferredBytes:,} bytes between devices")
    return found


def _rate(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if value == int(value) or value >= 100 else f"{value:,.2f}" if value >= 0.01 else f"{value:.1g}"
