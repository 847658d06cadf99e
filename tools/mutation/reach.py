"""Which tests reach a line: one run of the test suite under coverage, kept in a folder."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from pathlib import Path

__all__ = ["ENDLESS", "PACKAGES", "ROOT", "Reach", "copy_checkout", "environment", "files", "measure"]

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("validation", "builder", "context", "webnn", "wpt_runner")
#: The exit status of a run whose test used more CPU time than it may.
ENDLESS = 99

_SETTINGS = """\
[run]
data_file = {data}
parallel = true
context = ${{PYTEST_CURRENT_TEST-}}
patch = _exit
disable_warnings = module-not-measured,no-data-collected,module-not-imported,already-imported
include = {include}
"""


def files(root: Path = ROOT) -> Iterator[str]:
    """Yield the checkout's files, those that git does not know yet included."""
    listed = subprocess.run(["git", "ls-files", "-zco", "--exclude-standard"], cwd=root, capture_output=True, check=True, text=True).stdout
    yield from (name for name in listed.split("\0") if name and os.path.lexists(root / name))


def copy_checkout(target: Path) -> None:
    """Copy the checkout, with its links, and lay the shared data beside it."""
    shutil.rmtree(target, ignore_errors=True)
    for name in files():
        copy = target / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, copy, follow_symlinks=False)
    shared, link = ROOT.parent / "shared", target.parent / "shared"
    if shared.is_dir() and not link.is_symlink():
        link.symlink_to(shared, target_is_directory=True)


def environment(checkout: Path, **more: str) -> dict[str, str]:
    """Return the environment of a test run: every process imports the copy."""
    return {**os.environ, "PYTHONPATH": str(checkout), **more}


class Reach:
    """What a run of the tests told.

    Attributes:
        seconds: How long each test took, by name.
        failed: The tests that failed, and cannot tell anything about a mutant.
    """

    def __init__(self, data: Path, checkout: Path, record: Mapping[str, Mapping[str, float]]) -> None:
        from coverage import CoverageData  # noqa: PLC0415 (the tests of the other modules do without)

        self._data = CoverageData(str(data))
        self._data.read()
        self._checkout = checkout
        self._lines: dict[str, dict[int, list[str]]] = {}
        self.failed = frozenset(record["failed"])
        self.seconds = {test: seconds for test, seconds in record["seconds"].items() if test not in self.failed}

    def lines(self, path: str) -> dict[int, list[str]]:
        """Return the tests that reach each line of a file. An empty name stands for what runs when a module is imported."""
        if path not in self._lines:
            measured = self._checkout / path
            found = self._data.contexts_by_lineno(str(measured))
            names = {context: context.partition(" (")[0] for contexts in found.values() for context in contexts}
            moved = _moved_lines(measured.read_text(encoding="utf-8"), (ROOT / path).read_text(encoding="utf-8"))
            self._lines[path] = {moved[line]: [names[context] for context in contexts] for line, contexts in found.items() if line in moved}
        return self._lines[path]


def _moved_lines(before: str, after: str) -> dict[int, int]:
    """Return where the lines of a text are after a change, counted from 1. What stands in place of others is where they were."""
    moved: dict[int, int] = {}
    for _, start, end, first, last in SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False).get_opcodes():
        moved |= {line + 1: min(first + line - start, last - 1) + 1 for line in range(start, end) if last > first}
    return moved


def fingerprint() -> str:
    """Return a hash of all that a run of the tests depends on."""
    digest = hashlib.sha256()
    for name in files():
        if name.endswith((".py", ".js", ".mjs", ".json", ".toml", ".md")) and (ROOT / name).is_file():
            digest.update(name.encode() + b"\0" + (ROOT / name).read_bytes())
    return digest.hexdigest()


def measure(folder: Path, jobs: int, *, keep: bool) -> Reach:
    """Run the test suite under coverage, or read what such a run left.

    Args:
        folder: Where the copy of the checkout and the data lie.
        jobs: How many processes run tests.
        keep: Take the data of an earlier run though the checkout changed since.
    """
    checkout, data, record = folder / "checkout", folder / "data", folder / "record.json"
    known = folder / "fingerprint"
    current = fingerprint()
    if not (known.is_file() and (keep or known.read_text() == current)):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        copy_checkout(checkout)
        settings = folder / "coveragerc"
        include = ",".join(f"{checkout}/{package}/*" for package in PACKAGES)
        settings.write_text(_SETTINGS.format(data=data, include=include), encoding="utf-8")
        variables = {"COVERAGE_PROCESS_START": str(settings), "MUTATION_RECORD": str(record)}
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "tools.mutation.plugin",
            "-n",
            str(jobs),
            "--timeout=1800",
            "--hypothesis-seed=0",
        ]
        subprocess.run(command, cwd=checkout, env=environment(checkout, **variables), check=False)
        subprocess.run(
            [sys.executable, "-m", "coverage", "combine", "-q", f"--rcfile={settings}", f"--data-file={data}", str(folder)], check=True
        )
        known.write_text(current)
    return Reach(data, checkout, json.loads(record.read_text(encoding="utf-8")))
