"""Commands on StableHLO programs."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import webnn
from tests.command_line import call

PROGRAM = """
module @m {
  func.func @main(%a: tensor<2x3xf32> loc("x"), %b: tensor<3xf64> loc("y")) -> (tensor<2x3xf32> {jax.result_info = "result['z']"}) {
    %0 = stablehlo.convert %b : (tensor<3xf64>) -> tensor<3xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
    %2 = stablehlo.add %a, %1 : tensor<2x3xf32>
    return %2 : tensor<2x3xf32>
  }
}
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    if importlib.util.find_spec("jaxlib") is None:
        pytest.skip("needs jaxlib, the extra `stablehlo`")
    path = tmp_path / "model.mlir"
    path.write_text(PROGRAM, encoding="utf-8")
    return path


@pytest.mark.processes
def test_show_convert_and_run(program: Path, tmp_path: Path) -> None:
    code, _, errors = call("show", program)
    assert code == 2
    assert "arguments['y']: float64 must be allowed to become float32; give --precision f32" in " ".join(errors.split())
    code, output, _ = call("show", program, "--precision", "f32", "--json")
    assert code == 0
    assert [each["operation"] for each in json.loads(output)[0]["operators"]] == ["add"]
    saved = tmp_path / "model.webnn"
    assert call("convert", program, "--precision", "f32", "--constant", "y=[1, 2, 3]", "-o", saved)[0] == 0
    assert webnn.load(saved).inputs == {"x": webnn.OperandDescriptor("float32", (2, 3))}
    np.save(tmp_path / "x.npy", np.full((2, 3), -1, np.float32))
    given = ["--precision", "f32", "--constant", "y=[1, 2, 3]", "--input", f"x={tmp_path / 'x.npy'}"]
    code, _, errors = call("run", program, *given, "--output", f"z={tmp_path / 'z.npy'}")
    assert code == 0, errors
    assert np.load(tmp_path / "z.npy").tolist() == [[0, 1, 2], [0, 1, 2]]


@pytest.mark.processes
def test_check(program: Path) -> None:
    code, output, _ = call("check", program, "--precision", "f32", "--profile", "tflite-chromium147", "--json")
    assert code == 0
    report = json.loads(output)
    assert [each["operator"] for each in report["model"]["nodes"]] == ["stablehlo.convert", "stablehlo.broadcast_in_dim", "stablehlo.add"]
    assert [each["partition"] for each in (report["baseline"], *report["profiles"])] == [None, None]
    code, output, _ = call("check", program, "--profile", "tflite-chromium147")
    assert code == 2
    assert "ONNX Runtime Web" not in output


@pytest.mark.processes
def test_a_shape(program: Path) -> None:
    body = "%0 = stablehlo.abs %a : tensor<?x3xf32> return %0 : tensor<?x3xf32>"
    program.write_text(f'func.func @main(%a: tensor<?x3xf32> loc("x")) -> tensor<?x3xf32> {{ {body} }}', encoding="utf-8")
    code, _, errors = call("show", program)
    assert code == 2
    assert "all sizes must be known, got tensor<?x3xf32>; give --shape x=...,3" in " ".join(errors.split())
    code, output, _ = call("show", program, "--shape", "x=2,3", "--json")
    assert code == 0
    assert json.loads(output)[0]["inputs"]["x"]["shape"] == [2, 3]
    code, _, errors = call("check", program, "--shape", "y=2,3", "--profile", "tflite-chromium147")
    assert code == 2
    assert "shapes['y'] must name an argument, there are: 'x'" in " ".join(errors.split())
    assert call("check", program, "--shape", "x=2,3", "--profile", "tflite-chromium147")[0] == 0


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("m.mlir", ["--dim", "x=3"], "--dim can only be given for an ONNX model"),
        ("m.onnx", ["--precision", "f32"], "--precision can only be given for a StableHLO program (.mlir, .mlirbc, .stablehlo)"),
        (
            "m.webnn",
            ["--int32"],
            "--shape, --constant and --int32 can only be given for an ONNX model, a PyTorch program, a StableHLO program or a TFLite model",
        ),
    ],
)
def test_options_of_other_models(tmp_path: Path, name: str, options: list[str], message: str) -> None:
    (tmp_path / name).write_text("?", encoding="utf-8")
    code, _, errors = call("show", tmp_path / name, *options)
    assert code == 2
    assert message in " ".join(errors.split())
