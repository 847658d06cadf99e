"""Bodies on their way here: how many there may be, how many bytes of them are held, and how long they may take."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Container, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

from aiohttp import web

__all__ = ["Uploads"]

#: The longest body of calls: the pieces that were sent ahead are counted. A page may have a constant of 2 GiB.
_LONGEST_BODY = 1 << 31
#: The longest body of other requests: the address of a worker, the names of a dictionary's members.
_LONGEST_OTHER = 1 << 16
#: The most bytes of bodies that all sessions hold at once, until they are answered.
_MOST_BYTES = 1 << 32
#: How many bytes of a body are counted before they come. An announcement alone holds no more.
_AHEAD = 1 << 20
#: The most bodies of a session that come, or wait for their answer, at once. A browser has at most six connections to a server.
_MOST_UPLOADS = 8
#: How long a body may take to come, and how long nothing of it may come, in seconds.
_LONGEST_UPLOAD, _LONGEST_SILENCE = 300.0, 20.0


@dataclass(slots=True)
class _Piece:
    """The beginning of a body whose rest comes with a later request."""

    content: bytearray = field(default_factory=bytearray)
    last: float = field(default_factory=time.monotonic)


class Uploads:
    """The bodies of a server."""

    def __init__(self) -> None:
        self.held = 0
        #: The beginnings of bodies, and how many requests with bodies there are, by session.
        self._pieces: dict[str, _Piece] = {}
        self._coming: Counter[str] = Counter()

    @asynccontextmanager
    async def receive(self, request: web.Request, name: str) -> AsyncIterator[bytearray]:
        """Receive a body of calls, behind the pieces of it that the session has sent ahead. It counts as held inside ``with``.

        Raises `web.HTTPException` if the request is refused.
        """
        with self._coming_of(name):
            size = _length_of(request, _LONGEST_BODY)
            piece = self._pieces.pop(name, None) or _Piece()
            body, ahead = piece.content, len(piece.content)
            try:
                if ahead + size > _LONGEST_BODY:
                    raise _too_large(_LONGEST_BODY, ahead + size)
                await self._read(request, body, size)
            except BaseException:
                # A browser whose connection broke off sends the rest again.
                del body[ahead:]
                if ahead:
                    self._pieces[name] = piece
                raise
            try:
                yield body
            finally:
                self.held -= ahead + size

    async def receive_piece(self, request: web.Request, name: str) -> None:
        """Keep a part of a body whose rest comes later. Raises `web.HTTPException` if the request is refused."""
        with self._coming_of(name):
            size = _length_of(request, _LONGEST_BODY)
            content = bytearray()
            await self._read(request, content, size)
            kept = self._pieces.setdefault(name, _Piece())
            if len(kept.content) + size > _LONGEST_BODY:
                self.held -= size
                raise _too_large(_LONGEST_BODY, len(kept.content) + size)
            kept.content += content
            kept.last = time.monotonic()

    async def receive_other(self, request: web.Request, name: str) -> bytearray:
        """Receive a short body that is not a call. Raises `web.HTTPException` if the request is refused."""
        with self._coming_of(name):
            size = _length_of(request, _LONGEST_OTHER)
            body = bytearray()
            await self._read(request, body, size)
            self.held -= size
            return body

    def sweep(self, living: Container[str]) -> None:
        """Forget the pieces of sessions that have ended, and those whose rest does not come."""
        oldest = time.monotonic() - _LONGEST_UPLOAD
        for name in [name for name, piece in self._pieces.items() if name not in living or piece.last < oldest]:
            self.held -= len(self._pieces.pop(name).content)

    @contextmanager
    def _coming_of(self, name: str) -> Iterator[None]:
        if self._coming[name] >= _MOST_UPLOADS:
            raise web.HTTPTooManyRequests(text=f"webnn serve: a session sends at most {_MOST_UPLOADS} bodies at once\n")
        self._coming[name] += 1
        try:
            yield
        finally:
            self._coming[name] -= 1
            if not self._coming[name]:
                del self._coming[name]

    async def _read(self, request: web.Request, body: bytearray, size: int) -> None:
        """Append what comes. Then the bytes of the request count as held; after an error they do not."""
        loop = asyncio.get_running_loop()
        end, begin, counted = loop.time() + _LONGEST_UPLOAD, len(body), 0
        try:
            async with asyncio.timeout(None) as limit:
                while True:
                    # Not what was announced: that may never come.
                    wanted = min(size, len(body) - begin + _AHEAD)
                    if self.held + wanted - counted > _MOST_BYTES:
                        raise web.HTTPServiceUnavailable(text="webnn serve: too many bytes come at once\n")
                    self.held += wanted - counted
                    counted = wanted
                    limit.reschedule(min(end, loop.time() + _LONGEST_SILENCE))
                    if not (chunk := await request.content.readany()):
                        break
                    body += chunk
        except BaseException as error:
            self.held -= counted
            if isinstance(error, TimeoutError):
                raise web.HTTPRequestTimeout(text="webnn serve: the body did not come\n") from None
            raise
        self.held += size - counted


def _length_of(request: web.Request, longest: int) -> int:
    size = request.content_length
    if size is None and request.body_exists:
        raise web.HTTPLengthRequired(text="webnn serve: a body needs its length\n")
    if size is not None and size > longest:
        raise _too_large(longest, size)
    return size or 0


def _too_large(longest: int, size: int) -> web.HTTPRequestEntityTooLarge:
    return web.HTTPRequestEntityTooLarge(longest, size, text=f"webnn serve: a body has at most {longest} bytes\n")
