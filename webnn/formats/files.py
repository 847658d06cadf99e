"""Files of graphs: they are written whole or not at all, and name only files of their own folder."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from webnn.builder.description import FormatError
from webnn.builder.regular import open_regular
from webnn.validation import webidl

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription

__all__ = ["beside", "check_unicode", "read_text", "replacing", "write"]

#: The largest graph that is read, in bytes; weights have files of their own. A parser may need many times as much memory.
_LARGEST = 1 << 26
_PIECE = 1 << 18


def write(path: Path, data: str | bytes) -> None:
    """Write a file; text in UTF-8, with line feeds on every system. If it fails, an existing file stays as it was.

    Raises `OSError` if it cannot be written.
    """
    with replacing(path) as stream:
        stream.write(data.encode() if isinstance(data, str) else data)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a file to write it piece by piece. It replaces an existing one when the block ends, unless an exception leaves the block.

    Raises `OSError` if it cannot be written.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with temporary.open("xb") as stream:
            yield stream
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def beside(path: Path, name: str) -> Path:
    """Return a file that another one names: it must be in the same folder, and not lead out of it.

    Raises `FormatError` if the name leads out of the folder.
    """
    folder = path.resolve().parent
    if not name or "\0" in name or "/" in name or "\\" in name or ":" in name or (folder / name).resolve().parent != folder:
        raise FormatError(f"must name a file in the same folder, got {webidl.describe(name)}", path)
    return folder / name


def check_unicode(description: GraphDescription, path: Path) -> None:
    """Check that the names of a graph, its inputs and outputs, and its labels have no lone surrogates, which UTF-8 cannot hold.

    Raises `FormatError` if one has.
    """
    for value in (description.name, *description.inputs, *description.outputs, *(each.label for each in description.operators)):
        if any("\ud800" <= character <= "\udfff" for character in value):
            raise FormatError(f"a name must be Unicode, got {webidl.describe(value)}", path)


def read_text(path: Path) -> str:
    """Read a file in UTF-8, with or without a byte order mark.

    Raises `FormatError` if it is too large, or not UTF-8, and `OSError` if it cannot be read.
    """
    content = bytearray()
    with open_regular(path) as stream:
        # In pieces: a buffer for the largest one would be made at once.
        while piece := stream.read(_PIECE):
            content += piece
            if len(content) > _LARGEST:
                raise FormatError(f"must be at most {_LARGEST >> 20} MiB, got more", path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FormatError(f"must be UTF-8, got the byte 0x{content[error.start]:02x}", path, line=line) from None
