"""Runs the program: once without a profile, then once on each."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import webnn
from webnn.check.conclude import complete, conclude
from webnn.check.events import Job, Kind, Note, read_notes
from webnn.check.report import Report, Run, Totals, Verdict
from webnn.context.emulation import FALLBACK_VARIABLE, PROFILE_VARIABLE
from webnn.processes.child import Finished, Process
from webnn.processes.lifetime import ends_at_signals
from webnn.validation.device_type import DeviceType

__all__ = ["Named", "Request", "check"]

#: The folder that holds the package.
_ROOT = str(Path(webnn.__file__).resolve().parents[1])
#: The interpreter finds this package, but nothing else that is beside it, and nothing in the current folder.
_START = "import sys; sys.path.append({root!r}); from webnn.check import worker; sys.path.pop(); worker.main({job!r})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A profile to check.

    Attributes:
        name: What the report calls it.
        source: As `load_profile` takes it.
        required: The command fails if the program does not build on it.
    """

    name: str
    source: str
    required: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is to be checked.

    Attributes:
        program: The file.
        kind: What it is.
        arguments: The program's arguments.
        profiles: The profiles.
        every: Find every refusal, not only what the program meets before it ends.
        revision: The draft that ``navigator.ml`` follows; ``None`` for what the environment says.
        device: The device type that placements are asked for; ``None`` for what the program asks for.
        timeout: How long a run may take, in seconds.
        jobs: How many runs may go on at once.
    """

    program: Path
    kind: Kind
    arguments: tuple[str, ...] = ()
    profiles: Sequence[Named]
    every: bool = False
    revision: str | None = None
    device: DeviceType | None = None
    timeout: float
    jobs: int


def check(request: Request, tell: Callable[[Run, str], None] = lambda run, output: None) -> Report:
    """Check a program. If it fails without a profile, no profile is tried.

    Args:
        request: What is to be checked.
        tell: Called when a run has ended, with what the program printed last; from one thread at a time.

    Raises:
        OSError: A process could not start.
    """
    began = time.perf_counter()
    # A killed process may keep its notes open for a moment.
    temporary = tempfile.TemporaryDirectory(prefix="webnn-check-", ignore_cleanup_errors=True)
    with temporary as folder, ends_at_signals(), _Runner(request, Path(folder)) as runner:
        baseline, output = runner.run(None)
        tell(baseline, output)
        runs: list[Run] = []
        if baseline.passed:
            for future in [runner.submit(profile) for profile in request.profiles]:
                run, output = future.result()
                runs.append(run)
                tell(run, output)
    return Report(
        version=webnn.__version__,
        program=str(request.program),
        arguments=request.arguments,
        revision=request.revision,
        device=request.device,
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
    """Runs the program, several times at once; runs that are not done at the end of its block are ended.

    Args:
        request: What is to be checked.
        folder: Where processes can leave notes.
    """

    def __init__(self, request: Request, folder: Path) -> None:
        self._request = request
        self._folder = folder
        self._pool = ThreadPoolExecutor(max_workers=request.jobs)
        self._lock = threading.Lock()
        self._processes: set[Process] = set()
        self._started = 0
        self._over = False

    def __enter__(self) -> _Runner:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with self._lock:
            self._over = True
            running = list(self._processes)
        for process in running:
            process.kill()
        self._pool.shutdown(cancel_futures=True)

    def submit(self, profile: Named) -> Future[tuple[Run, str]]:
        """Run the program on a profile as soon as there is room."""
        return self._pool.submit(self.run, profile)

    def run(self, profile: Named | None) -> tuple[Run, str]:
        """Run the program, and return how that ended, with the end of what it printed.

        Args:
            profile: The profile; ``None`` for none.
        """
        name = None if profile is None else profile.name
        notes, finished = self._start(profile, go_on=False)
        run = conclude(name, notes, finished, self._request.timeout)
        if profile is not None:
            run = run.model_copy(update={"required": profile.required})
            if self._request.every and run.verdict is Verdict.REFUSED:
                run = complete(run, *self._start(profile, go_on=True), self._request.timeout)
        return run, finished.output

    def _start(self, profile: Named | None, *, go_on: bool) -> tuple[list[Note], Finished]:
        request = self._request
        source = None if profile is None else profile.source
        with self._lock:
            if self._over:
                raise RuntimeError("the check is over")
            self._started += 1
            file = self._folder / f"{self._started}.jsonl"
            job = Job(
                program=str(request.program),
                kind=request.kind,
                arguments=request.arguments,
                profile=source,
                revision=request.revision,
                device=request.device,
                go_on=go_on,
                notes=str(file),
            )
            command = [sys.executable, "-P", "-c", _START.format(root=_ROOT, job=job.model_dump_json())]
            process = Process(command, _environment(request, source))
            self._processes.add(process)
        finished = process.wait(request.timeout)
        with self._lock:
            self._processes.remove(process)
        return read_notes(file), finished


def _environment(request: Request, profile: str | None) -> dict[str, str]:
    """Return the environment of a process, which its children inherit; the user's own profile and policy are left out."""
    environment = {name: value for name, value in os.environ.items() if name not in (PROFILE_VARIABLE, FALLBACK_VARIABLE)}
    environment["PYTHONIOENCODING"] = "utf-8"
    if profile is not None:
        environment[PROFILE_VARIABLE] = profile
    if request.revision is not None:
        environment["WEBNN_REVISION"] = request.revision
    return environment
