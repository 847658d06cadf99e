"""Files of graphs: they are written whole or not at all, and name only files of their own folder."""

from __future__ import annotations

import secrets
from pathlib import Path

from webnn.builder.description import FormatError
from webnn.validation import webidl

__all__ = ["beside", "write"]


def write(path: Path, data: str | bytes) -> None:
    """Write a file; text in UTF-8, with line feeds on every system. If it fails, an existing file stays as it was.

    Raises:
        OSError: It cannot be written.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with temporary.open("xb") as stream:
            stream.write(data.encode() if isinstance(data, str) else data)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def beside(path: Path, name: str) -> Path:
    """Return a file that another one names: it must be in the same folder, and not lead out of it.

    Raises:
        FormatError: The name leads out of the folder.
    """
    folder = path.resolve().parent
    if not name or "\0" in name or "/" in name or "\\" in name or ":" in name or (folder / name).resolve().parent != folder:
        raise FormatError(f"must name a file in the same folder, got {webidl.describe(name)}", path)
    return folder / name
