"""System calls by a list of those that are allowed, with libseccomp, which knows the numbers of every architecture.

The kernel reads most arguments as 32 bits. They are compared so: bits above change nothing.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator, Mapping

from webnn.processes.walls.system import MissingError, prctl

__all__ = ["restrict_calls"]

_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_EPERM, _ENOSYS = 1, 38
_MASKED_EQUAL = 7
_OPTIMIZE, _BINARY_TREE = 8, 2
_PR_SET_NO_NEW_PRIVS = 38
#: The calls of Node 22 to 26, quickjs-ng and ONNX Runtime, and those that other C libraries make in their place.
_ALLOWED = (
    # Memory.
    *("brk", "mmap", "mmap2", "munmap", "mprotect", "mremap", "madvise", "msync", "mincore", "mlock", "mlock2", "munlock", "membarrier"),
    *("pkey_alloc", "pkey_free", "pkey_mprotect", "memfd_create", "get_mempolicy", "mseal"),
    # Files: the other walls say which.
    *("open", "openat", "openat2", "close", "close_range", "read", "readv", "pread64", "preadv", "preadv2", "write", "writev", "pwrite64"),
    *("pwritev", "pwritev2", "lseek", "_llseek", "dup", "dup2", "dup3", "flock", "sendfile", "sendfile64", "fadvise64", "readahead"),
    *("stat", "fstat", "lstat", "stat64", "fstat64", "lstat64", "fstatat64", "newfstatat", "statx", "statfs", "fstatfs", "statfs64"),
    *("fstatfs64", "access", "faccessat", "faccessat2", "readlink", "readlinkat", "getdents", "getdents64", "getcwd", "chdir", "fchdir"),
    *("umask", "pipe", "pipe2", "ftruncate"),
    # Waiting.
    *("poll", "ppoll", "ppoll_time64", "select", "_newselect", "pselect6", "pselect6_time64", "epoll_create", "epoll_create1", "epoll_ctl"),
    *("epoll_wait", "epoll_pwait", "epoll_pwait2", "eventfd", "eventfd2", "nanosleep", "clock_nanosleep", "clock_nanosleep_time64"),
    *("futex", "futex_time64", "futex_waitv", "futex_wake", "futex_wait", "futex_requeue", "restart_syscall", "wait4", "waitid"),
    *("pause", "timerfd_create", "timerfd_settime", "timerfd_settime64", "timerfd_gettime", "timerfd_gettime64"),
    *("timer_create", "timer_settime", "timer_settime64", "timer_delete", "timer_getoverrun", "setitimer", "getitimer"),
    # This process and its threads.
    *("exit", "exit_group", "getpid", "gettid", "getppid", "getpgrp", "getuid", "geteuid", "getgid", "getegid"),
    *("getresuid", "getresgid", "getgroups", "getuid32", "geteuid32", "getgid32", "getegid32", "getgroups32", "uname", "sysinfo"),
    *("getrlimit", "ugetrlimit", "setrlimit", "getrusage", "times", "getcpu", "capget", "arch_prctl", "set_tls"),
    *("set_robust_list", "get_robust_list", "set_tid_address", "rseq", "sched_yield", "sched_getaffinity", "sched_getparam"),
    *("sched_getscheduler", "sched_get_priority_max", "sched_get_priority_min", "cacheflush", "riscv_flush_icache", "riscv_hwprobe"),
    # Its signals.
    *("rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigreturn", "rt_sigpending", "rt_sigtimedwait", "rt_sigsuspend", "sigaltstack"),
    # Times and random numbers.
    *("clock_gettime", "clock_gettime64", "clock_getres", "clock_getres_time64", "gettimeofday", "time", "getrandom"),
)
#: The program itself is started behind the walls.
_STARTING = ("execve",)
#: A device's process: its own connection, the caches of models and drivers, and where memory lies.
_DEVICE = (
    *("recvmsg", "sendmsg", "recvfrom", "sendto", "shutdown", "getsockname", "getpeername", "getsockopt"),
    *("mkdir", "mkdirat", "rmdir", "unlink", "unlinkat", "rename", "renameat", "renameat2", "fsync", "fdatasync", "fallocate"),
    *("mbind", "set_mempolicy"),
)
#: The newest calls have the same numbers on every architecture. One that is not allowed fails as on a system that lacks it, because
#: C libraries and libuv have older ways. Other calls are not permitted.
_NEWEST, _LAST = 424, 512
#: An older libseccomp does not know the names.
_NUMBERS: Mapping[str, int] = {
    **{"close_range": 436, "openat2": 437, "faccessat2": 439, "epoll_pwait2": 441, "futex_waitv": 449},
    **{"futex_wake": 454, "futex_wait": 455, "futex_requeue": 456, "mseal": 462},
}
_INT = 0xFFFFFFFF
#: F_DUPFD to F_SETLKW, locks of open files, F_DUPFD_CLOEXEC, the size of pipes, seals. Not to whom a file sends signals.
_COMMANDS = (*range(8), 36, 37, 38, 1030, 1031, 1032, 1033, 1034)
#: TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX.
_REQUESTS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
#: The types of requests to devices that compute: NVIDIA's memory, NVIDIA, WSL, AMD, GPUs in general, their buffers and fences.
_DEVICE_REQUESTS = tuple(kind << 8 for kind in (0, *b"FGKdb>"))
_TYPE = 0xFF00
#: PR_GET_DUMPABLE, names of threads, PR_CAPBSET_READ, PR_GET_SECCOMP, NO_NEW_PRIVS, huge pages, PR_CAP_AMBIENT, PR_SET_VMA.
_OPTIONS = (3, 15, 16, 21, 23, 38, 39, 41, 42, 47, 0x53564D41)
#: CLONE_VM, CLONE_THREAD, and all new namespaces. For a thread they are the first two.
_THREAD, _CLONE_FLAGS = 0x00010100, 0x7E030180


class _Comparison(ctypes.Structure):
    """``struct scmp_arg_cmp``: the number of the argument, how to compare it, its mask, and its value."""

    _fields_ = (("argument", ctypes.c_uint), ("operator", ctypes.c_int), ("mask", ctypes.c_uint64), ("value", ctypes.c_uint64))


def _rules(*, starts: bool, device: bool) -> Iterator[tuple[str, tuple[int, int, int] | None]]:
    """Yield the allowed calls, each with an argument that must have a value behind a mask."""
    yield from ((name, None) for name in (*_ALLOWED, *(_STARTING if starts else ()), *(_DEVICE if device else ())))
    own = os.getpid()
    yield "clone", (0, _CLONE_FLAGS, _THREAD)
    # To itself only.
    yield from ((name, (0, _INT, own)) for name in ("kill", "tgkill"))
    yield from ((name, (0, _INT, value)) for name in ("prlimit64", "getpgid", "getsid") for value in (0, own))
    yield "getpriority", (1, _INT, 0)
    yield from ((name, (1, _INT, value)) for name in ("fcntl", "fcntl64") for value in _COMMANDS)
    yield from (("ioctl", (1, _INT, value)) for value in _REQUESTS)
    yield from (("ioctl", (1, _TYPE, value)) for value in _DEVICE_REQUESTS if not starts)
    yield from (("prctl", (0, _INT, value)) for value in _OPTIONS)


def restrict_calls(*, starts: bool = False, device: bool = False) -> None:
    """Allow this process, and what it becomes, the calls of the list only.

    Args:
        starts: It is about to become another program.
        device: It is the process of a device.

    Raises:
        MissingError: The library is not installed, or cannot do it.
    """
    prctl(_PR_SET_NO_NEW_PRIVS, 1)
    try:
        library = ctypes.CDLL("libseccomp.so.2")
    except OSError:
        raise MissingError("the library libseccomp is not installed") from None
    library.seccomp_init.restype = ctypes.c_void_p
    filter = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(_ERROR | _EPERM)))
    if not filter:
        raise MissingError("libseccomp makes no filter")
    # An older library has only lists, which are slower.
    library.seccomp_attr_set(filter, _OPTIMIZE, _BINARY_TREE)

    def add(action: int, number: int, name: str, comparison: tuple[int, int, int] | None) -> None:
        given = _Comparison() if comparison is None else _Comparison(comparison[0], _MASKED_EQUAL, *comparison[1:])
        count = 0 if comparison is None else 1
        problem = library.seccomp_rule_add_array(filter, ctypes.c_uint32(action), number, count, ctypes.byref(given))
        if problem:
            raise MissingError(f"libseccomp refuses the rule for {name}: {os.strerror(-problem)}")

    allowed = set()
    for name, comparison in _rules(starts=starts, device=device):
        number = _NUMBERS.get(name) or library.seccomp_syscall_resolve_name(name.encode())
        # Not every architecture has the older calls.
        if number >= 0:
            add(_ALLOW, number, name, comparison)
            allowed.add(number)
    for number in range(_NEWEST, _LAST):
        if number not in allowed:
            add(_ERROR | _ENOSYS, number, str(number), None)
    problem = library.seccomp_load(filter)
    library.seccomp_release(filter)
    if problem:
        raise MissingError(os.strerror(-problem))
