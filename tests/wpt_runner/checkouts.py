"""Small checkouts of web-platform-tests for tests of the runner: the project's own harness, and the files that a test wants."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

__all__ = ["WEB", "make_checkout"]

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
