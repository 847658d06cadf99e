"""No command runs a module of the current folder: neither its own process, nor one that it starts."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.webnn.generate.decoders import save_decoder
from tests.webnn.javascript.engines import needs_quickjs
from tests.webnn.javascript.node_support import require_node
from tests.webnn.scale.graphs import data, times
from tests.wpt_runner.checkouts import make_checkout
from webnn.commands.registry import COMMANDS

pytestmark = pytest.mark.processes

#: Modules that Python, NumPy, the engine or the command line import.
NAMES = [
    *("signal", "json", "typing", "numpy", "onnx", "socket", "ssl", "select", "re", "random", "struct", "pickle", "tempfile", "subprocess"),
    *("threading", "multiprocessing", "dataclasses", "enum", "logging", "traceback", "tokenize", "pydantic", "onnxruntime"),
    *("onnxruntime_ep_webgpu", "onnxruntime_ep_openvino", "onnxruntime_qnn", "tokenizers"),
]
#: Leaves a mark beside itself.
HOSTILE = "import os\nopen(os.path.join(os.path.dirname(os.path.abspath(__file__)), __name__ + '.ran'), 'w').close()\n"
#: Calls of each command, which start every kind of process that it has. `serve` and `playground` end at once, because the port is taken.
CALLS: dict[str, list[list[str]]] = {
    "demo": [["--images", "0"]],
    "devices": [["--isolate"], ["--simulators", "--isolate"]],
    "profiles": [[]],
    "semantics": [[]],
    "run": [["graph.webnn"], ["program.mjs", "--revision", "2026-06"]],
    "batch": [["graph.webnn", "rows.npy", "-o", "out", "--batch-size", "8", "--executor", "processes:2"]],
    "attach": [[]],
    "serve": [["page", "--port", "@PORT@"]],
    "playground": [["program.mjs", "--port", "@PORT@"]],
    "check": [["program.mjs", "--profile", "coreml", "--revision", "2026-06", "--executor", "processes:1"]],
    "show": [["graph.webnn"]],
    "convert": [
        ["graph.webnn", "-o", "graph.mlir"],
        ["graph.webnn", "-o", "graph.tflite"],
        ["graph.mlir", "-o", "again.webnn"],
        ["graph.onnx", "-o", "other.webnn"],
    ],
    "diff": [["graph.webnn", "graph.webnn"]],
    "fuzz": [["--calls", "2", "--graphs", "1"]],
    "generate": [["decoder.onnx", "--tokens", "1,2", "--max-new-tokens", "2", "--compare", "onnxruntime"]],
    "spec": [["diff", "2026-06", "2026-06+zero-size"]],
    "proposal": [["new", "made-there"]],
    "browser": [["run", "program.mjs", "--browser", "there-is-none"]],
    "conformance": [["--sample", "2"]],
    "wpt": [["run", "--wpt", "checkout", "--jobs", "1", "--expectations", "none"]],
}
#: A command that has nothing to do here or that finds a difference, and its exit code.
CODES = {"serve": 1, "playground": 1, "browser": 2, "spec": 1}
PROGRAM = """
const context = await navigator.ml.createContext(), builder = new MLGraphBuilder(context);
await builder.build({y: builder.relu(builder.input('x', {dataType: 'float32', shape: [2]}))});
"""
#: Makes all calls of its argument in this process, as the installed program does, and prints their exit codes and outputs.
START = """
import contextlib, io, json, sys
from webnn.__main__ import main

ends = []
for call in json.loads(sys.argv[1]):
    sys.argv = ["webnn", *call]
    output, code = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True), 0
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
    ends.append([call, code, output.buffer.getvalue().decode()])
print(json.dumps(ends))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with hostile modules, a graph, data, a program, a page and a checkout of web-platform-tests."""
    folder = tmp_path / "downloads"
    make_checkout(folder / "checkout", {"x.any.js": "test(() => assert_true('ml' in navigator), 'a');"})
    (folder / "page").mkdir()
    (folder / "program.mjs").write_text(PROGRAM, encoding="utf-8")
    for name in ("graph.webnn", "graph.onnx"):
        times().description.save(folder / name)
    save_decoder(folder / "decoder.onnx")
    np.save(folder / "rows.npy", data(20))
    for name in NAMES:
        (folder / f"{name}.py").write_text(HOSTILE, encoding="utf-8")
    return folder


def run(command: list[str | Path], folder: Path) -> str:
    """Run a command in the folder, as an ordinary user's Python does. `attach` writes bytes that are not text."""
    made = subprocess.run(command, cwd=folder, capture_output=True, check=False, encoding="utf-8", errors="replace", timeout=240)
    assert made.returncode == 0, made.stderr
    return made.stdout


def ran(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.rglob("*.ran"))


@needs_quickjs
def test_commands(folder: Path, tmp_path: Path) -> None:
    require_node()
    assert set(CALLS) == set(COMMANDS)
    script = tmp_path / "bin" / "start.py"
    script.parent.mkdir()
    script.write_text(START, encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        calls = [[name, *(each.replace("@PORT@", port) for each in call)] for name in CALLS for call in CALLS[name]]
        ends: list[Any] = json.loads(run([sys.executable, script, json.dumps(calls)], folder).splitlines()[-1])
    lacking = [] if find_spec("jaxlib") else [end for end in ends if "need the package jaxlib" in str(end[2])]
    assert [end for end in ends if end[1] != CODES.get(end[0][0], 0) and end not in lacking] == []
    assert ran(folder) == []
    if lacking:
        # All others ran. A run in an environment that has jaxlib runs this test again.
        pytest.skip(f"{len(lacking)} calls need jaxlib, the extra `stablehlo`")


def test_the_modules_run_in_python_itself(folder: Path) -> None:
    run([sys.executable, "-c", f"import {', '.join(NAMES)}"], folder)
    # Python may have imported a module before.
    assert len(ran(folder)) > len(NAMES) - 3


def test_python_m(folder: Path) -> None:
    run([sys.executable, "-P", "-m", "webnn", "devices"], folder)
    # Otherwise Python puts the current folder first before it reads this package, whose `__init__` imports `typing`.
    (folder / "typing.py").unlink()
    run([sys.executable, "-m", "webnn", "devices"], folder)
    assert ran(folder) == []
