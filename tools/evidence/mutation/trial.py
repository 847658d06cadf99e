"""Tries a mutant in a copy of the checkout: chooses the tests that can notice it, and runs them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.evidence.mutation.mutants import Mutant
from tools.evidence.mutation.reach import ENDLESS, ROOT, Reach, copy_checkout, environment

__all__ = ["KILLED", "NOT_COVERED", "SURVIVED", "TIMED_OUT", "Bench", "Outcome", "choose"]

KILLED, TIMED_OUT, SURVIVED, NOT_COVERED = "killed", "timed out", "survived", "not covered"

#: How many tests run before the others. Most mutants need no more, and fewer files are collected.
_FIRST = 100
#: A test that takes longer than this, in seconds, must fail twice: such tests also fail because a machine is busy.
_SLOW = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of a mutant.

    Attributes:
        identity: The mutant's.
        outcome: One of the four words.
        by: The test that failed, or that did not end.
        tests: How many tests could have noticed it.
        seconds: How long that took.
    """

    identity: str
    outcome: str
    by: str = ""
    tests: int = 0
    seconds: float = 0.0


def choose(mutant: Mutant, reach: Reach, budget: float) -> list[str]:
    """Return the tests that may notice a mutant, those of the mutant's package first, then the fastest.

    These are the tests that reach the line, and the others of their files, because one test may check what another one has cached. If the
    line runs at the import of its module, these are the tests that reach any line of the module, or else those of its package.

    Args:
        mutant: The mutant.
        reach: The tests that reach each line.
        budget: How many seconds the tests may take together; later ones are left out.
    """
    package, _, _ = mutant.path.partition("/")
    near = f"tests/{package}/"
    told = reach.tests(mutant.path, mutant.lines)
    reaching = {test for test in told if test in reach.seconds}
    if not told and not mutant.at_import:
        return []
    if mutant.at_import or not reaching:
        reaching |= {test for test in reach.tests(mutant.path) if test in reach.seconds}
    files = {test.partition("::")[0] for test in reaching}
    others = {test for test in reach.seconds if test.partition("::")[0] in files or (not files and test.startswith((near, "tests/meta/")))}

    def rank(test: str) -> tuple[bool, bool, float]:
        return test not in reaching, not test.startswith(near), reach.seconds[test]

    chosen = []
    for test in sorted(reaching | others, key=rank):
        budget -= reach.seconds[test]
        if budget < 0:
            break
        chosen.append(test)
    return chosen


class Bench:
    """A copy of the checkout in which one mutant at a time is tried.

    Args:
        folder: Where the copy and its notes lie.
        reach: The tests that reach each line.
    """

    def __init__(self, folder: Path, reach: Reach) -> None:
        self._checkout = folder / "checkout"
        self._tests, self._record, self._output = folder / "tests.json", folder / "record.json", folder / "output.txt"
        self._reach = reach
        copy_checkout(self._checkout)

    def check(self) -> None:
        """Check that the tests pass without a mutant: one of each file.

        Raises:
            RuntimeError: One fails.
        """
        fastest: dict[str, str] = {}
        for test in sorted(self._reach.seconds, key=lambda test: self._reach.seconds[test]):
            fastest.setdefault(test.partition("::")[0], test)
        status, by = self._run(list(fastest.values()))
        if status:
            raise RuntimeError(f"without a mutant, the tests must pass, but pytest ended with {status}: {by} ({self._output})")

    def try_mutant(self, mutant: Mutant, tests: Sequence[str]) -> Outcome:
        """Run the tests against a mutant."""
        began = time.monotonic()
        outcome, by = NOT_COVERED if not tests else SURVIVED, ""
        original = (ROOT / mutant.path).read_text(encoding="utf-8")
        try:
            self._write(mutant.path, mutant.apply(original))
            for batch in (tests[:_FIRST], sorted(tests[_FIRST:], key=lambda test: test.partition("::")[0])):
                remaining = list(batch)
                while remaining and outcome == SURVIVED:
                    status, by = self._run(remaining)
                    if status == 0:
                        break
                    if status == 1 and self._reach.seconds.get(by, 0) > _SLOW and self._run([by])[0] == 0:
                        remaining.remove(by)
                        continue
                    outcome = TIMED_OUT if status in (ENDLESS, -signal.SIGXCPU, None) else KILLED
        finally:
            self._write(mutant.path, original)
        seconds = round(time.monotonic() - began, 1)
        return Outcome(identity=mutant.identity, outcome=outcome, by=by, tests=len(tests), seconds=seconds)

    def _write(self, path: str, text: str) -> None:
        file = self._checkout / path
        file.write_text(text, encoding="utf-8", newline="")
        # Python compares only the time in seconds and the size, which may be equal for two mutants of one second.
        for cached in (file.parent / "__pycache__").glob(f"{file.stem}.*.pyc"):
            cached.unlink()

    def _run(self, tests: Sequence[str]) -> tuple[int | None, str]:
        """Run tests; return pytest's exit status, ``None`` if it hangs, and the first test that failed or did not end."""
        # Generous: a mutant may make a test slow, which is not a failure.
        limits = {test: 20 + 20 * self._reach.seconds[test] for test in tests}
        self._tests.write_text(json.dumps(limits), encoding="utf-8")
        self._record.unlink(missing_ok=True)
        variables = {"MUTATION_TESTS": str(self._tests), "MUTATION_RECORD": str(self._record)}
        files = dict.fromkeys(test.partition("::")[0] for test in tests)
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            "-q",
            "-p",
            "tools.evidence.mutation.plugin",
            "-p",
            "no:cacheprovider",
            "--hypothesis-seed=0",
            *files,
        ]
        # Not a pipe: a process that a test left running would keep it open.
        with self._output.open("w") as output:
            process = subprocess.Popen(
                [*command, *files],
                cwd=self._checkout,
                env=environment(self._checkout, **variables),
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                status: int | None = process.wait(600 + sum(limits.values()))
            except subprocess.TimeoutExpired:
                status = None
            finally:
                # Processes that a test left running are ended, too.
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if status == 5:  # no test of these names is there any more: nothing failed
            return 0, ""
        record = json.loads(self._record.read_text(encoding="utf-8")) if self._record.exists() else {}
        return status, next(iter(record.get("failed", [])), "")
