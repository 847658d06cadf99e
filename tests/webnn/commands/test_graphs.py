"""Commands on graphs: ``webnn convert``, ``webnn diff``, and ``webnn run`` of a saved graph."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import webnn
from tests.command_line import call
from tests.webnn.javascript.node_support import require_node

PROGRAM = """\
import sys

import numpy as np

import webnn

print("a line of the program")


def build(slope, scale=1.0, label="dense"):
    builder = webnn.MLGraphBuilder(webnn.ML(revision="2026-06").createContextSync())
    x = builder.input("x", dataType="float32", shape=[1, 4])
    weights = builder.constant({"dataType": "float32", "shape": [4, 2]}, np.full((4, 2), scale, np.float32))
    builder.buildSync({"y": builder.leakyRelu(builder.matmul(x, weights, label=label), alpha=slope)})


"""


@pytest.fixture(autouse=True)
def as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program runs in this process: `sys.argv` and `sys.path` become its own."""
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.setattr(sys, "path", list(sys.path))


def write(folder: Path, body: str, name: str = "program.py") -> Path:
    file = folder / name
    file.write_text(PROGRAM + body, encoding="utf-8")
    return file


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    file = tmp_path / "graph.webnn.json"
    assert call("convert", write(tmp_path, "build(0.5)"), "-o", file)[0] == 0
    return file


def test_convert(tmp_path: Path) -> None:
    file = tmp_path / "model.webnn.json"
    code, output, errors = call("convert", write(tmp_path, "build(0.5)"), "-o", file)
    # The program's output is not the command's output.
    assert (code, output) == (0, "")
    assert errors.endswith(f"{file}: 2 operators, 1 constants, with weights in model.safetensors\n")
    description = webnn.load(file)
    assert (description.name, list(description.inputs), [each.operation for each in description.operators]) == (
        "model",
        ["x"],
        ["matmul", "leakyRelu"],
    )
    # A page needs the weights, too.
    module = tmp_path / "model.mjs"
    code, _, errors = call("convert", write(tmp_path, "build(0.5)"), "-o", module)
    assert (code, errors.splitlines()[-1]) == (0, f"{module}: 2 operators, 1 constants, with weights in model.safetensors")
    assert (tmp_path / "model.safetensors").is_file()
    # From file to file.
    text = tmp_path / "copy.webnn"
    assert call("convert", file, "-o", text, "--name", "other")[0] == 0
    assert webnn.load(text).name == "other"


def test_convert_chooses_a_graph(tmp_path: Path) -> None:
    program, file = write(tmp_path, "build(float(sys.argv[1])); build(0.25)"), tmp_path / "g.webnn.json"
    code, _, errors = call("convert", "-o", file, program, "0.75")
    assert code == 2
    assert f"{program} builds 2 graphs: choose one with --graph: 1 y; 2 y" in errors
    for number, slope in (("1", 0.75), ("2", 0.25), ("y", 0.75)):
        assert call("convert", "-o", file, "--graph", number, program, "0.75")[0] == 0
        assert webnn.load(file).operators[1].options["alpha"] == slope
    code, _, errors = call("convert", "-o", file, "--graph", "3", program, "0.75")
    assert (code, errors.splitlines()[-1]) == (2, "webnn: --graph must be a number from 1 to 2, or the outputs of a graph, got '3'")


