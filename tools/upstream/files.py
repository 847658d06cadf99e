"""The folder ``upstream/wpt``: which draft its files are for, and a checkout of web-platform-tests in which they run."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tools.proposals import find_proposal
from tools.steps.cited import ROOT
from webnn.validation.drafts import extra_additions
from webnn.wpt_runner.checkout import Checkout
from webnn.wpt_runner.levels import Level, find_level

__all__ = ["DRAFT", "DRAFTS", "FOLDER", "OurFile", "folder_of", "our_files", "overlay"]

FOLDER = ROOT / "upstream" / "wpt"
#: The draft of the files that are a part of a checkout; those of the other drafts are in folders of their own.
DRAFT = "2026-06"
DRAFTS = ("2024-06", DRAFT)
#: The parts of a checkout that the files use.
_NEEDED = ("resources", "common", "interfaces", "webnn/resources")
_TESTS = ("*.any.js", "*.https.html")
_TENTATIVE = ".tentative.https.any.js"


@dataclass(frozen=True, slots=True, order=True)
class OurFile:
    """A test file of the folder.

    Attributes:
        draft: The draft, with the proposal of a tentative test: ``"2026-06+zero-size"``.
        path: Its path in a checkout.
    """

    draft: str
    path: str

    @property
    def place(self) -> Path:
        """The file."""
        return folder_of(self.draft) / self.path

    @property
    def name(self) -> str:
        """Its path below ``upstream/wpt``."""
        return self.place.relative_to(FOLDER).as_posix()

    def level(self) -> Level:
        """Return the draft under which it runs: without the dialect of a date of web-platform-tests, unless a proposal is tried."""
        level = find_level(self.draft)
        return level if "+" in self.draft else replace(level, dialect=None)


def folder_of(draft: str) -> Path:
    """Return the folder of a draft, of a later draft's proposal too: `DRAFT` has the folder itself, an older draft one in it."""
    draft = draft.partition("+")[0]
    return FOLDER / draft if draft < DRAFT else FOLDER


def our_files() -> list[OurFile]:
    """Return the test files, those of `DRAFT` first."""
    return [each for draft in reversed(DRAFTS) for each in sorted(_files(draft))]


def _files(draft: str) -> Iterator[OurFile]:
    folder = folder_of(draft)
    for file in (each for pattern in _TESTS for each in (folder / "webnn").rglob(pattern)):
        name = max((name for name in extra_additions() if file.name.endswith(f"{name}{_TENTATIVE}")), key=len, default="")
        yield OurFile(f"{find_proposal(name).since}+{name}" if name else draft, file.relative_to(folder).as_posix())


def overlay(wpt: Path, draft: str, destination: Path) -> Checkout:
    """Copy what the files use of a checkout, and the files of a draft, into a new folder.

    Args:
        wpt: The checkout.
        draft: The draft.
        destination: The folder.
    """
    for name in _NEEDED:
        if (wpt / name).is_dir():
            shutil.copytree(wpt / name, destination / name)
    shutil.copytree(folder_of(draft) / "webnn", destination / "webnn", dirs_exist_ok=True)
    return Checkout(destination)
