"""Messages between this process and a child, over the two pipes that every system has: the child's standard input and output.

A message is a header, lengths, and parts: ``WN``, a letter that says what it is, a zero; how many parts there are (32 bits); the length of
each part (64 bits, all little-endian); the parts' bytes. `node_host.mjs` has the other end.
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from io import FileIO
from typing import NamedTuple

__all__ = ["Bytes", "Channel", "ChannelError", "Limit", "Message"]

Bytes = bytes | bytearray | memoryview

_MAGIC = b"WN"
_HEADER = struct.Struct("<2scxI")
#: How much goes into one call of the system: some refuse to write more than 2 GiB.
_CHUNK = 1 << 26
#: The size of a pipe on Linux: the usual 64 KiB make large buffers five times as slow.
_PIPE = 1 << 20


class ChannelError(Exception):
    """The received bytes are not a message."""


class Message(NamedTuple):
    """A message: the letter that says what it is, and its parts."""

    kind: str
    parts: list[bytearray]


class Limit(NamedTuple):
    """The limits of a message: the bytes of its first part, and of each other part; how many others there are, and the bytes of all."""

    text: int
    buffer: int = 0
    buffers: int = 0
    total: int = 0


class Channel:
    """Sends and receives messages over unbuffered pipes. Only the messages whose letters have limits may come."""

    def __init__(self, reader: FileIO, writer: FileIO, limits: Mapping[str, Limit]) -> None:
        self._reader = reader
        self._writer = writer
        self._limits = limits
        if sys.platform == "linux":
            import fcntl  # noqa: PLC0415

            for pipe in (reader, writer):
                with suppress(OSError):
                    fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE)

    def receive(self) -> Message | None:
        """Wait for the next message; ``None`` when the child has closed its end, in the middle of a message or not.

        Raises:
            ChannelError: The received bytes are not a message.
        """
        if (header := self._read(_HEADER.size)) is None:
            return None
        magic, letter, count = _HEADER.unpack(header)
        if magic != _MAGIC:
            raise ChannelError(f"{bytes(header)!r} begins no message")
        kind = letter.decode("latin-1")
        if (limit := self._limits.get(kind)) is None:
            raise ChannelError(f"there is no message {kind!r}")
        if count > 1 + limit.buffers:
            raise ChannelError(f"a message {kind!r} has at most {1 + limit.buffers} parts, got {count}")
        if (packed := self._read(8 * count)) is None:
            return None
        lengths = struct.unpack(f"<{count}Q", packed)
        for length, most in zip(lengths, (limit.text, *(limit.buffer for _ in lengths)), strict=False):
            if length > most:
                raise ChannelError(f"a message {kind!r} wants a part of {length} bytes, where at most {most} are possible")
        if sum(lengths[1:]) > limit.total:
            raise ChannelError(f"a message {kind!r} wants {sum(lengths[1:])} bytes, where at most {limit.total} are possible")
        parts = []
        for length in lengths:
            if (part := self._read(length)) is None:
                return None
            parts.append(part)
        return Message(kind, parts)

    def send(self, kind: str, parts: Sequence[Bytes]) -> None:
        """Send a message. If the child is gone, that is a `BrokenPipeError`."""
        views = [memoryview(part).cast("B") for part in parts]
        header = _HEADER.pack(_MAGIC, kind.encode("ascii"), len(views)) + struct.pack(f"<{len(views)}Q", *map(len, views))
        # The lengths and a short text, which is most messages, go in one piece.
        if views and len(views[0]) < _PIPE:
            header += views.pop(0)
        for view in (memoryview(header), *views):
            self._write(view)

    def _read(self, size: int) -> bytearray | None:
        """Read so many bytes; ``None`` if there are fewer. Memory is allocated as bytes arrive, not by the announced length."""
        content = bytearray()
        while len(content) < size:
            start = len(content)
            try:
                content += bytes(min(size - start, _CHUNK))
            except MemoryError:
                raise ChannelError(f"there is no memory for a part of {size} bytes") from None
            with memoryview(content) as whole:
                rest = whole[start:]
                while rest:
                    count = self._reader.readinto(rest)
                    if not count:
                        return None
                    rest = rest[count:]
                # While there is a view, the array cannot grow.
                rest.release()
        return content

    def _write(self, rest: memoryview) -> None:
        while rest:
            try:
                rest = rest[self._writer.write(rest[:_CHUNK]) :]
            except OSError as error:
                # Windows says "invalid argument" of a pipe without a reader.
                raise BrokenPipeError(error.errno, os.strerror(error.errno or 0)) from None
