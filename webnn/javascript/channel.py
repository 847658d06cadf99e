"""Messages between this process and a child, over the two pipes that every system has: the child's standard input and output.

A message is a header, lengths, and parts: ``WN``, a letter that says what it is, a zero; how many parts there are (32 bits); the length of
each part (64 bits, all little-endian); the parts' bytes. `node_channel.js` is the other end, and is sent before the first message.
"""

from __future__ import annotations

import os
import re
import select
import struct
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from io import FileIO
from typing import NamedTuple

import numpy as np

__all__ = ["Bytes", "Channel", "ChannelError", "Limit", "Message", "read_place"]

Bytes = bytes | bytearray | memoryview

_MAGIC = b"WN"
_HEADER = struct.Struct("<2scxI")
_LENGTH = struct.Struct("<Q")
_INTRODUCTION = struct.Struct("<I")
#: How much goes into one call of the system: some refuse to write more than 2 GiB.
_CHUNK = 1 << 26
#: The size of a pipe on Linux: the usual 64 KiB make large buffers five times as slow.
_PIPE = 1 << 20
#: How much is read at once where a message may begin. Parts that do not fit are read to their own memory.
_BUFFER = 1 << 16
#: For how many seconds the next message is looked for before the system is asked to wait for it: to be woken takes ten times as long as a
#: call of the system. Each time that is in vain, twice as many messages are waited for without it, up to this power of two.
_PATIENCE, _MOST_VAIN = 100e-6, 6
#: The most characters of the line of a call, and how many of them an error shows.
_LONGEST_PLACE, _SHOWN = 1010, 100


class ChannelError(Exception):
    """The received bytes are not a message."""


class Message(NamedTuple):
    """A message: the letter that says what it is, and its parts."""

    kind: str
    parts: list[Bytes]


class Limit(NamedTuple):
    """The limits of a message: the bytes of its first part, and of each other part; how many others there are, and the bytes of all."""

    text: int
    buffer: int = 0
    buffers: int = 0
    total: int = 0


