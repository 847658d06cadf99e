"""``webnn run`` as a user runs it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from unittest import mock

import pytest
from typer.testing import CliRunner

from tests.shared import ROOT, SHARED
from tests.support import PATIENCE, wait_until
from tests.webnn.javascript.node_support import require_node
from webnn.commands.main import app

pytestmark = pytest.mark.processes

EXAMPLES = ROOT / "examples" / "js"


def run(*arguments: object, cwd: Path | None = None, environment: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run ``webnn run`` in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "webnn", "run", *map(str, arguments)],
        capture_output=True,
        check=False,
        cwd=cwd,
        encoding="utf-8",
        env={**os.environ, **(environment or {})},
        timeout=PATIENCE,
    )


def run_here(*arguments: object, environment: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run ``webnn run`` in this process, where a test is not about the process, and not about what `navigator.ml` reads when it starts."""
    command = ["run", *map(str, arguments)]
    # The program changes all of these.
    with mock.patch.dict(os.environ, environment or {}), pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.setattr(sys, "argv", [])
        patch.setattr(sys, "path", [*sys.path])
        warnings.simplefilter("ignore")
        result = CliRunner().invoke(app, command)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return subprocess.CompletedProcess(command, result.exit_code, result.stdout, result.stderr)


def write(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


# Refusals, in one line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.mjs"], "none.mjs is not there: a program is a file"),
        ([os.devnull], f"{os.devnull} is a device: a program is a file"),
        (["."], ". is a folder: a program is a file"),
        (["a.txt"], "a program is a file .mjs, .js, .html, .htm, .py, got a.txt"),
        (["--root", "none", "a.mjs"], "--root must be a folder, got none"),
        (["--root", "a.txt", "a.mjs"], "--root must be a folder, got a.txt"),
        (["empty.html"], "empty.html has no script"),
        (["--root", ".", "a.py"], "--root can only be given for JavaScript: a Python program runs in this process, and can do what it can"),
        (["--root", ".", "--dialect", "x", "a.py"], "--root and --dialect can only be given for JavaScript"),
        (["--dialect", "browsers-2026", "a.webnn"], "--dialect can only be given for JavaScript: a saved graph has no JavaScript"),
        (["--profile", "browsers-2026", "a.mjs"], "browsers-2026: must be a device profile, one of coreml, "),
        (
            ["--embedder", "https://a.test", "--permissions-policy", "webnn=()", "a.py"],
            "--embedder and --permissions-policy can only be given",
        ),
        (["--allow", "webnn", "a.mjs"], "--allow is an attribute of a frame: give the page with the frame, too"),
        (["--embedder", "a.test", "a.mjs"], '--embedder: origin must be "null", or a scheme, a host and a port'),
        (["--permissions-policy", "webnn=(", "a.mjs"], "--permissions-policy: the header Permissions-Policy is ignored, as in a browser"),
        (["--node", "node", "a.py"], "--node can only be given for JavaScript"),
        (["--profile", "none", "a.mjs"], "none: must be a device profile, one of coreml, "),
        (["--profile", "none", "a.py"], "none: must be a device profile, one of coreml, "),
        (
            ["--node", "none", "a.mjs"],
            "Node 22.15 or newer is needed, but none does not run as Node: ",
        ),
    ],
)
def test_what_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str) -> None:
    for name in ("a.txt", "a.mjs", "a.py", "a.webnn", "empty.html"):
        write(tmp_path / name, "")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WEBNN_NODE", raising=False)
    result = CliRunner().invoke(app, ["run", *arguments])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"webnn: {message}")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--revision", "1999-01"], "1999-01"),
        (["--dialect", "none"], "the dialect for the revision 2026-06 must be one of browsers-2026, chromium-153, wpt-2025-03, got 'none'"),
    ],
)
def test_what_is_refused_with_a_node(tmp_path: Path, arguments: list[str], message: str) -> None:
    require_node()
    result = CliRunner().invoke(app, ["run", *arguments, str(write(tmp_path / "a.mjs", ""))])
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


