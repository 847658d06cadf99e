"""Rights to files, by Landlock: https://docs.kernel.org/userspace-api/landlock.html."""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Sequence

from webnn.processes.walls.system import call, prctl

__all__ = ["restrict_files"]

#: These system calls have the same numbers on every architecture.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_GET_VERSION, _RULE_PATH_BENEATH = 1, 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _USE_DEVICE = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 15
#: Remove folders and files, make folders and files, rename across folders, cut files.
_CHANGE = 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 13 | 1 << 14
#: How many rights to files a version knows, from the first version on; the last number holds for the versions after it, too.
_FILE_RIGHTS = (13, 14, 15, 15, 16)
#: TCP since version 4; sockets without a path, and signals, of other processes since version 6.
_NETWORK_RIGHTS, _SCOPES = 0b11, 0b11
_PR_SET_NO_NEW_PRIVS = 38


def restrict_files(read: Sequence[str], use: Sequence[str], write: Sequence[str]) -> None:
    """Let this process read ``read``, read and write the devices ``use``, and change the folders ``write``, and nothing else.

    Raises `MissingError`. Paths that do not exist are left out.
    """
    prctl(_PR_SET_NO_NEW_PRIVS, 1)
    version = call("syscall", _CREATE_RULESET, None, ctypes.c_size_t(0), _GET_VERSION)
    files = (1 << _FILE_RIGHTS[min(version, len(_FILE_RIGHTS)) - 1]) - 1
    handled = struct.pack("=QQQ", files, _NETWORK_RIGHTS if version >= 4 else 0, _SCOPES if version >= 6 else 0)
    rules = call("syscall", _CREATE_RULESET, handled, ctypes.c_size_t(len(handled)), 0)
    for paths, more in ((read, 0), (use, _WRITE_FILE | _USE_DEVICE), (write, _WRITE_FILE | _CHANGE)):
        for path in paths:
            try:
                place = os.open(path, os.O_PATH)
            except OSError:
                continue  # not every system has it
            rights = _READ_FILE | _EXECUTE | (_READ_DIR if os.path.isdir(path) else 0) | more
            call("syscall", _ADD_RULE, rules, _RULE_PATH_BENEATH, struct.pack("=Qi", rights & files, place), 0)
            os.close(place)
    call("syscall", _RESTRICT_SELF, rules, 0)
    os.close(rules)
