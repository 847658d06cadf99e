"""Operations whose results come later, for hosts without an event loop: each waits for bytes that the program gives."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple

from webnn.javascript.calls import HostCall

__all__ = ["Later"]


class _Operation(NamedTuple):
    call: HostCall
    text: str
    future: asyncio.Future[Any]


class Later:
    """The operations that have begun and whose results the program does not have yet, by their numbers."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._operations: dict[int, _Operation] = {}
        self._last = 0

    def begin(self, call: HostCall, text: str, function: Callable[..., asyncio.Future[Any]]) -> int:
        """Call a function, which returns a future; return the number of the operation. Raises what the function raises."""

        async def start() -> asyncio.Future[Any]:
            return function(*call.values)

        self._loop = self._loop or asyncio.new_event_loop()
        future = self._loop.run_until_complete(start())
        self._last += 1
        self._operations[self._last] = _Operation(call, text, future)
        return self._last

    def target(self, number: int) -> Any:
        """Return the object that an operation belongs to. Raises `KeyError` if there is no such operation."""
        return self._operations[number].call.target

    def finish(self, number: int) -> tuple[HostCall, str, Any]:
        """Wait for an operation; return its call, its text and its result. Raises the error that it ends with."""
        call, text, future = self._operations.pop(number)
        assert self._loop is not None
        return call, text, self._loop.run_until_complete(future)

    def clear(self) -> None:
        """Forget all operations."""
        self._operations.clear()
        if self._loop is not None:
            self._loop.close()
            self._loop = None
