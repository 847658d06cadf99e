"""Limits of one process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from webnn.processes.walls import limits
from webnn.processes.walls.system import MissingError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the walls are those of Linux")

ROOT = str(Path(__file__).resolve().parents[4])
BEGIN = "import sys\nsys.path.append(sys.argv[1])\nfrom webnn.processes.walls import limits, namespaces\n"
FILL = "try:\n    print(len(bytearray(1 << 29)))\nexcept MemoryError:\n    print('refused')\n"
THREADS = """
import threading
done, made = threading.Event(), 0
try:
    for made in range(300):
        threading.Thread(target=done.wait, daemon=True).start()
except RuntimeError:
    print("refused")
else:
    print("made")
done.set()
"""


def run(source: str) -> str:
    return subprocess.run([sys.executable, "-I", "-c", BEGIN + source, ROOT], capture_output=True, text=True, check=True, timeout=60).stdout


@pytest.mark.processes
def test_memory() -> None:
    assert run(FILL) == f"{1 << 29}\n"
    assert run(f"limits.limit_memory(1 << 28)\n{FILL}") == "refused\n"


@pytest.mark.processes
def test_threads() -> None:
    if os.getuid() == 0:
        pytest.skip("the system does not count those of root")
    try:
        limited = run(f"namespaces.leave_system()\nlimits.limit_threads(namespace=True, root=False)\n{THREADS}")
    except subprocess.CalledProcessError as error:
        pytest.skip(error.stderr)
    assert (run(THREADS), limited) == ("made\n", "refused\n")


@pytest.mark.parametrize(("namespace", "root", "reason"), [(False, False, "no namespace"), (True, True, "those of root")])
def test_threads_that_cannot_be_counted(namespace: bool, root: bool, reason: str) -> None:
    with pytest.raises(MissingError, match=reason):
        limits.limit_threads(namespace=namespace, root=root)


def test_the_parent_has_died_before(monkeypatch: pytest.MonkeyPatch) -> None:
    killed: list[tuple[int, int]] = []
    monkeypatch.setattr(limits, "prctl", lambda *_: None)
    monkeypatch.setattr(os, "kill", lambda *given: killed.append(given))
    limits.end_with(os.getppid())
    assert killed == []
    limits.end_with(os.getppid() + 1)
    assert killed == [(os.getpid(), signal.SIGKILL)]
