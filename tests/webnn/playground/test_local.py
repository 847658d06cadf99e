"""Programs without ONNX Runtime, threads and processes, as in a browser: Pyodide is such a Python."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.processes

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
#: Takes away what Pyodide does not have, and answers the orders of its arguments.
START = """
import subprocess, sys, threading

class Missing:
    NAMES = {"onnxruntime", "onnx", "ml_dtypes", "graphlay", "quickjs", "aiohttp", "websockets", "_multiprocessing", "_posixshmem",
             "ssl", "_ssl", "resource", "grp", "pwd", "readline", "typer", "rich"} - set(sys.argv[1].split())
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.NAMES:
            raise ModuleNotFoundError(f"no {name} here", name=name)

def refuse(*args, **options):
    raise RuntimeError("can't start new thread")

for name in [*sys.modules]:
    if name.partition(".")[0] in Missing.NAMES:
        del sys.modules[name]
sys.meta_path.insert(0, Missing())
threading.Thread.start = refuse
subprocess.Popen.__init__ = refuse
from webnn.playground.local import answer
for what, text in zip(sys.argv[2::2], sys.argv[3::2]):
    print(answer(what, text))
"""


def ask(*orders: tuple[str, dict[str, str]], there: str = "") -> list[dict[str, Any]]:
    texts = [text for what, order in orders for text in (what, json.dumps(order))]
    done = subprocess.run([sys.executable, "-c", START, there, *texts], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def python(name: str, **others: str) -> dict[str, str]:
    return {"language": "python", "source": (EXAMPLES / name).read_text(encoding="utf-8"), **others}


def test_programs_run() -> None:
    sync, awaiting, refused, wrong = ask(
        ("run", python("int8_graph.py")),
        ("run", python("add_and_multiply_async.py")),
        ("run", python("int8_graph.py", profile="coreml")),
        ("run", {"language": "javascript", "source": "1"}),
    )
    assert (sync["error"], awaiting["error"]) == (None, None)
    assert "Output value for inputs of 1.0: [2.25 2.25" in awaiting["output"]
    assert sync["graphs"][0]["operators"] > 5
    assert sync["graphs"][0]["tables"][0]["title"] == "Placement"
    assert sync["graphs"][0]["document"]["format"] == "webnn-viewer"
    assert '"coreml"' in refused["error"]["message"]
    assert refused["error"]["line"] is not None
    assert wrong["error"]["message"] == "only programs in Python run in this page"


def test_a_program_leaves_nothing_to_the_next() -> None:
    source = "import os\nprint(os.environ.get('WEBNN_REVISION'), 'x' in globals())\nx = 1\n"
    order = {"language": "python", "source": source}
    first, second = ask(("run", {**order, "revision": "2024-06"}), ("run", order))
    assert (first["output"], second["output"]) == ("2024-06 False\n", "None False\n")


def test_every_profile() -> None:
    [checked] = ask(("check", python("int8_graph.py")), there="typer rich")
    verdicts = {row[0]: row[1] for row in checked["tables"][0]["rows"]}
    assert (verdicts["(none)"], verdicts["coreml"], verdicts["dml"]) == ("builds", "refused", "builds")
