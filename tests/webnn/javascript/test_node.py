"""How programs run in Node: their ends, their computations, and programs other than Node."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import stat
import sys
import threading
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

import webnn
from tests.support import PATIENCE
from tests.webnn.javascript.node_support import Outcome, inline, require_node, run, run_scripts
from webnn._extras import install_command
from webnn.javascript.node import FAULT, OUT_OF_TIME, InstalledNode, NodeMissingError, find_node, run_program
from webnn.javascript.page_scripts import Script
from webnn.processes.walls import table

pytestmark = pytest.mark.processes

# How programs end


ENDS: Mapping[str, tuple[str, int, str, list[str]]] = {
    "nothing": ("", 0, "", []),
    "exit code": ("process.exitCode = 9; console.log('on');", 9, "on\n", []),
    "exit": ("setTimeout(() => console.log('never'), 1e5); process.exit(7);", 7, "", []),
    "exit tells": ("process.on('exit', code => console.log('code', code)); process.exit(3);", 3, "code 3\n", []),
    "before exit": ("process.on('beforeExit', () => console.log('idle'));", 0, "idle\n", []),
    "an error": (
        "console.log('before');\nfunction inner() { throw new RangeError('böse'); }\ninner();",
        1,
        "before\n",
        ["RangeError: böse\n    at inner (https://app.test/program.mjs:2:26)\n    at https://app.test/program.mjs:3:1\n"],
    ),
    "an error later": ("setTimeout(() => { throw new Error('late'); });", 1, "", ["Error: late", "program.mjs:1"]),
    "a rejection": ("Promise.reject(new TypeError('nobody'));", 1, "", ["TypeError: nobody", "program.mjs:1:16"]),
    "a rejection with a number": ("Promise.reject(7);", 1, "", ['rejected with the reason "7"', "ERR_UNHANDLED_REJECTION"]),
    "a thrown string": ("throw 'text'", 1, "", ["text"]),
    "a handled rejection": ("process.on('unhandledRejection', e => console.log('got', e)); Promise.reject(7);", 0, "got 7\n", []),
    "a handled error": (
        "process.on('uncaughtException', e => console.log('got', e.message)); setTimeout(() => { throw Error('x'); });",
        0,
        "got x\n",
        [],
    ),
    "a misspelt operation": (
        "const builder = new MLGraphBuilder(await navigator.ml.createContext());\nbuilder.relu6(1);",
        1,
        "",
        [
            "TypeError: builder.relu6 is not a function",
            "webnn: MLGraphBuilder has no relu6; did you mean clamp(x, {minValue: 0, maxValue: 6})?\n",
        ],
    ),
    "syntax": ("let a;\nlet b = (;", 1, "", ["https://app.test/program.mjs:2\nlet b = (;\n", "SyntaxError: Unexpected token ';'"]),
    "an error of the emulator": (
        "const context = await navigator.ml.createContext();\nnew MLGraphBuilder(context).relu(7);",
        1,
        "",
        ["TypeError: relu", "\n    at https://app.test/program.mjs:2:29\n"],
    ),
    "waits for nothing": ("await new Promise(() => {});", 13, "", ["webnn: the program awaits something that will not happen\n"]),
    "recursion": ("const f = () => f() + 1; f();", 1, "", ["RangeError: Maximum call stack size exceeded"]),
    "a missing module": ("import './none.mjs';", 1, "", ["Failed to load https://app.test/none.mjs: there is no such file"]),
}


@pytest.mark.parametrize("name", ENDS)
def test_how_a_program_ends(tmp_path: Path, name: str) -> None:
    source, code, stdout, fragments = ENDS[name]
    outcome = run(tmp_path, source)
    assert (outcome.code, outcome.stdout) == (code, stdout), outcome.stderr
    assert [fragment for fragment in fragments if fragment not in outcome.stderr] == [], outcome.stderr
    assert bool(outcome.stderr) == bool(fragments)
    # Frames of Node and of the host are left out.
    assert [word for word in ("node:internal", "node_host", "webnn:", "Node.js v") if word in outcome.stderr.replace("webnn: ", "")] == []


def test_a_loop_runs_out_of_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    timers: list[threading.Timer] = []

    class Timer(threading.Timer):
        """Is over when the test says so, not when its time is."""

        def start(self) -> None:
            assert self.interval == 1.5
            timers.append(self)

    class Expiring(BytesIO):
        """Output that ends the program's time."""

        def flush(self) -> None:
            for timer in timers:
                timer.function(*timer.args)

    monkeypatch.setattr(threading, "Timer", Timer)
    program = inline(tmp_path, "console.log('on'); for (;;) {}", timeout=1.5)
    stdout, stderr = Expiring(), BytesIO()
    assert run_program(require_node(), program, stdout=stdout, stderr=stderr) == OUT_OF_TIME
    assert (stdout.getvalue(), stderr.getvalue()) == (b"on\n", b"webnn: the program was not done after 1.5 s\n")


