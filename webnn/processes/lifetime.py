"""The end of processes that start others, and of those that they have started."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["SIGNALLED", "end_with_parent", "ends_at_signals"]

#: The exit code of a process that a signal ended, less the signal's number.
SIGNALLED = 128
#: How often a process looks for its parent, in seconds.
_WATCH = 0.5
#: On Windows, the right to wait for a process.
_SYNCHRONIZE = 0x00100000


@contextmanager
def ends_at_signals() -> Iterator[None]:
    """Make SIGTERM and SIGHUP run the `finally` clauses of this process. Otherwise the processes that it started would go on."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _: object) -> None:
        raise SystemExit(SIGNALLED + number)

    # An ignored signal stays ignored, as nohup requires. Windows has no SIGHUP.
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.signal(number, end) for number in numbers if signal.getsignal(number) is not signal.SIG_IGN}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def end_with_parent() -> None:
    """End this process and the process group that it leads when its parent has died: SIGKILL runs no `finally`."""
    threading.Thread(target=_watch_parent, args=[os.getppid()], daemon=True).start()


def _watch_parent(parent: int) -> None:
    if sys.platform == "win32":
        import _winapi  # noqa: PLC0415

        # The id of a process that has ended can be reused.
        _winapi.WaitForSingleObject(_winapi.OpenProcess(_SYNCHRONIZE, False, parent), _winapi.INFINITE)
        os._exit(SIGNALLED + 9)
    else:
        while os.getppid() == parent:
            time.sleep(_WATCH)
        os.killpg(0, signal.SIGKILL)