WRONG: list[tuple[str, list[str], str]] = [
    ("no file", ["convert", "missing.py", "-o", "x.webnn"], "missing.py is not there: a graph or a program is a file"),
    ("a folder", ["convert", ".", "-o", "x.webnn"], ". is a folder: a graph or a program is a file"),
    (
        "what it reads",
        ["convert", "notes.txt", "-o", "x.webnn"],
        "must be a file .webnn, .webnn.json, .onnx, .mlir, .tflite, .mlirbc, .stablehlo, .pt2, .py, ",
    ),
    ("what it writes", ["convert", "program.py", "-o", "x.txt"], "path must end with one of .webnn, .webnn.json, .onnx, "),
    ("no graph", ["convert", "empty.py", "-o", "x.webnn"], "empty.py built no graph"),
    ("a failure", ["convert", "fails.py", "-o", "x.webnn"], "fails.py ended with exit code 1"),
    ("an exit", ["diff", "exits.py", "program.py"], "exits.py ended with exit code 3"),
    ("arguments of a graph", ["convert", "-o", "x.webnn", "bad.webnn", "1"], "a graph takes no arguments, got 1"),
    ("a wrong graph", ["run", "bad.webnn"], "bad.webnn:1:1: must be 'webnn_graph', got 'no'"),
    (
        "files of a program",
        ["run", "--input", "x.npy", "program.py"],
        "--int32, --precision and --signature can only be given for a graph",
    ),
]


@pytest.mark.parametrize(("arguments", "message"), [case[1:] for case in WRONG], ids=[case[0] for case in WRONG])
def test_wrong_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "build(0.5)")
    for name, body in (("empty.py", ""), ("fails.py", "build(0.5)\n1 / 0"), ("exits.py", "build(0.5)\nsys.exit(3)")):
        write(tmp_path, body, name)
    (tmp_path / "notes.txt").touch()
    (tmp_path / "bad.webnn").write_text("no graph", encoding="utf-8")
    before = sorted(tmp_path.iterdir())
    code, output, errors = call(*arguments)
    assert (code, output) == (2, "")
    assert message in errors
    assert sorted(tmp_path.iterdir()) == before


def test_diff(tmp_path: Path, saved: Path) -> None:
    same, other = write(tmp_path, "build(0.5, label='dense')", "same.py"), write(tmp_path, "build(0.25, 1.5)", "other.py")
    code, output, _ = call("diff", saved, same)
    assert (code, output.splitlines()) == (0, ["  output y: equal", "2 operators and 1 constants: no difference"])
    code, output, _ = call("diff", saved, other, "--no-numbers")
    assert (code, output.splitlines()) == (
        1,
        ["~ leakyRelu (y): alpha 0.5 became 0.25", "~ matmul 'dense': b: 8 of 8 elements differ, by at most 0.5"],
    )
    code, output, _ = call("diff", saved, other, "--json", "--seed", "3")
    told = json.loads(output)
    assert code == 1
    assert [each["kind"] for each in told["structure"]] == ["changed"]
    assert [(each["count"], each["largest"]) for each in told["weights"]] == [(8, 0.5)]
    assert 0 < told["outputs"]["y"]["largest"] < 10


def test_diff_of_other_inputs(tmp_path: Path, saved: Path) -> None:
    text = PROGRAM.replace('"x"', '"z"') + "build(0.5)"
    (tmp_path / "other.py").write_text(text, encoding="utf-8")
    code, output, _ = call("diff", saved, tmp_path / "other.py")
    assert code == 1
    assert "- input 'x': float32 [1, 4]" in output
    assert "the outputs cannot be compared" in output


def test_run(tmp_path: Path, saved: Path) -> None:
    x, y = tmp_path / "x.npy", tmp_path / "y.npy"
    np.save(x, np.array([[1, 2, 3, -8]], np.float32))
    code, output, errors = call("run", saved, "--input", x, "--output", f"y={y}")
    assert (code, output, errors) == (0, "", "")
    np.testing.assert_array_equal(np.load(y), np.array([[-1, -1]], np.float32))
    code, output, _ = call("run", saved, "--input", f"x={x}")
    assert (code, output) == (0, "y: float32 [1, 2]: from -1 to -1, mean -1\n")
    code, output, errors = call("run", saved)
    assert (code, errors) == (0, "webnn: random numbers for the inputs x\n")
    assert output == call("run", saved)[1]


def save(path: Path, array: Any) -> Path:
    np.save(path, array, allow_pickle=True)
    return path


