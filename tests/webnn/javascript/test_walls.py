"""What the walls do where the system behaves in another way; `test_escapes` tries the walls themselves."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from typing import Any

import pytest

from webnn.javascript import walls

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the walls are those of Linux")


class Libseccomp:
    """A library that knows some system calls, and may refuse a rule for one."""

    def __init__(self, unknown: str = "", refused: str = "") -> None:
        self.unknown, self.refused = unknown, refused
        self.names: list[str] = []
        self.rules: list[str] = []
        self.loaded = False
        self.seccomp_init = Init()

    def seccomp_syscall_resolve_name(self, name: bytes) -> int:
        self.names.append(name.decode())
        # The first is 1 on some machines, and -1 stands for an unknown one.
        return -1 if name.decode() == self.unknown else len(self.names)

    def seccomp_rule_add_array(self, filter: object, action: object, number: int, *rest: object) -> int:
        name = self.names[number - 1]
        self.rules.append(name)
        return -22 if name == self.refused else 0

    def seccomp_load(self, filter: object) -> int:
        self.loaded = True
        return 0

    def seccomp_release(self, filter: object) -> None:
        assert self.loaded


class Init:
    restype: object = None

    def __call__(self, action: object) -> int:
        return 7


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    made: list[Any] = []
    monkeypatch.setattr(walls, "_call", lambda *given: made.append(given))
    return made


def restrict(library: Libseccomp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: library)
    walls._restrict_system_calls()


def test_a_system_call_that_the_library_does_not_know_is_left_out(calls: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    library = Libseccomp(unknown="bind")
    restrict(library, monkeypatch)
    assert library.rules == [name for name in library.names if name != "bind"]
    assert library.rules[0] == "socket"
    assert library.loaded
    assert len(calls) == 1


def test_a_rule_that_the_library_refuses(calls: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    library = Libseccomp(refused="connect")
    with pytest.raises(walls._MissingError, match="libseccomp refuses the rule for connect: Invalid argument"):
        restrict(library, monkeypatch)
    assert not library.loaded


def test_the_parent_has_died_before(calls: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    killed: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "kill", lambda *given: killed.append(given))
    walls._end_with(os.getppid())
    assert killed == []
    walls._end_with(os.getppid() + 1)
    assert killed == [(os.getpid(), signal.SIGKILL)]
