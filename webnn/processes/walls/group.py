"""A limit of memory and threads for a program and all its workers: by cgroup v2 where the user may make a group, and by counting."""

from __future__ import annotations

import os
import re
import time

from webnn.processes.walls.system import MissingError

__all__ = ["MOST_THREADS", "close_group", "count", "join", "open_group"]

#: How many threads a program and its workers may have: one with all its workers has 300.
MOST_THREADS = 1024
_ROOT = "/sys/fs/cgroup"
_OWN = "/proc/self/cgroup"
#: How many times a group is tried to be removed, and how often, in seconds.
_PATIENCE, _MOMENT = 50, 0.01
_MEMORY = re.compile(r"^(?:RssAnon|RssShmem|VmSwap):\s*(\d+) kB$", re.MULTILINE)
_THREADS = re.compile(r"^Threads:\s*(\d+)$", re.MULTILINE)


def open_group(memory: int, threads: int) -> str:
    """Make a group with these limits, in bytes and in number; return its folder. Raises `MissingError`."""
    try:
        with open(_OWN, encoding="utf-8") as file:
            (own,) = [line[3:].strip() for line in file if line.startswith("0::/")]
        # A group with processes has no limited groups in it, so the new one is beside it.
        folder = f"{_ROOT}{os.path.dirname(own).rstrip('/')}/webnn-{os.getpid()}-{os.urandom(4).hex()}"
        if own == "/" or not os.path.exists(f"{_ROOT}/cgroup.controllers"):
            raise MissingError("the system has no groups (cgroup v2) that this process could be in")
        os.mkdir(folder)
    except (OSError, ValueError) as error:
        raise MissingError(f"no group can be made (cgroup v2): {error}") from None
    try:
        for name, value in (("memory.max", memory), ("memory.oom.group", 1), ("pids.max", threads)):
            _write(f"{folder}/{name}", value)
    except OSError as error:
        close_group(folder)
        raise MissingError(f"a group has no limits (cgroup v2): {error}") from None
    return folder


def join(folder: str) -> None:
    """Move this process into a group. Raises `OSError`, or `MissingError` if there is no folder: then it says why."""
    if not folder.startswith("/"):
        raise MissingError(folder)
    _write(f"{folder}/cgroup.procs", os.getpid())


def close_group(folder: str) -> None:
    """Remove a group whose processes have ended."""
    for _ in range(_PATIENCE if folder.startswith("/") else 0):
        try:
            os.rmdir(folder)
        except FileNotFoundError:
            return
        except OSError:  # a process is about to end
            time.sleep(_MOMENT)


def count(process: int) -> tuple[int, int]:
    """Return how many bytes of memory and how many threads a process has, with all that it has started; 0 if it has ended."""
    try:
        with open(f"/proc/{process}/status", encoding="utf-8", errors="replace") as file:
            status = file.read()
        with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as file:
            children = file.read().split()
    except OSError:
        return 0, 0
    memory, threads = (sum(map(int, pattern.findall(status))) for pattern in (_MEMORY, _THREADS))
    for child in map(int, children):
        more = count(child)
        memory, threads = memory + (more[0] >> 10), threads + more[1]
    return memory << 10, threads


def _write(path: str, value: int) -> None:
    # The files exist already.
    place = os.open(path, os.O_WRONLY)
    try:
        os.write(place, b"%d" % value)
    finally:
        os.close(place)
