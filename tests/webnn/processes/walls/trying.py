"""Tries `attempts.py` behind walls, with a victim: each wall by itself, all together, and none."""

from __future__ import annotations

import ctypes
import json
import secrets
import socket
import subprocess
import sys
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

ATTEMPTS = Path(__file__).with_name("attempts.py")
#: Calls that the newest systems have, and those that not every file system has; and how they say so.
NEWEST = {"fchmodat2", "setxattrat", "removexattrat", "file_setattr", "io_uring_setup"}
ATTRIBUTES = {"wide FS_IOC_SETFLAGS", *(f"{letter}{do}xattr" for do in ("set", "remove") for letter in ("", "l", "f"))}
LACKS = {"ENOSYS", "EOPNOTSUPP", "ENOTTY", "ENODATA"}
#: Makes a segment of shared memory, says that it is there, and waits.
VICTIM = "import ctypes, sys; ctypes.CDLL(None).shmget(int(sys.argv[1], 16), 4096, 0o1666); print(flush=True); input()"


def ends(*walls: str) -> dict[str, str]:
    """Return what each attempt ended with behind these walls; skip the test if the system lacks one of them."""
    answer = tried(*walls)
    if answer["missing"]:
        pytest.skip(str(answer["missing"]))
    return answer["ends"]  # type: ignore[no-any-return]


def done(*walls: str) -> set[str]:
    """Return the attempts that succeed behind these walls."""
    return {name for name, end in ends(*walls).items() if end == "done"}


@cache
def possible() -> set[str]:
    """Return the attempts that succeed without walls: all of them, but for what this system lacks."""
    plain = ends()
    lacking = {name for name in NEWEST | ATTRIBUTES if plain[name] in LACKS}
    # A pipe is not a terminal, a system may keep io_uring for root, and a process may not look into all others.
    others = {"wide TIOCSTI": "ENOTTY", "wide TIOCLINUX": "ENOTTY", "io_uring_setup": "EPERM", "memory in procfs": "EACCES"}
    unexpected = {name: end for name, end in plain.items() if end != "done" and name not in lacking and end != others.get(name)}
    assert unexpected == {}
    return done()


@cache
def tried(*walls: str) -> dict[str, Any]:
    """Return which of these walls are missing, and what each attempt ended with behind the others."""
    try:
        ctypes.CDLL("libseccomp.so.2")
    except OSError:
        pytest.skip("the library libseccomp is not installed")
    name = f"{secrets.randbelow(1 << 30) + 1:x}"
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory())
        Path(folder, "file").write_text("text", encoding="utf-8")
        Path(folder, "file").chmod(0o600)
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        nameless = stack.enter_context(socket.socket(socket.AF_UNIX))
        nameless.bind(b"\0" + name.encode())
        nameless.listen()
        pipe = subprocess.PIPE
        victim = stack.enter_context(subprocess.Popen([sys.executable, "-I", "-c", VICTIM, name], stdin=pipe, stdout=pipe))
        stack.callback(victim.kill)
        assert victim.stdout is not None
        victim.stdout.readline()
        port = str(listener.getsockname()[1])
        command = [sys.executable, "-I", str(ATTEMPTS), json.dumps(walls), folder, str(victim.pid), port, name]
        made = subprocess.run(command, capture_output=True, check=False, timeout=60)
        subprocess.run(["ipcrm", "-M", f"0x{name}"], capture_output=True, check=False)
    assert made.returncode == 0, made.stderr
    answer: dict[str, Any] = json.loads(made.stdout)
    return answer
