"""The folder of stored models: one file for each, written whole or not at all; the least recently used ones go first."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from webnn.builder.onnx.optimized import Packed
from webnn.context.engine.cache import entry
from webnn.context.engine.cache.entry import Entry

__all__ = ["Folder"]

_SUFFIX = ".model"
#: Folders and files that are being written. A process that ended meanwhile leaves them.
_UNFINISHED = "writing-"
#: After this many seconds nobody is writing them any more.
_ABANDONED = 3600.0
#: A file counts as this many bytes at least, so that a folder of small models is not searched for long.
_LEAST = 1 << 16


class Folder:
    """A folder of stored models. Several processes may use it at once.

    Args:
        path: The folder; it is made if it is not there.
        size: The most bytes that the models may take.
    """

    __slots__ = ("path", "size")

    def __init__(self, path: Path, size: int) -> None:
        self.path = path
        self.size = size

    def prepare(self) -> None:
        """Make the folder if it is not there; nobody else may look into it.

        Raises:
            PermissionError: It is another user's, or others may write to it.
            OSError: It cannot be made, or is not a folder.
        """
        try:
            status = self.path.stat()
        except FileNotFoundError:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            status = self.path.stat()
        if not entry.is_own(status):
            raise PermissionError("it must belong to this user, and nobody else may have permission to write to it")

    def read(self, key: bytes) -> Entry | None:
        """Return a stored model, or ``None`` if there is none that is valid."""
        path = self._path(key)
        try:
            found = entry.read(path, key)
            if found is not None:
                # The time of the last change is that of the last use: some systems do not keep the latter.
                os.utime(path)
        except (OSError, ValueError):
            # The latter if it has just become empty: such a file cannot be mapped.
            return None
        return found

    @contextmanager
    def workspace(self) -> Iterator[Path]:
        """Make a folder for unfinished files; it is deleted when the block ends.

        Raises:
            OSError: It cannot be made.
        """
        path = self.path / f"{_UNFINISHED}{secrets.token_hex(8)}"
        path.mkdir(mode=0o700)
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    def write(self, key: bytes, packed: Packed, workspace: Path) -> None:
        """Store a model in place of an earlier one with this key; delete models that were not used for the longest time.

        A model that is larger than the folder may be is not stored.

        Raises:
            OSError: It cannot be written.
        """
        unfinished = workspace / "entry"
        with open(os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600), "w+b") as stream:
            entry.write(stream, key, packed.model, packed.tensors, packed.size)
        size = unfinished.stat().st_size
        if size > self.size:
            return
        self._shrink(self.size - size, spared=self._path(key))
        unfinished.replace(self._path(key))

    def _path(self, key: bytes) -> Path:
        return self.path / f"{key.hex()}{_SUFFIX}"

    def _shrink(self, size: int, spared: Path) -> None:
        """Delete the models that were not used for the longest time until the others take at most this number of bytes."""
        found: list[tuple[float, int, Path]] = []
        now = time.time()
        with os.scandir(self.path) as entries:
            for each in entries:
                # Another process may delete it now.
                with contextlib.suppress(OSError):
                    status = each.stat(follow_symlinks=False)
                    if each.name.startswith(_UNFINISHED) and now - status.st_mtime > _ABANDONED:
                        shutil.rmtree(each.path, ignore_errors=True)
                    elif each.name.endswith(_SUFFIX) and each.name != spared.name:
                        found.append((status.st_mtime, max(status.st_size, _LEAST), Path(each.path)))
        total = sum(length for _, length, _ in found)
        for _, length, path in sorted(found):
            if total <= size:
                break
            total -= length
            # On Windows a model in use cannot be deleted.
            with contextlib.suppress(OSError):
                path.unlink()
