"""Nothing goes on after SIGKILL has ended a command."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.webnn.javascript.engines import needs_quickjs
from tests.webnn.javascript.node_support import require_node
from tests.wpt_runner.checkouts import make_checkout

pytestmark = [pytest.mark.skipif(sys.platform != "linux", reason="finds the processes in /proc"), pytest.mark.processes]

LIMIT = 60.0
#: ``webnn`` on a system without walls.
WITHOUT_WALLS = "from webnn.javascript import node; node._obstacle = lambda: 'a test'; from webnn.commands.main import main; main()"


def stat(pid: int) -> list[str]:
    """Return what /proc says of a process from its state on; nothing if it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def goes_on(pid: int) -> bool:
    return stat(pid)[:1] not in ([], ["Z"], ["X"])


def find_descendants(pid: int) -> set[int]:
    parents = {int(folder.name): stat(int(folder.name))[1:2] for folder in Path("/proc").iterdir() if folder.name.isdigit()}
    found = {pid}
    while more := {child for child, parent in parents.items() if parent and int(parent[0]) in found} - found:
        found |= more
    return found - {pid}


def wait_for(condition: Callable[[], bool], failure: str) -> None:
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end, failure
        time.sleep(0.02)


def kill_and_look(folder: Path, arguments: list[str], began: Callable[[], bool], *, walls: bool = True) -> None:
    """Start a command in a folder, kill it when its program has begun, and wait until nothing of it goes on."""
    start = ["-m", "webnn"] if walls else ["-c", WITHOUT_WALLS]
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen([sys.executable, *start, *arguments], cwd=folder, stdout=output, stderr=output)
    started: set[int] = set()
    try:
        wait_for(lambda: began() or process.poll() is not None, "the program did not begin")
        started = find_descendants(process.pid)
        assert started, (folder / "output").read_text(encoding="utf-8")
        process.kill()
        process.wait()
        wait_for(lambda: not any(map(goes_on, started)), "a process goes on")
    finally:
        for pid in (process.pid, *filter(goes_on, started)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()


def printed(folder: Path, text: str) -> Callable[[], bool]:
    return lambda: text in (folder / "output").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("source", "walls"),
    [
        ("for (;;) {}", True),
        ("setInterval(() => {}, 1e9);", True),
        # Without the system's help, only a program that comes back to its event loop, or calls the emulator, can notice.
        ("setInterval(() => {}, 1e9);", False),
        ("const context = await navigator.ml.createContext(); for (;;) new MLGraphBuilder(context);", False),
    ],
    ids=["a loop", "idle", "idle, no walls", "busy, no walls"],
)
def test_a_program_in_node(tmp_path: Path, source: str, walls: bool) -> None:
    require_node()
    (tmp_path / "a.mjs").write_text(f"console.log('begun'); {source}", encoding="utf-8")
    kill_and_look(tmp_path, ["run", "a.mjs"], printed(tmp_path, "begun"), walls=walls)


@needs_quickjs
def test_the_workers_of_web_platform_tests(tmp_path: Path) -> None:
    files = [("a.https.any.js", "test(() => {}, 'a');"), ("b.https.any.js", "for (;;);")]
    make_checkout(tmp_path / "wpt", {name: f"// META: global=window\n{source}" for name, source in files})
    arguments = ["wpt", "run", "--wpt", "wpt", "--jobs", "1", "--timeout-multiplier", "100"]
    kill_and_look(tmp_path, arguments, printed(tmp_path, "a.https.any.js"))


def test_the_processes_of_check(tmp_path: Path) -> None:
    # Another session, so that Ctrl-C does not reach it; and what it starts ends with it.
    source = "import pathlib, subprocess, sys\nsubprocess.Popen([sys.executable, '-c', 'while True: pass'])\n"
    (tmp_path / "a.py").write_text(f"{source}pathlib.Path('begun').touch()\nwhile True: pass\n", encoding="utf-8")
    kill_and_look(tmp_path, ["check", "a.py"], (tmp_path / "begun").exists)
