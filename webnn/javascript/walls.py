"""The walls of the operating system: limits that a process gives to itself, and that its program cannot lift again.

On Linux, Node is started through this file. It runs in a fresh interpreter (``python -I -S walls.py ORDERS PROGRAM ARGUMENT ...``), which
has one thread and holds nothing: in a process with threads, a function that runs between fork and exec must not do this much. It puts up
each wall that the system has, sends a message ``W`` that says which are missing (`channel`), and becomes the program.

``ORDERS`` is a JSON object:

- ``parent``: the process that the program must not outlive;
- ``memory``: the most bytes of memory that the program may write to;
- ``read``: the files and folders that it may read;
- ``environment``: its environment variables.

This file imports the standard library only.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import json
import os
import signal
import struct
import sys
from collections.abc import Callable, Mapping, Sequence

__all__ = ["SYSTEM_PATHS", "WALLS", "confine", "describe", "main"]

#: The walls, in the order in which they are put up, and what each one is for.
WALLS: Mapping[str, str] = {
    "namespace": "a network without devices, and no shared memory of others (unshare)",
    "threads": "at most 256 threads (RLIMIT_NPROC)",
    "memory": "a limit of memory (RLIMIT_DATA)",
    "files": "no file but those of Node (Landlock)",
    "parent": "it ends with its parent (PR_SET_PDEATHSIG)",
    "system calls": "no new process, no signal to another process, no socket, no change of a file's owner, mode or times (seccomp)",
}
#: The walls that a running Python can put up.
_IN_PLACE = ("files", "system calls")
#: The files that a dynamically linked Node, and V8's look at the machine, need.
SYSTEM_PATHS = (
    *("/usr", "/lib", "/lib32", "/lib64", "/nix/store", "/gnu/store", "/etc/ld.so.cache", "/etc/ssl/openssl.cnf", "/etc/localtime"),
    *("/proc/self", "/proc/meminfo", "/proc/cpuinfo", "/proc/stat", "/sys/devices/system/cpu", "/sys/fs/cgroup"),
    *("/dev/null", "/dev/random", "/dev/urandom"),
)
_MOST_THREADS = 256
#: Since this version of Linux, RLIMIT_NPROC counts the threads of a user namespace by themselves, not those of all the user's programs.
_COUNTED_BY_NAMESPACE = (5, 14)

_CLONE_NEWIPC, _CLONE_NEWUSER, _CLONE_NEWNET = 0x08000000, 0x10000000, 0x40000000
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38


class _MissingError(Exception):
    """The system does not have a wall."""


_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def _call(name: str, *arguments: object) -> int:
    """Call a function of the C library; a negative result is an error."""
    result: int = getattr(_libc, name)(*arguments)
    if result < 0:
        raise _MissingError(os.strerror(ctypes.get_errno()))
    return result


def _unshare() -> None:
    """Leave the network and the shared memory of the system.

    A new user namespace gives the right to do so. The user is not mapped in it, so the next program keeps none of its rights.
    """
    _call("unshare", _CLONE_NEWUSER | _CLONE_NEWNET | _CLONE_NEWIPC)


def _limit_threads(*, namespace: bool, root: bool) -> None:
    import resource  # noqa: PLC0415 (Windows has none)

    if not namespace:
        raise _MissingError("there is no namespace to count them in")
    if root:
        raise _MissingError("the system does not count those of root")
    if tuple(int(part) for part in os.uname().release.split(".")[:2] if part.isdigit()) < _COUNTED_BY_NAMESPACE:
        raise _MissingError("this Linux counts the threads of all the user's programs together")
    resource.setrlimit(resource.RLIMIT_NPROC, (_MOST_THREADS, _MOST_THREADS))


def _limit_memory(size: int) -> None:
    import resource  # noqa: PLC0415 (Windows has none)

    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limit = size if hard == resource.RLIM_INFINITY else min(size, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    # No core dumps: they would write the program's memory to a file.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


# ---- Landlock: https://docs.kernel.org/userspace-api/landlock.html. Its system calls have the same numbers on every architecture.

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_GET_VERSION, _RULE_PATH_BENEATH = 1, 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _USE_DEVICE = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 15
#: How many rights to files a version knows, from the first version on; the last number holds for the versions after it, too.
_FILE_RIGHTS = (13, 14, 15, 15, 16)
#: TCP since version 4; sockets without a path, and signals, of other processes since version 6.
_NETWORK_RIGHTS, _SCOPES = 0b11, 0b11


def _confine_files(read: Sequence[str], use: Sequence[str] = ()) -> None:
    _call("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    version = _call("syscall", _CREATE_RULESET, None, ctypes.c_size_t(0), _GET_VERSION)
    files = (1 << _FILE_RIGHTS[min(version, len(_FILE_RIGHTS)) - 1]) - 1
    handled = struct.pack("=QQQ", files, _NETWORK_RIGHTS if version >= 4 else 0, _SCOPES if version >= 6 else 0)
    rules = _call("syscall", _CREATE_RULESET, handled, ctypes.c_size_t(len(handled)), 0)
    for path in (*read, *use):
        try:
            place = os.open(path, os.O_PATH)
        except OSError:
            continue  # not every system has it
        rights = _READ_FILE | _EXECUTE | (_READ_DIR if os.path.isdir(path) else 0)
        if path in use:
            rights |= (_WRITE_FILE | _USE_DEVICE) & files
        _call("syscall", _ADD_RULE, rules, _RULE_PATH_BENEATH, struct.pack("=Qi", rights, place), 0)
        os.close(place)
    _call("syscall", _RESTRICT_SELF, rules, 0)
    os.close(rules)


# ---- System calls, by libseccomp, which knows the numbers of every architecture

_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_EPERM, _ENOSYS = 1, 38
_NOT_EQUAL, _MASKED_EQUAL = 1, 7
_CLONE_THREAD = 0x00010000
_UNKNOWN = -1
_NOT_PERMITTED = (
    # Owners, permissions, times and attributes of files: Landlock has no right for them. Before version 3, nor for cutting a file.
    *("chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "chown32", "lchown", "lchown32", "fchown", "fchown32", "fchownat"),
    *("utime", "utimes", "futimesat", "utimensat", "utimensat_time64", "truncate", "truncate64", "file_setattr"),
    *("setxattr", "lsetxattr", "fsetxattr", "setxattrat", "removexattr", "lremovexattr", "fremovexattr", "removexattrat"),
    # The priority, the processors and the memory of a process: by its number it may be another one.
    *("setpriority", "sched_setscheduler", "sched_setparam", "sched_setattr", "sched_setaffinity", "ioprio_set"),
    *("migrate_pages", "move_pages", "process_mrelease"),
    # A socket: whatever its family is, and whatever the namespace.
    *("socket", "socketpair", "connect", "bind", "listen", "accept", "accept4"),
    # A process, another one's memory, files and signals.
    *("fork", "vfork", "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_open", "pidfd_getfd"),
    *("pidfd_send_signal", "kcmp", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"),
    # Ways around: other namespaces, mounts, files by number, keys, parts of the kernel.
    *("unshare", "setns", "mount", "umount2", "pivot_root", "chroot", "open_tree", "open_tree_attr", "move_mount", "mount_setattr"),
    *("fsopen", "fsconfig", "fsmount", "fspick"),
    *("open_by_handle_at", "keyctl", "add_key", "request_key", "bpf", "perf_event_open", "userfaultfd", "init_module", "finit_module"),
    *("shmget", "shmat", "msgget", "semget", "mq_open", "swapon", "swapoff", "reboot", "kexec_load", "acct", "quotactl"),
)
#: A filter cannot see what these calls are asked to do. The C library and libuv fall back to older ones.
_NOT_KNOWN = ("clone3", "io_uring_setup", "io_uring_enter", "io_uring_register")
#: The newest calls have the same number on every architecture. An older libseccomp does not know their names.
_NUMBERS: Mapping[str, int] = {
    **{"pidfd_send_signal": 424, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428},
    **{"move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "pidfd_open": 434, "clone3": 435},
    **{"pidfd_getfd": 438, "process_madvise": 440, "mount_setattr": 442, "process_mrelease": 448, "fchmodat2": 452},
    **{"setxattrat": 463, "removexattrat": 466, "open_tree_attr": 467, "file_setattr": 469},
}
#: The kernel reads these arguments as 32 bits; what a program writes above them must not change the comparison.
_INT = 0xFFFFFFFF
#: Commands of fcntl: to whom a file sends signals, and which.
_OWNER_COMMANDS = (8, 10, 15)  # F_SETOWN, F_SETSIG, F_SETOWN_EX
_REFUSED_REQUESTS = (
    *(0x5412, 0x541C),  # TIOCSTI, TIOCLINUX: characters that a terminal treats as typed
    *(0x8901, 0x8902),  # FIOSETOWN, SIOCSPGRP: to whom a socket sends signals
    *(0x40086602, 0x40046602, 0x401C5820, 0x40087602),  # FS_IOC_SETFLAGS (and its form of 32 bits), FS_IOC_FSSETXATTR, FS_IOC_SETVERSION
)


class _Comparison(ctypes.Structure):
    """``struct scmp_arg_cmp``: the number of the argument, how to compare it, and with what."""

    _fields_ = (("argument", ctypes.c_uint), ("operator", ctypes.c_int), ("first", ctypes.c_uint64), ("second", ctypes.c_uint64))


def _restrict_system_calls() -> None:
    _call("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    try:
        library = ctypes.CDLL("libseccomp.so.2")
    except OSError:
        raise _MissingError("the library libseccomp is not installed") from None
    library.seccomp_init.restype = ctypes.c_void_p
    filter = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(_ALLOW)))
    if not filter:
        raise _MissingError("libseccomp makes no filter")
    own = os.getpid()
    rules: list[tuple[str, int, tuple[int, int, int, int] | None]] = [
        *((name, _EPERM, None) for name in _NOT_PERMITTED),
        *((name, _ENOSYS, None) for name in _NOT_KNOWN),
        # A new thread, but no new process.
        ("clone", _EPERM, (0, _MASKED_EQUAL, _CLONE_THREAD, 0)),
        # Signals to itself, and limits of its own.
        ("kill", _EPERM, (0, _NOT_EQUAL, own, 0)),
        ("tgkill", _EPERM, (0, _NOT_EQUAL, own, 0)),
        ("prlimit64", _EPERM, (0, _NOT_EQUAL, 0, 0)),
        *((name, _EPERM, (1, _MASKED_EQUAL, _INT, command)) for name in ("fcntl", "fcntl64") for command in _OWNER_COMMANDS),
        *(("ioctl", _EPERM, (1, _MASKED_EQUAL, _INT, request)) for request in _REFUSED_REQUESTS),
        # It must not outlive its parent after all.
        ("prctl", _EPERM, (0, _MASKED_EQUAL, _INT, _PR_SET_PDEATHSIG)),
    ]
    for name, error, comparison in rules:
        number = library.seccomp_syscall_resolve_name(name.encode())
        if number == _UNKNOWN:
            number = _NUMBERS.get(name, _UNKNOWN)
        # Not every architecture has the older calls.
        if number == _UNKNOWN:
            continue
        count = 0 if comparison is None else 1
        problem = library.seccomp_rule_add_array(
            filter, ctypes.c_uint32(_ERROR | error), number, count, ctypes.byref(_Comparison(*(comparison or ())))
        )
        if problem:
            raise _MissingError(f"libseccomp refuses the rule for {name}: {os.strerror(-problem)}")
    problem = library.seccomp_load(filter)
    library.seccomp_release(filter)
    if problem:
        raise _MissingError(os.strerror(-problem))


def _end_with(parent: int) -> None:
    _call("prctl", _PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    # It may have died before.
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def _put_up(orders: Mapping[str, object]) -> dict[str, str]:
    """Put up the walls; return those that are missing, and why."""
    missing: dict[str, str] = {}
    root = os.getuid() == 0
    steps: dict[str, Callable[[], None]] = {
        "namespace": _unshare,
        "threads": lambda: _limit_threads(namespace="namespace" not in missing, root=root),
        "memory": lambda: _limit_memory(int(str(orders["memory"]))),
        "files": lambda: _confine_files(orders["read"]),  # type: ignore[arg-type]
        # Behind the namespace, because a change of the process's rights undoes it.
        "parent": lambda: _end_with(int(str(orders["parent"]))),
        "system calls": _restrict_system_calls,
    }
    for name in WALLS:
        _attempt(name, steps[name], missing)
    return missing


def _attempt(name: str, step: Callable[[], None], missing: dict[str, str]) -> None:
    """Put up a wall, or note why it is missing."""
    try:
        step()
    except (_MissingError, OSError, ValueError, AttributeError) as error:
        missing[name] = str(error)


def confine(read: Sequence[str], use: Sequence[str] = ()) -> dict[str, str]:
    """Put up the walls around files and system calls in this process; return those that are missing, with the reasons.

    The process must have one thread; later threads are behind them, too. It may read ``read`` from now on, and use the devices ``use``.
    """
    if _libc is None:
        return dict.fromkeys(_IN_PLACE, "only Linux has it")
    # The system puts them up for one thread only.
    if len(os.listdir("/proc/self/task")) > 1:
        return dict.fromkeys(_IN_PLACE, "the process has other threads")
    missing: dict[str, str] = {}
    _attempt("files", lambda: _confine_files(read, use), missing)
    _attempt("system calls", _restrict_system_calls, missing)
    return missing


def describe(missing: Mapping[str, str]) -> list[str]:
    """Return a line about each wall, given those that are missing, and why."""
    return [f"wall: {name}: {f'absent: {missing[name]}' if name in missing else what}" for name, what in WALLS.items()]


def main(arguments: Sequence[str]) -> None:
    """Put up the walls, and become a program, as the arguments of the command line say."""
    # Ctrl-C also reaches this process, but the parent handles it.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    text, *command = arguments
    orders = json.loads(text)
    missing = json.dumps(_put_up(orders)).encode()
    # The pipe is empty, and takes this much at once.
    os.write(1, struct.pack("<2scxIQ", b"WN", b"W", 1, len(missing)) + missing)
    try:
        os.execve(command[0], command, orders["environment"])
    except OSError as error:
        sys.exit(f"{command[0]} cannot be started: {error.strerror}")


if __name__ == "__main__":
    main(sys.argv[1:])
