"""The engine's optimizer."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import parser

from webnn.context.engine.optimizer import ELSEWHERE, rewrite
from webnn.validation.errors import OperationError

MODEL = """
    <ir_version: 10, opset_import: ["": 21]>
    graph (float[2,3] x) => (y) { s = Shape (x) t = Identity (x) z = Relu (t) y = Reshape (z, s) }"""


def save(text: str, folder: Path) -> Path:
    path = folder / "model.onnx"
    onnx.save(parser.parse_model(text), path)
    return path


@pytest.mark.parametrize(("optimize", "operators"), [(True, ["Relu", "Reshape"]), (False, ["Shape", "Identity", "Relu", "Reshape"])])
def test_optimizing(tmp_path: Path, optimize: bool, operators: list[str]) -> None:
    model = onnx.load_model_from_string(rewrite(save(MODEL, tmp_path), optimize=optimize))
    assert sorted(node.op_type for node in model.graph.node) == sorted(operators)
    (output,) = model.graph.output
    assert [dim.dim_value for dim in output.type.tensor_type.shape.dim] == [2, 3]


def test_large_constants_stay_elsewhere(tmp_path: Path) -> None:
    text = """
        <ir_version: 10, opset_import: ["": 21]>
        graph (float[1] x) => (y) <int64[1] s = {1000000}> { z = ConstantOfShape (s) y = Add (x, z) }"""
    content = rewrite(save(text, tmp_path), optimize=True)
    (tensor,) = onnx.load_model_from_string(content).graph.initializer
    assert (list(tensor.dims), tensor.external_data[0].value) == ([1_000_000], ELSEWHERE)
    assert len(content) < 10_000


def test_a_model_that_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(b"no model")
    with pytest.raises(OperationError, match="ONNX Runtime refuses the model: "):
        rewrite(path, optimize=True)
