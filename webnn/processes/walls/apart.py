"""A namespace of processes, whose processes see no others and end with its first one."""

from __future__ import annotations

import os
import signal

from webnn.processes.walls.limits import end_with, forbid_dumps
from webnn.processes.walls.system import MissingError, call

__all__ = ["fork_apart"]

_CLONE_NEWPID = 0x20000000


def fork_apart() -> None:
    """Go on as another process, in a new namespace. This process waits for it, and ends as it does. Raises `MissingError`.

    The first process of the namespace only waits for the end of this one; all others of the namespace end with it. The next one goes on. It could
    not be the first, which no signal of its own ends.
    """
    call("unshare", _CLONE_NEWPID)
    if _fork() == 0:
        end_with(0)
        os.closerange(0, os.sysconf("SC_OPEN_MAX"))
        while True:
            signal.pause()
    child = _fork()
    if child != 0:
        os.closerange(0, os.sysconf("SC_OPEN_MAX"))
        forbid_dumps()
        _end_like(os.waitpid(child, 0)[1])


def _fork() -> int:
    try:
        return os.fork()
    except OSError as error:
        raise MissingError(f"fork: {error.strerror}") from None


def _end_like(status: int) -> None:
    """End this process with the status of another one."""
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)
