"""Starts the processes that run the program: one without a profile, then one on each, several at once."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import webnn
from webnn.check.conclude import Predicted, complete, conclude, conclude_prediction, end_before_replay, end_of_replay
from webnn.check.events import Job, Note, Replay, read_notes
from webnn.check.report import ModelReport, Report, Run, Totals, Verdict
from webnn.commands.models import is_onnx
from webnn.context.emulation import FALLBACK_VARIABLE, PROFILE_VARIABLE
from webnn.processes.child import Exit, Process, ends_at_signals
from webnn.processes.executors import open_workers
from webnn.processes.pool import cores
from webnn.processes.spread import spread

__all__ = ["Named", "check", "run_on"]

#: The folder that holds the package.
_ROOT = str(Path(webnn.__file__).resolve().parents[1])
#: The interpreter finds this package, but nothing else that is beside it, and nothing in the current folder.
_START = "import sys; sys.path.append({root!r}); from webnn.check import worker; sys.path.pop(); worker.main({job!r})"


class Named(NamedTuple):
    """A profile to check: its name in the report, its name for `load_profile`, and whether the program must build on it."""

    name: str
    source: str
    required: bool


def check(
    job: Job,
    profiles: Sequence[Named],
    tell: Callable[[Run, str], None] = lambda run, output: None,
    *,
    every: bool,
    timeout: float,
    executor: str | None = None,
    replay: bool = True,
) -> Report:
    """Check a program. If it fails without a profile, no profile is tried.

    ``tell`` is called when a run has ended, with the end of the program's output, from one thread at a time. A run may take ``timeout``
    seconds. With ``replay``, the program runs on a profile only where the run without one does not show how it runs there.

    Raises:
        OSError: A process could not start, or the executor is broken.
        ImportError: The package that the executor needs is not installed.
        ValueError: There is no such executor.
    """
    began = time.perf_counter()
    sources = tuple([each.source for each in profiles])
    first = job.model_copy(update={"replay": sources, "every": every}) if replay and executor is None else job
    # A killed process may keep its notes open for a moment.
    temporary = tempfile.TemporaryDirectory(prefix="webnn-check-", ignore_cleanup_errors=True)
    with temporary as folder, ends_at_signals(), closing(_Runner(first, Path(folder), every, timeout)) as runner:
        predicted = runner.predict(sources) if job.kind == "model" and is_onnx(Path(job.program)) else None
        baseline, output = runner.run(None)
        tell(baseline, output)
        runs: list[Run] = []
        # A model that cannot be imported whole is still partitioned on each profile.
        if baseline.passed or (predicted is not None and predicted.result().partitions):
            for run, output in runner.run_all(profiles) if executor is None else _run_elsewhere(executor, job, profiles, every, timeout):
                runs.append(run)
                tell(run, output)
        model = runner.model
        if predicted is not None:
            found = predicted.result()
            baseline = found.add_to(baseline, None)
            runs = [found.add_to(run, named.source) for run, named in zip(runs, profiles, strict=False)]
            model = None if model is None else model.model_copy(update={"refusal": found.refusal})
    return Report(
        version=webnn.__version__,
        program=job.program,
        arguments=job.arguments,
        revision=job.revision,
        device=job.device,
        model=model,
        baseline=baseline,
        profiles=tuple(runs),
        totals=Totals(
            profiles=len(runs),
            passed=sum(run.passed for run in runs),
            failed_required=tuple(str(run.profile) for run in runs if run.required and not run.passed),
        ),
        seconds=round(time.perf_counter() - began, 3),
    )


class _Runner:
    """Runs the program, in any thread of its pool. The processes leave their notes in a folder."""

    def __init__(self, job: Job, folder: Path, every: bool, timeout: float) -> None:
        self.pool = ThreadPoolExecutor(max_workers=cores())
        self._job = job
        self._folder = folder
        self._every = every
        self._timeout = timeout
        self._lock = threading.Lock()
        self._processes: set[Process] = set()
        self._started = 0
        #: The import of a model, once the program has run without a profile.
        self.model: ModelReport | None = None
        #: How the program runs on profiles, if that run can tell.
        self._replays: dict[str, Replay] = {}
        self._over = False

    def close(self) -> None:
        """End the runs that are not done."""
        with self._lock:
            self._over = True
            running = list(self._processes)
        for process in running:
            process.kill()
        self.pool.shutdown(cancel_futures=True)

    def predict(self, sources: Sequence[str]) -> Future[Predicted]:
        """Say how ONNX Runtime takes a model, in a process of its own: its optimizer may crash."""
        job = self._job.model_copy(update={"replay": tuple(sources), "predict": True})
        return self.pool.submit(lambda: conclude_prediction(*self._start(job), sources, self._timeout))

    def run_all(self, profiles: Sequence[Named]) -> Iterator[tuple[Run, str]]:
        """Run the program on profiles, several at once; yield the results of `run`, in their order."""
        for future in [self.pool.submit(self.run, profile) for profile in profiles]:
            yield future.result()

    def run(self, profile: Named | None) -> tuple[Run, str]:
        """Run the program, and return the result, with the end of its output."""
        if profile is None:
            notes, ended = self._start(self._job)
            self.model = next((note for note in notes if isinstance(note, ModelReport)), None)
            self._replays = {note.profile: note for note in notes if isinstance(note, Replay)}
            if self._job.replay:
                ended = end_before_replay(notes, ended)
            return conclude(None, notes, ended, self._timeout), ended.output
        job = self._job.model_copy(update={"profile": profile.source, "replay": ()})
        replay = self._replays.get(profile.source)
        found: tuple[Sequence[Note], Exit] = self._start(job) if replay is None else (replay.notes, end_of_replay(replay))
        run = conclude(profile.name, *found, self._timeout).model_copy(update={"required": profile.required})
        if self._every and run.verdict is Verdict.REFUSED:
            if replay is not None and replay.again is not None:
                run = complete(run, replay.again, end_of_replay(replay, again=True), self._timeout)
            else:
                run = complete(run, *self._start(job.model_copy(update={"go_on": True})), self._timeout)
        return run, found[1].output

    def _start(self, job: Job) -> tuple[list[Note], Exit]:
        with self._lock:
            if self._over:
                raise RuntimeError("the check is over")
            self._started += 1
            file = self._folder / f"{self._started}.jsonl"
            text = job.model_copy(update={"notes": str(file)}).model_dump_json()
            process = Process([sys.executable, "-P", "-c", _START.format(root=_ROOT, job=text)], _environment(job))
            self._processes.add(process)
        ended = process.wait(self._timeout)
        with self._lock:
            self._processes.remove(process)
        return read_notes(file), ended


def _run_elsewhere(executor: str, job: Job, profiles: Sequence[Named], every: bool, timeout: float) -> Iterator[tuple[Run, str]]:
    """Run the program on profiles, on the workers of an executor, which find it under the same path."""
    sent = job.model_copy(update={"program": str(Path(job.program).absolute())})
    with (
        open_workers(executor, "--executor") as workers,
        closing(spread(workers, run_on, profiles, lambda profile: [sent, profile, every, timeout], ordered=True)) as outcomes,
    ):
        for outcome in outcomes:
            if outcome.result is None:
                raise OSError(f"on {outcome.task.name}: {outcome.problem}")
            yield outcome.result


def run_on(job: Job, profile: Named, every: bool, timeout: float) -> tuple[Run, str]:
    """Run the program on a profile, in a worker: a task of `check`."""
    temporary = tempfile.TemporaryDirectory(prefix="webnn-check-", ignore_cleanup_errors=True)
    with temporary as folder, closing(_Runner(job, Path(folder), every, timeout)) as runner:
        return runner.run(profile)


def _environment(job: Job) -> dict[str, str]:
    """Return the environment of a process, which its children inherit; the user's own profile and policy are left out."""
    environment = {name: value for name, value in os.environ.items() if name not in (PROFILE_VARIABLE, FALLBACK_VARIABLE)}
    chosen = {"PYTHONIOENCODING": "utf-8", PROFILE_VARIABLE: job.profile, "WEBNN_REVISION": job.revision}
    return environment | {name: value for name, value in chosen.items() if value is not None}