# JavaScript


def test_a_program_and_its_arguments(tmp_path: Path) -> None:
    require_node()
    write(tmp_path / "ünï döt" / "prög ram.mjs", "import './b.mjs'; console.log(...process.argv.slice(1)); process.exitCode = 4;")
    write(tmp_path / "ünï döt" / "b.mjs", "console.error('é');")
    result = run("ünï döt/prög ram.mjs", "--timeout", "-h", "--", "x y", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (4, "é\n")
    assert result.stdout == f"{Path('ünï döt/prög ram.mjs')} --timeout -h -- x y\n"


def test_the_revision_of_a_dialect(tmp_path: Path) -> None:
    require_node()
    program = write(tmp_path / "a.mjs", "console.log('compute' in MLContext.prototype, typeof MLTensorUsage);")
    for arguments, stdout in [
        ([], "false undefined\n"),
        (["--revision", "2024-06"], "true undefined\n"),
        (["--revision", "2026-06"], "false undefined\n"),
        (["--dialect", "browsers-2026"], "false object\n"),
        (["--dialect", "browsers-2024"], "true undefined\n"),
    ]:
        assert run_here(*arguments, program).stdout == stdout
    result = run_here("--revision", "2024-06", "--dialect", "browsers-2026", program)
    assert (result.returncode, "got 'browsers-2026', one of the revision 2026-06" in result.stderr) == (2, True)


def test_a_program_in_a_frame(tmp_path: Path) -> None:
    require_node()
    source = "console.log(isSecureContext, await navigator.ml?.createContext().then(() => 'made', error => error.name));"
    program = write(tmp_path / "a.mjs", source)
    for arguments, stdout in [
        (["--permissions-policy", "webnn=()"], "true SecurityError\n"),
        (["--embedder", "https://a.test"], "true SecurityError\n"),
        (["--embedder", "https://a.test", "--allow", "webnn"], "true made\n"),
        (["--embedder", "https://app.test"], "true made\n"),
        (["--embedder", "http://a.test", "--allow", "webnn"], "false undefined\n"),
    ]:
        assert run_here(*arguments, program).stdout == stdout


def test_a_program_outside_the_root(tmp_path: Path) -> None:
    require_node()
    write(tmp_path / "outside.txt", "outside")
    write(tmp_path / "data/a.txt", "data")
    write(tmp_path / "own/b.mjs", "export default 'own';")
    source = """
import b from './b.mjs';
const read = async url => { try { const r = await fetch(url); return r.ok ? await r.text() : r.status; } catch { return 'refused'; } };
console.log(b, await read('a.txt'), await read('outside.txt'), await read('..%2foutside.txt'),
  await read(new URL('b.mjs', import.meta.url)));
"""
    result = run_here("--root", tmp_path / "data", write(tmp_path / "own/program.mjs", source))
    missing = f"webnn: 404: https://app.test/outside.txt: there is no file {tmp_path / 'data' / 'outside.txt'}\n"
    assert (result.returncode, result.stdout, result.stderr) == (0, "own data 404 refused export default 'own';\n", missing)


def test_a_file_js_by_its_package(tmp_path: Path) -> None:
    require_node()
    write(tmp_path / "package.json", '{"type": "module"}')
    result = run_here(write(tmp_path / "a.js", "console.log(this, import.meta.url);"))
    assert (result.returncode, result.stdout) == (0, "undefined https://app.test/a.js\n")


def test_a_time_limit(tmp_path: Path) -> None:
    require_node()
    result = run_here("--timeout", "0.5", write(tmp_path / "loop.js", "for (;;) {}"))
    assert (result.returncode, result.stderr) == (124, "webnn: the program was not done after 0.5 s\n")


def descendants(process: int) -> set[int]:
    """Return the processes that a process has started, and those that these have started. Only Linux tells."""
    found = {int(child) for file in Path(f"/proc/{process}/task").glob("*/children") for child in file.read_text().split()}
    return found.union(*map(descendants, found))


def works(process: int) -> bool:
    """Tell whether a process has not ended. One that has may wait for its parent, of another namespace, to look at it."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(sys.platform == "win32", reason="signals are another matter there")
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 128 + signal.SIGTERM), (1, 129)], ids=["INT", "TERM", "HUP"]
)
@pytest.mark.parametrize("name", ["loop.mjs", "loop.py"])
def test_ctrl_c(tmp_path: Path, number: int, code: int, name: str) -> None:
    source = "console.log(0); for (;;) {}" if name == "loop.mjs" else "print(0, flush=True)\nwhile True: pass"
    if name == "loop.mjs":
        require_node()
    command = [sys.executable, "-m", "webnn", "run", str(write(tmp_path / name, source))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8") as process:
        assert process.stdout is not None
        process.stdout.readline()
        started = descendants(process.pid)
        assert started or name == "loop.py" or sys.platform != "linux"
        process.send_signal(number)
        _, stderr = process.communicate(timeout=PATIENCE)
    # A Python program is ended by the signal itself, as it would be without us.
    assert process.returncode == (-number if name == "loop.py" and number != signal.SIGINT else code)
    assert stderr == ""
    wait_until(lambda: not any(map(works, started)))


# The Python twin

#: Programs, their exit codes, what they print, and parts of what they print as errors.
TWINS: Mapping[str, tuple[str, int, str, list[str]]] = {
    "arguments, a module beside it before one of Python's own, the navigator": (
        "import sys, tabnanny\nfrom webnn import navigator\nprint(__name__, sys.argv[1:], tabnanny.X, type(navigator.ml).__name__)",
        0,
        "__main__ ['a', '--b'] 5 ML\n",
        [],
    ),
    "an exit code": ("raise SystemExit(7)", 7, "", []),
    "an exit message": ("import sys\nsys.exit('why')", 1, "", ["why\n"]),
    "an error": ("def f():\n    1 / 0\nf()", 1, "", ["Traceback", "line 3, in <module>", "ZeroDivisionError"]),
}
#: Likewise: these run in this process.
TWINS_HERE: Mapping[str, tuple[str, int, str, list[str]]] = {
    "an error of the emulator": ("import webnn\nraise webnn.OperationError('no')", 1, "", ["OperationError: no"]),
    "syntax": ("x = (", 1, "", ["program.py", "line 1", "SyntaxError"]),
    "nothing": ("", 0, "", []),
}


@pytest.mark.parametrize("name", [*TWINS, *TWINS_HERE])
def test_a_python_program(tmp_path: Path, name: str) -> None:
    source, code, stdout, fragments = {**TWINS, **TWINS_HERE}[name]
    write(tmp_path / "tabnanny.py", "X = 5")
    result = (run if name in TWINS else run_here)(write(tmp_path / "program.py", source), "a", "--b")
    assert (result.returncode, result.stdout) == (code, stdout), result.stderr
    assert [fragment for fragment in fragments if fragment not in result.stderr] == []
    assert [word for word in ("runpy", "commands") if word in result.stderr] == []
    assert bool(result.stderr) == bool(fragments)


def test_a_node_in_the_environment_is_not_for_python(tmp_path: Path) -> None:
    result = run_here(write(tmp_path / "a.py", "print(1)"), environment={"WEBNN_NODE": str(tmp_path / "none")})
    assert (result.returncode, result.stdout, result.stderr) == (0, "1\n", "")
    result = run_here("--root", tmp_path, tmp_path / "a.py", environment={"WEBNN_NODE": str(tmp_path / "none")})
    assert (result.returncode, result.stderr.startswith("webnn: --root can only be given for JavaScript")) == (2, True)


def test_a_python_program_with_a_time_limit(tmp_path: Path) -> None:
    result = run("--timeout", "0.5", write(tmp_path / "loop.py", "print(1)\nwhile True: pass"))
    assert (result.returncode, result.stdout, result.stderr) == (124, "1\n", "webnn: the program was not done after 0.5 s\n")


def test_a_python_program_of_another_revision(tmp_path: Path) -> None:
    result = run("--revision", "1999-01", write(tmp_path / "a.py", "from webnn import navigator\nnavigator.ml"))
    assert result.returncode == 1
    assert "1999-01" in result.stderr


# The examples

EXPECTED = {
    "add.mjs": ["sum: 11 22 33 44"],
    "edges.mjs": ["  * = = *  ", "  =     =  ", "  =     =  ", "  * = = *  "],
    "attention.mjs": ["token 0 looks at: 16 %, 30 %, 33 %, 20 %"],
    "wrong.js": [
        "shapes that do not fit: TypeError: add: b must broadcast with the shape of a, [2, 3], got [4]",
        "no operand: TypeError: relu: input must be an MLOperand, got 7",
        "an output that fits: nothing is wrong",
    ],
    "page.html": [
        "a script runs first, on page.html",
        "modules wait until the page has been read",
        "softmax: 0.0900 0.2447 0.6652",
    ],
}
#: An example with a test of its own, and what is imported.
OTHERS = {
    "classify.mjs",
    "digits.html",
    "dynamic_shapes.mjs",
    "exportable_tensors.mjs",
    "gpt.html",
    "numpy.mjs",
    "softmax.mjs",
    "subgraphs.mjs",
}


_LIMITED = """
import webnn
context = webnn.navigator.ml.createContextSync(deviceType="npu")
builder = webnn.MLGraphBuilder(context)
try:
    builder.input("x", dataType="int64", dimensions=[2])
except TypeError as error:
    print(error)
"""
_LIMITED_JS = """
const context = await navigator.ml.createContext({deviceType: "gpu"});
let builder = new MLGraphBuilder(context);
const x = builder.input("x", {dataType: "float32", shape: [2]});
const {devices} = await builder.build({y: builder.relu(x)});
console.log(devices, Object.isFrozen(devices));
builder = new MLGraphBuilder(context);
try { builder.input("x", {dataType: "int64", shape: [2]}); } catch (error) { console.log(error.name, error.message); }
"""
_REFUSED = "input: descriptor must have a data type of ['float32', 'float16', 'int32'] on the device profile \"coreml\", got int64"


def test_a_device_profile_in_python(tmp_path: Path) -> None:
    program = write(tmp_path / "a.py", _LIMITED)
    result = run("--profile", "coreml", "--fallback", "deny", program)
    assert (result.returncode, result.stdout, result.stderr) == (0, f"[x] {_REFUSED}\n", "")


@pytest.mark.parametrize("profile", ["coreml", "mine.json"])
def test_a_device_profile_in_processes_of_the_program(tmp_path: Path, profile: str) -> None:
    write(tmp_path / "mine.json", '{"_extends": "coreml"}')
    write(tmp_path / "work" / "child.py", _LIMITED)
    write(tmp_path / "a.py", "import subprocess, sys\nsubprocess.run([sys.executable, 'child.py'], cwd='work', check=True)\n")
    result = run("--profile", profile, "--fallback", "silent", "a.py", cwd=tmp_path, environment={"WEBNN_FALLBACK": "allow"})
    assert (result.returncode, result.stdout, result.stderr) == (0, f"[x] {_REFUSED.replace('coreml', profile)}\n", "")


def test_a_device_profile_in_javascript(tmp_path: Path) -> None:
    require_node()
    program = write(tmp_path / "a.mjs", _LIMITED_JS)
    result = run_here("--dialect", "browsers-2026", "--profile", "coreml", program)
    assert (result.returncode, result.stderr) == (0, "")
    first, second = result.stdout.splitlines()
    assert first == "[ 'gpu' ] true"
    assert second.startswith("TypeError ")
    assert _REFUSED in second


@pytest.mark.parametrize(
    ("arguments", "environment", "code", "message"),
    [
        ([], {}, 0, ""),
        (["--fallback", "silent"], {"WEBNN_FALLBACK": "deny"}, 0, ""),
        (["--fallback", "deny"], {}, 1, 'NotSupportedError: createContext: deviceType "gpu" would run on the CPU here'),
        ([], {"WEBNN_FALLBACK": "deny"}, 1, 'NotSupportedError: createContext: deviceType "gpu" would run on the CPU here'),
        ([], {"WEBNN_FALLBACK": "never"}, 2, "never"),
        ([], {"WEBNN_PROFILE": "none"}, 2, "none: must be a device profile"),
    ],
)
def test_fallback_policies(tmp_path: Path, arguments: list[str], environment: dict[str, str], code: int, message: str) -> None:
    # This profile runs every context on the CPU, wherever the test runs.
    program = write(tmp_path / "a.py", "import webnn\nwebnn.ML(revision='2024-06', profile='tflite').createContextSync(deviceType='gpu')\n")
    result = run_here(*arguments, program, environment=environment)
    assert result.returncode == code
    assert message in result.stderr


#: The engine gives -1.19e-07 for the first element, the reference the nearest float32 (docs/numerics.md).
_IN_PYTHON = """
import numpy as np
from webnn import MLGraphBuilder, navigator
context = navigator.ml.createContextSync()
builder = MLGraphBuilder(context)
graph = builder.buildSync({"y": builder.elu(builder.input("x", dataType="float32", dimensions=[1]))})
print(context.computeSync(graph, {"x": np.array([-1e-7], np.float32)}, {"y": np.zeros(1, np.float32)})["outputs"]["y"][0])
"""
_IN_JAVASCRIPT = """
const context = await navigator.ml.createContext();
const builder = new MLGraphBuilder(context);
const vector = {dataType: "float32", shape: [1]};
const graph = await builder.build({y: builder.elu(builder.input("x", vector))});
const x = await context.createTensor({...vector, writable: true}), y = await context.createTensor({...vector, readable: true});
context.writeTensor(x, new Float32Array([-1e-7]));
context.dispatch(graph, {x}, {y});
console.log(new Float32Array(await context.readTensor(y))[0].toPrecision(3));
"""


@pytest.mark.parametrize(("arguments", "expected"), [(["--reference"], -1e-7), ([], -1.19e-7)])
@pytest.mark.parametrize(("name", "text"), [("a.py", _IN_PYTHON), ("a.mjs", _IN_JAVASCRIPT)])
def test_the_reference(tmp_path: Path, name: str, text: str, arguments: list[str], expected: float) -> None:
    if name.endswith(".mjs"):
        require_node()
    result = run(*arguments, write(tmp_path / name, text))
    assert result.stderr == ""
    assert float(result.stdout) == pytest.approx(expected, rel=0.01)


def test_every_example_is_here() -> None:
    assert {path.name for path in EXAMPLES.iterdir()} == set(EXPECTED) | OTHERS


@pytest.mark.parametrize("name", EXPECTED)
def test_an_example(name: str) -> None:
    require_node()
    result = run_here(EXAMPLES / name)
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert [line for line in lines if line in EXPECTED[name]] == EXPECTED[name], result.stdout


@pytest.mark.shared
def test_a_photo_is_recognised() -> None:
    require_node()
    result = run_here("--root", SHARED / "models", EXAMPLES / "classify.mjs")
    assert (result.returncode, result.stderr) == (0, "")
    *lines, last = result.stdout.splitlines()
    assert lines == ["0.797  lesser panda", "0.068  teddy", "0.054  giant panda"]
    assert re.fullmatch(r"largest difference from a browser's answer: \d\.\de-\d+ \(at most 0\.00001\)", last)


def test_a_classifier_without_its_weights(tmp_path: Path) -> None:
    require_node()
    result = run_here("--root", tmp_path, EXAMPLES / "classify.mjs")
    assert (result.returncode, result.stdout) == (1, "")
    assert "must be in the folder that --root names: 404 Not Found" in result.stderr
