"""Messages in one body: what pages send, and what they get.

A body is a number (32 bits, little-endian) and messages in the form of `webnn.javascript.channel`: ``WN``, a letter, a zero; how many parts
there are (32 bits); the length of each part (64 bits); the parts. `page_host.js` has the other end.

A page sends ``H``, what it is (JSON), and requests (`webnn.javascript.dispatch`): ``D``, without an answer, ``C``, with one, and ``P``,
which starts an operation whose result comes later. ``K`` is a ``D`` whose bytes are kept; ``S`` is one with the bytes that were kept last
with the same text. It counts its requests: the number of a body is that of its first one. It gets

- ``A``, the answer to the request with the body's number, which is the last one of a body;
- ``R``, the result of the request with the body's number, and ``N``, word that the result can be fetched;
- ``L``, contexts that were lost (JSON).
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np

from webnn.javascript.channel import Bytes, ChannelError, Message, read_place

__all__ = ["MessageError", "close_reason", "pack", "read_line", "read_text", "size_of", "total_size", "unpack", "unpack_aside"]

_MAGIC = b"WN"
_NUMBER = struct.Struct("<I")
_HEADER = struct.Struct("<2scxI")
_LENGTH = struct.Struct("<Q")
#: The most messages of a body. page_host.js waits for an answer before it has half as many.
_MOST_MESSAGES = 1 << 17
#: The most parts of all messages of a body: a text and a view each.
_MOST_PARTS = 2 * _MOST_MESSAGES
#: The longest text of a message: that of a call that names 80,000 operands has 1.3 MB. Everything of this process waits while one is read.
_LONGEST_TEXT = 1 << 22
#: The most bytes of all texts of a body. page_host.js sends a call and at most 16 MiB of texts, and one text, before it.
_MOST_TEXT = 1 << 25
#: The most punctuation marks of a text, which are about as many as its values: 0.1 s to read. Short texts need not be counted.
_MOST_MARKS = 1 << 18
_MARKS = b"[{:,"
#: Bodies from this length on are unpacked beside the calls of other pages, and the parts from this length on are copied without the
#: interpreter's lock.
_LARGE = 1 << 20
#: Larger constants are copied twice, without the lock.
_LARGEST_CONSTANT = 1 << 22
_KINDS = frozenset("HDKSCPL")
#: How the text of a constant begins.
_CONSTANT = b'["MLGraphBuilder","constant",'
#: The longest reason that a WebSocket ends with, in bytes; its protocol allows 123.
_LONGEST_REASON = 100


class MessageError(Exception):
    """The received bytes are not messages."""


def pack(number: int, kind: str, parts: Sequence[Bytes]) -> list[Bytes]:
    """Return the pieces of a body with one message."""
    sizes = [size_of(part) for part in parts]
    head = _NUMBER.pack(number) + _HEADER.pack(_MAGIC, kind.encode("ascii"), len(parts)) + struct.pack(f"<{len(parts)}Q", *sizes)
    return [head, *(memoryview(part).cast("B") if isinstance(part, memoryview) else part for part in parts)]


def close_reason(text: object) -> str:
    """Return as much of a text as the end of a WebSocket can say: whole characters, because anything else would break the protocol."""
    return str(text).encode(errors="replace")[:_LONGEST_REASON].decode(errors="ignore")


def size_of(part: Bytes) -> int:
    """Return the length of a part in bytes."""
    return part.nbytes if isinstance(part, memoryview) else len(part)


def total_size(parts: Iterable[Bytes]) -> int:
    """Return the length of parts in bytes."""
    return sum(map(size_of, parts))


def unpack(body: Bytes) -> tuple[int, list[Message]]:
    """Return the number of a body, and its messages. Each part after a message's first has memory of its own.

    It can be written to, except for that of a constant.

    Raises `MessageError` if the bytes are not messages.
    """
    view = memoryview(body)
    if len(view) < _NUMBER.size:
        raise MessageError("a body begins with a number")
    (number,), at = _NUMBER.unpack_from(view), _NUMBER.size
    if number == 0:
        raise MessageError("requests are numbered from 1 on")
    messages: list[Message] = []
    texts = pieces = 0
    while at < len(view):
        if len(messages) >= _MOST_MESSAGES:
            raise MessageError(f"a body has at most {_MOST_MESSAGES} messages")
        if len(view) - at < _HEADER.size:
            raise MessageError("a message is incomplete")
        magic, letter, count = _HEADER.unpack_from(view, at)
        at += _HEADER.size
        kind = letter.decode("latin-1")
        if magic != _MAGIC or kind not in _KINDS or (kind == "H" and messages):
            raise MessageError("there is no such message")
        if count < 1 or len(view) - at < _LENGTH.size * count:
            raise MessageError("a message is incomplete")
        pieces += count
        if pieces > _MOST_PARTS:
            raise MessageError(f"the messages of a body have at most {_MOST_PARTS} parts")
        sizes = struct.unpack_from(f"<{count}Q", view, at)
        at += _LENGTH.size * count
        if sizes[0] > _LONGEST_TEXT:
            raise MessageError(f"the text of a message has at most {_LONGEST_TEXT} bytes, got {sizes[0]}")
        texts += sizes[0]
        if texts > _MOST_TEXT:
            raise MessageError(f"the texts of a body have at most {_MOST_TEXT} bytes")
        if sum(sizes) > len(view) - at:
            raise MessageError("a message is incomplete")
        parts: list[Bytes] = []
        isConstant = view[at : at + len(_CONSTANT)] == _CONSTANT
        for size in sizes:
            # A builder does not copy `bytes`, which nobody can write to.
            parts.append(bytes(view[at : at + size]) if isConstant and size < _LARGEST_CONSTANT else _copy(view[at : at + size]))
            at += size
        messages.append(Message(kind, parts))
    if not messages:
        raise MessageError("a body has at least one message")
    return number, messages


async def unpack_aside(body: Bytes) -> tuple[int, list[Message]]:
    """Do what `unpack` does, without holding up the event loop if that takes long."""
    return unpack(body) if size_of(body) < _LARGE else await asyncio.get_running_loop().run_in_executor(_aside(), unpack, body)


@cache
def _aside() -> ThreadPoolExecutor:
    """Return the thread for large bodies. One is enough: several would wait for each other, and all pages for them."""
    return ThreadPoolExecutor(1, thread_name_prefix="webnn-serve-bodies")


def _copy(part: memoryview) -> Bytes:
    # NumPy lets other threads run meanwhile.
    return bytearray(part) if len(part) < _LARGE else np.frombuffer(part, np.uint8).copy().data


def read_text(part: Bytes) -> str:
    """Return the text of a message, which is JSON; a `MessageError` if it is not UTF-8, or takes long to read."""
    if size_of(part) > _MOST_MARKS and size_of(part) - len(bytes(part).translate(None, _MARKS)) > _MOST_MARKS:
        raise MessageError(f"the text of a message has at most {_MOST_MARKS} brackets, colons and commas")
    try:
        return str(part, "utf-8")
    except UnicodeDecodeError as error:
        raise MessageError(f"the text of a message is not UTF-8 from byte {error.start} on") from None


def read_line(text: str, parts: Sequence[Bytes], *, wanted: bool) -> tuple[str, int]:
    """Return the program's line of the next calls; a `MessageError` if the message has more, or nobody wants it."""
    try:
        if parts or not wanted:
            raise ChannelError("a page tells its lines alone, and if it is asked for them")
        return read_place(text)
    except ChannelError as error:
        raise MessageError(str(error)) from None
