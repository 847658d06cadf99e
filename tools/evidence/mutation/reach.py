"""Which tests reach a line: one run of the test suite under coverage, kept in a folder."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from coverage.numbits import num_in_numbits

__all__ = ["ENDLESS", "PACKAGES", "ROOT", "Reach", "copy_checkout", "environment", "files", "measure"]

ROOT = Path(__file__).resolve().parents[3]
PACKAGES = ("validation", "builder", "context", "webnn", "wpt_runner")
#: The exit status of a run whose test used more CPU time than it may.
ENDLESS = 99

#: The tests that reach a file, each with its lines as coverage packs them; and the file's line numbers at the time of the measurement.
_Measured = tuple[list[tuple[str, bytes]], dict[int, int]]

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
    """Yield the checkout's files, untracked ones included."""
    listed = subprocess.run(["git", "ls-files", "-zco", "--exclude-standard"], cwd=root, capture_output=True, check=True, text=True).stdout
    yield from (name for name in listed.split("\0") if name and os.path.lexists(root / name))


def copy_checkout(target: Path) -> None:
    """Copy the checkout, with its links, and link the shared data beside it."""
    shutil.rmtree(target, ignore_errors=True)
    for name in files():
        copy = target / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, copy, follow_symlinks=False)
    shared, link = ROOT.parent / "shared", target.parent / "shared"
    if shared.is_dir() and not link.is_symlink():
        link.symlink_to(shared, target_is_directory=True)


def environment(checkout: Path, **more: str) -> dict[str, str]:
    """Return the environment of a test run: every process imports the copy, and no test is left out."""
    return {**os.environ, "PYTHONPATH": str(checkout), "WEBNN_NO_SAMPLES": "1", **more}


class Reach:
    """The results of a run of the tests.

    Args:
        data: The data that coverage has combined: https://coverage.readthedocs.io/en/latest/dbschema.html.
        checkout: The copy of the checkout that was measured.
        record: The record of the plug-in.

    Attributes:
        seconds: How long each test took, by name; without tests that failed, because they say nothing about a mutant.
    """

    def __init__(self, data: Path, checkout: Path, record: Mapping[str, Any]) -> None:
        self._data = sqlite3.connect(data)
        self._checkout = checkout
        self._files: dict[str, _Measured] = {}
        failed = frozenset(record["failed"])
        self.seconds: dict[str, float] = {test: seconds for test, seconds in record["seconds"].items() if test not in failed}

    def tests(self, path: str, lines: Iterable[int] | None = None) -> set[str]:
        """Return the tests that reach one of the lines of a file, or any line.

        The empty name is the import of a module. For a line that is newer than the measurement, all tests of the file are returned.
        """
        if path not in self._files:
            self._files[path] = self._measured(path)
        rows, moved = self._files[path]
        wanted = [] if lines is None else [moved.get(line) for line in lines]
        if lines is None or None in wanted:
            return {test for test, _ in rows}
        return {test for test, bits in rows if any(line is not None and num_in_numbits(line, bits) for line in wanted)}

    def _measured(self, path: str) -> _Measured:
        measured = self._checkout / path
        rows = self._data.execute(
            "select context.context, line_bits.numbits from line_bits join context on context.id = line_bits.context_id "
            "join file on file.id = line_bits.file_id where file.path = ?",
            (str(measured.resolve()),),
        )
        before = measured.read_text(encoding="utf-8") if measured.exists() else ""
        moved = _moved_lines((ROOT / path).read_text(encoding="utf-8"), before)
        # A process that a test has started is measured under the name of the test's stage.
        return [(context.partition(" (")[0], bits) for context, bits in rows], moved


def _moved_lines(after: str, before: str) -> dict[int, int]:
    """Return the former numbers of a text's lines, counted from 1. Lines that replace others get the numbers of those."""
    moved: dict[int, int] = {}
    for _, start, end, first, last in SequenceMatcher(None, after.splitlines(), before.splitlines(), autojunk=False).get_opcodes():
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
    """Run the test suite under coverage, or read the data of an earlier run.

    Args:
        folder: Where the copy of the checkout and the data lie.
        jobs: How many processes run tests.
        keep: Use the data of an earlier run even if the checkout has changed since.
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
            "tools.evidence.mutation.plugin",
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
