"""A test that has taken over the engine meets the walls of the system: the engine is replaced by a module that tries to escape."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.webnn.javascript.engines import needs_quickjs
from tests.webnn.processes.walls.trying import tried
from tests.wpt_runner.checkouts import make_checkout
from webnn.wpt_runner.checkout import Checkout
from webnn.wpt_runner.results import FileResult
from webnn.wpt_runner.runner import OneByOne, run_tests
from webnn.wpt_runner.settings import Settings

pytestmark = [pytest.mark.processes, pytest.mark.skipif(sys.platform != "linux", reason="the walls are those of Linux"), needs_quickjs]

#: Tells in its error what each attempt ended with.
ENGINE = """
import json, os, socket, subprocess

FOLDER, PORT, PARENT = @VALUES@
ATTEMPTS = {
    "read": lambda: open(f"{FOLDER}/secret.txt").read(),
    "stat": lambda: os.stat(f"{FOLDER}/secret.txt"),
    "stat in procfs": lambda: os.stat(f"/proc/{PARENT}"),
    "changes": lambda: _watch(FOLDER),
    "list": lambda: os.listdir(FOLDER),
    "write": lambda: open(f"{FOLDER}/new.txt", "w"),
    "write into the checkout": lambda: open(f"{FOLDER}/checkout/new.txt", "w"),
    "mode": lambda: os.chmod(f"{FOLDER}/secret.txt", 0o644),
    "connect": lambda: socket.create_connection(("127.0.0.1", PORT)),
    "start": lambda: subprocess.run(["/bin/true"], check=True),
    "signal": lambda: os.kill(PARENT, 0),
    "look at the parent": lambda: open(f"/proc/{PARENT}/environ").read(),
    "priority": lambda: os.setpriority(os.PRIO_PROCESS, PARENT, os.getpriority(os.PRIO_PROCESS, PARENT)),
    # Of the connections that it has inherited, only that of the tests is left.
    "other connections": lambda: [os.fstat(each) for each in range(3, 64) if _is_open(each)][1],
}

def _watch(folder):
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.inotify_add_watch(libc.inotify_init1(0), folder.encode(), 0xFFF) < 0:
        raise OSError(ctypes.get_errno(), folder)

def _is_open(number):
    try:
        os.fstat(number)
    except OSError:
        return False
    return True

ends = {}
for name, attempt in ATTEMPTS.items():
    try:
        attempt()
        ends[name] = "reached"
    except (OSError, IndexError) as error:
        ends[name] = type(error).__name__
raise RuntimeError(json.dumps(ends))
"""
Run = Callable[[Checkout], FileResult]


def run_all(checkout: Checkout) -> FileResult:
    return run_tests(checkout, checkout.tests(), Settings(revision="2026-06"), processes=1, on_result=lambda _: None)[0]


def run_one(checkout: Checkout) -> FileResult:
    runner = OneByOne(checkout, Settings(revision="2026-06"))
    try:
        return runner.run(checkout.tests()[0])
    finally:
        runner.close()


@pytest.mark.parametrize("run", [run_all, run_one])
def test_attempts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    checkout = Checkout(make_checkout(tmp_path / "checkout", {"x.window.js": "test(() => {}, 'a');"}))
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    (tmp_path / "secret.txt").chmod(0o600)
    engine = tmp_path / "engine"
    engine.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as server:
        values = str(tmp_path), server.getsockname()[1], os.getpid()
        (engine / "quickjs.py").write_text(ENGINE.replace("@VALUES@", repr(values)), encoding="utf-8")
        monkeypatch.setenv("PYTHONPATH", str(engine))
        monkeypatch.syspath_prepend(engine)
        result = run(checkout)
    _, _, told = result.message.partition("RuntimeError: ")
    ends = json.JSONDecoder().raw_decode(told)[0]
    assert len(ends) > 10
    # Only a tree of its own hides that a file is there.
    allowed = {"stat", "stat in procfs"} if tried("namespace", "tree")["missing"] else set()
    assert {name for name, end in ends.items() if end == "reached"} <= allowed
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkout", "engine", "secret.txt"]
