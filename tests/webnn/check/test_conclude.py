"""The conclusions of `webnn check` from the notes of a process and from its end."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.support import each_row
from webnn.check.conclude import complete, conclude, conclude_prediction, end_before_replay
from webnn.check.events import Ended, Engine, Note, Notes, Prediction, Replayed, read_notes
from webnn.check.report import Graph, PartitionReport, Refusal, Verdict
from webnn.processes.child import Exit


def graph(name: str = "y", profile: str | None = "coreml") -> Graph:
    return Graph(name=name, profile=profile, requested="cpu", operators=1)


def refused(operation: str = "relu") -> Refusal:
    return Refusal(operation=operation, label="", argument="input", kind="dataType", given="int32", allowed=("float32",), profile="coreml")


def finished(code: int | None = 0) -> Exit:
    return Exit(code=code, output="", seconds=1.25)


@each_row(
    ("notes", "code", "verdict", "fatal", "error"),
    [
        ([graph(), Ended(code=0)], 0, Verdict.BUILDS, None, ""),
        ([refused(), graph(), Ended(code=0, counts=(1,))], 0, Verdict.BUILDS_DIFFERENTLY, None, ""),
        ([refused(), refused("abs"), Ended(code=1, error="E", fatal=1, counts=(1, 1))], 1, Verdict.REFUSED, 1, "E"),
        ([graph(), refused(), Ended(code=1, error="E", fatal=0, counts=(1,))], 1, Verdict.REFUSED, 0, "E"),
        # It caught everything, and built nothing: the last refusal is what it gave up for.
        ([refused(), refused("abs"), Ended(code=0, counts=(1, 1))], 0, Verdict.REFUSED, 1, ""),
        ([graph(), Ended(code=1, error="E")], 1, Verdict.ERROR, None, "E"),
        # An error of its own, after it caught a refusal.
        ([refused(), Ended(code=1, error="E", counts=(1,))], 1, Verdict.ERROR, None, "E"),
        ([Ended(code=0)], 0, Verdict.NO_GRAPH, None, ""),
        ([graph()], None, Verdict.TIMEOUT, None, "the program was not done after 2.5 s"),
        ([], None, Verdict.TIMEOUT, None, "the program was not done after 2.5 s"),
        ([graph()], 3, Verdict.CRASHED, None, "the process ended with exit code 3"),
        ([graph()], 0xC0000005, Verdict.CRASHED, None, "the process ended with exit code 0xc0000005"),
        ([graph(), Ended(code=0)], 1, Verdict.CRASHED, None, "the process ended with exit code 1"),
        ([], -signal.SIGTERM, Verdict.CRASHED, None, "the process died (signal 15, SIGTERM)"),
        ([], -1000, Verdict.CRASHED, None, "the process died (signal 1000)"),
        # `os._exit(0)`: what was built was built.
        ([graph()], 0, Verdict.BUILDS, None, ""),
    ],
)
def test_verdicts(notes: list[Note], code: int | None, verdict: Verdict, fatal: int | None, error: str) -> None:
    run = conclude("coreml", notes, finished(code), 2.5)
    assert (run.verdict, run.fatal, run.error) == (verdict, fatal, error)
    assert run.passed is (verdict in (Verdict.BUILDS, Verdict.BUILDS_DIFFERENTLY))
    assert list(run.graphs) == [note for note in notes if isinstance(note, Graph)]
    assert (run.profile, run.seconds, run.notes) == ("coreml", 1.25, ())


def test_counts() -> None:
    run = conclude("coreml", [refused(), refused("abs"), graph(), Ended(code=0, counts=(3, 1))], finished(), 1)
    assert [each.count for each in run.refusals] == [3, 1]
    # A process that died did not count.
    assert [each.count for each in conclude("coreml", [refused(), refused("abs")], finished(1), 1).refusals] == [1, 1]


@pytest.mark.parametrize(
    ("profile", "built", "remarks"),
    [
        ("coreml", ["coreml"], ()),
        ("coreml", ["coreml", "ort", "ort"], ('the program chooses the profile "ort" itself, and that one applies',)),
        ("coreml", ["ort", "dml"], ('the program chooses the profile "ort" and "dml" itself, and that one applies',)),
        (None, [None], ()),
        (None, ["ort"], ('the program chooses the profile "ort" itself, and that one applies',)),
        ("coreml", [None], ("the program makes contexts without a profile itself",)),
    ],
)
def test_a_program_that_chooses_its_profile(profile: str | None, built: list[str | None], remarks: tuple[str, ...]) -> None:
    notes = [graph(profile=each) for each in built]
    assert conclude(profile, [*notes, Ended(code=0)], finished(), 1).notes == remarks


def test_complete() -> None:
    run = conclude("coreml", [refused(), Ended(code=1, error="E", fatal=0, counts=(1,))], finished(1), 1)
    more = complete(run, [refused("abs"), refused(), graph(), Ended(code=0, counts=(1, 2))], finished(), 1)
    # All in the program's order; what ended the run is still known.
    assert [(each.operation, each.count) for each in more.refusals] == [("abs", 1), ("relu", 2)]
    assert (more.verdict, more.fatal, more.error, more.graphs) == (Verdict.REFUSED, 1, "E", ())
    assert (more.seconds, more.notes) == (2.5, ())


def test_complete_where_the_ways_part() -> None:
    """Refusals that follow from an earlier refusal do not appear where everything is allowed."""
    run = conclude("coreml", [refused(), refused("abs"), Ended(code=1, error="E", fatal=1, counts=(1, 1))], finished(1), 1)
    more = complete(run, [refused(), Ended(code=1, error="Other", counts=(1,))], finished(1), 1)
    assert [each.operation for each in more.refusals] == ["relu", "abs"]
    assert more.fatal == 1
    assert more.notes == ("there may be more: the program did not get to its end when everything was allowed (Other)",)


# The notes


def test_notes(tmp_path: Path) -> None:
    file = tmp_path / "notes"
    assert read_notes(file) == []
    written: list[Note] = [graph("ä\n\u2028"), refused(), Ended(code=1, error="E", fatal=0, counts=(1,))]
    notes = Notes(file)
    for note in written:
        notes.write(note)
    assert read_notes(file) == written


@pytest.mark.parametrize("rest", [b'{"name": "y", "profi', b"\xff\n", b"{}\n", b"\n"])
def test_notes_that_end_in_the_middle(tmp_path: Path, rest: bytes) -> None:
    file = tmp_path / "notes"
    Notes(file).write(graph())
    with file.open("ab") as stream:
        stream.write(rest)
    assert read_notes(file) == [graph()]


@each_row(
    ("code", "note"),
    [
        (0, None),
        (None, "nothing can be predicted: it was not done after 5 s"),
        (3, "nothing can be predicted: the process ended with exit code 3"),
    ],
)
def test_a_prediction_that_was_cut_off(code: int | None, note: str | None) -> None:
    known = PartitionReport(nodes=2, webnn=1)
    notes: list[Note] = [Engine(refusal="why"), Prediction(on=None, partition=known), Prediction(on="ort", partition=known)]
    found = conclude_prediction(notes, finished(code), ["ort", "coreml"], 5)
    assert found.refusal == "why"
    assert (found.partitions[None], found.partitions["ort"]) == (known, known)
    lost = found.partitions.get("coreml")
    assert (None if lost is None else lost.note) == note


@each_row(
    ("notes", "code", "expected"),
    [
        # It was done: the process died when the program's own handlers ran.
        ([Ended(code=0), Replayed(profiles=1)], -11, -11),
        # It died, or took too long, while it followed the program on profiles.
        ([Ended(code=0)], -11, 0),
        ([Ended(code=3)], None, 3),
        ([], None, None),
    ],
)
def test_a_run_that_was_cut_off_in_its_replays(notes: list[Note], code: int | None, expected: int | None) -> None:
    assert end_before_replay(notes, finished(code)).code == expected
