"""Splits a TOML file into its tables, and joins them again.

Whole files with comments are not left to tomlkit: it moves the tables of an array together if others are between them, and attaches the
comments above a table to the table before it. So a file is cut into texts, and only the tables that change are parsed for writing.
"""

from __future__ import annotations

import io
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

__all__ = ["Table", "join", "split"]


@dataclass(slots=True, kw_only=True)
class Table:
    """A table of the file, or the text above the first one.

    Attributes:
        lead: The comments directly above the header.
        core: The header and the keys, with the comments directly below; empty to leave out the table.
        gap: The blank lines that follow, with the comments between them.
        line: The header's line, counted from 1.
        wanted: It belongs to the array.
        after: New tables behind it.
    """

    lead: str
    core: str
    gap: str
    line: int
    wanted: bool
    after: list[str] = field(default_factory=list)


def split(text: str, name: str) -> list[Table]:
    """Split valid TOML; wanted are the tables with the header ``[[name]]``. Lines end with line feeds afterwards."""
    chunks: list[list[str]] = [[]]
    # Only line feeds end a line in TOML.
    for text_line in io.StringIO(text.replace("\r\n", "\n"), newline="\n"):
        # A line in a string or a list may look like a header; then the text above it is not valid TOML.
        if text_line.lstrip(" \t").startswith("[") and _is_toml(chunks[-1]):
            chunks.append([])
        chunks[-1].append(text_line)
    tables: list[Table] = []
    lead, line = "", 1
    for index, chunk in enumerate(chunks):
        core, gap, following = _split_tail(chunk, first=index == 0, last=index == len(chunks) - 1)
        wanted = index > 0 and isinstance(tomllib.loads(core).get(name), list)
        tables.append(Table(lead=lead, core=core, gap=gap, line=line, wanted=wanted))
        lead, line = following, line + len(chunk)
    return tables


def join(tables: Iterable[Table]) -> str:
    """Return the text of tables and of the new ones behind them."""
    parts: list[str] = []
    for table in tables:
        texts = [text.removesuffix("\n") + "\n" for text in (table.core and table.lead + table.core, *table.after) if text]
        parts.append("\n".join(texts))
        # The blank lines below a table go with it.
        parts.append(table.gap if texts else table.gap.lstrip("\n"))
    text = "".join(parts).rstrip("\n")
    return f"{text}\n" if text else ""


def _split_tail(chunk: Sequence[str], *, first: bool, last: bool) -> tuple[str, str, str]:
    """Split a chunk into the table with the comments directly below it, the gap, and the comments directly above the next header."""
    end = len(chunk)
    while end and (not chunk[end - 1].strip() or chunk[end - 1].lstrip().startswith("#")):
        end -= 1
    # Text that looks like a comment may be the end of a string.
    while not _is_toml(chunk[:end]):
        end += 1
    blanks = [index for index in range(end, len(chunk)) if not chunk[index].strip()]
    if not blanks:
        # Comments directly above a header belong to it, except those at the top of the file.
        start = stop = len(chunk) if first or last else end
    else:
        start, stop = blanks[0], len(chunk) if last else blanks[-1] + 1
    return "".join(chunk[:start]), "".join(chunk[start:stop]), "".join(chunk[stop:])


def _is_toml(lines: Sequence[str]) -> bool:
    try:
        tomllib.loads("".join(lines))
    except (tomllib.TOMLDecodeError, RecursionError):
        return False
    return True