def test_a_program_in_time(tmp_path: Path) -> None:
    assert run(tmp_path, "setTimeout(() => console.log('done'), 20)", timeout=PATIENCE) == Outcome(0, "done\n", "")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals")
def number_here(pid: int) -> int:
    """Return the number of a process that this one has started. Behind a wall it has another number for itself."""
    if not Path("/proc/self/status").exists():
        return pid
    found = []
    for file in Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(OSError):
            facts = dict(line.split(":", 1) for line in file.read_text(encoding="utf-8").splitlines())
            numbers = facts["NSpid"].split()
            if int(numbers[-1]) == pid and os.getpid() in ancestors(int(numbers[0])):
                found.append(int(numbers[0]))
    (number,) = found
    return number


def ancestors(pid: int) -> Iterator[int]:
    while pid := int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1]):
        yield pid


def test_a_signal_ends_the_program(tmp_path: Path) -> None:
    class Killer(BytesIO):
        def write(self, content: Any) -> int:
            os.kill(number_here(int(content)), 9)
            return len(content)

    program = inline(tmp_path, "console.log(process.pid); for (;;) {}")
    stderr = BytesIO()
    assert run_program(require_node(), program, stdout=Killer(), stderr=stderr) == 128 + 9
    assert stderr.getvalue() == b"webnn: the signal SIGKILL ended the program\n"


@pytest.mark.parametrize("together", [True, False])
def test_scripts_together(tmp_path: Path, together: bool) -> None:
    """Without it, promises go on between scripts, as in a page, and an error ends the program."""
    sources = [
        "Promise.resolve().then(() => console.log('promise')); var a;",
        "console.log('second'); a = b;",
        "console.log('third');",
    ]
    scripts = [Script(url=f"https://app.test/{index}.js", kind="classic", source=source) for index, source in enumerate(sources)]
    outcome = run_scripts(tmp_path, scripts, "https://app.test/", together=together)
    expected = ["second", "third", "promise"] if together else ["promise", "second"]
    assert (outcome.code, outcome.stdout.splitlines()) == (1, expected)
    assert "ReferenceError: b is not defined" in outcome.stderr


def test_nobody_reads_the_output(tmp_path: Path) -> None:
    class Closed(BytesIO):
        def write(self, _: Any) -> int:
            raise BrokenPipeError

    program = inline(tmp_path, "for (;;) console.log(1);")
    assert run_program(require_node(), program, stdout=Closed(), stderr=BytesIO()) == 128 + 13


