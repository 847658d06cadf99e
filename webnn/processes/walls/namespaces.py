"""Namespaces: a network without devices, a tree of files that holds only what is bound, and processes that see no others."""

from __future__ import annotations

import ctypes
import os
import signal
import stat
import struct
from collections.abc import Sequence

from webnn.processes.walls.limits import end_with, forbid_dumps
from webnn.processes.walls.system import MissingError, call

__all__ = ["bind_tree", "drop_rights", "fork_apart", "leave_system"]

_CLONE_NEWNS, _CLONE_NEWIPC, _CLONE_NEWUSER, _CLONE_NEWPID, _CLONE_NEWNET = 0x00020000, 0x08000000, 0x10000000, 0x20000000, 0x40000000
#: The user in the namespace: not root, so that a program that starts there has none of the namespace's rights; and not 65534, as which the
#: system shows all other users.
_USER = 65533
#: These system calls have the same numbers on every architecture.
_OPEN_TREE, _MOVE_MOUNT, _MOUNT_SETATTR = 428, 429, 442
_HERE, _RECURSIVE, _CLOEXEC, _CLONE, _FROM_EMPTY_PATH, _DETACH = -100, 0x8000, 0x80000, 1, 4, 2
_NOSUID, _NODEV = 2, 4
_ATTR_READ_ONLY, _ATTR_NOSUID = 1, 2
#: The version of `capset`'s argument with 64 bits.
_CAPABILITIES = 0x20080522
#: How many links a path may have, as the kernel counts.
_MOST_LINKS = 40


def leave_system() -> None:
    """Leave the network, the shared memory and the users of the system. Raises `MissingError`."""
    uid, gid = os.geteuid(), os.getegid()
    call("unshare", _CLONE_NEWUSER | _CLONE_NEWNET | _CLONE_NEWIPC)
    try:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{_USER} {uid} 1"), ("gid_map", f"{_USER} {gid} 1")):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)
    except OSError:
        drop_rights()
        raise


def bind_tree(paths: Sequence[str], write: Sequence[str]) -> None:
    """Make a tree of files the root of this process. It holds ``paths`` and ``write`` only; all but ``write`` is read-only.

    Paths that do not exist are left out. The current folder stays, but is empty if it is not one of these. Raises `MissingError`.
    """
    links: dict[str, str] = {}
    places = {_resolve(path, links): path in write for path in (*paths, *write)}
    current = _resolve(os.getcwd(), links)
    if "/" in places:
        raise MissingError("the process must read all files")
    call("unshare", _CLONE_NEWNS)
    trees: dict[str, int] = {}
    for path in sorted(places):
        if os.path.exists(path) and not any(path.startswith(f"{other}/") and not places[path] for other in trees):
            flags = _CLONE | _RECURSIVE | _CLOEXEC
            trees[path] = call("syscall", _OPEN_TREE, _HERE, os.fsencode(path), flags)
    root = next(each for each in ("/tmp", "/usr") if os.path.isdir(each))
    call("mount", b"webnn", root.encode(), b"tmpfs", ctypes.c_ulong(_NOSUID | _NODEV), b"mode=0755")
    try:
        for path, tree in trees.items():
            _make(root + path, folder=stat.S_ISDIR(os.fstat(tree).st_mode))
            call("syscall", _MOVE_MOUNT, tree, b"", _HERE, os.fsencode(root + path), _FROM_EMPTY_PATH)
        for link, target in links.items():
            if not os.path.lexists(root + link) and not any(link.startswith(f"{path}/") for path in trees):
                os.makedirs(os.path.dirname(root + link), exist_ok=True)
                os.symlink(target, root + link)
        if not os.path.lexists(root + current):
            os.makedirs(root + current)
        _set_attributes(root, _ATTR_READ_ONLY | _ATTR_NOSUID, 0, _RECURSIVE)
        for path in (path for path in trees if places[path]):
            _set_attributes(root + path, 0, _ATTR_READ_ONLY, 0)
        os.chdir(root)
        call("pivot_root", b".", b".")
    except BaseException:
        os.chdir(current)
        call("umount2", root.encode(), _DETACH)
        raise
    finally:
        for tree in trees.values():
            os.close(tree)
    call("umount2", b".", _DETACH)
    os.chdir("/")
    os.chdir(current)


def _resolve(path: str, links: dict[str, str]) -> str:
    """Return a path without links, and note those that it has."""
    parts, place, count = os.path.abspath(path).split("/")[:0:-1], "", 0
    while parts:
        name = parts.pop()
        if name in ("", "."):
            continue
        here = os.path.dirname(place) if name == ".." else f"{place}/{name}"
        if count < _MOST_LINKS and os.path.islink(here):
            count += 1
            links[here] = target = os.readlink(here)
            parts += target.split("/")[::-1]
            place = "" if target.startswith("/") else place
        else:
            place = here.rstrip("/")
    return place or "/"


def _make(path: str, *, folder: bool) -> None:
    """Make what another tree is put on."""
    if folder:
        os.makedirs(path, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))


def _set_attributes(path: str, attributes: int, without: int, flags: int) -> None:
    given = struct.pack("=QQQQ", attributes, without, 0, 0)
    call("syscall", _MOUNT_SETATTR, _HERE, os.fsencode(path), flags, given, ctypes.c_size_t(len(given)))


def fork_apart() -> None:
    """Go on as another process, in a new namespace. This process waits for it, and ends as it does. Raises `MissingError`.

    The first process of the namespace only waits for the end of this one, and all others of the namespace end with it. The next one goes
    on: the first one would not end at its own signals.
    """
    call("unshare", _CLONE_NEWPID)
    first = _fork()
    if first == 0:
        end_with(0)
        os.closerange(0, os.sysconf("SC_OPEN_MAX"))
        while True:
            signal.pause()
    child = _fork()
    if child != 0:
        os.closerange(0, os.sysconf("SC_OPEN_MAX"))
        forbid_dumps()
        _, status = os.waitpid(child, 0)
        os.kill(first, signal.SIGKILL)
        # In a container nobody else may do so.
        os.waitpid(first, 0)
        _end_like(status)


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


def drop_rights() -> None:
    """Give up the rights that a new namespace gave to this process. Raises `MissingError`."""
    call("capset", struct.pack("=Ii", _CAPABILITIES, 0), bytes(24))
