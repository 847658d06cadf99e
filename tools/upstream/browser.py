"""Runs the files of ``upstream/wpt`` in a real Chromium, and keeps the results in ``chromium.json``."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.upstream.files import FOLDER, OurFile, folder_of, our_files, overlay
from webnn.wpt_runner.browser.pair import TestBrowser
from webnn.wpt_runner.flavours import Flavour
from webnn.wpt_runner.results import FileResult, SubtestStatus
from webnn.wpt_runner.settings import Settings

__all__ = ["FILE", "Recorded", "digest", "load", "must_run", "outdated", "record", "render"]

FILE = FOLDER / "chromium.json"
#: Time-outs are for machines that do nothing else.
_PATIENCE = 6.0
_LONGEST = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """The result of a file in the browser.

    Attributes:
        digest: A hash of the file and its helpers when it ran.
        status: The status of the file as a whole; ``"OK"`` if it ran to its end.
        passed: The number of subtests that passed.
        unsupported: The number of subtests that were left out, because the device lacks a data type.
        failed: The messages of the other subtests, by their names.
    """

    digest: str
    status: str
    passed: int
    unsupported: int
    failed: Mapping[str, str]


def digest(file: OurFile) -> str:
    """Return a hash of a file and of the helpers that it may use."""
    parts = [file.place, *sorted((FOLDER / file.name[: -len(file.path)] / "webnn" / "resources").glob("*.js"))]
    return hashlib.sha256(b"\0".join([part.read_bytes() for part in parts])).hexdigest()[:12]


def load() -> tuple[str, dict[str, Recorded]]:
    """Return the browser's version, and the results of the files by their names."""
    data = json.loads(FILE.read_text(encoding="utf-8"))
    return data["version"], {name: Recorded(**entry) for name, entry in data["files"].items()}


def outdated(recorded: Mapping[str, Recorded]) -> list[str]:
    """Return the names of files that have changed since they ran, that never ran, or that are gone."""
    now = {each.name: digest(each) for each in our_files()}
    return sorted(name for name in now.keys() | recorded.keys() if name not in recorded or recorded[name].digest != now.get(name))


def must_run(recorded: Mapping[str, Recorded]) -> list[str]:
    """Return the names of outdated files without those of proposals, which no browser needs to know."""
    return [name for name in outdated(recorded) if ".tentative." not in name]


def render(version: str, recorded: Mapping[str, Recorded]) -> str:
    """Return the text of ``chromium.json``."""
    fields = Recorded.__slots__
    files: dict[str, Any] = {name: {field: getattr(recorded[name], field) for field in fields} for name in sorted(recorded)}
    return json.dumps({"version": version, "files": files}, ensure_ascii=False, indent=1) + "\n"


def record(roots: Mapping[str, Path], executable: Path, names: frozenset[str] | None = None) -> tuple[str, dict[str, Recorded]]:
    """Run files in windows, each in its first variant.

    Args:
        roots: A checkout of web-platform-tests for each draft.
        executable: The browser.
        names: The files; all if it is ``None``.
    """
    found: dict[str, Recorded] = {}
    version = ""
    for draft, root in roots.items():
        with tempfile.TemporaryDirectory() as folder:
            checkout = overlay(root, draft, Path(folder) / "wpt")
            with TestBrowser.start(checkout, executable, Settings(revision=draft, timeout_multiplier=_PATIENCE)) as browser:
                version = browser.version
                for file in our_files():
                    if folder_of(file.draft) == folder_of(draft) and (names is None or file.name in names):
                        test = checkout.load(file.path).tests([], [Flavour.WINDOW])[0]
                        found[file.name] = _sum_up(digest(file), browser.run(test))
    return version, found


def _sum_up(hashed: str, result: FileResult) -> Recorded:
    counts = result.counts()
    passed, unsupported = counts[SubtestStatus.PASS], counts[SubtestStatus.PRECONDITION_FAILED]
    failed = {
        each.name: " ".join((each.message or f"{each.status}").split())[:_LONGEST]
        for each in result.subtests
        if each.status not in (SubtestStatus.PASS, SubtestStatus.PRECONDITION_FAILED)
    }
    return Recorded(digest=hashed, status=f"{result.status}", passed=passed, unsupported=unsupported, failed=failed)
