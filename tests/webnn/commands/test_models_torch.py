"""Commands on PyTorch programs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import webnn
from tests.command_line import call
from webnn.commands.models import is_onnx, is_torch

PROGRAM = Path(__file__).parents[1] / "torch" / "data" / "mlp-dynamic.pt2"


def test_the_suffix() -> None:
    assert is_torch(Path("m.PT2"))
    assert is_onnx(Path("m.pt2"))
    assert not is_torch(Path("m.onnx"))


@pytest.mark.processes
def test_convert_run_and_diff(tmp_path: Path) -> None:
    pytest.importorskip("onnxscript", reason="needs PyTorch")
    code, _, errors = call("show", PROGRAM)
    assert code == 2
    assert "inputs['input']: the dimensions s31 of [s31, 8] must be fixed; give --dim s31=... or --shape input=...,8" in " ".join(
        errors.split()
    )
    assert call("convert", PROGRAM, "--dim", "s31=2", "-o", tmp_path / "m.webnn")[0] == 0
    assert webnn.load(tmp_path / "m.webnn").inputs == {"input": webnn.OperandDescriptor("float32", (2, 8))}
    np.save(tmp_path / "x.npy", np.zeros((2, 8), np.float32))
    given = ["--dim", "s31=2", "--input", f"input={tmp_path / 'x.npy'}", "--output", f"linear_1={tmp_path / 'y.npy'}"]
    code, _, errors = call("run", PROGRAM, *given)
    assert code == 0, errors
    assert np.load(tmp_path / "y.npy").shape == (2, 4)
    code, output, _ = call("diff", PROGRAM, "--shape", "input=3,8", "--tolerance", "1e-5")
    assert code == 0
    assert "no difference above 1e-05 of the largest value" in " ".join(output.split())


@pytest.mark.processes
def test_check() -> None:
    pytest.importorskip("onnxscript", reason="needs PyTorch")
    code, output, _ = call("check", PROGRAM, "--dim", "s31=2", "--profile", "coreml", "--json")
    assert code == 0
    report = json.loads(output)
    assert [each["name"] for each in report["model"]["nodes"]] == ["0/node_linear", "1/node_tanh", "2/node_linear_1"]
    # How ONNX Runtime Web would run the model that PyTorch writes.
    assert [each["partition"]["webnn"] for each in (report["baseline"], *report["profiles"])] == [3, 3]
