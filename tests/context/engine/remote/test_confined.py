"""The walls around the process of a device, and what it still does behind them."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.context.engine.remote.isolated import build, host_of, isolated
from webnn.context.engine.remote import confined
from webnn.processes.walls.table import IN_PLACE

pytestmark = [pytest.mark.processes, pytest.mark.skipif(sys.platform != "linux", reason="the walls are those of Linux")]

ROOT = str(Path(__file__).resolve().parents[4])
#: Tells what each attempt ended with, in the place of the engine.
ATTEMPTS = """
import json, os, socket, subprocess, sys, types
root, folder, port, mode = sys.argv[1:]
sys.path.append(root)
from webnn.context.engine.remote import confined

ATTEMPTS = {
    "read": lambda: open(f"{folder}/secret").read(),
    "cache": lambda: os.rename(open(f"{folder}/cache/a", "w").name, f"{folder}/cache/b"),
    "temporary": lambda: open(f"{folder}/temporary/a", "w"),
    "driver": lambda: open(f"{folder}/home/.cache/mesa_shader_cache/a", "w"),
    "write": lambda: open(f"{folder}/new", "w"),
    "other cache": lambda: open(f"{folder}/home/.cache/a", "w"),
    "home": lambda: open(f"{folder}/home/.profile", "w"),
    "remove": lambda: os.remove(f"{folder}/removed"),
    "mode": lambda: os.chmod(f"{folder}/secret", 0o644),
    "connect": lambda: socket.create_connection(("127.0.0.1", int(port))),
    "start": lambda: subprocess.run(["/bin/true"], check=True),
    "signal": lambda: os.kill(os.getppid(), 0),
    "look at the parent": lambda: open(f"/proc/{os.getppid()}/environ").read(),
    "priority": lambda: os.setpriority(os.PRIO_PROCESS, os.getppid(), os.getpriority(os.PRIO_PROCESS, os.getpid())),
}

def main(handle, missing):
    ends = {}
    for name, attempt in ATTEMPTS.items():
        try:
            attempt()
            ends[name] = "reached"
        except OSError as error:
            ends[name] = type(error).__name__
    print(json.dumps([missing, ends]))

sys.modules["webnn.context.engine.remote.worker"] = worker = types.ModuleType("worker")
worker.main = main
if mode == "none":
    confined._find_untried = lambda: iter(["a test"])
confined.main(0, os.getppid(), f"{folder}/cache")
"""
REACHED = {"read", "cache", "temporary", "driver"}


def make_attempts(folder: Path, mode: str) -> tuple[dict[str, str], dict[str, str]]:
    for name in ("cache", "temporary", "home/.cache/mesa_shader_cache"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name in ("secret", "removed"):
        (folder / name).write_text("", encoding="utf-8")
    environment = {**os.environ, "TMPDIR": str(folder / "temporary"), "HOME": str(folder / "home")}
    environment.pop("XDG_CACHE_HOME", None)
    with socket.create_server(("127.0.0.1", 0)) as server:
        command = [sys.executable, "-P", "-c", ATTEMPTS, ROOT, str(folder), str(server.getsockname()[1]), mode]
        made = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, env=environment)
    assert made.returncode == 0, made.stderr
    missing, ends = json.loads(made.stdout)
    return missing, ends


def test_attempts(tmp_path: Path) -> None:
    missing, ends = make_attempts(tmp_path, "walls")
    assert missing.pop("tree") == "the process must read all files" or "namespace" in missing
    if missing:
        pytest.skip(str(missing))
    assert {name for name, end in ends.items() if end == "reached"} == REACHED
    assert len(ends) > 10


def test_the_attempts_succeed_without_walls(tmp_path: Path) -> None:
    missing, ends = make_attempts(tmp_path, "none")
    assert missing == dict.fromkeys(IN_PLACE, "not tried with the driver of a test")
    assert set(ends.values()) == {"reached"}


def test_a_context_behind_walls(tmp_path: Path) -> None:
    """It computes, writes its cache, and its host knows the walls."""
    cache: Any = tmp_path / "cache"
    context = isolated(cache=cache)
    graph = build(context)
    result = graph.run(x=np.ones((8, 8), np.float32))
    assert np.allclose(result["y"], 1 / 8)
    assert set(host_of(context).missing_walls()) <= set(IN_PLACE)
    assert host_of(context).cache == str(cache)
    context.destroy()


def test_hardware(monkeypatch: pytest.MonkeyPatch) -> None:
    folders = {"/dev": ["null", "nvidiactl", "dri"], "/dev/dri": ["card0", "renderD128"]}
    monkeypatch.setattr(os, "listdir", folders.__getitem__)
    assert [*confined._find_untried()] == ["/dev/nvidiactl", "/dev/dri/renderD128"]
