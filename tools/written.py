"""Pages that a tool writes: it writes those that have changed, or says which ones are outdated."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

__all__ = ["fill", "keep_pages"]

#: The lines around what a tool writes into a page. The text outside of them is written by hand.
_BEGIN, _END = "<!-- written by {tool} -->\n", "<!-- the end of what {tool} writes -->\n"


def fill(page: Path, tool: str, text: str) -> str:
    """Return a page with another text between a tool's lines.

    Args:
        page: The page.
        tool: The module of the tool.
        text: The text; its last line ends.

    Raises:
        ValueError: The page has no such lines.
    """
    begin, end = (line.format(tool=tool) for line in (_BEGIN, _END))
    before, first, rest = page.read_text(encoding="utf-8").partition(begin)
    _, last, after = rest.partition(end)
    if not first or not last:
        raise ValueError(f"{page.name} must have the lines {begin.strip()} and {end.strip()}")
    return f"{before}{first}{text}{last}{after}"


def keep_pages(pages: Mapping[Path, str], tool: str, *, check: bool) -> int:
    """Write the texts of pages that have others; return an exit status.

    Args:
        pages: The texts, by the files.
        tool: The module that is to be run, for messages.
        check: Write nothing; the status is 1 if a page has another text.
    """
    outdated = {path: text for path, text in pages.items() if not path.exists() or path.read_text(encoding="utf-8") != text}
    for path, text in outdated.items():
        if check:
            print(f"{path.name} is outdated: python -m {tool}", file=sys.stderr)
        else:
            path.write_text(text, encoding="utf-8", newline="\n")
            print(f"wrote {path.name}")
    return int(check and bool(outdated))
