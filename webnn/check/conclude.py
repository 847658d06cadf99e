"""Conclusions from the notes of a process, and from how it ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, repeat

from webnn.check.events import Ended, Engine, Note, Prediction, Replay, Replayed
from webnn.check.report import Graph, PartitionReport, Refusal, Run, Verdict
from webnn.context.processes import describe_code
from webnn.processes.child import Exit

__all__ = ["Predicted", "complete", "conclude", "conclude_prediction", "end_before_replay", "end_of_replay"]


def conclude(profile: str | None, notes: Sequence[Note], process: Exit, timeout: float) -> Run:
    """Say how a run ended, from the notes of its process and how that ended; the time-out is in seconds."""
    graphs = tuple(note for note in notes if isinstance(note, Graph))
    refused = [note for note in notes if isinstance(note, Refusal)]
    ended = next((note for note in notes if isinstance(note, Ended)), None)
    fatal, error, counts = (None, "", ()) if ended is None else (ended.fatal, ended.error, ended.counts)
    # A process that died did not count.
    refusals = tuple(each.model_copy(update={"count": count}) for each, count in zip(refused, chain(counts, repeat(1)), strict=False))
    if process.code is None:
        verdict, error = Verdict.TIMEOUT, f"the program was not done after {timeout:g} s"
    elif process.code and not error:
        # The process ended in the middle of the program, or while the interpreter cleaned up.
        verdict, error = Verdict.CRASHED, _describe_death(process.code)
    elif fatal is not None:
        verdict = Verdict.REFUSED
    elif error:
        verdict = Verdict.ERROR
    elif graphs:
        verdict = Verdict.BUILDS_DIFFERENTLY if refusals else Verdict.BUILDS
    elif refusals:
        verdict, fatal = Verdict.REFUSED, len(refusals) - 1
    else:
        verdict = Verdict.NO_GRAPH
    return Run(
        profile=profile,
        verdict=verdict,
        graphs=graphs,
        refusals=refusals,
        fatal=fatal,
        error=error,
        notes=_remarks(profile, graphs),
        seconds=round(process.seconds, 3),
    )


def complete(run: Run, notes: Sequence[Note], process: Exit, timeout: float) -> Run:
    """Add to a run that ended with a refusal all that the profile refuses: the rest comes from a second run, where refused calls pass."""
    again = conclude(run.profile, notes, process, timeout)
    fatal = None if run.fatal is None else _key(run.refusals[run.fatal])
    remarks = run.notes
    if again.error:
        remarks += (f"there may be more: the program did not get to its end when everything was allowed ({again.error})",)
    known = {_key(each) for each in again.refusals}
    # Refusals of the first run that the second one did not meet are kept.
    refusals = (*again.refusals, *(each for each in run.refusals if _key(each) not in known))
    return run.model_copy(
        update={
            "refusals": refusals,
            "fatal": next((number for number, each in enumerate(refusals) if _key(each) == fatal), None),
            "notes": remarks,
            "seconds": round(run.seconds + again.seconds, 3),
        }
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted:
    """How ONNX Runtime takes a model.

    Attributes:
        refusal: Why it refuses it; empty if it does not, or if that is not known.
        partitions: How ONNX Runtime Web would partition it, by profile; empty if nothing is known of the shapes.
    """

    refusal: str
    partitions: Mapping[str | None, PartitionReport]

    def add_to(self, run: Run, source: str | None) -> Run:
        """Return a run with the partition of its profile."""
        return run.model_copy(update={"partition": self.partitions.get(source)})


def conclude_prediction(notes: Sequence[Note], process: Exit, sources: Sequence[str], timeout: float) -> Predicted:
    """Say how ONNX Runtime takes a model, from the notes of the process that asked it; a partition that it did not note has a reason."""
    partitions = {note.on: note.partition for note in notes if isinstance(note, Prediction)}
    if process.code != 0:
        why = f"it was not done after {timeout:g} s" if process.code is None else _describe_death(process.code)
        lost = PartitionReport(nodes=0, webnn=0, note=f"nothing can be predicted: {why}")
        partitions = {source: partitions.get(source, lost) for source in (None, *sources)}
    return Predicted(refusal=next((note.refusal for note in notes if isinstance(note, Engine)), ""), partitions=partitions)


def end_before_replay(notes: Sequence[Note], process: Exit) -> Exit:
    """Return how a process would have ended without its replays: one that is cut off in them has run the program."""
    ended = next((note for note in notes if isinstance(note, Ended)), None)
    if ended is None or any(isinstance(note, Replayed) for note in notes):
        return process
    return replace(process, code=ended.code)


def end_of_replay(replay: Replay, *, again: bool = False) -> Exit:
    """Return how the process of a replay would have ended."""
    notes = (replay.again if again else replay.notes) or ()
    code = next((note.code for note in notes if isinstance(note, Ended)), 0)
    return Exit(code=code, output="", seconds=0.0 if again else replay.seconds)


def _describe_death(code: int) -> str:
    text = describe_code(code)
    return f"the process ended with {text}" if code > 0 else f"the process died ({text})"


def _key(refusal: Refusal) -> Refusal:
    """Return a refusal without its count: the same if it is the same refusal."""
    return refusal.model_copy(update={"count": 1})


def _remarks(profile: str | None, graphs: Sequence[Graph]) -> tuple[str, ...]:
    others = dict.fromkeys(graph.profile for graph in graphs if graph.profile != profile)
    own = [f'"{each}"' for each in others if each is not None]
    remarks = [f"the program chooses the profile {' and '.join(own)} itself, and that one applies"] if own else []
    if None in others:
        remarks.append("the program makes contexts without a profile itself")
    return tuple(remarks)
