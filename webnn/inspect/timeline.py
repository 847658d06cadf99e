"""The time line of a program's calls: the result of `record_timeline`, its table, and the form that trace viewers read."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from statistics import median
from typing import Any

from webnn.context.inspections import Inspection
from webnn.display.table import Cell, Table
from webnn.inspect.show import printable, seconds, tabulate
from webnn.inspect.waste import place

__all__ = ["CallTimeline", "TimelineEvent"]

#: Chrome's tracing format counts in microseconds.
_MICRO = 1e6
#: The one process of a trace.
_PROCESS = 1
#: The lines of the program that the table has.
_LINES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineEvent:
    """A call of the program, the work that a call gave to the timeline of its context, or a request of that work to the context's process.

    Attributes:
        method: The method that the program called: ``"dispatch"``.
        track: Where it ran: ``"thread MainThread"`` for the call, ``"context 1, cpu"`` for the work, and
            ``"process of context 1, gpu"`` for a request to the process of a context that has one.
        isWork: Whether it is work of a context's timeline, or of a process.
        call: The number of the call, from 1; its work has the same.
        begin: When it began, in seconds since the recording began.
        seconds: How long it took. A call that returns a promise ends when it returns the promise.
        file: The program's file, or the address of a script.
        line: The line, from 1; 0 if it is not known.
        isRequest: Whether it is a request to a process. It lasts from its beginning to the answer, within the work of its call.
    """

    method: str
    track: str
    isWork: bool
    call: int
    begin: float
    seconds: float
    file: str
    line: int
    isRequest: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTimeline(Inspection):
    """When a program called, and when its contexts worked: the result of `webnn.inspect.TimelineRecorder.report`.

    Attributes:
        events: The calls and the work, in the order in which they began.
        seconds: How long the recording took.
        left: How many other events were left out, because there were too many.
    """

    events: tuple[TimelineEvent, ...]
    seconds: float
    left: int = 0

    def to_chrome(self) -> dict[str, Any]:
        """Return the events in Chrome's tracing format, which Perfetto and ``chrome://tracing`` open. Arrows lead from calls to work."""
        tracks = {track: number for number, track in enumerate(dict.fromkeys(each.track for each in self.events), 1)}
        found: list[dict[str, Any]] = [_describe("process_name", 0, "webnn")]
        found += [_describe("thread_name", number, track) for track, number in tracks.items()]
        calls = {each.call: each for each in self.events if not each.isWork}
        for each in self.events:
            kind = "request" if each.isRequest else "work" if each.isWork else "call"
            found.append(
                _event(
                    "X",
                    each,
                    tracks[each.track],
                    each.begin,
                    dur=each.seconds * _MICRO,
                    cat=kind,
                    args={"line": place(each.file, each.line)},
                )
            )
            caller = calls.get(each.call) if each.isWork and not each.isRequest else None
            if caller is not None:
                # The arrow leaves within the call, and arrives at the beginning of the work.
                leaves = min(caller.begin + caller.seconds, each.begin)
                found.append(_event("s", each, tracks[caller.track], leaves, id=len(found), cat="flow"))
                found.append(_event("f", each, tracks[each.track], each.begin, id=len(found) - 1, cat="flow", bp="e"))
        return {"traceEvents": found, "displayTimeUnit": "ms"}


def _describe(name: str, track: int, value: str) -> dict[str, Any]:
    return {"ph": "M", "pid": _PROCESS, "tid": track, "name": name, "args": {"name": value}}


def _event(phase: str, each: TimelineEvent, track: int, when: float, **members: Any) -> dict[str, Any]:
    return {"ph": phase, "name": each.method, "pid": _PROCESS, "tid": track, "ts": when * _MICRO, **members}


@tabulate.register
def _(result: CallTimeline) -> list[Table]:
    told = [
        f"{seconds(result.seconds)} in all; a call is the program's time, work that of the context's timeline, with requests to its process"
    ]
    if result.left:
        told.append(f"{result.left:,} other events were left out")
    return [_totals(result, told), _lines(result)]


def _totals(result: CallTimeline, told: list[str]) -> Table:
    """Return the times by method and place."""
    groups: dict[tuple[str, str], list[float]] = defaultdict(list)
    for each in result.events:
        groups[each.method, each.track].append(each.seconds)
    rows = []
    for (method, track), times in sorted(groups.items(), key=lambda item: -sum(item[1])):
        figures = [sum(times), median(times), max(times)]
        rows.append([method, printable(track), Cell(f"{len(times):,}", len(times)), *[Cell(seconds(each), each) for each in figures]])
    columns = ("operation", "where", "count", "total", "median", "longest")
    return Table(title="Calls", facts=told, columns=columns, numbers=frozenset(columns[2:]), rows=rows)


def _lines(result: CallTimeline) -> Table:
    """Return the lines of the program that took the longest."""
    groups: dict[tuple[str, int, str], list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for each in result.events:
        if each.isRequest:
            # It is a part of the work.
            continue
        times = groups[each.file, each.line, each.method]
        times[2 if each.isWork else 1] += each.seconds
        times[0] += not each.isWork
    slowest = sorted(groups.items(), key=lambda item: -item[1][1] - item[1][2])
    files = list({file: None for file, _, _ in groups})
    rows = [
        [place(file, line, files), method, Cell(f"{count:.0f}", count), Cell(seconds(call), call), Cell(seconds(work), work)]
        for (file, line, method), (count, call, work) in slowest[:_LINES]
    ]
    more = [f"the {_LINES} slowest of {len(slowest):,}"] if len(slowest) > _LINES else []
    columns = ("line", "operation", "calls", "call", "work")
    return Table(title="Lines", facts=more, columns=columns, numbers=frozenset(columns[2:]), rows=rows)
