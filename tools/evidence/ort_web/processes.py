"""Runs tests in processes of the page program: many in each, and a new one where a test ended it.

A test may hang (ONNX Runtime Web never settles a session's promise if WebNN's `build()` rejects), or end its process. That is the result of
this test; the others continue.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tools.evidence.ort_web.cases import Case

__all__ = ["LIST", "SILENCE", "NothingRanError", "Report", "command", "run"]

#: The page program's report of a test (`session.mjs` has the members), or "hang" or "crash" for a test that ended its process.
Report = dict[str, Any]

#: A placeholder in a command: the address of the list of tests replaces it.
LIST = "{list}"
#: How many seconds the program may be silent. It has limits of its own for promises; this one is for endless loops.
SILENCE = 120.0

_SESSION = Path(__file__).resolve().with_name("session.mjs")
#: The longest line holds the bytes of outputs, as text.
_LONGEST = 64 << 20
_LAST_WORDS = 2000
#: How long a process may take to end when it is told to.
_PATIENCE = 10.0


class NothingRanError(Exception):
    """A process ended before it began a test, so that no test has a result."""


def command(site: Path, *, provider: str, package: str, revision: str, dialect: str) -> list[str]:
    """Return the command that runs the page program: ``webnn run``, as a user has it.

    Args:
        site: The folder that the program may read.
        provider: ONNX Runtime Web's execution provider, "webnn" or "wasm".
        package: The address of its module.
        revision: The revision of the draft.
        dialect: The additions of browsers to the draft.
    """
    options = ["--revision", revision, "--dialect", dialect, "--root", str(site)]
    return [sys.executable, "-m", "webnn", "run", *options, str(_SESSION), provider, LIST, package]


def run(
    cases: Sequence[Case],
    site: Path,
    command: Sequence[str],
    *,
    jobs: int = 1,
    report: Callable[[Report], None],
    silence: float = SILENCE,
) -> None:
    """Run tests.

    Args:
        cases: The tests.
        site: The folder of their files. Each process gets a list of its tests there.
        command: The command that runs the page program.
        jobs: How many processes run at a time.
        report: Called with the report of each test when it is done.
        silence: After how many seconds without output a process is ended.

    Raises:
        NothingRanError: A process ended before it began a test. The message is its output.
    """
    asyncio.run(_run(cases, site, command, jobs, report, silence))


async def _run(
    cases: Sequence[Case], site: Path, command: Sequence[str], jobs: int, report: Callable[[Report], None], silence: float
) -> None:
    # Neighbours are alike: this spreads the tests that take long, or hang, evenly.
    workers = [_Worker(number, site, command, report, silence).run(cases[number::jobs]) for number in range(jobs)]
    await asyncio.gather(*workers)


class _Worker:
    """Runs tests, one after another, in one process at a time."""

    def __init__(self, number: int, site: Path, command: Sequence[str], report: Callable[[Report], None], silence: float) -> None:
        self._list = site / f"list-{number}.json"
        self._command = [part.replace(LIST, f"/{self._list.name}") for part in command]
        self._report = report
        self._silence = silence

    async def run(self, cases: Sequence[Case]) -> None:
        while cases:
            done = await self._run_process(cases)
            cases = [case for case in cases if case.name not in done]

    async def _run_process(self, cases: Sequence[Case]) -> set[str]:
        """Run tests until the process ends, and return the names of those that have a result."""
        self._list.write_text(json.dumps([asdict(case) for case in cases]), encoding="utf-8")
        child = await asyncio.create_subprocess_exec(
            *self._command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, limit=_LONGEST
        )
        assert child.stdout is not None
        assert child.stderr is not None
        errors = asyncio.create_task(child.stderr.read())
        done: set[str] = set()
        begun, status = "", "crash"
        try:
            while line := await asyncio.wait_for(child.stdout.readline(), self._silence):
                said = json.loads(line)
                begun = said["name"] if said["status"] == "begun" else ""
                if said["status"] not in {"begun", "done"}:
                    self._report(said)
                    done.add(said["name"])
        except TimeoutError:
            status = "hang"
            await _end(child)
        except BaseException:
            await _end(child)
            raise
        code = await child.wait()
        last_words = (await errors).decode(errors="replace").strip()[-_LAST_WORDS:]
        if begun:
            message = f"nothing was heard of it for {self._silence:g} s" if status == "hang" else f"exit code {code}: {last_words}"
            self._report({"name": begun, "status": status, "message": message})
            done.add(begun)
        elif not done:
            raise NothingRanError(last_words or f"exit code {code}")
        return done


async def _end(child: asyncio.subprocess.Process) -> None:
    """End a process. It gets a signal and time to end its own child before it is killed."""
    for tell in (child.terminate, child.kill):
        with suppress(ProcessLookupError):
            tell()
        with suppress(TimeoutError):
            await asyncio.wait_for(child.wait(), _PATIENCE)
            return
