"""The walls on systems that behave in another way; `test_realm_escapes` tries the walls themselves."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
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
        # The first is 1 on some machines, and -1 means an unknown one.
        return -1 if name.decode() == self.unknown else len(self.names)

    def seccomp_rule_add_array(self, filter: object, action: object, number: int, *rest: object) -> int:
        name = self.names[number - 1] if number <= len(self.names) else str(number)
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
    assert "socket" in library.rules
    assert library.loaded
    assert len(calls) == 1


@pytest.mark.parametrize(("name", "number"), walls._NUMBERS.items())
def test_the_newest_system_calls_need_no_library_that_knows_them(
    calls: list[Any], monkeypatch: pytest.MonkeyPatch, name: str, number: int
) -> None:
    library = Libseccomp(unknown=name)
    restrict(library, monkeypatch)
    assert str(number) in library.rules


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


# The calls themselves

CALLS = Path(__file__).parent / "escapes" / "calls.py"
#: Calls that the newest systems have, and how a system or a file system says that it has none.
NEWEST = {"fchmodat2", "setxattrat", "removexattrat", "file_setattr", "io_uring_setup"}
ATTRIBUTES = {"wide FS_IOC_SETFLAGS", *(f"{letter}{do}xattr" for do in ("set", "remove") for letter in ("", "l", "f"))}
LACKS = {"ENOSYS", "EOPNOTSUPP", "ENOTTY", "ENODATA"}


def make_calls(place: str, folder: Path) -> dict[str, Any]:
    """Make the calls in a process, with a child of this one as the victim."""
    (folder / "file").write_text("text", encoding="utf-8")
    (folder / "file").chmod(0o600)
    with subprocess.Popen([sys.executable, "-I", "-c", "input()"], stdin=subprocess.PIPE) as victim:
        command = [sys.executable, "-I", str(CALLS), place, str(folder), str(victim.pid)]
        made = subprocess.run(command, capture_output=True, check=False, timeout=60)
        victim.kill()
    assert made.returncode == 0, made.stderr
    answer: dict[str, Any] = json.loads(made.stdout)
    return answer


@pytest.mark.processes
def test_calls_that_are_refused(tmp_path: Path) -> None:
    answer = make_calls(walls.__file__, tmp_path)
    if "system calls" in answer["missing"]:
        pytest.skip(answer["missing"]["system calls"])
    refused = {name for name, end in answer["ends"].items() if end == ("ENOSYS" if name.startswith("io_uring") else "EPERM")}
    assert refused == set(answer["ends"])
    status = (tmp_path / "file").stat()
    assert (stat.S_IMODE(status.st_mode), status.st_size) == (0o600, 4)


@pytest.mark.processes
def test_the_calls_succeed_without_walls(tmp_path: Path) -> None:
    try:
        ctypes.CDLL("libseccomp.so.2")
    except OSError:
        pytest.skip("the library libseccomp is not installed")
    ends = make_calls("-", tmp_path)["ends"]
    lacking = {name for name in NEWEST | ATTRIBUTES if ends[name] in LACKS}
    # A pipe is not a terminal, and a system may keep io_uring for root.
    others = {"wide TIOCSTI": "ENOTTY", "wide TIOCLINUX": "ENOTTY", "io_uring_setup": "EPERM"}
    assert {name: end for name, end in ends.items() if end != "done" and name not in lacking and end != others.get(name)} == {}
