"""The process that runs the program once: on a profile, or without one. It notes what happens, and its exit code is the program's."""

from __future__ import annotations

import io
import sys
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import webnn
from webnn.builder.semantics import find_switches
from webnn.check.changes import prove, suggest
from webnn.check.events import Ended, Job, Kind, Note, Notes
from webnn.check.report import Change, Fallback, Graph, Refusal
from webnn.commands import feeds
from webnn.commands.models import is_onnx
from webnn.commands.registry import CASES
from webnn.commands.scripts import print_error, run_script
from webnn.commands.text import one_line, replace_surrogates
from webnn.context.emulation import Emulation, Settings
from webnn.context.placement import Placement
from webnn.context.placement.assign import simulate
from webnn.context.profiles import Profile, Violation, load_profile
from webnn.importing.ranges import Interval, find_operators
from webnn.processes.child import end_with_parent
from webnn.validation.drafts import for_devices
from webnn.validation.errors import DOMException, NotSupportedError, WebNNTypeError

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription
    from webnn.context.graph import MLGraph

__all__ = ["Recorder", "main", "run"]

_LONGEST_NAME = 60
_LONGEST_ERROR = 500
_DONE = Ended(code=0)


class Recorder:
    """Notes what a profile refuses, and the graphs that are built."""

    def __init__(self, job: Job, notes: Notes) -> None:
        self.profile = None if job.profile is None else replace(load_profile(job.profile), observer=self.refuse)
        #: The name of the case that is built.
        self.case = ""
        #: The number of what was refused last.
        self.last: int | None = None
        self._job = job
        self._notes = notes
        self._lock = threading.Lock()
        self._numbers: dict[tuple[object, ...], int] = {}
        self._counts = Counter[int]()
        self._names = Counter[str]()
        #: The intervals of the integers of a saved graph; see `find_operators`.
        self.intervals: Mapping[tuple[str, str], Interval] = {}
        #: What the last refusal was about.
        self._fault: tuple[str, ...] = ()
        #: The number of what was refused last, by what an error says of itself: operation and label.
        self._by_error: dict[tuple[str, str], int] = {}

    def recording(self) -> Emulation:
        """Return the block in which every context takes the profile, and every graph that is built is noted."""
        # The report lists what falls back, so the program gets no warnings about it.
        return Emulation(Settings(profile=self.profile, fallback="silent", on_build=self.note))

    def refuse(self, violation: Violation) -> bool:
        """Note what the profile refuses, as its observer, and return whether the call goes on nevertheless."""
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
        self._notes.write(described if placement is None else described.model_copy(update=_describe(placement)))

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


def main(job: str) -> None:
    """Run a program: the main function of the process. The `Job` is JSON."""
    # Python buffers output to a pipe: a killed process would lose its last lines.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    end_with_parent()
    sys.exit(run(Job.model_validate_json(job)))


def run(job: Job) -> int:
    """Run a program, and return its exit code."""
    recorder = Recorder(job, Notes(Path(job.notes)))
    before = threading.enumerate()
    with recorder.recording():
        end = _RUN[job.kind](job, recorder)
        # Threads of the program may still build.
        for thread in threading.enumerate():
            if thread not in before and not thread.daemon:
                thread.join()
    recorder.end(end)
    return end.code


def _describe(placement: Placement) -> dict[str, object]:
    """Return what a report says of a placement."""
    return {
        "requested": placement.requested,
        "devices": tuple(placement.devices),
        "partitions": len(placement.partitions),
        "transferred_bytes": placement.transferredBytes,
        "fallbacks": tuple(
            Fallback(operation=each.operation, label=replace_surrogates(each.label), device=each.device, reason=each.reason)
            for each in placement.fallbacks
        ),
    }


def _run_python(job: Job, recorder: Recorder) -> Ended:
    """Run a Python program as the interpreter would."""
    try:
        run_script(job.program, job.arguments)
    except SystemExit as error:
        if error.code is not None and not isinstance(error.code, int):
            print(error.code, file=sys.stderr)
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
        # A program that exits with an error is assumed to do so because of the last refusal.
        return Ended(code=code, error=_exit_code(code), fatal=recorder.last) if code else _DONE
    except BaseException as error:  # whatever the program raises: the interpreter would print it, too
        print_error(error, job.program)
        return Ended(code=1, error=_write(error), fatal=recorder.fatal(error))
    return _DONE


