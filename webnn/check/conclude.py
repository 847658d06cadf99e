"""What follows from the notes of a process, and from how it ended."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, repeat

from webnn.check.events import Ended, Note
from webnn.check.report import Graph, PartitionReport, Refusal, Run, Verdict
from webnn.processes.child import Exit, describe_code

__all__ = ["complete", "conclude"]


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
        code = describe_code(process.code)
        verdict, error = Verdict.CRASHED, f"the process ended with {code}" if process.code > 0 else f"the process died ({code})"
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
        partition=next((note for note in notes if isinstance(note, PartitionReport)), None),
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


def _key(refusal: Refusal) -> Refusal:
    """Return a refusal without its count: the same if it is the same refusal."""
    return refusal.model_copy(update={"count": 1})


def _remarks(profile: str | None, graphs: Sequence[Graph]) -> tuple[str, ...]:
    others = dict.fromkeys(graph.profile for graph in graphs if graph.profile != profile)
    own = [f'"{each}"' for each in others if each is not None]
    remarks = [f"the program chooses the profile {' and '.join(own)} itself, and that is what holds"] if own else []
    if None in others:
        remarks.append("the program makes contexts without a profile itself")
    return tuple(remarks)
