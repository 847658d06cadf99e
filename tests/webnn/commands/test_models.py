"""Commands on ONNX models: what a model leaves open, and the comparison with its original."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import parser

import webnn
from tests.command_line import call, save_model
from webnn.context.engine.foreign import run_model
from webnn.onnx.partition.optimize import find_refusal

MODEL = """
<ir_version: 9, opset_import: ["" : 20]>
m (float[batch, 3] x, int64[2] shape) => (float[batch, 3] y, bool[batch, 3] z)
<float[3] w = {1, 2, 3}>
{
    s = Add(x, w)
    z = Less(s, w)
    r = Sigmoid(s)
    zeros = ConstantOfShape(shape)
    t = Add(r, zeros)
    y = Mul(t, s)
}
"""
GIVEN = ["--dim", "batch=2", "--constant", "shape=[2, 3]"]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return save_model(tmp_path / "model.onnx", MODEL)


def test_what_a_model_leaves_open_is_named_with_the_options(model: Path) -> None:
    code, _, errors = call("show", model)
    assert code == 2
    assert "give --dim batch=... or --shape x=...,3" in errors


def test_a_misspelt_name_is_corrected(model: Path) -> None:
    code, _, errors = call("show", model, "--dim", "batsch=2")
    assert code == 2
    assert "must name a dimension of an input, got 'batsch'; did you mean 'batch'?" in errors


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--dim", "batch"], "--dim must be NAME=SIZE, got 'batch'"),
        (["--dim", "batch=0"], "--dim must be NAME=SIZE, got 'batch=0'"),
        (["--shape", "x=2,a"], "--shape must be NAME=1,3,224,224, got 'x=2,a'"),
        (["--constant", "x={}"], "--constant must be NAME=JSON or NAME=FILE.npy, got 'x={}'"),
        (["--dim", "batch=1", "--dim", "batch=2"], "--dim: 'batch' must be given once"),
        (["--shape", "x=2,4"], "the shape must fit [batch, 3], got [2, 4]"),
        (["--constant", "x=missing.npy"], "No such file"),
    ],
)
def test_wrong_options(model: Path, options: list[str], message: str) -> None:
    code, _, errors = call("show", model, *options)
    assert code == 2
    assert message in " ".join(errors.split())


def test_show_convert_and_run(model: Path, tmp_path: Path) -> None:
    code, output, _ = call("show", model, *GIVEN, "--json")
    assert code == 0
    assert [each["operation"] for each in json.loads(output)[0]["operators"]] == ["add", "lesser", "sigmoid", "add", "mul"]
    saved = tmp_path / "model.webnn"
    assert call("convert", model, *GIVEN, "-o", saved)[0] == 0
    assert webnn.load(saved).inputs == {"x": webnn.OperandDescriptor("float32", (2, 3))}
    np.save(tmp_path / "x.npy", np.full((2, 3), -1, np.float32))
    code, _, errors = call("run", model, *GIVEN, "--input", f"x={tmp_path / 'x.npy'}", "--output", f"z={tmp_path / 'z.npy'}")
    assert code == 0, errors
    assert np.load(tmp_path / "z.npy").tolist() == [[1, 1, 1], [1, 1, 1]]


def test_a_model_is_compared_with_its_original(model: Path, tmp_path: Path) -> None:
    code, output, _ = call("diff", model, *GIVEN, "--tolerance", "1e-6", "--json")
    assert code == 0, output
    assert json.loads(output)["outputs"].keys() == {"y", "z"}
    # Another weight shows, in the weights and in the numbers of the original.
    other = onnx.load(model)
    other.graph.initializer[0].float_data[1] = 5
    onnx.save(other, tmp_path / "other.onnx")
    saved = tmp_path / "other.webnn"
    assert call("convert", tmp_path / "other.onnx", *GIVEN, "-o", saved)[0] == 0
    code, output, _ = call("diff", model, saved, *GIVEN)
    assert code == 1
    assert "output y: differs by at most" in output


def test_the_options_of_models_hold_for_both(model: Path, tmp_path: Path) -> None:
    # The second one has the constant inside, and not as an input.
    folded = onnx.load(model)
    del folded.graph.input[1]
    folded.graph.initializer.append(onnx.numpy_helper.from_array(np.array([2, 3]), "shape"))
    second = tmp_path / "folded.onnx"
    onnx.save(folded, second)
    code, output, errors = call("diff", model, second, *GIVEN, "--json")
    assert code == 0, errors
    assert [each["largest"] for each in json.loads(output)["outputs"].values()] == [0, 0]
    code, _, errors = call("diff", model, second, *GIVEN, "--dim", "batsch=2")
    assert code == 2
    assert "got 'batsch'; did you mean 'batch'?" in errors


BOOLEAN = """
<ir_version: 9, opset_import: ["" : 20]>
m (bool[8, 8] mask, int64[4] ids) => (float[8, 8] y, int64[4] z)
<int64[10] table = {9, 8, 7, 6, 5, 4, 3, 2, 1, 100}>
{
    y = Cast <to = 1> (mask)
    z = Gather (table, ids)
}
"""


def test_booleans_are_drawn_as_0_and_1(tmp_path: Path) -> None:
    path = save_model(tmp_path / "model.onnx", BOOLEAN)
    code, output, _ = call("diff", path)
    assert code == 0, output
    assert "output y: equal" in output


def test_inputs_from_files(tmp_path: Path) -> None:
    path = save_model(tmp_path / "model.onnx", BOOLEAN)
    other = save_model(tmp_path / "other.onnx", BOOLEAN.replace("100", "101"))
    # Drawn numbers are too small to reach the element that differs.
    np.save(tmp_path / "ids.npy", np.array([0, 1, 9, 9]))
    np.save(tmp_path / "mask.npy", np.eye(8, dtype=np.bool_))
    files = ["--input", f"ids={tmp_path / 'ids.npy'}", "--input", f"mask={tmp_path / 'mask.npy'}"]
    found = [json.loads(call("diff", path, other, "--json", *more)[1])["outputs"] for more in ([], files)]
    assert [each["z"]["largest"] for each in found] == [0, 1]
    assert found[1]["y"] == {"largest": 0, "scale": 1}
    np.save(tmp_path / "short.npy", np.array([0]))
    code, _, errors = call("diff", path, other, "--input", f"ids={tmp_path / 'short.npy'}")
    assert code == 2
    assert "must be a .npy of int64 [4]" in " ".join(errors.split())
    assert call("diff", path, other, *files, "--no-numbers")[0] == 2


def test_one_graph_is_not_compared_with_itself(tmp_path: Path) -> None:
    code, _, errors = call("diff", tmp_path / "a.webnn")
    assert code == 2
    assert "a second graph must be given" in errors


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("(float[2] x) => (float[2] y) { y = Relu(x) }", ""),
        # The CPU has no kernel, but another device may.
        ("(uint16[2] x) => (uint16[2] y) { y = Mul(x, x) }", ""),
        ("(float[2] x) => (int64[2] y) { y = Relu(x) }", "Type Error"),
        ("(float[2] x) => (float[2] y) { y = Relu(z) }", "z"),
    ],
)
def test_what_the_engine_refuses(text: str, refusal: str) -> None:
    model = parser.parse_model(f'<ir_version: 9, opset_import: ["" : 20]> m {text}')
    found = find_refusal(model, "model.onnx")
    assert refusal in found
    assert bool(found) is bool(refusal)
    assert "webnn-" not in found


def test_the_engine_runs_a_foreign_model(model: Path) -> None:
    results = run_model(model, {"x": np.zeros((1, 3), np.float32), "shape": np.array([1, 3])})
    assert results["z"].dtype == np.uint8
    model.write_bytes(b"nothing")
    with pytest.raises(webnn.OperationError, match="onnxruntime cannot run the model"):
        run_model(model, {})
