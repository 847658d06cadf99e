"""Limits for the time and memory of importing a mutated file."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["bounded"]


@contextmanager
def bounded(seconds: float, memory: int) -> Iterator[None]:
    """Assert that the block takes fewer seconds of CPU time and, where the system tells it, fewer bytes of memory."""
    started, before = time.process_time(), _memory("VmRSS", reset=True)
    yield
    # The system counts pages in batches: the peak can lie some pages below the size before.
    took, grown = time.process_time() - started, max(_memory("VmHWM") - before, 0)
    assert took < seconds, f"it took {took:.1f} s"
    assert grown < memory, f"it took {grown >> 20} MiB"


def _memory(field: str, *, reset: bool = False) -> int:
    """Return what the system says of this process's memory, in bytes: 0 if it says nothing. The largest value can be reset."""
    status = Path("/proc/self/status")
    if not status.exists():
        return 0
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    return next(int(line.split()[1]) << 10 for line in status.read_text().splitlines() if line.startswith(field))
