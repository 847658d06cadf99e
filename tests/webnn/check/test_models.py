"""`webnn check` of ONNX models: the matrix, the nodes, the partitions, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import parser

from tests.command_line import call, save_model
from webnn.check import supervise
from webnn.check.page import render
from webnn.check.report import Report

pytestmark = pytest.mark.processes

#: `a` is int64, and its values are positions in a dimension of three elements.
MODEL = """
<ir_version: 9, opset_import: ["" : 20]>
m (float[batch, 3] x) => (float[batch, 3] y, int64[batch] z)
<float[3] w = {1, 2, 3}>
{
    s = Add(x, w)
    y = Relu(s)
    a = ArgMax <axis = 1, keepdims = 0> (s)
    two = Constant <value = int64 {2}> ()
    z = Mul(a, two)
}
"""


def save(folder: Path, text: str) -> Path:
    return save_model(folder / "model.onnx", text)


def check(*arguments: str | Path) -> tuple[int, str, str]:
    return call("check", *arguments, columns=150)


def test_a_matrix_with_nodes_partitions_and_proofs(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    profiles = ["--profile", "tflite-chromium147", "--profile", "dml-fl4_0"]
    code, output, errors = check(save(tmp_path, MODEL), "--dim", "batch=2", *profiles, "--json", "--html", page)
    assert code == 1, errors
    found: dict[str, Any] = json.loads(output)
    assert [(node["operator"], node["outcome"], node["operations"]) for node in found["model"]["nodes"]] == [
        ("Add", "converted", ["add"]),
        ("Relu", "converted", ["relu"]),
        ("ArgMax", "converted", ["argMax"]),
        ("Constant", "folded", []),
        ("Mul", "converted", ["mul"]),
    ]
    assert found["baseline"]["partition"]["webnn"] == found["baseline"]["partition"]["nodes"] == 4
    small = found["profiles"][1]
    assert small["verdict"] == "refused"
    [refusal] = [each for each in small["refusals"] if (each["label"], each["argument"]) == ("z", "a")]
    proof = "the values are from 0 to 4: the positions in a dimension of 3 elements and the elements of a constant"
    assert proof in refusal["change"]["text"]
    assert small["partition"]["kept"] == [
        {"operator": "Mul", "name": "", "reason": "input 0 ('a') is int64, mul.a must be float32, float16, int32, uint32"}
    ]
    text = page.read_text(encoding="utf-8")
    assert text == render(Report.model_validate_json(output))
    assert "<script" not in text
    assert proof in text


def test_a_model_that_cannot_be_imported_is_partitioned_all_the_same(tmp_path: Path) -> None:
    text = MODEL.replace("y = Relu(s)", "u = NonZero(s)\n    y = Relu(s)").replace("int64[batch] z", "int64[batch] z, int64[2, n] u")
    code, output, errors = check(save(tmp_path, text), "--dim", "batch=2", "--profile", "coreml")
    assert code == 2
    assert "it cannot be imported whole" in errors
    assert "cannot be imported: u (NonZero): " in output
    assert "ONNX Runtime Web on (none), coreml: 1 of 5 nodes stay in WebAssembly" in " ".join(output.split())


def test_what_a_model_leaves_open_ends_the_check(tmp_path: Path) -> None:
    code, output, errors = check(save(tmp_path, MODEL))
    assert code == 2
    assert "give --dim batch=... or --shape x=...,3" in " ".join((output + errors).split())


def test_missing_weights_do_not_keep_a_model_from_being_checked(tmp_path: Path) -> None:
    model = parser.parse_model(MODEL)
    [weights] = model.graph.initializer
    weights.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(weights), "w"))
    path = tmp_path / "model.onnx"
    onnx.save(model, path, save_as_external_data=True, location="weights.bin", size_threshold=0)
    (tmp_path / "weights.bin").unlink()
    code, output, errors = check(path, "--dim", "batch=2", "--profile", "coreml", "--require", "all")
    assert "weights.bin" not in errors
    assert code in (0, 1)
    assert "5 nodes: 4 become WebNN operators, 1 known at import" in output
    assert re.search(r"\d+ bytes of weights, from a file of \d+ bytes", output)


#: The declared type of `y` is not that of `Relu`.
REFUSED = """
<ir_version: 9, opset_import: ["" : 20]>
m (float[batch, 3] x) => (int64[batch, 3] y) { y = Relu(x) }
"""


def test_a_model_that_onnxruntime_refuses(tmp_path: Path) -> None:
    path = save(tmp_path, REFUSED)
    code, output, errors = check(path, "--dim", "batch=2", "--profile", "ort")
    assert code == 2
    first = f"ONNX Runtime refuses {path}: "
    assert output.startswith(first[:100])
    assert errors.startswith(f"webnn: {first}")
    assert "Type (tensor(int64)) of output arg (y)" in " ".join(errors.split())
    # The place of a temporary file is left out.
    assert "webnn-" not in errors
    # Nothing is advised that was given.
    assert "freeDimensionOverrides" not in output
    assert "--dim" not in output
    code, output, _ = check(path, "--dim", "batch=2", "--profile", "ort", "--json")
    found: dict[str, Any] = json.loads(output)
    assert code == 2
    assert "Type Error" in found["model"]["refusal"]
    assert [run["partition"]["webnn"] for run in found["profiles"]] == [0]


def test_the_option_that_makes_integers_fit_is_named_until_it_is_given(tmp_path: Path) -> None:
    text = """
    <ir_version: 9, opset_import: ["" : 20]>
    m (int64[2] x, int64[2] y) => (int64[2] z) { z = Mul(x, y) }
    """
    path = save(tmp_path, text)
    code, output, _ = check(path, "--profile", "coreml", "--json")
    assert code == 1
    [run] = json.loads(output)["profiles"]
    advice = [each["change"]["text"] for each in run["refusals"]]
    assert advice
    assert all("--int32" in each for each in advice)
    code, output, _ = check(path, "--profile", "coreml", "--int32")
    assert code == 0
    assert "--int32" not in output


def test_names_that_a_shell_would_change_are_quoted(tmp_path: Path) -> None:
    model = parser.parse_model(MODEL)
    for value in (*model.graph.input, *model.graph.output):
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param:
                dim.dim_param = "a b*"
    path = tmp_path / "model.onnx"
    onnx.save(model, path)
    code, output, errors = check(path)
    assert code == 2
    assert 'give --dim "a b*=..." or --shape x=...,3' in " ".join((output + errors).split())


def test_a_dimension_without_a_name_is_given_by_a_shape(tmp_path: Path) -> None:
    model = parser.parse_model(MODEL)
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "?"
    path = tmp_path / "model.onnx"
    onnx.save(model, path)
    code, output, errors = check(path)
    assert code == 2
    assert "--dim" not in output + errors
    assert "give --shape x=...,3" in " ".join((output + errors).split())


def test_a_prediction_never_costs_the_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ONNX Runtime's optimizer ends its process for some models, with memory errors that come and go: no small model provokes one."""
    dies = "import os; from webnn.onnx.partition import optimize; optimize.optimize = lambda model: os.abort(); worker.main"
    monkeypatch.setattr(supervise, "_START", supervise._START.replace("worker.main", dies))
    code, output, errors = check(save(tmp_path, MODEL), "--dim", "batch=2", "--profile", "ort", "--json")
    assert (code, errors) == (0, "")
    found: dict[str, Any] = json.loads(output)
    for run in (found["baseline"], *found["profiles"]):
        assert run["verdict"] == "builds"
        assert run["partition"]["note"].startswith("nothing can be predicted: the process ")
    assert found["model"]["refusal"] == ""


@pytest.mark.parametrize(
    ("content", "message"), [(b"", "is not an ONNX model"), (b"\x08\x99", "is not an ONNX model"), (b"abc" * 100, "is not an ONNX model")]
)
def test_a_file_that_is_no_model(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    code, _, errors = check(path)
    assert code == 2
    assert message in errors
