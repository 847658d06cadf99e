"""Turns: sessions that use much processor time work one at a time, so that a call of any other session does not wait for all of them.

One thread of Python works at a time anyway, and hands over to another after a while. Beside 16 busy threads, a call would wait for 16 such
whiles at each step of its way.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

__all__ = ["Share", "Turns"]

#: After how many seconds half of a use is forgotten, and the seconds of processor time above which a session waits for its turn.
_HALF_LIFE, _MUCH = 1.0, 0.1
#: How long a session works before it looks whether others wait, and how long it may have the turn for one operation, in seconds.
_SLICE, _LONGEST = 0.002, 1.0


class Turns:
    """The turn of the sessions with much use. Any thread may call any method."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken = False
        self._waiting: deque[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = deque()

    async def take(self) -> None:
        """Wait for the turn."""
        with self._lock:
            if not self._taken:
                self._taken = True
                return
            loop = asyncio.get_running_loop()
            mine = loop, loop.create_future()
            self._waiting.append(mine)
        try:
            await mine[1]
        except asyncio.CancelledError:
            with self._lock:
                isGiven = mine not in self._waiting
                if not isGiven:
                    self._waiting.remove(mine)
            if isGiven:
                self.give()
            raise

    def give(self) -> None:
        """Give the turn to the session that has waited longest."""
        with self._lock:
            while self._waiting:
                loop, future = self._waiting.popleft()
                # The loop is not closed before its future is cancelled, which takes the lock.
                loop.call_soon_threadsafe(_set, future)
                return
            self._taken = False


def _set(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


class Share:
    """The processor time of one session, and its place in the turns. The session's thread calls all methods."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._lately, self._last = 0.0, time.monotonic()
        #: How many parts of the session's work keep the turn.
        self._holds = 0

    @asynccontextmanager
    async def working(self) -> AsyncIterator[Callable[[], Awaitable[None]]]:
        """Work inside ``with``: wait for the turn if the session has used much. Await what it yields between two requests."""
        isHeld, since = await self._begin(), time.thread_time()
        due = time.monotonic() + _SLICE

        async def rest() -> None:
            nonlocal isHeld, since, due
            # To ask for processor time takes as long as some calls do. It does not pass faster than time.
            if time.monotonic() < due:
                return
            if (now := time.thread_time()) - since > _SLICE:
                self._end(now - since, isHeld)
                isHeld, since = False, now
                isHeld = await self._begin()
            due = time.monotonic() + _SLICE - (now - since)

        try:
            yield rest
        finally:
            self._end(time.thread_time() - since, isHeld)

    def follow(self, operation: asyncio.Future[Any]) -> None:
        """Count the time of an operation that another thread carries out.

        A session that has the turn keeps it meanwhile, at most a second.
        """
        start, isHeld = time.monotonic(), self._holds > 0
        self._holds += isHeld

        def end(_: object) -> None:
            nonlocal isHeld
            timer.cancel()
            self._end(min(time.monotonic() - start, _LONGEST), isHeld)
            isHeld = False

        def expire() -> None:
            operation.remove_done_callback(end)
            end(None)

        timer = asyncio.get_running_loop().call_later(_LONGEST, expire)
        operation.add_done_callback(end)

    def close(self) -> None:
        """Give the turn back when the session ends: what keeps it may never be done then."""
        if self._holds:
            self._holds = 0
            self._turns.give()

    async def _begin(self) -> bool:
        """Return whether the session keeps the turn."""
        if not self._holds:
            if self._recent() <= _MUCH:
                return False
            await self._turns.take()
        self._holds += 1
        return True

    def _end(self, seconds: float, isHeld: bool) -> None:
        self._lately, self._last = self._recent() + seconds, time.monotonic()
        if isHeld and self._holds:
            self._holds -= 1
            if not self._holds:
                self._turns.give()

    def _recent(self) -> float:
        """Return the seconds that are not forgotten."""
        return float(self._lately * 0.5 ** ((time.monotonic() - self._last) / _HALF_LIFE))
