"""The process that runs the program once: on a profile, or without one. It notes what happens, and its exit code is the program's.

Without a profile, it also predicts how the program runs on many, if that is possible: a program is followed (`follow`), and everything
else, which runs no foreign code, is built again on each.
"""

from __future__ import annotations

import io
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from types import CodeType, MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

import webnn
from webnn.check.events import Collected, Ended, Job, Kind, Notes, Replay, Replayed, Sink
from webnn.check.follow import Witness
from webnn.check.recorder import Recorder, write_error
from webnn.commands import feeds
from webnn.commands.models import is_onnx
from webnn.commands.registry import CASES
from webnn.commands.scripts import print_error, run_script
from webnn.commands.text import replace_surrogates
from webnn.context.emulation import Emulation
from webnn.context.processes import end_with_parent
from webnn.importing.ranges import find_operators
from webnn.validation.errors import DOMException

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription

__all__ = ["main", "run"]

_DONE = Ended(code=0)
#: Runs a job, with what was read once.
_Run: TypeAlias = Callable[[Job, Recorder], Ended]


def main(job: str) -> None:
    """Run a program: the main function of the process. The `Job` is JSON."""
    # Python buffers output to a pipe: a killed process would lose its last lines.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    end_with_parent()
    sys.exit(run(Job.model_validate_json(job), sys.addaudithook))


def run(job: Job, audit: Callable[[Callable[[str, tuple[object, ...]], None]], None] = lambda hook: None) -> int:
    """Run a program, and return its exit code.

    ``audit`` adds a hook for the events of the interpreter, by which a program that starts processes is known.
    """
    notes = Notes(Path(job.notes))
    if job.predict:
        # Imported lazily: other jobs do without onnx.
        from webnn.check.models import predict  # noqa: PLC0415

        predict(job, notes)
        return 0
    if job.kind in _PROGRAMS:
        return _run_program(job, notes, audit)
    run_again = _READ[job.kind](job, notes)
    end = _record(job, notes, run_again)
    for profile in job.replay:
        notes.write(_replay(job, profile, run_again))
    if job.replay:
        notes.write(Replayed(profiles=len(job.replay)))
    return end.code


def _run_program(job: Job, notes: Notes, audit: Callable[[Callable[[str, tuple[object, ...]], None]], None]) -> int:
    """Run a program of a user once, and follow it on profiles."""
    run_once, root = _PROGRAMS[job.kind]
    recorder = Recorder(job, notes)
    witness = Witness(job, recorder, root) if job.replay else None
    before = threading.enumerate()
    with ExitStack() as stack:
        stack.enter_context(Emulation(recorder.settings() if witness is None else witness.settings()))
        if witness is not None:
            stack.enter_context(witness.watching())
            if root is not None:
                audit(witness.audit)
        end = run_once(job, recorder)
        # Threads of the program may still build.
        for thread in threading.enumerate():
            if thread not in before and not thread.daemon:
                thread.join()
    recorder.end(end)
    if witness is not None:
        for replay in witness.finish(end):
            notes.write(replay)
        notes.write(Replayed(profiles=len(job.replay)))
    return end.code


def _record(job: Job, sink: Sink, run_again: _Run) -> Ended:
    """Run a job in this process, and note what happens."""
    recorder = Recorder(job, sink)
    with recorder.recording():
        end = run_again(job, recorder)
    recorder.end(end)
    return end


def _replay(job: Job, profile: str, run_again: _Run) -> Replay:
    """Run a job on a profile, and once more with everything allowed if it is refused and all refusals are asked for."""
    began = time.perf_counter()
    first, again = Collected(), Collected()
    own = job.model_copy(update={"profile": profile})
    end = _record(own, first, run_again)
    if job.every and end.fatal is not None:
        _record(own.model_copy(update={"go_on": True}), again, run_again)
    seconds = round(time.perf_counter() - began, 3)
    return Replay(profile=profile, notes=tuple(first.notes), again=tuple(again.notes) or None, seconds=seconds)


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
        return Ended(code=1, error=write_error(error), fatal=recorder.fatal(error))
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


def _read_graph(job: Job, notes: Sink) -> _Run:
    """Read a saved graph, which is built in the draft that it belongs to."""
    description = job.options.load_saved(Path(job.program))

    def build(job: Job, recorder: Recorder) -> Ended:
        try:
            return _build(description if all(each.descriptors for each in description.operators) else description.infer(), recorder)
        except (DOMException, TypeError, webnn.DescriptionError) as error:
            return Ended(code=1, error=write_error(error), fatal=recorder.fatal(error))

    return build


def _build(description: GraphDescription, recorder: Recorder) -> Ended:
    recorder.intervals = find_operators(description)
    feeds.build(description)
    return _DONE


def _read_model(job: Job, notes: Sink) -> _Run:
    """Import a model."""
    from webnn.check.models import describe_model  # noqa: PLC0415 (imported lazily: other jobs do without onnx)
    from webnn.importing.driver import fit_integers  # noqa: PLC0415 (as above)

    path = Path(job.program)
    description: GraphDescription | None = None
    failed: Exception | None = None
    try:
        if is_onnx(path):
            from webnn.onnx import survey  # noqa: PLC0415 (as above)

            description, report = survey(*job.options.read(path, weights=False))
        else:
            description, report = job.options.survey_other(path)
        notes.write(describe_model(report, description, path))
    except _FAULTS as error:
        failed = error

    def build(job: Job, recorder: Recorder) -> Ended:
        if failed is not None:
            return Ended(code=1, error=write_error(failed), fatal=recorder.fatal(failed))
        if description is None:
            return Ended(code=1, error="it cannot be imported whole")
        try:
            limits = None if recorder.profile is None else recorder.profile.limits()
            return _build(fit_integers(description, limits, int32=job.options.int32), recorder)
        except _FAULTS as error:
            return Ended(code=1, error=write_error(error), fatal=recorder.fatal(error))

    return build


def _build_cases(job: Job, recorder: Recorder) -> Ended:
    """Build the graph of every case of a file, each in a context of its own."""
    ends: list[Ended] = []
    cases = import_module(CASES)
    for name, build in cases.load_builds(Path(job.program)):
        recorder.case = name
        try:
            build()
        except (cases.CaseError, DOMException, TypeError) as error:
            ends.append(Ended(code=1, error=f"{replace_surrogates(name)}: {write_error(error)}", fatal=recorder.fatal(error)))
    # An error caused by a refusal takes precedence over any other.
    return min(ends, key=lambda end: end.fatal is None, default=_DONE)


#: The errors of a faulty model or graph.
_FAULTS = (DOMException, TypeError, ValueError, ImportError, OSError)
#: How programs run, and the function from which their errors end them. The errors of JavaScript are caught on the way.
_PROGRAMS: Mapping[Kind, tuple[_Run, CodeType | None]] = MappingProxyType(
    {"python": (_run_python, run_script.__code__), "javascript": (_run_javascript, None)}
)
#: How everything else is read, once.
_READ: Mapping[Kind, Callable[[Job, Sink], _Run]] = MappingProxyType(
    {"graph": _read_graph, "model": _read_model, "cases": lambda job, notes: _build_cases}
)


def _exit_code(code: int) -> str:
    return f"the program ended with exit code {code}"
