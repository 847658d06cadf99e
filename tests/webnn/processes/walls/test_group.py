"""Groups of processes with limits, in a folder in the place of the system's, and counting."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from webnn.processes.walls import group
from webnn.processes.walls.system import MissingError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has groups")


def system(folder: Path, monkeypatch: pytest.MonkeyPatch, own: str = "0::/user/own.scope\n") -> Path:
    (folder / "root" / "user" / "own.scope").mkdir(parents=True)
    (folder / "root" / "cgroup.controllers").write_text("memory pids", encoding="utf-8")
    (folder / "own").write_text(own, encoding="utf-8")
    monkeypatch.setattr(group, "_ROOT", str(folder / "root"))
    monkeypatch.setattr(group, "_OWN", str(folder / "own"))
    return folder / "root" / "user"


def with_files(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Make folders have files, as the system does."""
    make = os.mkdir

    def made(path: str) -> None:
        make(path)
        for name in names:
            Path(path, name).write_text("", encoding="utf-8")

    monkeypatch.setattr(os, "mkdir", made)


def test_a_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user = system(tmp_path, monkeypatch)
    with_files(monkeypatch, "memory.max", "memory.oom.group", "pids.max", "cgroup.procs")
    folder = Path(group.open_group(1 << 30, 99))
    assert folder.parent == user
    group.join(str(folder))
    content = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    assert content == {"memory.max": str(1 << 30), "memory.oom.group": "1", "pids.max": "99", "cgroup.procs": str(os.getpid())}


@pytest.mark.parametrize("own", ["0::/\n", "", "1:memory:/a\n"])
def test_no_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: str) -> None:
    system(tmp_path, monkeypatch, own)
    with pytest.raises(MissingError):
        group.open_group(1, 1)


def test_a_group_without_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user = system(tmp_path, monkeypatch)
    with pytest.raises(MissingError, match="no limits"):
        group.open_group(1, 1)
    assert [path.name for path in user.iterdir()] == ["own.scope"]


def test_the_reason_in_the_place_of_a_group() -> None:
    with pytest.raises(MissingError, match="it is too old"):
        group.join("it is too old")
    group.close_group("it is too old")


@pytest.mark.processes
def test_counting_what_a_process_has_started() -> None:
    child = "import threading; a = b'x' * (50 << 20); [threading.Thread(target=input).start() for _ in range(3)]; print(flush=True)"
    source = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    with subprocess.Popen([sys.executable, "-c", source], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        memory, threads = group.count(process.pid)
        process.kill()
        process.communicate(b"")
    assert 100 << 20 > memory > 50 << 20
    assert threads == 5
    assert group.count(process.pid) == (0, 0)
