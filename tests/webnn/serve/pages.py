"""A page as a program: what page_host.js sends, without a browser."""

from __future__ import annotations

import asyncio
import json
import struct
from collections.abc import Callable, Sequence
from typing import Any

from tests.support import PATIENCE
from webnn.javascript.channel import Bytes, Message
from webnn.serve.messages import size_of
from webnn.serve.session import Session, Visitor
from webnn.serve.sessions import Sessions

PAIR = {"dataType": "float32", "shape": [2]}
HELLO = {"kind": "window", "url": "https://a.test/", "origin": "https://a.test", "ancestors": [], "allow": "", "policy": "", "first": 1}
VISITOR = Visitor(url="https://a.test/", origin="https://a.test")
#: The name of a session.
NAME = "0123456789abcdef0123456789abcdef"


def body(*pieces: bytes, number: int = 1) -> bytes:
    """Return a body of messages, as a page numbers and sends it."""
    return struct.pack("<I", number) + b"".join(pieces)


def message(kind: str, *parts: bytes) -> bytes:
    return b"WN" + kind.encode() + b"\0" + struct.pack(f"<I{len(parts)}Q", len(parts), *map(len, parts)) + b"".join(parts)


GREETING, NOTHING = message("H", json.dumps(HELLO).encode()), message("C", b'"nothing"')


#: The first context of a session, in an answer.
MADE_CONTEXT = {"$i": "MLContext", "$h": 1, "$a": {"largest": 2**31 - 1, "rank": 8, "ruled": [], "shared": True}}


def end_all(sessions: Sessions) -> None:
    for session in list(sessions.living.values()):
        sessions.end(session)


async def eventually(is_so: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not is_so():
            await asyncio.sleep(0.01)


def request(interface: str, member: str, handle: int | None, *arguments: Any, views: Sequence[Any] = ()) -> bytes:
    """Return the text of a call."""
    return json.dumps([interface, member, handle, arguments, views, []]).encode()


def open_body(pieces: Sequence[Bytes]) -> tuple[int, str, list[bytes]]:
    """Return the number of a body that a page gets, the letter of its message, and its parts."""
    content = b"".join(bytes(piece) for piece in pieces)
    assert size_of(content) >= 12
    number, kind, count = int.from_bytes(content[:4], "little"), chr(content[6]), int.from_bytes(content[8:12], "little")
    sizes = [int.from_bytes(content[12 + 8 * index : 20 + 8 * index], "little") for index in range(count)]
    at, parts = 12 + 8 * count, []
    for size in sizes:
        parts.append(content[at : at + size])
        at += size
    assert at == len(content)
    return number, kind, parts


class Caller:
    """Makes the calls of a page to a session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.number = 0

    async def answer(self, text: bytes, *buffers: bytes) -> tuple[dict[str, Any], list[bytes]]:
        """Call, and return the answer as it comes."""
        self.number += 1
        message = Message("C", [text, *map(bytearray, buffers)])
        number, kind, [answer, *parts] = open_body(await self.session.exchange(self.number, [message]))
        assert (number, kind) == (self.number, "A")
        return json.loads(answer), parts

    async def complete(self, text: bytes, *buffers: bytes) -> tuple[dict[str, Any], list[bytes]]:
        """Call, and wait for the result."""
        answer, parts = await self.answer(text, *buffers)
        if "pending" not in answer:
            return answer, parts
        _, kind, [result, *parts] = open_body(await asyncio.wait_for(self.session.result(answer["pending"]), 60))
        assert kind == "R"
        return json.loads(result), parts

    async def make(self, text: bytes) -> int:
        """Call what makes an object, and return its handle."""
        answer, _ = await self.complete(text)
        handle: int = answer["value"]["$h"]
        return handle
