"""Signals that end a process through its `finally` clauses: those who start processes must end them."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["SIGNALLED", "ends_at_signals"]

#: The exit code of a process that a signal ended, less the signal's number.
SIGNALLED = 128


@contextmanager
def ends_at_signals() -> Iterator[None]:
    """Have SIGTERM and SIGHUP end this process through its `finally` clauses: the processes that it has started would go on without it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _: object) -> None:
        raise SystemExit(SIGNALLED + number)

    # One that is ignored stays so: that is what nohup is for. Windows has no SIGHUP.
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.signal(number, end) for number in numbers if signal.getsignal(number) is not signal.SIG_IGN}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
