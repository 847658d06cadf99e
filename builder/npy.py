"""Reads arrays of NumPy from files ``.npy`` and archives ``.npz``. Whatever is wrong with a file is one error, which names it."""

from __future__ import annotations

import errno
import math
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

import numpy as np

from webnn.builder.description import FormatError
from webnn.builder.regular import open_regular

__all__ = ["Header", "map_array", "open_archive", "read_array", "read_header"]

Array = np.ndarray[Any, np.dtype[Any]]


class Header(NamedTuple):
    """The header of an array: the shape, whether the elements are in Fortran's order, and their type."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]

    @property
    def size(self) -> int:
        """How many bytes the elements take; an exact integer, because a header may claim any shape."""
        return math.prod(self.shape) * self.dtype.itemsize


def read_header(stream: IO[bytes], file: Path) -> Header:
    """Read the header of an array at the place of a stream.

    Raises `FormatError` if the data is not an array, or is an array of objects, and `OSError` if the stream cannot be read.
    """
    try:
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        header = Header(*read(stream))
    except (OSError, zlib.error, zipfile.BadZipFile):
        raise
    except Exception as error:  # NumPy hands the text of the header to Python's parser
        raise FormatError(f"must be an array of NumPy: {f'{error}' or type(error).__name__:.200}", file) from None
    if header.dtype.hasobject or any(type(size) is not int or size < 0 for size in header.shape):
        raise FormatError(f"must be an array of numbers, got {header.dtype} {list(header.shape)}", file)
    return header


def read_array(stream: IO[bytes], file: Path, header: Header) -> Array:
    """Read the elements behind a header. Raises `FormatError` if there are too few of them, and `OSError` if the stream cannot be read."""
    data = stream.read(header.size)
    if len(data) < header.size:
        raise FormatError(f"must have {header.size} bytes of elements for {header.dtype} {list(header.shape)}, got {len(data)}", file)
    order: Literal["F", "C"] = "F" if header.fortran else "C"
    if not header.size:
        return np.empty(header.shape, header.dtype, order)
    try:
        return np.frombuffer(data, header.dtype).reshape(header.shape, order=order)
    except (ValueError, TypeError) as error:
        raise _strange(file, header, error) from None


def map_array(file: Path) -> Array:
    """Map the array of a file ``.npy``; it cannot be written to.

    Raises `FormatError` if the data is not such a file, or is truncated, and `OSError` if it cannot be read.
    """
    with open_regular(file) as stream:
        header = read_header(stream, file)
        offset, there = stream.tell(), stream.seek(0, 2)
    if there - offset < header.size:
        raise FormatError(f"must have {header.size} bytes of elements for {header.dtype} {list(header.shape)}, got {there - offset}", file)
    order: Literal["F", "C"] = "F" if header.fortran else "C"
    if not header.size:
        return np.empty(header.shape, header.dtype, order)
    try:
        return np.memmap(file, header.dtype, "r", offset, header.shape, order)
    except (ValueError, TypeError) as error:
        raise _strange(file, header, error) from None


@contextmanager
def open_archive(file: Path) -> Iterator[tuple[zipfile.ZipFile, IO[bytes]]]:
    """Open an archive ``.npz``; return it and the file itself. Errors of both within the block name the file.

    Raises `FormatError` if the file is not an archive, or is damaged, and `OSError` if it cannot be read.
    """
    with open_regular(file) as stream:
        try:
            with zipfile.ZipFile(stream) as archive:
                yield archive, stream
        except FormatError:
            raise
        except (zipfile.BadZipFile, zlib.error, struct.error, RuntimeError, EOFError, OverflowError, UnicodeDecodeError) as error:
            raise _damaged(file, error) from None
        except OSError as error:
            # A damaged place cannot be gone to, and the errors of a decompressor have no number.
            if error.errno in (None, errno.EINVAL):
                raise _damaged(file, error) from None
            raise
        except Exception as error:
            if type(error).__name__ == "LZMAError":  # not every Python has its module
                raise _damaged(file, error) from None
            raise


def _strange(file: Path, header: Header, error: Exception) -> FormatError:
    """Return the error of elements that are arrays or records themselves."""
    return FormatError(f"must be an array of numbers, got {header.dtype}: {error}", file)


def _damaged(file: Path, error: Exception) -> FormatError:
    return FormatError(f"must be an archive .npz: {f'{error}' or type(error).__name__:.200}", file)
