"""The walls, in their order: how they are put up, and what is told of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence

from webnn.processes.walls import namespaces
from webnn.processes.walls.calls import restrict_calls
from webnn.processes.walls.group import join
from webnn.processes.walls.landlock import restrict_files
from webnn.processes.walls.limits import end_with, limit_memory, limit_threads
from webnn.processes.walls.system import MissingError

__all__ = ["IN_PLACE", "SYSTEM_PATHS", "WALLS", "describe", "put_up", "put_up_in_place"]

#: The walls, in the order in which they are put up, and what each one is for.
WALLS: Mapping[str, str] = {
    "together": "a limit of memory and threads of a program with its workers (cgroup)",
    "namespace": "a network without devices, and no shared memory of others (unshare)",
    "processes": "it sees no other process, and all that it starts ends with it (PID namespace)",
    "tree": "the files that it may read are all that exist (mount namespace)",
    "threads": "at most 256 threads (RLIMIT_NPROC)",
    "memory": "a limit of memory (RLIMIT_DATA)",
    "files": "no file but those that it needs (Landlock)",
    "parent": "it ends with its parent (PR_SET_PDEATHSIG)",
    "system calls": "the calls of a list only: no process, no signal to one, no socket, no change of a file's owner or mode (seccomp)",
}
#: The walls that a running Python can put up.
IN_PLACE = ("namespace", "tree", "files", "system calls")
#: The files that a dynamically linked Node, and V8's look at the machine, need.
SYSTEM_PATHS = (
    *("/usr", "/lib", "/lib32", "/lib64", "/nix/store", "/gnu/store", "/etc/ld.so.cache", "/etc/ssl/openssl.cnf", "/etc/localtime"),
    *("/proc/self", "/proc/meminfo", "/proc/cpuinfo", "/proc/stat", "/sys/devices/system/cpu", "/sys/fs/cgroup"),
    *("/dev/null", "/dev/random", "/dev/urandom"),
)


def _attempt(name: str, step: Callable[[], None], missing: dict[str, str]) -> None:
    """Put up a wall, or note why it is missing."""
    try:
        step()
    except (MissingError, OSError, ValueError, AttributeError) as error:
        missing[name] = str(error)


def put_up_in_place(read: Sequence[str], use: Sequence[str], write: Sequence[str] = (), *, device: bool = False) -> dict[str, str]:
    """Put up the walls that a running process can have; return those of `IN_PLACE` that are missing, with the reasons.

    Args:
        read: The files and folders that it may read.
        use: The devices that it may use.
        write: The folders in which it may change files.
        device: It is the process of a device.
    """
    if sys.platform != "linux":
        return dict.fromkeys(IN_PLACE, "only Linux has it")
    # The system puts them up for one thread only.
    if len(os.listdir("/proc/self/task")) > 1:
        return dict.fromkeys(IN_PLACE, "the process has other threads")
    missing: dict[str, str] = {}
    _attempt("namespace", namespaces.leave_system, missing)
    _put_up_last(read, use, write, lambda: restrict_calls(device=device), missing)
    return missing


def put_up(*, parent: int, memory: int, read: Sequence[str], group: str) -> dict[str, str]:
    """Put up the walls around a program that this process is about to become; return those that are missing, with the reasons.

    Behind the wall "processes" the program is another process: this function returns there, and this process waits for it, and ends as
    it does. The arguments are those of `start`.
    """
    missing: dict[str, str] = {}
    root = os.getuid() == 0
    _attempt("together", lambda: join(group), missing)
    _attempt("namespace", namespaces.leave_system, missing)
    # After the namespace, because a change of the process's rights undoes it.
    _attempt("parent", lambda: end_with(parent), missing)
    if _attempt_in_namespace("processes", namespaces.fork_apart, missing):
        _attempt("parent", lambda: end_with(0), missing)
    _attempt("threads", lambda: limit_threads(namespace="namespace" not in missing, root=root), missing)
    _attempt("memory", lambda: limit_memory(memory), missing)
    _put_up_last(read, (), (), lambda: restrict_calls(starts=True), missing)
    return missing


def _put_up_last(
    read: Sequence[str], use: Sequence[str], write: Sequence[str], restrict: Callable[[], None], missing: dict[str, str]
) -> None:
    """Put up the walls around files and system calls."""
    _attempt_in_namespace("tree", lambda: namespaces.bind_tree((*read, *use), write), missing)
    if "namespace" not in missing:
        _attempt("namespace", namespaces.drop_rights, missing)
    _attempt("files", lambda: restrict_files(read, use, write), missing)
    _attempt("system calls", restrict, missing)


def _attempt_in_namespace(name: str, step: Callable[[], None], missing: dict[str, str]) -> bool:
    """Put up a wall that needs the rights of the namespace; return whether it stands."""
    if "namespace" in missing:
        missing[name] = "it needs the wall namespace"
    else:
        _attempt(name, step, missing)
    return name not in missing


def describe(missing: Mapping[str, str], names: Iterable[str] = WALLS) -> list[str]:
    """Return a line about each wall of these names, given those that are missing, and why."""
    return [f"wall: {name}: {f'absent: {missing[name]}' if name in missing else WALLS[name]}" for name in names]
