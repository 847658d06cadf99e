"""Attempts that must fail behind walls: ``python -I attempts.py WALLS FOLDER VICTIM PORT NAME``.

``WALLS`` is a JSON list of the walls that are put up, in their order; "all" is what `put_up_in_place` puts up, and "old kernel" leaves out
what only newest ones have. ``VICTIM`` is the number of another process; ``PORT`` and ``NAME`` are sockets of it, of TCP and without a path.

Prints a JSON object: the missing walls, and what each attempt ended with, "done" or an error's name. An attempt whose name begins with
``wide`` has bits above the 32 that the kernel reads.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import socket
import struct
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[4]))
from webnn.processes.walls import calls, landlock, namespaces, table
from webnn.processes.walls.system import MissingError

wanted, folder, victim, port, name = json.loads(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
# The numbers of the newest calls, which libseccomp may not know, are the same everywhere.
NEWEST = {"io_uring_setup": 425, "fchmodat2": 452, "setxattrat": 463, "removexattrat": 466, "file_setattr": 469}
WIDE = 1 << 32
HERE, EMPTY_PATH = -100, 0x1000
NAMES = ("fcntl", "ioctl", "prctl", "ioprio_set", "sched_setattr", "kill", "prlimit64", "setpriority", "fork", "clone")
library, libc = ctypes.CDLL("libseccomp.so.2"), ctypes.CDLL(None, use_errno=True)
number = {each: library.seccomp_syscall_resolve_name(each.encode()) for each in NAMES}

file = os.fsencode(os.path.join(folder, "file"))
opened = os.open(file, os.O_RDONLY)
left, right = socket.socketpair()
reader, writer = os.pipe()
own = struct.pack("=i", victim)
now = struct.pack("=qqqq", 1, 0, 1, 0)
value = ctypes.create_string_buffer(b"value")
argument = ctypes.create_string_buffer(struct.pack("=QII", ctypes.addressof(value), 5, 0))
uid, gid = os.getuid(), os.getgid()
zero, flags = struct.pack("=i", 0), ctypes.create_string_buffer(8)
libc.ioctl(opened, 0x80086601, flags)  # FS_IOC_GETFLAGS
limits = struct.pack("=QQ", 0, 0)
attributes = struct.pack("=IIQiIQQQ", 48, 3, 0, 0, 0, 0, 0, 0)  # SCHED_BATCH
mask = ctypes.create_string_buffer(128)
libc.sched_getaffinity(victim, 128, mask)


def call(number: int, *arguments: object) -> int:
    wide = [ctypes.c_ulong(each) if isinstance(each, int) else each for each in arguments]
    return int(libc.syscall(number, *wide))


CALLS: dict[str, Callable[[], int]] = {
    "chmod": lambda: libc.chmod(file, 0o777),
    "fchmod": lambda: libc.fchmod(opened, 0o777),
    "fchmodat": lambda: libc.fchmodat(HERE, file, 0o777, 0),
    "fchmodat2": lambda: call(NEWEST["fchmodat2"], HERE, file, 0o777, 0),
    "chown": lambda: libc.chown(file, uid, gid),
    "lchown": lambda: libc.lchown(file, uid, gid),
    "fchown": lambda: libc.fchown(opened, uid, gid),
    "fchownat": lambda: libc.fchownat(HERE, file, uid, gid, 0),
    "utime": lambda: libc.utime(file, now),
    "utimes": lambda: libc.utimes(file, now),
    "futimesat": lambda: libc.futimesat(HERE, file, now),
    "utimensat": lambda: libc.utimensat(HERE, file, now, 0),
    "futimens": lambda: libc.futimens(opened, now),
    "truncate": lambda: libc.truncate(file, ctypes.c_long(1)),
    "setxattr": lambda: libc.setxattr(file, b"user.a", b"value", 5, 0),
    "lsetxattr": lambda: libc.lsetxattr(file, b"user.b", b"value", 5, 0),
    "fsetxattr": lambda: libc.fsetxattr(opened, b"user.c", b"value", 5, 0),
    "setxattrat": lambda: call(NEWEST["setxattrat"], HERE, file, 0, b"user.d", argument, 16),
    "removexattr": lambda: libc.removexattr(file, b"user.a"),
    "lremovexattr": lambda: libc.lremovexattr(file, b"user.b"),
    "fremovexattr": lambda: libc.fremovexattr(opened, b"user.c"),
    "removexattrat": lambda: call(NEWEST["removexattrat"], HERE, file, 0, b"user.d"),
    "file_setattr": lambda: call(NEWEST["file_setattr"], HERE, file, ctypes.create_string_buffer(24), 24, 0),
    "wide FS_IOC_SETFLAGS": lambda: call(number["ioctl"], opened, 0x40086602 | WIDE, flags),
    "F_SETOWN": lambda: call(number["fcntl"], reader, 8, victim),
    "wide F_SETOWN": lambda: call(number["fcntl"], reader, 8 | WIDE, victim),
    "wide F_SETSIG": lambda: call(number["fcntl"], reader, 10 | WIDE, 15),
    "wide F_SETOWN_EX": lambda: call(number["fcntl"], reader, 15 | WIDE, struct.pack("=ii", 1, victim)),
    "wide FIOSETOWN": lambda: call(number["ioctl"], left.fileno(), 0x8901 | WIDE, own),
    "wide SIOCSPGRP": lambda: call(number["ioctl"], left.fileno(), 0x8902 | WIDE, own),
    "wide TIOCSTI": lambda: call(number["ioctl"], reader, 0x5412 | WIDE, b"x"),
    "wide TIOCLINUX": lambda: call(number["ioctl"], reader, 0x541C | WIDE, b"x"),
    "wide PR_SET_PDEATHSIG": lambda: call(number["prctl"], 1 | WIDE, 0),
    "setpriority": lambda: libc.setpriority(0, victim, 5),
    "ioprio_set": lambda: call(number["ioprio_set"], 1, victim, 2 << 13 | 7),
    "sched_setscheduler": lambda: libc.sched_setscheduler(victim, 3, zero),
    "sched_setparam": lambda: libc.sched_setparam(victim, zero),
    "sched_setattr": lambda: call(number["sched_setattr"], victim, attributes, 0),
    "sched_setaffinity": lambda: libc.sched_setaffinity(victim, 128, mask),
    "prlimit": lambda: libc.prlimit(victim, 4, limits, None),
    "kill": lambda: libc.kill(victim, 0),
    "io_uring_setup": lambda: call(NEWEST["io_uring_setup"], 1, ctypes.create_string_buffer(120)),
}


def at(path: str) -> bytes:
    return os.fsencode(os.path.join(folder, path))


def attempt(make: Callable[[], object]) -> str:
    """Return how an attempt ended. One of Python's functions raises; a call returns a negative number."""
    try:
        result = make()
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, str(error))
    return errno.errorcode[ctypes.get_errno()] if isinstance(result, int) and result < 0 else "done"


