"""``webnn diff --float16``: it names the operator that overflows, and the command that it proposes helps."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from tests.command_line import call, save_model

MODEL = """
<ir_version: 9, opset_import: ["" : 20]>
m (float[batch, 8] x) => (float[batch, 4] y)
<float big = {40000.0}, float small = {0.00005}>
{
    dense = MatMul(x, w)
    ramp = Abs(dense)
    planted = Mul(ramp, big)
    moved = Transpose <perm = [1, 0]> (planted)
    summed = ReduceSum <keepdims = 0> (moved)
    shifted = Sub(planted, summed)
    scaled = Mul(shifted, small)
    y = Softmax(scaled)
}
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return save_model(tmp_path / "model.onnx", MODEL, w=(8, 4))


def test_a_planted_overflow_is_named_and_the_proposal_mends_it(model: Path, tmp_path: Path) -> None:
    code, output, errors = call("diff", model, "--dim", "batch=2", "--float16", "--json")
    assert code == 1, errors
    found = json.loads(output)
    assert (found["overflow"], found["values"][0]["name"], found["values"][0]["relative"]) == ("planted", "planted", "inf")
    # The operator behind stays in float32 anyway, for its small factor.
    assert found["keep"] == ["planted", "moved", "summed", "shifted"]
    assert found["outputs"]["y"] == "inf" or found["outputs"]["y"] > 0.1
    assert found["kept"]["y"] < 5e-3
    # The command is one that can be typed.
    command = shlex.split(found["command"])
    assert command[:6] == ["webnn", "convert", str(model), "--dim", "batch=2", "--float16"]
    target = tmp_path / command[-1]
    assert call(*command[1:-1], target)[0] == 0
    assert target.is_file()
    kept = command[command.index("--keep") + 1]
    code, output, _ = call("diff", model, "--dim", "batch=2", "--float16", "--keep", kept, "--json", "--tolerance", "5e-3")
    assert (code, json.loads(output)["keep"]) == (0, [])


def test_the_report_is_for_people(model: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.ones((2, 8), np.float32))
    _, output, _ = call("diff", model, "--dim", "batch=2", "--float16", "--input", f"x={tmp_path / 'x.npy'}")
    lines = output.splitlines()
    assert lines[0].split() == ["loses", "so", "far", "largest", "value", "operator"]
    assert lines[1].split()[0] == "inf"
    assert lines[1].endswith("mul planted")
    assert any(line.startswith("overflow: mul planted makes ") for line in lines)
    assert any(re.fullmatch(r"  output y: differs by inf of its largest value; with --keep \d\.\d+(e-05)?", line) for line in lines)
    assert lines[-1].startswith("webnn convert ")


WRONG: list[tuple[list[str], str]] = [
    (["--keep", "softmax"], "--keep needs --float16"),
    (["--float16", "--no-numbers"], "--float16 compares the numbers of one graph with its own in float16"),
    (["--float16", "--keep", "sofmax"], "the graph cannot be compared in float16: keep must be"),
]


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_wrong_options(model: Path, options: list[str], message: str) -> None:
    code, _, errors = call("diff", model, "--dim", "batch=2", *options)
    assert code == 2
    assert message in " ".join(errors.split())
