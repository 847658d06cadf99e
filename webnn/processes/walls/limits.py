"""Limits of the system for one process, and its end with another one."""

from __future__ import annotations

import os
import signal
from contextlib import suppress

from webnn.processes.walls.system import MissingError, prctl

with suppress(ImportError):  # Windows
    import resource

__all__ = ["end_with", "forbid_dumps", "limit_memory", "limit_threads"]

_MOST_THREADS = 256
#: Since this version of Linux, RLIMIT_NPROC counts the threads of a user namespace by themselves, not those of all the user's programs.
_COUNTED_BY_NAMESPACE = (5, 14)
_PR_SET_PDEATHSIG = 1


def limit_threads(*, namespace: bool, root: bool) -> None:
    """Limit the threads. Raises `MissingError`.

    Args:
        namespace: The process has left the users of the system.
        root: Its user was root there.
    """
    if not namespace:
        raise MissingError("there is no namespace to count them in")
    if root:
        raise MissingError("the system does not count those of root")
    if tuple(int(part) for part in os.uname().release.split(".")[:2] if part.isdigit()) < _COUNTED_BY_NAMESPACE:
        raise MissingError("this Linux counts the threads of all the user's programs together")
    resource.setrlimit(resource.RLIMIT_NPROC, (_MOST_THREADS, _MOST_THREADS))


def limit_memory(size: int) -> None:
    """Limit the memory that may be written to, in bytes."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limit = size if hard == resource.RLIM_INFINITY else min(size, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    forbid_dumps()


def forbid_dumps() -> None:
    """Forbid core dumps, which would write the program's memory to a file."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def end_with(parent: int) -> None:
    """End this process with its parent, whose number is 0 if it is in another namespace. Raises `MissingError`."""
    prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
    # It may have died before.
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)
