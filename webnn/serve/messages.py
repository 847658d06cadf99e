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

import struct
from collections.abc import Iterable, Sequence

from webnn.javascript.channel import Bytes, Message

__all__ = ["MessageError", "close_reason", "pack", "size_of", "total_size", "unpack"]

_MAGIC = b"WN"
_NUMBER = struct.Struct("<I")
_HEADER = struct.Struct("<2scxI")
_LENGTH = struct.Struct("<Q")
#: The longest text of a message, and the most parts.
_LONGEST_TEXT, _MOST_PARTS = 1 << 26, 1 << 20
_KINDS = frozenset("HDKSCP")
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
    """Return the number of a body, and its messages. Each part after a message's first has memory of its own, which can be written to.

    Raises:
        MessageError: The bytes are not messages.
    """
    view = memoryview(body)
    if len(view) < _NUMBER.size:
        raise MessageError("a body begins with a number")
    (number,), at = _NUMBER.unpack_from(view), _NUMBER.size
    if number == 0:
        raise MessageError("requests are numbered from 1 on")
    messages: list[Message] = []
    while at < len(view):
        if len(view) - at < _HEADER.size:
            raise MessageError("a message is incomplete")
        magic, letter, count = _HEADER.unpack_from(view, at)
        at += _HEADER.size
        kind = letter.decode("latin-1")
        if magic != _MAGIC or kind not in _KINDS or (kind == "H" and messages):
            raise MessageError("there is no such message")
        if not 1 <= count <= _MOST_PARTS or len(view) - at < _LENGTH.size * count:
            raise MessageError("a message is incomplete")
        sizes = struct.unpack_from(f"<{count}Q", view, at)
        at += _LENGTH.size * count
        if sizes[0] > _LONGEST_TEXT:
            raise MessageError(f"the text of a message has at most {_LONGEST_TEXT} bytes, got {sizes[0]}")
        if sum(sizes) > len(view) - at:
            raise MessageError("a message is incomplete")
        parts: list[Bytes] = []
        for size in sizes:
            parts.append(bytearray(view[at : at + size]))
            at += size
        messages.append(Message(kind, parts))
    if not messages:
        raise MessageError("a body has at least one message")
    return number, messages


def read_text(part: Bytes) -> str:
    """Return the text of a message; a `MessageError` if it is no UTF-8."""
    try:
        return str(part, "utf-8")
    except UnicodeDecodeError as error:
        raise MessageError(f"the text of a message is no UTF-8 from byte {error.start} on") from None
