"""Promises: futures of the running event loop that any thread can settle."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    import asyncio

    from webnn.context.timeline import Timeline

__all__ = ["Pending", "Turns", "promise", "rejected", "running_loop"]

T = TypeVar("T")

#: How long, in seconds, a program may go on with results that are there at once, until other tasks of its event loop get a turn.
_STRETCH = 0.001


@functools.cache
def _asyncio() -> Any:
    """Return the module, loaded lazily: it takes longer to load than all of this package's own modules, and scripts do not need it."""
    import asyncio  # noqa: PLC0415

    return asyncio


def running_loop() -> asyncio.AbstractEventLoop:
    """Return the running event loop.

    Raises:
        RuntimeError: There is none.
    """
    try:
        loop: asyncio.AbstractEventLoop = _asyncio().get_running_loop()
        return loop
    except RuntimeError:
        raise RuntimeError(
            "call this inside a running event loop, because it returns an asyncio future; in a script, use its twin with the suffix Sync "
            "(createContextSync, buildSync, computeSync, readTensorSync, ...)"
        ) from None


class Pending(Generic[T]):
    """A promise that is not settled yet. Once settled, it does not change.

    Args:
        owners: Promises to be rejected together, in order: the keys. The promise is in each of them as long as it is pending.
    """

    __slots__ = ("__weakref__", "_loop", "_owners", "future")

    def __init__(self, *owners: dict[Pending[Any], None]) -> None:
        self._loop = running_loop()
        self._owners = owners
        self.future: asyncio.Future[T] = self._loop.create_future()
        for owner in owners:
            owner[self] = None
        # However it is settled: the program may cancel it.
        self.future.add_done_callback(self._leave)

    def resolve(self, finish: Callable[[], T]) -> None:
        """Let the event loop call a function for the value, from any thread, unless the promise is settled by then."""
        self._call(self._resolve, finish)

    def resolve_soon(self, finish: Callable[[], T]) -> None:
        """Do so in the next round of the event loop, whose thread this is."""
        self._loop.call_soon(self._resolve, finish)

    def reject(self, error: Exception) -> None:
        """Reject the promise, at once if this is its event loop's thread."""
        try:
            here = _asyncio().get_running_loop() is self._loop
        except RuntimeError:
            here = False
        if here:
            self._reject(error)
        else:
            self._call(self._reject, error)

    def _call(self, function: Callable[[Any], None], argument: object) -> None:
        try:
            self._loop.call_soon_threadsafe(function, argument)
        except RuntimeError:  # the loop is closed: nobody waits any more
            self._leave(self.future)

    def _resolve(self, finish: Callable[[], T]) -> None:
        if self.future.done():
            return
        try:
            self.future.set_result(finish())
        except Exception as error:  # a failed step rejects the promise
            self.future.set_exception(error)

    def _reject(self, error: Exception) -> None:
        if not self.future.done():
            self.future.set_exception(error)

    def _leave(self, _: asyncio.Future[T]) -> None:
        for owner in self._owners:
            owner.pop(self, None)


@dataclass(slots=True, eq=False)
class Turns:
    """Makes futures that have their result already, and sees to it that the event loop gets its turns.

    A task that awaits such a future goes on at once. So from time to time a future gets its result in the next round of the event loop.
    """

    _loop: Callable[[], asyncio.AbstractEventLoop | None] = field(default=lambda: None, init=False)
    _since: float = field(default=0.0, init=False)

    def resolved(self, value: T) -> asyncio.Future[T]:
        """Return a future of the running event loop with a result."""
        loop = running_loop()
        future: asyncio.Future[T] = loop.create_future()
        now = loop.time()
        if self._loop() is loop and now - self._since < _STRETCH:
            future.set_result(value)
        else:
            self._loop, self._since = weakref.ref(loop), now
            loop.call_soon(_set_result, future, value)
        return future


def _set_result(future: asyncio.Future[T], value: T) -> None:
    if not future.done():
        future.set_result(value)


def rejected(error: Exception) -> asyncio.Future[Any]:
    """Return a future of the running event loop that has failed."""
    future: asyncio.Future[Any] = running_loop().create_future()
    future.set_exception(error)
    return future


def promise(timeline: Timeline, job: Callable[[], T], *owners: dict[Pending[Any], None]) -> asyncio.Future[T]:
    """Run a job on a timeline; return a future of the running event loop, which fails with what the job raises.

    A job whose future is cancelled before its turn does not run.
    """
    pending: Pending[T] = Pending(*owners)

    def work() -> None:
        if pending.future.done():
            return
        try:
            value = job()
        except Exception as error:  # a failed step rejects the promise
            pending.reject(error)
        else:
            pending.resolve(lambda: value)

    timeline.hurry(work)
    return pending.future
