"""``webnn wpt new``, as a person uses it."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

import webnn
from tests.webnn.javascript.engines import needs_quickjs
from tests.wpt_runner.written import UTILS, UTILS_2026, written_checkout
from webnn.commands.main import app

#: Two graphs; one is computed twice, and only the first inputs count.
PROGRAM = """
import numpy as np
import webnn

context = webnn.ML(revision="2026-06").createContextSync()
def build(operation):
    builder = webnn.MLGraphBuilder(context)
    return builder.buildSync({"y": getattr(builder, operation)(builder.input("x", dataType="float32", shape=[2]))})

relu, other = build("relu"), build("relu")
x = context.createTensorSync(dataType="float32", shape=[2], writable=True)
y = context.createTensorSync(dataType="float32", shape=[2])
for values in ([-3, 5], [7, 7]):
    context.writeTensor(x, np.array(values, np.float32))
    context.dispatch(relu, {"x": x}, {"y": y})
print("printed")
"""


def invoke(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["wpt", "new", *map(str, arguments)], env={"COLUMNS": "200"})


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    builder = webnn.MLGraphBuilder(webnn.ML(revision="2026-06").createContextSync())
    x = builder.input("x", dataType="float32", shape=[2, 2])
    webnn.describe({"y": builder.exp(x)}).save(tmp_path / "exp.webnn.json")
    return tmp_path / "exp.webnn.json"


def test_a_graph_with_seeded_inputs(graph: Path, tmp_path: Path) -> None:
    target, again = tmp_path / "exp.https.any.js", tmp_path / "again.https.any.js"
    result = invoke(graph, "-o", target)
    assert (result.exit_code, result.output) == (0, f"wrote {target}: 1 case\n  exp float32 2D tensor  32 ULP\n")
    text = target.read_text()
    assert "// META: title=test WebNN API exp\n" in text
    assert text.count("// META: variant=") == 3
    assert invoke(graph, "-o", again, "--title", "test WebNN API exp").exit_code == 0
    assert again.read_text() == text
    assert invoke(graph, "-o", again, "-f", "--title", "test WebNN API exp", "--seed", "1").exit_code == 0
    assert again.read_text() != text


def test_inputs_of_files(graph: Path, tmp_path: Path) -> None:
    ones, twos = np.full((2, 2), 1, np.float32), np.full((2, 2), 2, np.float32)
    np.savez_compressed(tmp_path / "all.npz", x=ones)
    np.save(tmp_path / "x.npy", twos)
    first, second = tmp_path / "first.https.any.js", tmp_path / "second.https.any.js"
    assert invoke(graph, "-o", first, "--inputs", tmp_path / "all.npz", "--name", "one's", "--variant", "cpu").exit_code == 0
    assert "'data': [1, 1, 1, 1]" in first.read_text()
    assert "'name': 'one\\'s'" in first.read_text()
    assert first.read_text().count("// META: variant=") == 1
    assert invoke(graph, "-o", second, "--input", f"x={tmp_path / 'x.npy'}", "--inputs", tmp_path / "all.npz").exit_code == 0
    assert "'data': [2, 2, 2, 2]" in second.read_text()


def test_the_graphs_of_a_program_and_of_a_file(graph: Path, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    target = tmp_path / "both.https.any.js"
    result = invoke(tmp_path / "program.py", graph, "-o", target)
    assert result.exit_code == 0, result.output
    text = target.read_text()
    wanted = ["'name': 'relu float32 1D tensor',", "'name': 'relu float32 1D tensor (2)',", "'name': 'exp float32 2D tensor',"]
    assert [line.strip() for line in text.splitlines() if line.startswith("    'name'")] == wanted
    assert "'data': [-3, 5]" in text
    assert "'data': [0, 5]" in text
    assert "[7, 7]" not in text


def test_numbers_that_cancel_are_noticed(graph: Path, tmp_path: Path) -> None:
    """elu(x) is about x where x is nearly 0, but exp(x) - 1 has no digits left there."""
    np.savez(tmp_path / "small.npz", x=np.full((2, 2), -1e-9, np.float32))
    (tmp_path / "elu.webnn.json").write_text(graph.read_text().replace('"exp"', '"elu"'))
    result = invoke(tmp_path / "elu.webnn.json", "-o", tmp_path / "a.https.any.js", "--inputs", tmp_path / "small.npz")
    assert result.exit_code == 0, result.output
    assert "18 ULP  the emulator is" in result.output
    assert "ULP off: numbers cancel" in result.output


@needs_quickjs
@pytest.mark.processes
@pytest.mark.parametrize("utils", [UTILS, UTILS_2026], ids=["2025-03", "2026"])
def test_it_runs_here(utils: str, graph: Path, tmp_path: Path) -> None:
    checkout = written_checkout(tmp_path / "wpt", {"conformance_tests/other.https.any.js": ""}, utils)
    assert invoke(graph, "-o", checkout / "webnn" / "conformance_tests" / "exp.https.any.js").exit_code == 0
    arguments = ["wpt", "run", "--wpt", str(checkout), "--variant", "cpu", "--expectations", "none", "exp"]
    result = CliRunner().invoke(app, arguments, env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    assert "1 subtests in 1 tests: 1 passed" in result.output


def bomb(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }"
        archive.writestr("x.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(1 << 24))


def test_wrong_calls(graph: Path, tmp_path: Path) -> None:
    target = tmp_path / "a.https.any.js"
    np.savez(tmp_path / "unknown.npz", other=np.zeros(1))
    np.savez(tmp_path / "type.npz", x=np.zeros((2, 2)))
    np.savez(tmp_path / "objects.npz", x=np.array([[None, 1], [2, 3]]))
    (tmp_path / "broken.npz").write_bytes(b"PK\x03\x04 no archive")
    target.write_text("kept")
    (tmp_path / "broken.webnn.json").write_text("{}")
    for message, arguments in {
        "--output must be a file *.https.any.js": [graph, "-o", tmp_path / "a.js"],
        "there is no folder": [graph, "-o", tmp_path / "no" / "a.any.js"],
        "exists already: --force overwrites": [graph, "-o", target],
        "--name can only be given for one graph, got 2": [graph, graph, "-o", tmp_path / "b.any.js", "--name", "x"],
        "its arrays must have names of inputs, 'x', got 'other'": [graph, "-o", target, "-f", "--inputs", tmp_path / "unknown.npz"],
        "must be a .npy of float32 [2, 2] for the input 'x', got float64": [graph, "-o", target, "-f", "--inputs", tmp_path / "type.npz"],
        "got object [2, 2]": [graph, "-o", target, "-f", "--inputs", tmp_path / "objects.npz"],
        "must be an archive .npz": [graph, "-o", target, "-f", "--inputs", tmp_path / "broken.npz"],
        "No such file": [graph, "-o", target, "-f", "--inputs", tmp_path / "absent.npz"],
        "a variant must be": [graph, "-o", target, "-f", "--variant", "cpu\nx"],
        "broken.webnn.json": [tmp_path / "broken.webnn.json", "-o", target, "-f"],
    }.items():
        result = invoke(*arguments)
        assert (result.exit_code, message in result.output.replace("\n", " ") or message in result.output) == (2, True), result.output
    assert target.read_text() == "kept"


def test_an_archive_is_read_no_further_than_the_array(graph: Path, tmp_path: Path) -> None:
    bomb(tmp_path / "bomb.npz")
    result = invoke(graph, "-o", tmp_path / "a.https.any.js", "--inputs", tmp_path / "bomb.npz")
    assert result.exit_code == 0, result.output


def test_a_graph_that_cannot_be_a_test(tmp_path: Path, graph: Path) -> None:
    content = json.loads(graph.read_text().replace('"exp"', '"log"'))
    (tmp_path / "log.webnn.json").write_text(json.dumps(content))
    result = invoke(tmp_path / "log.webnn.json", "-o", tmp_path / "a.https.any.js", "--inputs", "")
    assert result.exit_code == 2
    np.savez(tmp_path / "minus.npz", x=np.full((2, 2), -1, np.float32))
    result = invoke(tmp_path / "log.webnn.json", "-o", tmp_path / "a.https.any.js", "--inputs", tmp_path / "minus.npz")
    assert (result.exit_code, "has an infinity or a NaN" in result.output) == (2, True)
