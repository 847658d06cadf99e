"""Programs that try to escape: to the environment, files, the network, other processes. Every attempt must fail.

Each suite runs a second time where it must succeed: a test that cannot fail proves nothing.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.webnn.javascript.node_support import Outcome, require_node, run
from webnn.javascript import node as host
from webnn.processes.walls import table

pytestmark = pytest.mark.processes

ESCAPES = Path(__file__).parent / "escapes"
SECRET = "a secret of the user"
NEEDS_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has these walls")


class Server(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(SECRET.encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """The targets of the programs, and their places: all of them exist."""
    monkeypatch.setenv("WEBNN_SECRET", SECRET)
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.txt").write_text(SECRET, encoding="utf-8")
    with ExitStack() as stack:
        server = stack.enter_context(ThreadingHTTPServer(("127.0.0.1", 0), Server))
        stack.callback(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        values = {
            "SECRET": SECRET,
            "FILE": str(folder / "secret.txt"),
            "FOLDER": str(folder),
            "DATABASE": str(folder / "new.db"),
            "PORT": str(server.server_address[1]),
            "PID": str(os.getpid()),
        }
        if sys.platform != "win32":
            path = os.path.relpath(folder / "s") if len(str(folder)) > 90 else str(folder / "s")  # a socket's path is short
            listener = stack.enter_context(socket.socket(socket.AF_UNIX))
            listener.bind(path)
            listener.listen()
            values["SOCKET"] = str(folder / "s")
        yield values


def write(name: str, folder: Path, values: Mapping[str, str]) -> Path:
    """Write a suite with its values into a folder."""
    text = (ESCAPES / name).read_text(encoding="utf-8")
    for key, value in values.items():
        text = text.replace(f"'@{key}@'", json.dumps(value)).replace(f"@{key}@", value)
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def run_plain(script: Path, *options: str) -> str:
    """Run a script in Node as it is, and return what it prints."""
    result = subprocess.run(
        [require_node().path, *options, script], capture_output=True, check=False, cwd=script.parent, encoding="utf-8", timeout=240
    )
    assert result.returncode == 0, result.stderr
    return result.stdout + result.stderr


def find_result(output: str) -> dict[str, Any]:
    """Return the one line of JSON that a suite prints."""
    (line,) = (line for line in output.splitlines() if line.startswith('{"'))
    result: dict[str, Any] = json.loads(line)
    return result


# Programs, on the host

#: A CommonJS module that shows what it is run with.
OWN = (
    "Object.assign(exports, {self: this, require, module, parts: require.main, cache: require.cache, make: module.constructor,"
    " caller: (function () { return this; })()});"
)


@pytest.mark.parametrize("system", [True, False], ids=["all walls", "without those of the system"])
def test_attempts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, values: dict[str, str], system: bool) -> None:
    if not system:
        monkeypatch.setattr(host, "_obstacle", lambda: "a test")
    package = tmp_path / "site/node_modules/own"
    package.mkdir(parents=True)
    (package / "package.json").write_text("{}", encoding="utf-8")
    (package / "index.js").write_text(OWN, encoding="utf-8")
    source = write("attempts.mjs", tmp_path / "site", values).read_text(encoding="utf-8")
    outcome = run(tmp_path / "site", source, timeout=240)
    assert outcome.code == 0, outcome.stderr
    won = find_result(outcome.stdout)
    assert len(won) > 15
    assert {name: prizes for name, prizes in won.items() if prizes} == {}, outcome.stdout
    assert not Path(values["DATABASE"]).exists()


def test_the_attempts_succeed_in_node_itself(tmp_path: Path, values: dict[str, str]) -> None:
    won = find_result(run_plain(write("attempts.mjs", tmp_path, values)))
    process = {"environment", "parent", "file", "process", "network", "database", "binding"}
    assert process <= set(won["process"])
    for name in ("process, by a function of its realm", "methods of emitters", "what objects lack"):
        assert {"environment", "parent", "file"} <= set(won[name]), name
    assert {"file", "process", "network", "database"} <= set(won["modules"])
    assert "fetch" in won["requests"]


#: Prints the names of members in Node's own source.
NAMES = r"""
const names = new Set(), sources = Object.values(process.binding('natives')).filter(each => typeof each === 'string');
for (const source of sources) {
  for (const [, a, b] of source.matchAll(/\.([a-zA-Z_$][\w$]*)|[{,]\s*([a-zA-Z_$][\w$]*)\s*(?=[,}=:])/g)) names.add(a ?? b);
}
process.stdout.write(JSON.stringify([...names]));
"""


def sweep(folder: Path) -> Outcome:
    """Run the sweep with the names of this Node's own source."""
    script = folder / "names.cjs"
    script.write_text(NAMES, encoding="utf-8")
    names = run_plain(script, "--no-deprecation", "--expose-internals")
    assert len(json.loads(names)) > 5_000
    (folder / "names.json").write_text(names, encoding="utf-8")
    (folder / "other.mjs").write_text("export default 1;", encoding="utf-8")
    return run(folder, (ESCAPES / "sweep.mjs").read_text(encoding="utf-8"), timeout=280)


