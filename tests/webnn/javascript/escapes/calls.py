"""System calls that a program must not make: ``python -I calls.py WALLS FOLDER VICTIM``.

``WALLS`` is the file of the walls, or ``-``: then none are put up. ``VICTIM`` is the number of another process. Prints a JSON object: what
each call ended with, "done" or an error's name. A call whose name begins with ``wide`` has bits above the 32 that the kernel reads.
"""

from __future__ import annotations

import ctypes
import errno
import importlib.util
import json
import os
import socket
import struct
import sys
from collections.abc import Callable

place, folder, victim = sys.argv[1], sys.argv[2], int(sys.argv[3])
# The numbers of the newest calls, which libseccomp may not know, are the same everywhere.
NEWEST = {"io_uring_setup": 425, "fchmodat2": 452, "setxattrat": 463, "removexattrat": 466, "file_setattr": 469}
WIDE = 1 << 32
HERE, EMPTY_PATH = -100, 0x1000
library, libc = ctypes.CDLL("libseccomp.so.2"), ctypes.CDLL(None, use_errno=True)
number = {name: library.seccomp_syscall_resolve_name(name.encode()) for name in ("fcntl", "ioctl", "prctl", "ioprio_set", "sched_setattr")}

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

missing: dict[str, str] = {}
if place != "-":
    spec = importlib.util.spec_from_file_location("walls", place)
    assert spec is not None
    assert spec.loader is not None
    walls = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(walls)
    missing = walls.confine([sys.prefix])
ends = {name: "done" if attempt() >= 0 else errno.errorcode[ctypes.get_errno()] for name, attempt in CALLS.items()}
os.write(1, json.dumps({"missing": missing, "ends": ends}).encode())
os._exit(0)
