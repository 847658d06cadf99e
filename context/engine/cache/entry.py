"""The file of a stored model: a header, the model, and the tensors that the optimizer made.

A file is used only if its checksum is right, because the engine's parser is not made for damaged models. The checksum finds damage. It does
not keep out whoever may write to the folder, who can write a checksum, too.
"""

from __future__ import annotations

import mmap
import os
import stat
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from webnn.context.engine.cache.digest import crc32, digest, sha256

__all__ = ["Entry", "is_own", "read", "write"]

Array = np.ndarray[Any, np.dtype[Any]]

_MAGIC = b"webnn\x001\n"
#: The magic, the key, the checksum of all that follows, the lengths of the model and of the tensors.
_HEADER = struct.Struct("<8s32s32sQQ")
#: Where the checksum stands; for its own computation it is zeros.
_CHECKSUM = 40
#: Where the model begins; the tensors begin at a multiple of it.
_BLOCK = 128
#: The permissions that nobody but the owner may have.
_FOREIGN = stat.S_IWGRP | stat.S_IWOTH


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A stored model.

    Attributes:
        model: The model, without the large tensors.
        tensors: The bytes of the large tensors, over the mapped file.
    """

    model: bytes
    tensors: Array


def is_own(status: os.stat_result) -> bool:
    """Tell whether nobody but this user, and the system's administrator, can write to a file or a folder.

    On Windows the permissions of a folder in the user's profile see to that.
    """
    return not hasattr(os, "geteuid") or (status.st_uid == os.geteuid() and not status.st_mode & _FOREIGN)


def read(path: Path, key: bytes) -> Entry | None:
    """Return the model in a file, or ``None`` if the file is not valid.

    Raises:
        OSError: The file cannot be read.
    """
    # A link may lead anywhere, and a pipe would wait for a writer.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    file = os.open(path, flags)
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode) or not is_own(status) or status.st_size < _BLOCK:
            return None
        data = np.frombuffer(mmap.mmap(file, 0, access=mmap.ACCESS_READ), np.uint8)
    finally:
        os.close(file)
    magic, found, checksum, length, size = _HEADER.unpack_from(data.data)
    start = _tensors_at(length)
    if (magic, found) != (_MAGIC, key) or data.nbytes != start + size or checksum != _checksum(data, start):
        return None
    return Entry(model=data[_BLOCK : _BLOCK + length].tobytes(), tensors=data[start:])


def write(stream: BinaryIO, key: bytes, model: bytes, tensors: Sequence[tuple[int, Array]], size: int) -> None:
    """Write a file.

    Args:
        stream: The open file, empty.
        key: The model's key.
        model: The model.
        tensors: The offset and the bytes of each tensor.
        size: The length of the tensors, with the gaps between them.

    Raises:
        OSError: It cannot be written.
    """
    start = _tensors_at(len(model))
    stream.truncate(start + size)
    stream.seek(_BLOCK)
    stream.write(model)
    for offset, tensor in tensors:
        stream.seek(start + offset)
        stream.write(tensor.data)
    stream.seek(0)
    stream.write(_HEADER.pack(_MAGIC, key, bytes(32), len(model), size))
    stream.flush()
    data = np.frombuffer(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)
    checksum = _checksum(data, start)
    stream.seek(0)
    stream.write(_HEADER.pack(_MAGIC, key, checksum, len(model), size))


def _checksum(data: Array, start: int) -> bytes:
    """Return the checksum of a file whose tensors begin at `start`. The parser does not see the tensors: a sum is enough for them."""
    zeros = np.zeros(32, np.uint8)
    header = np.concatenate([data[:_CHECKSUM], zeros, data[_CHECKSUM + zeros.size : start]])
    return sha256(np.frombuffer(digest([header]) + digest([data[start:]], crc32), np.uint8))


def _tensors_at(length: int) -> int:
    """Return where the tensors begin behind a model."""
    return _BLOCK + length + -length % _BLOCK