class Channel:
    """Sends and receives messages over unbuffered pipes; nothing else may read from ``reader``. ``limits`` has the letters to accept."""

    def __init__(self, reader: FileIO, writer: FileIO, limits: Mapping[str, Limit]) -> None:
        self._reader = reader
        self._writer = writer
        self._limits = limits
        self._buffer = memoryview(bytearray(_BUFFER))
        # The bytes that were read and not used yet are between them.
        self._start = self._end = 0
        self._poll: select.poll | None = None
        # How many times in succession it was in vain to look, and how many messages are to be waited for without it.
        self._vain = self._skip = 0
        if sys.platform == "linux":
            import fcntl  # noqa: PLC0415

            for pipe in (reader, writer):
                with suppress(OSError):
                    fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE)
            # On one core, the child could not send anything meanwhile.
            if len(os.sched_getaffinity(0)) > 1:
                os.set_blocking(reader.fileno(), False)
                self._poll = select.poll()
                self._poll.register(reader, select.POLLIN)

    def receive(self) -> Message | None:
        """Wait for the next message; ``None`` when the child has closed its end, in the middle of a message or not.

        Raises `ChannelError` if the received bytes are not a message.
        """
        if not self._fill(_HEADER.size):
            return None
        magic, letter, count = _HEADER.unpack_from(self._buffer, self._start)
        if magic != _MAGIC:
            raise ChannelError(f"{bytes(self._buffer[self._start : self._start + _HEADER.size])!r} begins no message")
        self._start += _HEADER.size
        kind = letter.decode("latin-1")
        if (limit := self._limits.get(kind)) is None:
            raise ChannelError(f"there is no message {kind!r}")
        if count > 1 + limit.buffers:
            raise ChannelError(f"a message {kind!r} has at most {1 + limit.buffers} parts, got {count}")
        lengths: tuple[int, ...]
        if count == 1:
            # Most messages: a text alone.
            if not self._fill(_LENGTH.size):
                return None
            lengths = _LENGTH.unpack_from(self._buffer, self._start)
            self._start += _LENGTH.size
        else:
            if (packed := self._read(_LENGTH.size * count)) is None:
                return None
            lengths = struct.unpack(f"<{count}Q", packed)
        for index, length in enumerate(lengths):
            if length > (most := limit.buffer if index else limit.text):
                raise ChannelError(f"a message {kind!r} wants a part of {length} bytes, where at most {most} are possible")
        if count > 1 and (total := sum(lengths[1:])) > limit.total:
            raise ChannelError(f"a message {kind!r} wants {total} bytes, where at most {limit.total} are possible")
        parts: list[Bytes] = []
        for length in lengths:
            if (part := self._read(length)) is None:
                return None
            parts.append(part)
        return Message(kind, parts)

    def introduce(self, script: str) -> None:
        """Send the script that is the other end, with its length in front (32 bits). If the child is gone, that is a `BrokenPipeError`."""
        text = script.encode()
        self._write(memoryview(_INTRODUCTION.pack(len(text)) + text))

    def send(self, kind: str, parts: Sequence[Bytes]) -> None:
        """Send a message. If the child is gone, that is a `BrokenPipeError`."""
        sizes = [part.nbytes if isinstance(part, memoryview) else len(part) for part in parts]
        pieces: list[Bytes] = [_HEADER.pack(_MAGIC, kind.encode("ascii"), len(parts)), struct.pack(f"<{len(parts)}Q", *sizes)]
        gathered = 0
        for part, size in zip(parts, sizes, strict=True):
            # Most messages are short and go in one piece.
            if gathered + size <= _BUFFER:
                pieces.append(part)
                gathered += size
                continue
            self._write(memoryview(b"".join(pieces)))
            self._write(memoryview(part).cast("B"))
            pieces, gathered = [], 0
        if pieces:
            self._write(memoryview(b"".join(pieces)))

    def _fill(self, size: int) -> bool:
        """Wait for at least ``size`` bytes in the buffer, which must be able to hold them; return whether they have come."""
        if self._end - self._start >= size:
            return True
        # Move the remaining bytes to the front.
        rest = bytes(self._buffer[self._start : self._end])
        self._buffer[: len(rest)] = rest
        self._start, self._end = 0, len(rest)
        while self._end < size:
            if not (count := self._take(self._buffer[self._end :])):
                return False
            self._end += count
        return True

    def _read(self, size: int) -> Bytes | None:
        """Read ``size`` bytes; ``None`` if there are fewer. Most memory is allocated after bytes have come, not by the announced length."""
        if size <= _BUFFER:
            if not self._fill(size):
                return None
            start = self._start
            self._start += size
            return bytearray(self._buffer[start : start + size])
        content = _allocate(min(size, _CHUNK))
        done = min(self._end - self._start, len(content))
        content[:done] = self._buffer[self._start : self._start + done]
        self._start += done
        if not self._complete(content, done):
            return None
        if size > len(content):
            first, content = content, _allocate(size)
            content[: len(first)] = first
            if not self._complete(content, len(first)):
                return None
        return content

    def _complete(self, content: memoryview, done: int) -> bool:
        while done < len(content):
            if not (count := self._take(content[done : done + _CHUNK])):
                return False
            done += count
        return True

    def _take(self, target: memoryview) -> int:
        """Wait for bytes, and read some of them; 0 at the end."""
        if self._poll is None:
            return self._reader.readinto(target) or 0
        if (count := self._reader.readinto(target)) is not None:
            return count
        if self._skip:
            self._skip -= 1
        else:
            end = time.perf_counter() + _PATIENCE
            while time.perf_counter() < end:
                # The child may need this core.
                os.sched_yield()
                if (count := self._reader.readinto(target)) is not None:
                    self._vain = 0
                    return count
            self._vain = min(self._vain + 1, _MOST_VAIN)
            self._skip = 1 << self._vain
        while True:
            self._poll.poll()
            if (count := self._reader.readinto(target)) is not None:
                return count

    def _write(self, rest: memoryview) -> None:
        while rest:
            try:
                rest = rest[self._writer.write(rest[:_CHUNK]) :]
            except OSError as error:
                # Windows says "invalid argument" of a pipe without a reader.
                raise BrokenPipeError(error.errno, os.strerror(error.errno or 0)) from None


def read_place(text: str) -> tuple[str, int]:
    """Read the line of the next calls: the address of its script, a colon, and the number. Raises `ChannelError` for other texts."""
    address, _, number = text.rpartition(":")
    if len(text) > _LONGEST_PLACE or not re.fullmatch("[0-9]{1,9}", number):
        raise ChannelError(f"the line of a call must be an address and a number, got {text[:_SHOWN]!r}")
    return address, int(number)


def _allocate(size: int) -> memoryview:
    """Reserve memory, which the system gives when it is written to."""
    try:
        return np.empty(size, np.uint8).data
    except MemoryError:
        raise ChannelError(f"there is no memory for a part of {size} bytes") from None