def connect(family: int, address: object) -> None:
    with socket.socket(family) as client:
        client.connect(address)  # type: ignore[arg-type]


def fork() -> int:
    made = call(number["clone"], 17, 0, 0, 0, 0)
    if made == 0:
        os._exit(0)
    return made


def watch() -> int:
    return int(libc.inotify_add_watch(libc.inotify_init1(0), at(""), 0xFFF))


#: Attempts on files, and on what the system tells of other processes.
LOOKS: dict[str, Callable[[], object]] = {
    "stat": lambda: os.stat(file),
    "stat of the folder": lambda: os.stat(folder),
    "stat through /proc/self/root": lambda: os.stat(f"/proc/self/root{folder}/file"),
    "access": lambda: libc.access(file, 0),
    "statfs": lambda: os.statvfs(folder),
    "inotify": watch,
    "read": lambda: Path(folder, "file").read_bytes(),
    "list": lambda: os.listdir(folder),
    "write": lambda: Path(folder, "new").write_bytes(b""),
    "rename": lambda: os.rename(at("file"), at("file")),
    "folder": lambda: os.mkdir(at("new folder")),
    "stat in procfs": lambda: os.stat(f"/proc/{victim}"),
    "environment in procfs": lambda: Path(f"/proc/{victim}/environ").read_bytes(),
    "memory in procfs": lambda: os.close(os.open(f"/proc/{victim}/mem", os.O_RDONLY)),
    "command in procfs": lambda: Path(f"/proc/{victim}/cmdline").read_bytes(),
}
#: Attempts to reach other processes.
REACHES: dict[str, Callable[[], object]] = {
    "TCP": lambda: connect(socket.AF_INET, ("127.0.0.1", port)),
    "abstract socket": lambda: connect(socket.AF_UNIX, b"\0" + name.encode()),
    "shared memory": lambda: libc.shmget(int(name, 16), 0, 0),
    "wide kill": lambda: call(number["kill"], victim | WIDE, 0),
    "wide prlimit": lambda: call(number["prlimit64"], victim | WIDE, 4, limits, None),
    "wide setpriority": lambda: call(number["setpriority"], WIDE, victim | WIDE, 5),
    "getpgid": lambda: os.getpgid(victim),
    "process": fork,
}

#: The files of Python, for the walls one by one.
READ = [*table.SYSTEM_PATHS, sys.prefix, sys.base_prefix]
STEPS: dict[str, Callable[[], object]] = {
    "namespace": namespaces.leave_system,
    "tree": lambda: namespaces.bind_tree(READ, []),
    "processes": namespaces.fork_apart,
    "files": lambda: landlock.restrict_files(READ, [], []),
    "system calls": calls.restrict_calls,
    "all": lambda: missing.update(table.put_up_in_place(READ, [])),
    "old kernel": lambda: setattr(landlock, "_SCOPES", 0),
}

missing: dict[str, str] = {}
for each in wanted:
    try:
        STEPS[each]()
    except (MissingError, OSError) as error:
        missing[each] = str(error)
ends = {each: attempt(make) for each, make in {**LOOKS, **REACHES, **CALLS}.items()}
os.write(1, json.dumps({"missing": missing, "ends": ends}).encode())
os._exit(0)
