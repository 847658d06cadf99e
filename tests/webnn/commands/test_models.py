"""Commands on ONNX models: what a model leaves open, and the comparison with its original."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import parser
from typer.testing import CliRunner

import webnn
from webnn.commands.main import app
from webnn.context.engine.foreign import run_model

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
    path = tmp_path / "model.onnx"
    onnx.save(parser.parse_model(MODEL), path)
    return path


def call(*arguments: str | Path) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, [str(each) for each in arguments])
    return result.exit_code, result.stdout, result.stderr


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


def test_one_graph_is_not_compared_with_itself(tmp_path: Path) -> None:
    code, _, errors = call("diff", tmp_path / "a.webnn")
    assert code == 2
    assert "a second graph must be given" in errors


def test_the_engine_runs_a_foreign_model(model: Path) -> None:
    results = run_model(model, {"x": np.zeros((1, 3), np.float32), "shape": np.array([1, 3])})
    assert results["z"].dtype == np.uint8
    model.write_bytes(b"nothing")
    with pytest.raises(webnn.OperationError, match="onnxruntime cannot run the model"):
        run_model(model, {})