def test_promises_in_webassembly(tmp_path: Path) -> None:
    """A function of WebAssembly waits for one of JavaScript, as in browsers."""
    if find_node().version[0] != 24:
        pytest.skip("other versions of Node have it behind other flags, or without one")
    # It imports m.f, and exports g, which calls it.
    module = bytes.fromhex("0061736d01000000 0105016000017f 020701016d01660000 03020100 07050101670001 0a0601040010000b")
    source = f"""
const m = {{f: new WebAssembly.Suspending(async () => 7)}};
const {{instance}} = await WebAssembly.instantiate(new Uint8Array({[*module]}), {{m}});
console.log(await WebAssembly.promising(instance.exports.g)());
"""
    assert run(tmp_path, source) == Outcome(0, "7\n", "")


# The emulator behind it

HEAD = """
const context = await navigator.ml.createContext();
const builder = new MLGraphBuilder(context);
const input = (name, dataType, ...dimensions) => builder.input(name, {dataType, dimensions});
"""


def test_bits_survive(tmp_path: Path) -> None:
    outcome = run(
        tmp_path,
        HEAD
        + """
const bits = new Uint32Array([0x7fc00001, 0xffc12345, 0x80000000, 0, 0x7f800000, 0xff800000, 1, 0x80000001]);
const size = 1 << 21, data = new Float32Array(size), words = new Uint32Array(data.buffer);
for (let index = 0; index < size; index++) words[index] = bits[index % bits.length];
const constant = builder.constant({dataType: 'float32', dimensions: [size]}, data);
words.fill(0);  // a constant has its own copy
const x = input('x', 'float32', size), i = input('i', 'int64', 2);
const graph = await builder.build({
  x: builder.reshape(x, [2, size / 2]), c: builder.reshape(constant, [2, size / 2]), i: builder.reshape(i, [1, 2]),
});
for (let index = 0; index < size; index++) words[index] = bits[index % bits.length];
const buffer = new ArrayBuffer(4 * size + 16);
const {inputs, outputs} = await context.compute(
    graph, {x: data, i: new BigInt64Array([-1n, 2n ** 62n])},
    {x: new Float32Array(buffer, 8, size), c: new Float32Array(size), i: new BigInt64Array(2)});
const same = ({buffer, byteOffset}) => new Uint32Array(buffer, byteOffset, size).every((word, index) => word === bits[index % bits.length]);
console.log(same(outputs.x), same(outputs.c), same(inputs.x), outputs.i);
console.log(outputs.x.byteOffset, outputs.x.buffer.byteLength, data.length, buffer.detached, data.buffer.detached);
""",
        revision="2024-06",
    )
    assert outcome == Outcome(0, "true true true BigInt64Array(2) [ -1n, 4611686018427387904n ]\n8 8388624 0 true true\n", "")


def test_views_of_one_buffer_are_refused(tmp_path: Path) -> None:
    outcome = run(
        tmp_path,
        HEAD
        + """
const a = input('a', 'float32', 2), graph = await builder.build({c: builder.relu(a)}), buffer = new ArrayBuffer(16);
const call = (...views) => context.compute(graph, {a: views[0]}, {c: views[1]}).then(() => 'done', error => error.name);
console.log(await call(new Float32Array(buffer, 0, 2), new Float32Array(buffer, 8, 2)), buffer.detached);
const fine = new Float32Array(2);
console.log(await call(fine, new Float32Array(2)), await call(fine, new Float32Array(2)));
""",
        revision="2024-06",
    )
    assert outcome == Outcome(0, "TypeError false\ndone TypeError\n", "")


def test_a_fallback_is_told_in_one_line(tmp_path: Path) -> None:
    outcome = run(tmp_path, "await navigator.ml.createContext({deviceType: 'npu'}); console.log('on');", revision="2024-06")
    assert (outcome.code, outcome.stdout) == (0, "on\n")
    # A machine that has the device needs no word.
    assert re.fullmatch(r'(webnn: warning: deviceType "npu" runs on .*\n)?', outcome.stderr)


