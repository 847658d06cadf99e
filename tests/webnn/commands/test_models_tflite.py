"""Commands on TFLite models."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import webnn
from tests.command_line import call
from tests.webnn.tflite.makers import b, f
from tests.webnn.tflite.models import Graph, Op, write


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "model.tflite"
    graph = Graph([f(1, 3, name="x", open=[0]), b(1), f(1, 3)], [Op("SELECT_V2", [1, 0, 0], [2])], [0, 1], [2])
    path.write_bytes(write(graph, signatures=[("one", 0, {"x": 0, "c": 1}, {"y": 2}), ("two", 0, {"u": 0, "c": 1}, {"v": 2})]))
    return path


@pytest.mark.processes
def test_show_convert_run_and_diff(program: Path, tmp_path: Path) -> None:
    code, output, _ = call("show", program, "--json")
    assert code == 0
    assert [each["operation"] for each in json.loads(output)[0]["operators"]] == ["where"]
    saved = tmp_path / "model.webnn"
    assert call("convert", program, "--signature", "two", "--shape", "u=2,3", "-o", saved)[0] == 0
    assert webnn.load(saved).inputs["u"] == webnn.OperandDescriptor("float32", (2, 3))
    np.save(tmp_path / "x.npy", np.full((1, 3), -1, np.float32))
    code, _, errors = call("run", program, "--input", f"x={tmp_path / 'x.npy'}", "--output", f"y={tmp_path / 'y.npy'}")
    assert code == 0, errors
    assert np.load(tmp_path / "y.npy").tolist() == [[-1, -1, -1]]
    assert call("diff", program, program)[0] == 0


@pytest.mark.processes
def test_check(program: Path) -> None:
    code, output, _ = call("check", program, "--profile", "tflite-chromium147", "--json")
    assert code == 0
    report = json.loads(output)
    assert [each["operator"] for each in report["model"]["nodes"]] == ["SELECT_V2"]


def test_a_wrong_signature(program: Path) -> None:
    code, _, errors = call("show", program, "--signature", "three")
    assert code == 2
    assert "signature must be one of the model's, 'one', 'two', got 'three'" in " ".join(errors.split())


def test_a_signature_of_another_format(tmp_path: Path) -> None:
    code, _, errors = call("show", tmp_path / "m.onnx", "--signature", "one")
    assert code == 2
    assert "--signature can only be given for a TFLite model" in " ".join(errors.split())
