"""The folder in which finished parts are kept: a restarted job computes only what it lacks.

A part is a file whose name has its number and a digest of the job, the number and the content. Each file is written under a temporary name
and renamed, so that a part is whole or not there. A part whose digest is wrong is computed again.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import sys
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from webnn.scale.rows import Array
from webnn.validation import webidl
from webnn.validation.descriptor import Shape

__all__ = ["FolderError", "Keeper", "digest_of", "keys_of", "write_part"]

_MANIFEST, _LOCK = "manifest.json", ".lock"
_PART = re.compile(r"part-([0-9]{8,18})-([0-9a-f]{64})\.npz")
#: Names of outputs that are names in an archive, too.
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
#: A manifest has a few hundred bytes for each input and output.
_LONGEST_MANIFEST = 16 << 20
#: The most bytes of a file besides the elements, for each output.
_HEADERS = 1 << 12
_PIECE = 1 << 20


class FolderError(ValueError):
    """A folder belongs to another job, is used by one, or is not a folder of parts."""


def digest_of(manifest: Mapping[str, Any]) -> str:
    """Return the digest of a job, by its manifest."""
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()


def keys_of(outputs: Mapping[str, Any]) -> dict[str, str]:
    """Return the name of each output in the files: its own, or its number if an archive cannot have one of the names."""
    plain = all(_PLAIN.fullmatch(name) for name in outputs)
    return {name: name if plain else f"output{number}" for number, name in enumerate(outputs)}


def write_part(folder: str, job: str, index: int, arrays: Mapping[str, Array]) -> str:
    """Write a part, and return the name of its file. Any number of processes may write the same part.

    Raises `OSError` if it cannot be written.
    """
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as archive:
        for key, array in arrays.items():
            # The date is always the same, so that equal parts are equal files.
            with archive.open(zipfile.ZipInfo(f"{key}.npy"), "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, np.ascontiguousarray(array), allow_pickle=False)
    name = f"part-{index:08d}-{_digest(job, index, io.BytesIO(content.getbuffer()))}.npz"
    _write(Path(folder, name), content.getbuffer())
    return name


def _write(file: Path, content: bytes | memoryview) -> None:
    """Write a file that is whole or not there, whenever the machine stops."""
    unfinished = file.with_name(f"{file.name}.{os.urandom(8).hex()}.tmp")
    try:
        with unfinished.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)


def _digest(job: str, index: int, stream: IO[bytes]) -> str:
    state = hashlib.sha256(f"{job} {index} ".encode())
    while piece := stream.read(_PIECE):
        state.update(piece)
    return state.hexdigest()


class Keeper:
    """The folder of a job, which `open` locks."""

    def __init__(self, folder: Path, manifest: Mapping[str, Any], shapes: Mapping[str, tuple[np.dtype[Any], Shape]]) -> None:
        self.folder = folder
        self.job = digest_of(manifest)
        self._manifest = manifest
        self._shapes = shapes

    @contextlib.contextmanager
    def open(self) -> Iterator[None]:
        """Lock the folder, and check that it belongs to the job.

        Raises `FolderError` if it does not, or another process uses it, and `OSError` if it cannot be made, read or written.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        others = [entry.name for entry in os.scandir(self.folder) if entry.name != _LOCK]
        if others and _MANIFEST not in others and not all(name.startswith(_MANIFEST) for name in others):
            raise FolderError(f"output must be an empty folder, or one of the same job, but {self.folder} has {others[0]!r}")
        with (self.folder / _LOCK).open("ab") as stream:
            if not _lock(stream):
                raise FolderError(f"output must be a folder that no other job uses at the same time, but {self.folder} is used by one")
            self._check()
            self._tidy()
            try:
                yield
            finally:
                self._tidy()

    def _tidy(self) -> None:
        """Delete what killed processes were writing."""
        for entry in list(os.scandir(self.folder)):
            if entry.name.endswith(".tmp"):
                Path(entry.path).unlink(missing_ok=True)

    def _check(self) -> None:
        file = self.folder / _MANIFEST
        if not os.path.lexists(file):
            _write(file, json.dumps(self._manifest, indent=1, sort_keys=True).encode())
            return
        found: Any = None
        with contextlib.suppress(ValueError, RecursionError), file.open("rb") as stream:
            content = stream.read(_LONGEST_MANIFEST + 1)
            found = json.loads(content) if len(content) <= _LONGEST_MANIFEST else None
        if not isinstance(found, dict):
            raise FolderError(f"output must be a folder of parts, but {file} is not a manifest")
        ours = json.loads(json.dumps(self._manifest))
        different = sorted(name for name in {*ours, *found} if ours.get(name) != found.get(name))
        if different:
            raise FolderError(
                f"output must be an empty folder, or one of the same job, but {self.folder} is of a job with "
                f"{'another' if len(different) == 1 else 'other'} {', '.join(map(webidl.describe, different))}"
            )

    def find(self, sizes: Mapping[int, int]) -> dict[int, str]:
        """Return the files of the parts that are whole, for the numbers of parts in ``sizes``. Damaged and other ones are deleted."""
        found: dict[int, str] = {}
        for entry in list(os.scandir(self.folder)):
            match = _PART.fullmatch(entry.name)
            if match is None:
                continue
            index = int(match[1])
            if index in sizes and index not in found and self._is_whole(entry, index, match[2], sizes[index]):
                found[index] = entry.name
            elif not entry.is_dir(follow_symlinks=False):
                os.unlink(entry.path)
        return found

    def _is_whole(self, entry: os.DirEntry[str], index: int, digest: str, rows: int) -> bool:
        if not entry.is_file(follow_symlinks=False) or entry.stat().st_size > self._most(rows):
            return False
        with open(entry.path, "rb") as stream:
            return _digest(self.job, index, stream) == digest

    def _most(self, rows: int) -> int:
        """Return how long the file of a part can be."""
        return sum([_HEADERS + rows * dtype.itemsize * int(np.prod(shape, dtype=np.int64)) for dtype, shape in self._shapes.values()])

    def read(self, name: str, index: int, rows: int) -> dict[str, Array]:
        """Return the arrays of a part. Raises `FolderError` if it is damaged, and `OSError` if it cannot be read."""
        match = _PART.fullmatch(name)
        with (self.folder / name).open("rb") as stream:
            content = stream.read(self._most(rows) + 1)
        if match is None or _digest(self.job, index, io.BytesIO(content)) != match[2]:
            raise FolderError(f"{self.folder / name} was changed while it was used")
        arrays: dict[str, Array] = {}
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                for key, (dtype, shape) in self._shapes.items():
                    member = archive.getinfo(f"{key}.npy")
                    if member.compress_type != zipfile.ZIP_STORED:
                        raise ValueError(f"{key} is compressed")
                    array: Array = np.load(io.BytesIO(archive.read(member)), allow_pickle=False)
                    if (array.dtype, array.shape) != (dtype, (rows, *shape)):
                        raise ValueError(f"{key} must be {dtype} {[rows, *shape]}, got {array.dtype} {list(array.shape)}")
                    arrays[key] = array
        except (KeyError, ValueError, EOFError, zipfile.BadZipFile) as error:
            # Its digest is right: somebody made it so.
            raise FolderError(f"{self.folder / name} is not a part of this job: {error}") from None
        return arrays


def _lock(stream: IO[bytes]) -> bool:
    """Lock a file until it is closed; false if another process has locked it. The lock ends with its process."""
    try:
        if sys.platform == "win32":
            import msvcrt  # noqa: PLC0415

            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl  # noqa: PLC0415

            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
