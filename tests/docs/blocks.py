"""The fenced blocks of the documentation."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

from tests.shared import ROOT

DOCUMENTS = [path.relative_to(ROOT).as_posix() for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if path.is_file()]

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_PRINTS = re.compile(r"\s*(?:[\w ]+ prints:?)?\s*", re.IGNORECASE)
_NAME = re.compile(r"(?:#|//|<!--) ([\w/.-]+\.\w+)(?: -->)?\n")


@dataclass(frozen=True, kw_only=True)
class Block:
    """A fenced block.

    Attributes:
        language: The word after its fence.
        text: Its lines.
        line: The line of the document before its first one.
        output: Its output, if the document shows one.
    """

    language: str
    text: str
    line: int
    output: str | None = None


def blocks(document: str) -> list[Block]:
    """Return a document's fenced blocks."""
    source = (ROOT / document).read_text(encoding="utf-8")
    matches = list(FENCE.finditer(source))
    found: list[Block] = []
    for match, following in itertools.zip_longest(matches, matches[1:]):
        shows = following is not None and following[1] == "text" and _PRINTS.fullmatch(source, match.end(), following.start())
        output = following[2] if shows and following is not None else None
        found.append(Block(language=match[1], text=match[2], line=source.count("\n", 0, match.start()) + 1, output=output))
    return found


def named_file(block: Block) -> str | None:
    """Return the name of a file that the first line of a block gives, in a comment."""
    match = _NAME.match(block.text)
    return match[1] if match else None


def quoted_file(block: Block) -> str | None:
    """Return the file of the repository that a block quotes, if it is a quotation: its name has a folder."""
    name = named_file(block)
    return name if name is not None and "/" in name else None


def own_file(block: Block) -> str | None:
    """Return the file that the reader saves a block as, if there is one: its name has no folder."""
    name = named_file(block)
    return name if name is not None and "/" not in name else None
