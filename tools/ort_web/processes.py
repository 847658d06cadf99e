"""Runs tests in processes of the page program: many in each, and a new one where a test ended it.

What a test does to its process is that test's result, and the others go on: it may hang (ONNX Runtime Web never settles a session's promise
if WebNN's `build()` rejects), or end the process.
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

from tools.ort_web.cases import Case

__all__ = ["LIST", "SILENCE", "NothingRanError", "Report", "command", "run"]

#: What the page program says of a test (`session.mjs` has the members), or what is said of one that ended its process: "hang", "crash".
Report = dict[str, Any]

#: In a command, the address of the list of tests stands for this.
LIST = "{list}"
#: For how many seconds the program may say nothing. It has limits of its own for promises; this is for loops that never end.
SILENCE = 120.0

_SESSION = Path(__file__).resolve().with_name("session.mjs")
#: The longest line holds the bytes of outputs, as text.
_LONGEST = 64 << 20
_LAST_WORDS = 2000
#: How long a process may take to end when it is told to.
_PATIENCE = 10.0


class NothingRanError(Exception):
    """A process ended before it began a test: nothing can be said of any."""


def command(site: Path, *, provider: str, package: str, revision: str, dialect: str) -> list[str]:
    """Return the command that runs the page program: ``webnn run``, as a user has it.

    Args:
        site: The folder that the program may read.
        provider: ONNX Runtime Web's execution provider, "webnn" or "wasm".
        package: The address of its module.
        revision: The revision of the draft.
        dialect: What browsers had beside it.
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
        command: What runs the page program.
        jobs: How many processes run at a time.
        report: Is told of each test when it is done.
        silence: After how many seconds without a word a process is ended.

    Raises:
        NothingRanError: A process ended before it began a test. The message is what it said.
    """
    asyncio.run(_run(cases, site, command, jobs, report, silence))


async def _run(
    cases: Sequence[Case], site: Path, command: Sequence[str], jobs: int, report: Callable[[Report], None], silence: float
) -> None:
    # Neighbours are alike: the tests that take long, or hang, are dealt out evenly.
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
        """Run tests until the process ends, and return the names of those of which something can be said."""
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
    """End a process. It ends its own child if it is told to, and has the time for it."""
    for tell in (child.terminate, child.kill):
        with suppress(ProcessLookupError):
            tell()
        with suppress(TimeoutError):
            await asyncio.wait_for(child.wait(), _PATIENCE)
            return
