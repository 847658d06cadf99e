"""What follows from the notes of a process, and from how it ended."""

from __future__ import annotations

import signal
from collections.abc import Sequence

from webnn.check.events import Built, Ended, Note, Refused
from webnn.check.report import Graph, Refusal, Run, Verdict
from webnn.processes.child import Finished

__all__ = ["complete", "conclude"]


def conclude(profile: str | None, notes: Sequence[Note], finished: Finished, timeout: float) -> Run:
    """Say how a run ended.

    Args:
        profile: The profile, ``None`` for none.
        notes: What the process noted.
        finished: How the process ended.
        timeout: How long it was allowed to take, in seconds.
    """
    graphs = [note.graph for note in notes if isinstance(note, Built)]
    ended = next((note for note in notes if isinstance(note, Ended)), None)
    refusals = _refusals(notes, ended)
    fatal = None if ended is None else ended.fatal
    error = "" if ended is None else ended.error
    if finished.code is None:
        verdict, error = Verdict.TIMEOUT, f"the program was not done after {timeout:g} s"
    elif finished.code and not error:
        # The process ended in the middle of the program, or while the interpreter cleaned up.
        verdict, error = Verdict.CRASHED, _describe_death(finished.code)
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
        graphs=tuple(graphs),
        refusals=tuple(refusals),
        fatal=fatal,
        error=error,
        notes=tuple(_remarks(profile, graphs)),
        seconds=round(finished.seconds, 3),
    )


def complete(run: Run, notes: Sequence[Note], finished: Finished, timeout: float) -> Run:
    """Add to a run all that the profile refuses.

    Args:
        run: The run, which ended with a refusal.
        notes: The notes of a second process, which let refused calls pass.
        finished: How that process ended.
        timeout: How long it was allowed to take, in seconds.
    """
    again = conclude(run.profile, notes, finished, timeout)
    fatal = None if run.fatal is None else _key(run.refusals[run.fatal])
    remarks = [*run.notes]
    if again.error:
        remarks.append(f"there may be more: the program did not get to its end when everything was allowed ({again.error})")
    known = {_key(each) for each in again.refusals}
    # Refusals of the first run that the second one did not meet are kept.
    refusals = (*again.refusals, *(each for each in run.refusals if _key(each) not in known))
    return run.model_copy(
        update={
            "refusals": refusals,
            "fatal": next((number for number, each in enumerate(refusals) if _key(each) == fatal), None),
            "notes": tuple(remarks),
            "seconds": round(run.seconds + again.seconds, 3),
        }
    )


def _refusals(notes: Sequence[Note], ended: Ended | None) -> list[Refusal]:
    refusals = [note.refusal for note in notes if isinstance(note, Refused)]
    counts = () if ended is None else ended.counts
    return [each.model_copy(update={"count": counts[number]}) if number < len(counts) else each for number, each in enumerate(refusals)]


def _key(refusal: Refusal) -> Refusal:
    """Return a refusal without its count: the same if it is the same refusal."""
    return refusal.model_copy(update={"count": 1})


def _remarks(profile: str | None, graphs: Sequence[Graph]) -> list[str]:
    others = dict.fromkeys(graph.profile for graph in graphs if graph.profile != profile)
    own = [f'"{each}"' for each in others if each is not None]
    remarks = [f"the program chooses the profile {' and '.join(own)} itself, and that is what holds"] if own else []
    if None in others:
        remarks.append("the program makes contexts without a profile itself")
    return remarks


def _describe_death(code: int) -> str:
    if code >= 0:
        # Windows reports faults as large exit codes, which are usually written in hexadecimal.
        return f"the process ended with exit code {code if code < 256 else hex(code)}"
    name = f", {signal.Signals(-code).name}" if -code in set(signal.Signals) else ""
    return f"the process died (signal {-code}{name})"