def test_a_fault_of_the_emulator_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyError("two\nlines")

    monkeypatch.setattr(webnn.MLGraphBuilder, "relu", fail)
    outcome = run(
        tmp_path, HEAD + "try { builder.relu(input('a', 'float32')); } catch (error) { console.log(error.message); }", revision="2024-06"
    )
    assert (outcome.code, outcome.stdout) == (FAULT, "the emulator failed: KeyError: 'two\\nlines'\n")
    assert outcome.stderr.startswith("webnn: fault: KeyError: 'two\\nlines' (test_node.py:")
    assert outcome.stderr.endswith("this is an error of webnn, please report it\n")
    assert outcome.stderr.count("\n") == 1


# Programs other than Node, and a Node that was removed


def fake(folder: Path, python: str) -> InstalledNode:
    """Make a program in the place of Node."""
    if sys.platform == "win32":
        pytest.skip("a script is not a program there")
    path = folder / "fake-node"
    path.write_text(f"#!{sys.executable}\nimport sys\n{python}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return InstalledNode(path, (99, 0))


@pytest.mark.parametrize(
    ("python", "code", "stderr"),
    [
        ("print('hello, world')", FAULT, "webnn: the program's process must send messages only: b'hello, w' begins no message\n"),
        (
            "sys.stdout.buffer.write(b'WNZ' + bytes(5))",
            FAULT,
            "webnn: the program's process must send messages only: there is no message 'Z'\n",
        ),
        (
            "sys.stdout.buffer.write(b'WNF\\0\\1\\0\\0\\0\\2' + bytes(7) + b'a\\xff')",
            FAULT,
            "webnn: the program's process must send messages only: the text of a message is not UTF-8 from byte 1 on\n",
        ),
        (
            "sys.stdout.buffer.write(b'WNC\\0\\1\\0\\0\\0' + (6 << 30).to_bytes(8, 'little'))",
            FAULT,
            "webnn: the program's process must send messages only: "
            "a message 'C' wants a part of 6442450944 bytes, where at most 67108864 are possible\n",
        ),
        (
            "sys.stdout.buffer.write(b'WNP\\0\\1\\0\\0\\0\\5' + bytes(7) + b'a.mjs')",
            FAULT,
            "webnn: the program's process must send messages only: the line of a call must be an address and a number, got 'a.mjs'\n",
        ),
        ("sys.stdout.buffer.write(b'WNC\\0\\1\\0\\0\\0'); sys.exit(3)", 3, ""),
        ("sys.exit('out of memory')", 1, "out of memory\n"),
    ],
)
def test_a_child_that_goes_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, python: str, code: int, stderr: str) -> None:
    monkeypatch.setattr(table, "SYSTEM_PATHS", (*table.SYSTEM_PATHS, sys.prefix, sys.base_prefix))  # this stand-in is Python
    outcome = run(tmp_path, "", node=fake(tmp_path, python), on_line=pytest.fail)
    assert outcome == Outcome(code, "", stderr)


@pytest.mark.parametrize(
    ("version", "found"),
    [
        ("v24.0.1", (24, 0)),
        ("v22.15.0", (22, 15)),
        ("v22.14.9", "fake-node is 22.14"),
        ("v20.20.2", "fake-node is 20.20"),
        ("hello", "fake-node does not run as Node"),
        ("", "fake-node does not run as Node"),
    ],
)
def test_finding_a_named_node(tmp_path: Path, version: str, found: tuple[int, int] | str) -> None:
    path = fake(tmp_path, f"print({version!r}, __file__)").path
    if isinstance(found, str):
        with pytest.raises(NodeMissingError, match=rf"Node 22\.15 or newer is needed, but .*{found}: {re.escape(install_command('js'))}"):
            find_node(path)
    else:
        assert find_node(path) == InstalledNode(path, found)


def test_finding_no_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NodeMissingError, match=r"but there is none: .*pip install"):
        find_node()


def test_an_old_node_on_the_path_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = fake(tmp_path, "print('v18.1.0', __file__)").path.rename(tmp_path / "node")
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NodeMissingError, match=f"{old} is 18.1"):
        find_node()
