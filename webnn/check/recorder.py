"""The notes of a check about one run: the refusals of the profile, and the graphs that are built."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from webnn.builder.semantics import find_switches
from webnn.check.changes import give_int32, keep_native, prove, suggest
from webnn.check.events import Ended, Job, Note, Sink
from webnn.check.report import Change, Fallback, Graph, Refusal
from webnn.commands.text import one_line, replace_surrogates
from webnn.context.emulation import Emulation, Settings
from webnn.context.placement import Placement
from webnn.context.placement.assign import simulate
from webnn.context.profiles import Profile, Violation, load_profile
from webnn.importing.ranges import Interval
from webnn.validation.errors import DOMException, NotSupportedError, WebNNTypeError

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription
    from webnn.context.graph import MLGraph

__all__ = ["Recorder", "write_error"]

_LONGEST_NAME = 60
_LONGEST_ERROR = 500


class Recorder:
    """Notes the refusals of a profile, and the graphs that are built."""

    def __init__(self, job: Job, notes: Sink) -> None:
        self.profile = None if job.profile is None else replace(load_profile(job.profile), observer=self.refuse, engine="")
        #: The name of the case that is built.
        self.case = ""
        #: The number of the last refusal.
        self.last: int | None = None
        self._job = job
        self._notes = notes
        self._lock = threading.Lock()
        self._numbers: dict[tuple[object, ...], int] = {}
        self._counts = Counter[int]()
        self._names = Counter[str]()
        #: The intervals of the integers of a saved graph; see `find_operators`.
        self.intervals: Mapping[tuple[str, str], Interval] = {}
        #: The subject of the last refusal.
        self._fault: tuple[str, ...] = ()
        #: The number of the last refusal by the operation and the label of an error.
        self._by_error: dict[tuple[str, str], int] = {}

    def recording(self) -> Emulation:
        """Return the block in which every context takes the profile, and every graph that is built is noted."""
        return Emulation(self.settings())

    def settings(self) -> Settings:
        """Return the settings of every context."""
        # The report lists fallbacks, so the program gets no warnings about them.
        return Settings(profile=self.profile, fallback="silent", on_build=self.note)

    def refuse(self, violation: Violation) -> bool:
        """Note a refusal, as the observer of the profile, and return whether the call goes on nevertheless."""
        v = violation
        key = (v, self.case)
        fault = (v.operation, v.label, v.kind, v.given)
        with self._lock:
            # An output with the type or rank of a refused operand has the same fault, which is reported once.
            if v.argument.startswith("output") and fault == self._fault:
                return self._job.go_on
            self._fault = fault
            number = self._numbers.setdefault(key, len(self._numbers))
            self._counts[number] += 1
            self.last = self._by_error[v.operation, v.label] = number
            if self._counts[number] == 1 and self.profile is not None:
                refusal = Refusal(
                    operation=v.operation,
                    # JSON in UTF-8 cannot hold surrogates.
                    label=replace_surrogates(v.label),
                    argument=replace_surrogates(v.argument),
                    kind=v.kind,
                    given=v.given,
                    allowed=v.allowed,
                    demand=v.demand,
                    condition=v.condition,
                    profile=v.profile,
                    graph=replace_surrogates(self.case),
                    change=self._suggest(v, self.profile),
                )
                self._notes.write(refusal)
        return self._job.go_on

    def _suggest(self, violation: Violation, profile: Profile) -> Change | None:
        change = suggest(violation, profile)
        if self._job.kind == "model" and not self._job.options.int32:
            change = give_int32(violation, change)
        interval = self.intervals.get((violation.operation, violation.label))
        return change if change is None or interval is None else prove(change, interval)

    def note(self, graph: GraphDescription, built: MLGraph) -> None:
        """Note a graph that was built."""
        state = built._state
        profile = state.profile
        placement: Placement | None = None
        if self._job.device is not None and profile is not None:
            placement = simulate(graph, profile, self._job.device)
        else:
            with suppress(NotSupportedError):  # the engine does not tell
                placement = built.placement
        concerned = {switch.name for switch in find_switches(operator.operation for operator in graph.operators)}
        name = replace_surrogates(self.case or ", ".join(graph.outputs))
        name = name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}..."
        with self._lock:
            self._names[name] += 1
            count = self._names[name]
        described = Graph(
            name=name if count == 1 else f"{name} #{count}",
            profile=None if profile is None else profile.name,
            requested=self._job.device or state.selection.requested,
            operators=len(graph.operators),
            semantics=tuple(f"{name}={value}" for name, value in state.semantics if name in concerned),
        )
        self._notes.write(described if placement is None else described.model_copy(update=_describe(placement, graph, profile)))

    def write(self, note: Note) -> None:
        """Write another note."""
        self._notes.write(note)

    def fatal(self, error: BaseException | None) -> int | None:
        """Return which refusal an error is, or comes from; ``None`` if none."""
        seen: set[int] = set()
        while error is not None and id(error) not in seen:
            seen.add(id(error))
            if isinstance(error, WebNNTypeError | DOMException) and (error.operation, error.label) in self._by_error:
                return self._by_error[error.operation, error.label]
            error = error.__cause__ or error.__context__
        return None

    def end(self, end: Ended) -> None:
        """Note how the program has ended."""
        with self._lock:
            counts = tuple(self._counts.values())
        self._notes.write(end.model_copy(update={"counts": counts}))


def _describe(placement: Placement, graph: GraphDescription, profile: Profile | None) -> dict[str, object]:
    """Return a report's members about a placement."""
    return {
        "requested": placement.requested,
        "devices": tuple(placement.devices),
        "partitions": len(placement.partitions),
        "transferred_bytes": placement.transferredBytes,
        "fallbacks": tuple(
            Fallback(
                operation=each.operation,
                label=replace_surrogates(each.label),
                device=each.device,
                reason=each.reason,
                change="" if profile is None else replace_surrogates(keep_native(graph, each.index, profile)),
            )
            for each in placement.fallbacks
        ),
    }


def write_error(error: BaseException) -> str:
    """Write an error on one line."""
    text = one_line(str(error), _LONGEST_ERROR)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