def _run_javascript(job: Job, recorder: Recorder) -> Ended:
    """Run a program, or a page, in Node: its `navigator.ml` is of this process."""
    # Only a program in JavaScript needs these.
    import typer  # noqa: PLC0415

    from webnn.commands.program import command  # noqa: PLC0415

    try:
        command(Path(job.program), list(job.arguments), root=None, node=None, dialect=None, revision=job.revision, timeout=None)
    except typer.Exit as ended:
        if ended.exit_code:
            # The error stays in JavaScript. Most likely the last refusal caused it.
            return Ended(code=ended.exit_code, error=_exit_code(ended.exit_code), fatal=recorder.last)
    return _DONE


def _build_graph(job: Job, recorder: Recorder) -> Ended:
    """Build a saved graph, in the draft that it belongs to."""
    description = job.options.load_saved(Path(job.program))
    try:
        recorder.intervals = find_operators(description if all(each.descriptors for each in description.operators) else description.infer())
        feeds.build(description)
    except (DOMException, TypeError, webnn.DescriptionError) as error:
        return Ended(code=1, error=_write(error), fatal=recorder.fatal(error))
    return _DONE


def _import_model(job: Job, recorder: Recorder) -> Ended:
    """Import a model, and build it."""
    from webnn.importing.imported import fit_integers  # noqa: PLC0415 (as below)

    path = Path(job.program)
    try:
        description = _import_onnx(job, recorder, path) if is_onnx(path) else _import_stablehlo(job, recorder, path)
        if description is None:
            return Ended(code=1, error="it cannot be imported whole")
        description = fit_integers(description, None if recorder.profile is None else recorder.profile.limits(), int32=job.options.int32)
        recorder.intervals = find_operators(description)
        feeds.build(description)
    except (DOMException, TypeError, ValueError, ImportError, OSError) as error:
        return Ended(code=1, error=_write(error), fatal=recorder.fatal(error))
    return _DONE


def _import_onnx(job: Job, recorder: Recorder, path: Path) -> webnn.GraphDescription | None:
    """Import an ONNX model, and note how ONNX Runtime Web would partition it."""
    # Imported lazily: other jobs do without onnx.
    from webnn.check.models import describe_model, partition_model  # noqa: PLC0415
    from webnn.onnx import survey  # noqa: PLC0415

    model, settings = job.options.read(path, weights=False)
    description, report = survey(model, settings)
    recorder.write(describe_model(report, description))
    context = webnn.ML(revision=for_devices()).createContextSync()
    partition = partition_model(model, settings, context.opSupportLimits())
    if partition is not None:
        recorder.write(partition)
    return description


def _import_stablehlo(job: Job, recorder: Recorder, path: Path) -> webnn.GraphDescription | None:
    """Import a StableHLO program."""
    from webnn.check.models import describe_model  # noqa: PLC0415 (as above)

    description, report = job.options.survey_stablehlo(path)
    recorder.write(describe_model(report, description))
    return description


def _build_cases(job: Job, recorder: Recorder) -> Ended:
    """Build the graph of every case of a file, each in a context of its own."""
    ends: list[Ended] = []
    cases = import_module(CASES)
    for name, build in cases.load_builds(Path(job.program)):
        recorder.case = name
        try:
            build()
        except (cases.CaseError, DOMException, TypeError) as error:
            ends.append(Ended(code=1, error=f"{replace_surrogates(name)}: {_write(error)}", fatal=recorder.fatal(error)))
    # An error caused by a refusal takes precedence over any other.
    return min(ends, key=lambda end: end.fatal is None, default=_DONE)


_RUN: Mapping[Kind, Callable[[Job, Recorder], Ended]] = MappingProxyType(
    {
        "python": _run_python,
        "javascript": _run_javascript,
        "graph": _build_graph,
        "model": _import_model,
        "cases": _build_cases,
    }
)


def _exit_code(code: int) -> str:
    return f"the program ended with exit code {code}"


def _write(error: BaseException) -> str:
    """Write an error on one line."""
    text = one_line(str(error), _LONGEST_ERROR)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
