"""The result of `record_timeline`: its tables, and Chrome's tracing format."""

from __future__ import annotations

import json
from typing import Any

from webnn.inspect import CallTimeline, TimelineEvent, as_html


def event(method: str, call: int, begin: float, seconds: float, *, work: bool = False, line: int = 3) -> TimelineEvent:
    track = "context 1, cpu" if work else "thread MainThread"
    return TimelineEvent(
        method=method, track=track, isWork=work, call=call, begin=begin, seconds=seconds, file="/some/program.py", line=line
    )


TIMELINE = CallTimeline(
    events=(
        event("dispatch", 1, 1.0, 0.5),
        event("dispatch", 1, 2.0, 3.0, work=True),
        event("readTensor", 2, 2.5, 0.25, line=4),
    ),
    seconds=6.0,
    left=1234,
)


def of_phase(trace: dict[str, Any], phase: str) -> list[dict[str, Any]]:
    return [each for each in trace["traceEvents"] if each["ph"] == phase]


def test_events_in_microseconds() -> None:
    trace = json.loads(json.dumps(TIMELINE.to_chrome(), allow_nan=False))
    found = [(each["name"], each["tid"], each["ts"], each["dur"], each["cat"]) for each in of_phase(trace, "X")]
    assert found == [
        ("dispatch", 1, 1e6, 5e5, "call"),
        ("dispatch", 2, 2e6, 3e6, "work"),
        ("readTensor", 1, 2.5e6, 2.5e5, "call"),
    ]
    names = {each["tid"]: each["args"]["name"] for each in of_phase(trace, "M") if each["name"] == "thread_name"}
    assert names == {1: "thread MainThread", 2: "context 1, cpu"}


def test_an_arrow_leads_from_the_call_to_its_work() -> None:
    trace = TIMELINE.to_chrome()
    (leaves,), (arrives,) = of_phase(trace, "s"), of_phase(trace, "f")
    assert leaves["id"] == arrives["id"]
    # Within the call, and where the work begins.
    assert (leaves["tid"], leaves["ts"]) == (1, 1.5e6)
    assert (arrives["tid"], arrives["ts"], arrives["bp"]) == (2, 2e6, "e")


def test_work_whose_call_was_left_out() -> None:
    """It has no arrow."""
    trace = CallTimeline(events=TIMELINE.events[1:], seconds=6.0).to_chrome()
    assert not of_phase(trace, "s")
    assert len(of_phase(trace, "X")) == 2


def test_nothing() -> None:
    empty = CallTimeline(events=(), seconds=0.0)
    assert of_phase(empty.to_chrome(), "X") == []
    assert "0 \N{MICRO SIGN}s in all" in str(empty)


def test_tables() -> None:
    text = str(TIMELINE)
    assert "1,234 other events were left out" in text
    lines = [line.split() for line in text.splitlines()]
    assert ["dispatch", "context", "1,", "cpu", "1", "3", "s", "3", "s", "3", "s"] in lines
    assert ["program.py:3", "dispatch", "1", "500", "ms", "3", "s"] in lines
    assert ["program.py:4", "readTensor", "1", "250", "ms", "0", "\N{MICRO SIGN}s"] in lines
    assert TIMELINE.to_dict()["events"][0]["method"] == "dispatch"


def test_hostile_names() -> None:
    hostile = TimelineEvent(
        method="build", track="thread <script>\x1b[31m", isWork=False, call=1, begin=0.0, seconds=1.0, file="<script>", line=0
    )
    timeline = CallTimeline(events=(hostile,), seconds=1.0)
    assert "\x1b" not in str(timeline)
    assert "<script>" not in as_html(timeline)


def test_only_the_slowest_lines_are_shown() -> None:
    events = tuple(event("dispatch", number, 0.0, number / 1000, line=number) for number in range(1, 31))
    text = str(CallTimeline(events=events, seconds=1.0))
    assert "the 20 slowest of 30" in text
    assert "program.py:30 " in text
    assert "program.py:10 " not in text
