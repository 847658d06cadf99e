"""Small checkouts of web-platform-tests for tests of the runner: the project's own harness, and the files that a test wants."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

__all__ = ["PAGES", "WEB", "copy_web", "make_checkout"]

#: Tests of this project in web-platform-tests' own form that need its server, or what its tests of 2026 use.
PAGES = Path(__file__).with_name("web") / "webnn"
#: The project's own tests in JavaScript, laid out as a checkout is.
WEB = Path(__file__).parents[1] / "webnn" / "javascript" / "web"


def make_checkout(root: Path, files: Mapping[str, str], harness: str | None = None) -> Path:
    """Make a checkout: the harness, or another text in its place, and files by their paths below ``webnn``."""
    (root / "resources").mkdir(parents=True)
    text = (WEB / "resources" / "testharness.js").read_text(encoding="utf-8") if harness is None else harness
    (root / "resources" / "testharness.js").write_text(text, encoding="utf-8")
    for path, text in files.items():
        file = root / "webnn" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return root


def copy_web(root: Path, folder: str) -> Path:
    """Make a checkout with the harness and the tests of a folder of `PAGES`."""
    make_checkout(root, {})
    shutil.copytree(PAGES / folder, root / "webnn" / folder)
    return root
