"""System calls: which are allowed, behind this wall alone, and with a library that knows fewer."""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import pytest

from tests.webnn.processes.walls.trying import ends, possible
from webnn.processes.walls import calls
from webnn.processes.walls.system import MissingError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the walls are those of Linux")

#: The attempts that this wall lets through: which paths are open is for the others.
FILES = {
    *("stat", "stat of the folder", "stat through /proc/self/root", "access", "statfs", "read", "list", "write"),
    *("stat in procfs", "environment in procfs", "memory in procfs", "command in procfs"),
}


class Libseccomp:
    """A library that knows some system calls, and may refuse a rule for one."""

    def __init__(self, unknown: str = "", refused: str = "") -> None:
        self.unknown, self.refused = unknown, refused
        self.numbers: dict[str, int] = {}
        self.rules: dict[int, int] = {}
        self.loaded = False
        self.seccomp_init = Init()

    def seccomp_attr_set(self, *_: object) -> int:
        return -22  # an older library

    def seccomp_syscall_resolve_name(self, name: bytes) -> int:
        # The first is 1 on some machines, and -1 means an unknown one.
        number = self.numbers.setdefault(name.decode(), 1000 + len(self.numbers))
        return -1 if name.decode() == self.unknown else number

    def seccomp_rule_add_array(self, filter: object, action: Any, number: int, *rest: object) -> int:
        self.rules[number] = action.value
        return -22 if number == self.numbers.get(self.refused) else 0

    def seccomp_load(self, filter: object) -> int:
        self.loaded = True
        return 0

    def seccomp_release(self, filter: object) -> None:
        assert self.loaded


class Init:
    restype: object = None

    def __call__(self, action: object) -> int:
        return 7


def restrict(library: Libseccomp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "prctl", lambda *_: None)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: library)
    calls.restrict_calls()


def test_a_system_call_that_the_library_does_not_know_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    library = Libseccomp(unknown="mmap2")
    restrict(library, monkeypatch)
    assert library.numbers["mmap2"] not in library.rules
    assert library.rules[library.numbers["mmap"]] == calls._ALLOW
    assert library.loaded


def test_the_newest_system_calls_need_no_library_that_knows_them(monkeypatch: pytest.MonkeyPatch) -> None:
    library = Libseccomp()
    restrict(library, monkeypatch)
    assert {library.rules[number] for number in calls._NUMBERS.values()} == {calls._ALLOW}
    # clone3 and io_uring_setup: one looks as on a system that lacks them.
    assert {library.rules[number] & 0xFFFF for number in (435, 425)} == {calls._ENOSYS}


def test_a_rule_that_the_library_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    library = Libseccomp(refused="read")
    with pytest.raises(MissingError, match="libseccomp refuses the rule for read: Invalid argument"):
        restrict(library, monkeypatch)
    assert not library.loaded


def test_no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(name: str) -> object:
        raise OSError(name)

    monkeypatch.setattr(calls, "prctl", lambda *_: None)
    monkeypatch.setattr(ctypes, "CDLL", load)
    with pytest.raises(MissingError, match="not installed"):
        calls.restrict_calls()


@pytest.mark.processes
def test_this_wall_alone() -> None:
    behind = ends("system calls")
    newest = {"fchmodat2", "setxattrat", "removexattrat", "file_setattr", "io_uring_setup"}
    allowed = {name for name, end in behind.items() if end == "done"}
    assert allowed & possible() == FILES & possible()
    refused = {name: end for name, end in behind.items() if name not in FILES}
    assert set(refused.values()) <= {"EPERM", "ENOSYS"}
    assert {name for name, end in refused.items() if end == "ENOSYS"} == newest


@pytest.mark.parametrize("device", [False, True])
def test_more_calls_for_the_process_of_a_device(device: bool) -> None:
    names = {name for name, _ in calls._rules(starts=False, device=device)}
    assert ("unlink" in names, "recvmsg" in names) == (device, device)
    assert names.isdisjoint({"connect", "execve", "fork", "ptrace", "inotify_add_watch", "chmod", "setpriority", "mount", "unshare"})
