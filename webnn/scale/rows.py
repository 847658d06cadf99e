"""The data of an input as rows: arrays in memory, and files that workers open themselves."""

from __future__ import annotations

import hashlib
import os
import shutil
import struct
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, ClassVar

import numpy as np

from webnn.builder.description import FormatError
from webnn.builder.npy import open_archive, read_header
from webnn.builder.regular import open_regular
from webnn.validation.descriptor import Shape

__all__ = ["Array", "FileRows", "MemoryRows", "Rows", "file_identity", "open_array", "open_npy", "open_npz", "store"]

Array = np.ndarray[Any, np.dtype[Any]]

#: The part of a member's header in a zip archive before its name, and the places of the lengths of the name and the rest in it.
_HEADER, _LENGTHS = 30, 26
#: How many bytes of an array are hashed or written at once.
_PIECE = 1 << 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows(ABC):
    """The samples of one input. They can be pickled.

    Attributes:
        whole: The shape of the whole data; axis 0 counts the rows.
        travels: Another machine with the same file system can read them.
    """

    #: A row is a flat list of numbers, which may have any shape.
    flat: ClassVar[bool] = False

    dtype: np.dtype[Any]
    whole: Shape
    travels: bool = True

    @property
    def count(self) -> int:
        """How many rows there are."""
        return self.whole[0]

    @property
    def shape(self) -> Shape:
        """The shape of a row."""
        return self.whole[1:]

    def identity(self) -> dict[str, Any]:
        """Return what tells this data from other data, for a file of JSON."""
        return {"dtype": self.dtype.str, "shape": list(self.whole), **self.source()}

    @abstractmethod
    def source(self) -> Mapping[str, Any]:
        """Return what tells data of this type and shape from other data."""

    @abstractmethod
    def read(self, start: int, stop: int) -> Array:
        """Return some rows, in C order."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MemoryRows(Rows):
    """An array in memory."""

    array: Array

    def source(self) -> Mapping[str, Any]:
        """Return a digest of the elements."""
        state = hashlib.sha256()
        for start, stop in _pieces(self):
            state.update(self.read(start, stop).reshape(-1).view(np.uint8).data)
        return {"sha256": state.hexdigest()}

    def read(self, start: int, stop: int) -> Array:
        """Return some rows, in C order."""
        return np.ascontiguousarray(self.array[start:stop])


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRows(Rows):
    """An array in a file, as NumPy maps it.

    Attributes:
        offset: Where the elements begin, in bytes.
    """

    path: str
    offset: int
    fortran: bool = False

    def source(self) -> Mapping[str, Any]:
        """Return where the array is in its file, and the file's size and time of change."""
        return {"offset": self.offset, **file_identity(self.path)}

    def read(self, start: int, stop: int) -> Array:
        """Return some rows, in C order."""
        # Mapped anew each time: what a process has read does not stay in its memory.
        array: Array = np.memmap(self.path, self.dtype, "r", self.offset, self.whole, order="F" if self.fortran else "C")
        return np.array(array[start:stop], order="C")


def file_identity(path: str | Path) -> dict[str, int]:
    """Return the size of a file and when it was changed. It may lie in another folder."""
    status = os.stat(path)
    return {"size": status.st_size, "changed": status.st_mtime_ns}


def open_array(array: Array) -> Rows:
    """Return the rows of an array with at least one axis: those of the file that it maps, if it does."""
    root = array
    while isinstance(root.base, np.memmap):
        root = root.base
    # A copy-on-write map may differ from its file.
    if not isinstance(root, np.memmap) or root.filename is None or root.mode == "c" or not array.flags.c_contiguous or not array.size:
        return MemoryRows(dtype=array.dtype, whole=array.shape, travels=False, array=array)
    if root.mode != "r":
        root.flush()
    offset = root.offset + array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    return FileRows(path=os.path.abspath(root.filename), dtype=array.dtype, offset=offset, whole=array.shape)


def open_npy(path: Path) -> Rows:
    """Return the rows of a file ``.npy``.

    Raises `FormatError` if it is not such a file, is cut off, or has objects or no axis, and `OSError` if it cannot be read.
    """
    with open_regular(path) as stream:
        return _read_header(path, stream)


def open_npz(path: Path, folder: Callable[[], Path]) -> dict[str, Rows]:
    """Return the rows of each array of a file ``.npz``. Compressed arrays are unpacked into a folder that is made for it.

    Raises:
        FormatError: It is not such a file, or one of its arrays has no axis.
        OSError: It cannot be read, or the folder takes no more.
    """
    found: dict[str, Rows] = {}
    with open_archive(path) as (archive, stream):
        for number, member in enumerate(archive.infolist()):
            name = member.filename.removesuffix(".npy")
            if name in found or name == member.filename:
                raise FormatError(f"must have arrays with names of their own, got {member.filename!r}", path)
            if member.compress_type == zipfile.ZIP_STORED:
                stream.seek(member.header_offset + _LENGTHS)
                stream.seek(member.header_offset + _HEADER + sum(struct.unpack("<HH", stream.read(4))))
                found[name] = _read_header(path, stream)
                continue
            unpacked = folder() / f"{number}.npy"
            with archive.open(member) as source, unpacked.open("xb") as target:
                shutil.copyfileobj(source, target)
            with unpacked.open("rb") as target:
                found[name] = _read_header(unpacked, target, shown=path, travels=False)
    return found


def store(rows: Rows, file: Path) -> FileRows:
    """Write rows to a new file ``.npy``, a piece at a time, for processes of this machine."""
    whole = (rows.count, *rows.shape)
    with file.open("xb") as stream:
        np.lib.format.write_array_header_2_0(stream, {"descr": rows.dtype.str, "fortran_order": False, "shape": whole})
        offset = stream.tell()
        for start, stop in _pieces(rows):
            rows.read(start, stop).tofile(stream)
    return FileRows(path=str(file), dtype=rows.dtype, offset=offset, whole=whole, travels=False)


def _pieces(rows: Rows) -> list[tuple[int, int]]:
    size = max(1, _PIECE // max(1, rows.dtype.itemsize * int(np.prod(rows.shape, dtype=np.int64))))
    return [(start, min(start + size, rows.count)) for start in range(0, rows.count, size)]


def _read_header(path: Path, stream: IO[bytes], *, shown: Path | None = None, travels: bool = True) -> FileRows:
    """Read the header of an array at the place of a stream."""
    shown = shown or path
    header = read_header(stream, shown)
    whole, fortran, dtype = header
    if not whole:
        raise FormatError(f"must be an array with an axis of rows, got {dtype} {list(whole)}", shown)
    offset = stream.tell()
    if path.stat().st_size - offset < header.size:
        raise FormatError(f"must have {header.size} bytes of elements for {dtype} {list(whole)}, but is shorter", shown)
    return FileRows(path=os.path.abspath(path), dtype=dtype, offset=offset, whole=tuple(whole), fortran=fortran, travels=travels)
