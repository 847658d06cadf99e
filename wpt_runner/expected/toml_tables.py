"""Changes single tables of an array of tables in a TOML file, and leaves every other character unchanged.

Libraries that keep a file's style attach the comments above a table to the table before it. So this module first cuts the file into its
tables, each with the comments directly above it. Only the tables that change are parsed for writing.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tomlkit.items import Table

__all__ = ["TomlTables", "write_list", "write_string"]

_WIDTH = 120


@dataclass(slots=True, kw_only=True)
class _Segment:
    """A table of the file, or the text above the first one.

    Attributes:
        lead: The comments directly above the header.
        core: The header and the keys, with the comments directly below.
        gap: The blank lines that follow, with the comments between them.
        line: The header's line, counted from 1.
        wanted: It belongs to the array.
        removed: It is left out of the new text.
        after: New tables behind it.
    """

    lead: str
    core: str
    gap: str
    line: int
    wanted: bool
    removed: bool = False
    after: list[str] = field(default_factory=list)


class TomlTables:
    """The tables of one array of tables, in the text of a TOML file.

    Args:
        text: The file's text, valid TOML.
        name: The array's name: its tables have the header ``[[name]]``.

    Attributes:
        changed: The text differs from the original.
    """

    def __init__(self, text: str, name: str) -> None:
        self._newline = "\r\n" if "\r\n" in text else "\n"
        self._original = text
        self._name = name
        self._segments = _cut(text.replace("\r\n", "\n"), name)
        self._tables = [segment for segment in self._segments if segment.wanted]
        self.changed = False

    @property
    def lines(self) -> list[int]:
        """The lines of the tables' headers, counted from 1."""
        return [segment.line for segment in self._tables]

    def source(self, index: int) -> str:
        """Return the text of a table, without the comments above it."""
        return self._tables[index].core

    def remove(self, index: int) -> None:
        """Remove a table, with the comments directly above it."""
        self._tables[index].removed = self.changed = True

    def change(self, index: int, change: Callable[[Table], None]) -> None:
        """Change a table."""
        segment = self._tables[index]
        segment.core = self._changed_core(segment.core, change)
        self.changed = True

    def copy(self, index: int, change: Callable[[Table], None]) -> None:
        """Insert a changed copy of a table after it."""
        segment = self._tables[index]
        self.insert(self._changed_core(segment.core, change), index)

    def insert(self, table: str, after: int | None) -> None:
        """Insert the text of a table after a table of the array, by default the last one."""
        if after is None:
            segment = self._tables[-1] if self._tables else self._segments[-1]
        else:
            segment = self._tables[after]
        segment.after.append(table)
        self.changed = True

    def set_top(self, key: str, value: str) -> None:
        """Set a string above the first table."""
        import tomlkit  # noqa: PLC0415 (needed only when a file is rewritten)

        top = self._segments[0]
        present = tomllib.loads(top.core)
        if present.get(key) == value:
            return
        if key in present:
            document = tomlkit.parse(top.core)
            document[key] = value
            top.core = document.as_string()
        else:
            top.core = f"{top.core.rstrip()}\n\n{key} = {write_string(value)}\n".lstrip("\n")
            top.gap = top.gap or "\n"
        self.changed = True

    def text(self) -> str:
        """Return the file's text, the original one if nothing changed."""
        if not self.changed:
            return self._original
        parts: list[str] = []
        for segment in self._segments:
            own = "" if segment.removed else segment.lead + segment.core
            tables = [table if table.endswith("\n") else f"{table}\n" for table in (own, *segment.after) if table]
            parts.append("\n".join(tables))
            # The blank lines below a table go with it.
            parts.append(segment.gap if tables else segment.gap.lstrip("\n"))
        text = "".join(parts).rstrip("\n")
        return f"{text}\n".replace("\n", self._newline) if text else ""

    def _changed_core(self, core: str, change: Callable[[Table], None]) -> str:
        import tomlkit  # noqa: PLC0415 (as above)

        document = tomlkit.parse(core)
        tables: Any = document[self._name]
        change(tables[0])
        return document.as_string()


def write_string(text: str) -> str:
    """Write a string as a person would: without escapes where it needs none."""
    import tomlkit  # noqa: PLC0415 (as above)

    literal = ('"' in text or "\\" in text) and "'" not in text and text.isprintable()
    return tomlkit.string(text, literal=literal).as_string()


def write_list(texts: Iterable[str]) -> str:
    """Write a list of strings: a single one in the line, several in a line each."""
    items = [write_string(text) for text in texts]
    if len(items) == 1 and len(items[0]) < _WIDTH:
        return f"[{items[0]}]"
    return "[\n" + "".join(f"  {item},\n" for item in items) + "]"


def _cut(text: str, name: str) -> list[_Segment]:
    chunks = _chunks(_lines(text))
    segments: list[_Segment] = []
    lead, line = "", 1
    for index, chunk in enumerate(chunks):
        core, gap, following = _split_tail(chunk, first=index == 0, last=index == len(chunks) - 1)
        wanted = index > 0 and isinstance(tomllib.loads(core).get(name), list)
        segments.append(_Segment(lead=lead, core=core, gap=gap, line=line, wanted=wanted))
        lead, line = following, line + len(chunk)
    return segments


def _lines(text: str) -> list[str]:
    """Split at line feeds, the only ones that end a line in TOML."""
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1].removesuffix("\n")
    return lines


def _chunks(lines: list[str]) -> list[list[str]]:
    """Split before the headers. A line in a string or a list may look like a header; then the text above it is not valid TOML."""
    chunks: list[list[str]] = [[]]
    for line in lines:
        if line.lstrip(" \t").startswith("[") and _is_toml(chunks[-1]):
            chunks.append([])
        chunks[-1].append(line)
    return chunks


def _split_tail(chunk: list[str], *, first: bool, last: bool) -> tuple[str, str, str]:
    """Split a chunk into the table with the comments directly below it, the gap, and the comments directly above the next header."""
    end = len(chunk)
    while end and (not chunk[end - 1].strip() or chunk[end - 1].lstrip().startswith("#")):
        end -= 1
    # What looks like a comment may be the end of a string.
    while not _is_toml(chunk[:end]):
        end += 1
    blanks = [index for index in range(end, len(chunk)) if not chunk[index].strip()]
    if not blanks:
        # Comments directly above a header belong to it, except those at the top of the file.
        cut = len(chunk) if first or last else end
        return "".join(chunk[:cut]), "", "".join(chunk[cut:])
    start, stop = blanks[0], len(chunk) if last else blanks[-1] + 1
    return "".join(chunk[:start]), "".join(chunk[start:stop]), "".join(chunk[stop:])


def _is_toml(lines: list[str]) -> bool:
    try:
        tomllib.loads("".join(lines))
    except (tomllib.TOMLDecodeError, RecursionError):
        return False
    return True