def test_run_reads_what_fits_alone(tmp_path: Path, saved: Path) -> None:
    """Files are foreign: a pickle is not loaded, and no more is read than the input has."""
    cases = {
        "a type": (save(tmp_path / "type.npy", np.zeros((1, 4))), "must be a .npy of float32 [1, 4] for the input 'x', got float64 [1, 4]"),
        "a shape": (save(tmp_path / "shape.npy", np.zeros((4,), np.float32)), "got float32 [4]"),
        "a pickle": (save(tmp_path / "pickle.npy", np.array([Trap()], object)), "got object [1]"),
        "text": (tmp_path / "text.npy", "must be a .npy of float32 [1, 4]"),
        "nothing": (tmp_path / "nothing.npy", "must be a .npy of float32 [1, 4]"),
        "a short one": (tmp_path / "short.npy", "must be a .npy of float32 [1, 4]"),
        "no file": (tmp_path / "missing.npy", "missing.npy"),
    }
    (tmp_path / "text.npy").write_text("[1, 2, 3, 4]", encoding="utf-8")
    (tmp_path / "nothing.npy").touch()
    whole = save(tmp_path / "whole.npy", np.zeros((1, 4), np.float32)).read_bytes()
    (tmp_path / "short.npy").write_bytes(whole[:-5])
    for file, message in cases.values():
        code, output, errors = call("run", saved, "--input", file)
        assert (code, output) == (2, ""), file
        assert message in errors, errors
    assert not Trap.sprung
    code, _, errors = call("run", saved, "--input", f"z={whole!r}")
    assert (code, "--input must be NAME=FILE with one of the names 'x'" in errors) == (2, True)


class Trap:
    """Something that a pickle would run."""

    sprung = False

    def __reduce__(self) -> Any:
        return os.putenv, ("WEBNN_TRAP", "1")


def test_check_of_a_graph(tmp_path: Path) -> None:
    """``webnn check`` takes saved graphs; it runs in processes of its own, which the tests of the command have."""
    from webnn.check.events import Job, read_notes
    from webnn.check.report import Graph
    from webnn.check.worker import run

    file, notes = tmp_path / "g.webnn.json", tmp_path / "notes"
    call("convert", write(tmp_path, "build(0.5)"), "-o", file)
    assert run(Job(program=str(file), kind="graph", notes=str(notes))) == 0
    [graph] = [note for note in read_notes(notes) if isinstance(note, Graph)]
    assert (graph.name, graph.operators) == ("y", 2)


@pytest.mark.processes
def test_output_of_a_program_and_of_its_children(tmp_path: Path) -> None:
    """Standard output is the command's; that of the program and its children goes to standard error."""
    program = write(tmp_path, "import subprocess\nbuild(0.5)\nsubprocess.run([sys.executable, '-c', 'print(\"of a child\")'])")
    done = subprocess.run(
        [sys.executable, "-m", "webnn", "diff", str(program), str(program), "--no-numbers"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "2 operators and 1 constants: no difference\n")
    assert done.stderr.count("of a child") == done.stderr.count("a line of the program") == 2


@pytest.mark.processes
def test_a_program_in_javascript(tmp_path: Path) -> None:
    require_node()
    program, file = tmp_path / "program.mjs", tmp_path / "g.webnn.json"
    program.write_text(
        """
        const builder = new MLGraphBuilder(await navigator.ml.createContext());
        const x = builder.input('x', {dataType: 'float32', shape: [2]});
        await builder.build({y: builder.relu(x, {label: 'mine'})});
        console.log('a line of the program');
        """,
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, "-m", "webnn", "convert", str(program), "-o", str(file)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "WEBNN_REVISION": "2026-06"},
    )
    assert (done.returncode, done.stdout) == (0, "")
    assert "a line of the program" in done.stderr
    assert webnn.load(file).operators[0].label == "mine"
