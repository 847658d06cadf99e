"""Requests as they are written: a client would tidy them up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from tests.support import PATIENCE

__all__ = ["Answer", "ask", "connect", "read_answer", "request"]


@dataclass(frozen=True)
class Answer:
    """The answer of a server."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def all(self, name: str) -> list[str]:
        return [value for each, value in self.headers if each.lower() == name.lower()]

    def __getitem__(self, name: str) -> str | None:
        return next(iter(self.all(name)), None)


def request(port: int, target: str = "/", *headers: str, method: str = "GET", host: str | None = None, body: bytes = b"") -> bytes:
    """Write a request with the host that the server has, unless another one is named; "" leaves it out."""
    named = [f"Host: {f'127.0.0.1:{port}' if host is None else host}"] if host != "" else []
    lines = [f"{method} {target} HTTP/1.1", *named, *headers, "Connection: close", *([f"Content-Length: {len(body)}"] if body else [])]
    return "\r\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape") + body


@asynccontextmanager
async def connect(port: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


async def read_answer(reader: asyncio.StreamReader, *, head_only: bool = False) -> Answer:
    async with asyncio.timeout(PATIENCE):
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
        headers = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines)]
        answer = Answer(int(first.split()[1]), headers, b"")
        if head_only:
            return answer
        length = answer["Content-Length"]
        content = await (reader.readexactly(int(length)) if length is not None else reader.read())
        return Answer(answer.status, headers, content)


async def ask(port: int, *arguments: str, head_only: bool = False, **options: object) -> Answer:
    """Send one request on a connection of its own."""
    async with connect(port) as (reader, writer):
        writer.write(request(port, *arguments, **options))
        return await read_answer(reader, head_only=head_only)
