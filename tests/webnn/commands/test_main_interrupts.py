"""Real Ctrl-C at random moments of commands: each process ends, with all that it started."""

from __future__ import annotations

import json
import os
import random
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tests.interrupts import LONG
from tests.support import PATIENCE, wait_until
from tests.webnn.formats.graphs import relu
from tests.wpt_runner.checkouts import make_checkout

pytestmark = [pytest.mark.processes, pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux shows them")]

#: How often each command is interrupted: once in continuous integration.
COUNTS = pytest.mark.parametrize("count", [1, pytest.param(40, marks=LONG)])
#: The variable that marks the processes of a command.
MARK = "WEBNN_TESTS_MARK"
PROGRAM = """
import numpy as np
import webnn
context = webnn.ML(isolate=True).createContextSync()
builder = webnn.MLGraphBuilder(context)
graph = builder.buildSync({"y": builder.relu(builder.input("x", {"dataType": "float32", "shape": [4]}))})
print("begun", flush=True)
while True:
    graph.run(x=np.ones(4, np.float32))
"""
SCRIPT = """
const context = await navigator.ml.createContext();
const tensor = await context.createTensor({dataType: 'float32', shape: [4], readable: true});
console.log('begun');
for (;;) await context.readTensor(tensor);
"""
WPT = "promise_test(async () => { for (;;) await navigator.ml.createContext(); });"


def command(name: str, folder: Path) -> Sequence[object]:
    """Prepare a command that would take long, in a folder."""
    match name:
        case "run a program":
            (folder / "program.py").write_text(PROGRAM, encoding="utf-8")
            return ["run", folder / "program.py"]
        case "run a script":
            (folder / "program.mjs").write_text(SCRIPT, encoding="utf-8")
            return ["run", folder / "program.mjs"]
        case "serve":
            (folder / "index.html").write_text("<!doctype html>", encoding="utf-8")
            return ["serve", folder]
        case "batch":
            relu().save(folder / "graph.webnn")
            np.save(folder / "x.npy", np.ones((20_000, 2), np.float32))
            return ["batch", folder / "graph.webnn", folder / "x.npy", "-o", folder / f"results{secrets.token_hex(4)}", "--batch-size", "1"]
        case "wpt run":
            if not any(folder.iterdir()):
                make_checkout(folder, {"loop.https.any.js": WPT})
            return ["wpt", "run", "--wpt", folder]
        case _:
            raise AssertionError(name)


def marked(mark: str) -> list[int]:
    """Return the processes of a command that run."""
    found = []
    for each in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"{MARK}={mark}".encode() in each.read_bytes() and b") Z " not in each.with_name("stat").read_bytes():
                found.append(int(each.parent.name))
        except OSError:
            continue
    return found


def _is_gone(mark: str) -> bool:
    return not marked(mark)


def _has_begun(process: subprocess.Popen[str], folder: Path) -> bool:
    """Tell whether `webnn batch` has written something, or ended."""
    return process.poll() is not None or any(folder.glob("results*/*"))


@COUNTS
@pytest.mark.parametrize("name", ["run a program", "run a script", "serve", "batch", "wpt run"])
def test_interrupts(name: str, count: int, tmp_path: Path) -> None:
    chosen = random.Random(json.dumps([name, count]))
    longest = 0.0
    for number in range(count):
        mark = secrets.token_hex(8)
        began = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "webnn", *map(str, command(name, tmp_path))],
            env={**os.environ, MARK: mark},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            encoding="utf-8",
        )
        if number == 0:
            # How long it takes to begin; later ones are interrupted before and after that.
            assert process.stdout is not None
            if name == "batch":
                wait_until(partial(_has_begun, process, tmp_path))
            else:
                process.stdout.readline()
            assert process.poll() is None, process.stdout.read()
            longest = 1.5 * (time.monotonic() - began)
        else:
            time.sleep(chosen.uniform(0, longest))
        # A terminal sends it to the whole group.
        os.killpg(process.pid, signal.SIGINT)
        output, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode in (0, 1, 130, -signal.SIGINT), (number, output)
        # Python itself says so, and ends with 1, if the signal comes before anything of this package runs.
        is_early = process.returncode == 1 and output.startswith("Fatal Python error: init_import_site")
        assert is_early or "Fatal Python error" not in output
        wait_until(partial(_is_gone, mark))
    print(f"{count} interrupts")


def test_a_mark_is_found() -> None:
    mark = secrets.token_hex(8)
    with subprocess.Popen([sys.executable, "-c", "input()"], env={**os.environ, MARK: mark}, stdin=subprocess.PIPE) as process:
        wait_until(lambda: marked(mark) == [process.pid])
    assert not marked(mark)
