"""The process runs no code of the current folder, and ends with its connection."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.context.engine.remote.isolated import build, host_of, isolated, runs, started
from tests.support import PATIENCE, wait_until
from tests.webnn.commands.test_main_current_folder import HOSTILE, NAMES

pytestmark = pytest.mark.processes

PROGRAM = """
import numpy as np
import webnn

context = webnn.ML(isolate=True).createContextSync(deviceType="cpu")
builder = webnn.MLGraphBuilder(context)
x = builder.input("x", dataType="float32", shape=[2])
print(builder.buildSync({"y": builder.neg(x)}).run(x=np.ones(2, np.float32))["y"][0])
"""


def test_a_current_folder_with_hostile_modules(tmp_path: Path) -> None:
    for name in (*NAMES, "webnn", "context", "onnxruntime"):
        (tmp_path / f"{name}.py").write_text(HOSTILE, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "-1.0\n", "")
    assert list(tmp_path.rglob("*.ran")) == []


def test_it_ends_with_its_connection() -> None:
    context = isolated()
    build(context)
    host, pid = host_of(context), started(context)
    host._process.ours.close()
    wait_until(lambda: host.end)
    assert host.end == "ended with exit code 0"
    assert not runs(pid)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has /proc")
def test_it_writes_nothing_to_the_programs_output() -> None:
    context = isolated()
    build(context)
    # Standard output and standard error are the same pipe, which the program reads.
    links = [os.readlink(f"/proc/{started(context)}/fd/{number}") for number in (0, 1, 2)]
    assert links[0] == os.devnull
    assert links[1] == links[2]
    assert links[1].startswith("pipe:")
