"""Messages between this process and a child, over the two pipes that every system has: the child's standard input and output.

A message is a header, lengths, and parts: ``WN``, a letter that says what it is, a zero; how many parts there are (32 bits); the length of
each part (64 bits, all little-endian); the parts' bytes. `node_host.mjs` has the other end.
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import FileIO

__all__ = ["Bytes", "Channel", "ChannelError", "Message"]

Bytes = bytes | bytearray | memoryview

_MAGIC = b"WN"
_HEADER = struct.Struct("<2scxI")
_MOST_PARTS = 1 << 20
#: How much goes into one call of the system: some refuse to write more than 2 GiB.
_CHUNK = 1 << 26
#: The size of a pipe on Linux: the usual 64 KiB make large buffers five times as slow.
_PIPE = 1 << 20


class ChannelError(Exception):
    """What came is not a message."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message: the letter that says what it is, and its parts."""

    kind: str
    parts: list[bytearray]


class Channel:
    """Sends and receives messages.

    Args:
        reader: What the child writes, unbuffered.
        writer: What the child reads, unbuffered.
    """

    def __init__(self, reader: FileIO, writer: FileIO) -> None:
        self._reader = reader
        self._writer = writer
        if sys.platform == "linux":
            import fcntl  # noqa: PLC0415

            for pipe in (reader, writer):
                with suppress(OSError):
                    fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE)

    def receive(self) -> Message | None:
        """Wait for the next message; ``None`` when the child has closed its end, in the middle of a message or not.

        Raises:
            ChannelError: What came is not a message.
        """
        header = self._read(_HEADER.size)
        if header is None:
            return None
        magic, kind, count = _HEADER.unpack(header)
        if magic != _MAGIC or count > _MOST_PARTS:
            raise ChannelError(f"{bytes(header)!r} begins no message")
        lengths = self._read(8 * count)
        if lengths is None:
            return None
        parts = []
        for length in struct.unpack(f"<{count}Q", lengths):
            part = self._read(length)
            if part is None:
                return None
            parts.append(part)
        return Message(kind.decode("latin-1"), parts)

    def send(self, kind: str, parts: Sequence[Bytes]) -> None:
        """Send a message.

        Raises:
            BrokenPipeError: The child is gone.
        """
        views = [memoryview(part).cast("B") for part in parts]
        header = _HEADER.pack(_MAGIC, kind.encode("ascii"), len(views)) + struct.pack(f"<{len(views)}Q", *map(len, views))
        # The lengths and a short text, which is most messages, go in one piece.
        if views and len(views[0]) < _PIPE:
            header += views.pop(0)
        for view in (memoryview(header), *views):
            self._write(view)

    def _read(self, size: int) -> bytearray | None:
        try:
            content = bytearray(size)
        except (MemoryError, OverflowError):
            raise ChannelError(f"a message wants a part of {size} bytes") from None
        rest = memoryview(content)
        while rest:
            count = self._reader.readinto(rest[:_CHUNK])
            if not count:
                return None
            rest = rest[count:]
        return content

    def _write(self, rest: memoryview) -> None:
        while rest:
            try:
                rest = rest[self._writer.write(rest[:_CHUNK]) :]
            except OSError as error:
                # Windows says "invalid argument" of a pipe without a reader.
                raise BrokenPipeError(error.errno, os.strerror(error.errno or 0)) from None