def test_a_sweep(tmp_path: Path) -> None:
    outcome = sweep(tmp_path)
    assert outcome.code == 0, outcome.stderr
    result = find_result(outcome.stdout)
    assert result["seen"] > 1_000
    assert result["ways"] == []


def test_a_sweep_finds_what_is_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the lock on the methods of functions, Node's own calls of them hand over its process and its loader."""
    text = host._HOST.read_text(encoding="utf-8")
    lock = "for (const name of ['apply', 'bind', 'call']) {"
    assert lock in text
    (tmp_path / "open").mkdir()
    script = tmp_path / "open" / "node_host.mjs"
    script.write_text(text.replace(lock, "for (const name of []) {"), encoding="utf-8")
    monkeypatch.setattr(host, "_HOST", script)
    outcome = sweep(tmp_path)
    assert outcome.code == 0, outcome.stderr
    ways = find_result(outcome.stdout)["ways"]
    assert [way for way in ways if way.startswith("Function.prototype.")] != []


# All of Node, within the walls of the system


@NEEDS_LINUX
def test_prizes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, values: dict[str, str]) -> None:
    """The walls hold if the program has all of Node."""
    folder = Path(values["FOLDER"])
    (folder / "removed.txt").write_text("", encoding="utf-8")
    script = write("prizes.mjs", tmp_path, {**values, "RUN": "walls"})
    monkeypatch.setattr(host, "_HOST", script)
    monkeypatch.setattr(host, "_WITHOUT", ("--no-warnings",))
    command = host._command

    def without_permission(*arguments: object) -> object:
        parts, missing = command(*arguments)
        return [part for part in parts if not str(part).startswith(("--permission", "--allow-fs-read"))], missing

    monkeypatch.setattr(host, "_command", without_permission)
    missing: dict[str, str] = {}
    monkeypatch.setattr(table, "describe", lambda absent: missing.update(absent) or [])
    outcome = run(tmp_path, "", memory=3 << 29, verbose=True)
    result = find_result(outcome.stderr)
    reached = {name for name, end in result.items() if end == "reached"}
    assert len(result) > 20
    allowed = {name for wall, names in WITHOUT.items() if wall in missing for name in names}
    assert reached <= allowed, missing
    # Where a wall stands, nothing is left behind.
    if "files" not in missing:
        assert {path.name for path in folder.iterdir()} == {"secret.txt", "removed.txt", "s"}


#: The targets that can be reached where a wall is missing.
WITHOUT: Mapping[str, set[str]] = {
    "files": {
        *("file", "file by /proc/self/root", "folder", "new file", "link", "removal", "database", "the parent's environment", "length"),
        *("the parent's memory", "the file in another thread", "names of processes"),
    },
    "system calls": {
        *("process", "signal to the parent", "signal to the group", "signal to a process", "priority", "priority of a process"),
        *("connection", "connection to a path", "server", "fetch", "datagram", "inspector", "mode", "owner", "times", "changes"),
    },
    "memory": {"memory"},
    "tree": {"metadata", "metadata of the folder", "metadata by /proc/self/root", "size of the disk", "existence", "a process in procfs"},
}


def test_the_prizes_are_there_without_walls(tmp_path: Path, values: dict[str, str]) -> None:
    if sys.platform != "linux":
        pytest.skip("the attempts know Linux")
    folder = Path(values["FOLDER"])
    (folder / "removed.txt").write_text("", encoding="utf-8")
    result = find_result(run_plain(write("prizes.mjs", tmp_path, {**values, "RUN": "none"}), "--no-warnings"))
    # A process may not read another one's memory everywhere.
    assert {name for name, end in result.items() if end != "reached"} <= {"the parent's memory"}, result


# Python, within the walls of quickjs-ng

COMPUTES = """
from webnn.processes.walls.python import confine
confine([])
import numpy as np
import webnn
context = webnn.ML(revision="2026-06").createContextSync()
builder = webnn.MLGraphBuilder(context)
x = builder.input("x", dataType="float32", shape=[128, 128])
graph = builder.buildSync({"y": builder.matmul(x, x)})
print(graph.run(x=np.eye(128, dtype=np.float32))["y"].sum())
"""


@NEEDS_LINUX
def test_the_engine_does_not_complain_of_the_walls() -> None:
    done = subprocess.run([sys.executable, "-P", "-c", COMPUTES], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "128.0", "")
