"""Python's garbage collector during work that makes many objects and no garbage in cycles: a translation, an import."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["without_collection"]


class _Block:
    """A block that asks for a suspension, and what it found."""

    __slots__ = ("thread", "was_enabled")

    def __init__(self) -> None:
        self.thread = threading.get_ident()
        self.was_enabled = False


#: The block that suspends the collector, under the key `None`. The first that asks does it and undoes it; the others do neither. So no
#: block can leave the collector off, however blocks overlap, and it is off no longer than one of them lasts.
_SUSPENDING: dict[None, _Block] = {}


def _end_in_child() -> None:
    """Restore the collector in a forked child, which does not have the thread that suspends it."""
    block = _SUSPENDING.get(None)
    if block is not None and block.thread != threading.get_ident():
        _end(block)


def _end(block: _Block) -> None:
    """End a suspension. If an interrupt ends this, it can be done again."""
    if _SUSPENDING.get(None) is block:
        if block.was_enabled:
            gc.enable()
        _SUSPENDING.pop(None, None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_end_in_child)


@contextmanager
def without_collection() -> Iterator[None]:
    """Run no automatic garbage collection during the block.

    A full collection takes 25 to 32 ms in a process with the packages loaded, and finds nothing. The block restores the state it found,
    also if an interrupt comes at its beginning or its end.
    """
    block = _Block()
    try:
        if _SUSPENDING.setdefault(None, block) is block:
            block.was_enabled = gc.isenabled()
            gc.disable()
        yield
        _end(block)
    except BaseException:
        _end(block)
        raise
