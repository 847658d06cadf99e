"""How processes end: the words for an exit code, and a process that ends with its parent."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

__all__ = ["KEEPER", "SIGNALLED", "describe_code", "end_with_parent"]

#: The exit code of a process that a signal ended, less the signal's number.
SIGNALLED = 128
#: The name of the threads that start the processes of contexts, and wait for them: the program itself starts none.
KEEPER = "webnn process"
#: How often a process looks for its parent, in seconds.
_WATCH = 0.5
#: On Windows, the right to wait for a process.
_SYNCHRONIZE = 0x00100000


def describe_code(code: int) -> str:
    """Describe an exit code, for example as ``"exit code 3"`` or ``"signal 11, SIGSEGV"``."""
    if code >= 0:
        # Windows reports faults as large exit codes, which are usually written in hexadecimal.
        return f"exit code {code if code < 256 else hex(code)}"
    return f"signal {-code}" + (f", {signal.Signals(-code).name}" if -code in set(signal.Signals) else "")


def end_with_parent() -> None:
    """End this process, and the process group that it may lead, when its parent has died: SIGKILL runs no `finally`."""
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
        own = os.getpid()
        os.kill(-own if os.getpgrp() == own else own, signal.SIGKILL)
