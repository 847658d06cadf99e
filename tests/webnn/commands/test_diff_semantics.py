"""``webnn diff --semantics``: which operators other semantics change."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.command_line import call, save_model

MODEL = """
<ir_version: 9, opset_import: ["" : 20]>
m (float[batch, 4096] x) => (float[batch, 1] y)
<float[1] least = {0.5}>
{
    halved = Mul(x, least)
    summed = ReduceSum <keepdims = 1> (halved, axes)
    y = Sign(summed)
}
"""
ACCUMULATION = ["--float16", "--semantics", "accumulation=float16"]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    text = MODEL.replace("<float[1] least = {0.5}>", "<float[1] least = {0.5}, int64[1] axes = {1}>")
    return save_model(tmp_path / "model.onnx", text)


def test_a_sum_of_halves(model: Path, tmp_path: Path) -> None:
    """4,096 halves are 2,048; a float16 accumulator stops at 1,024, because 1,024.5 is not a float16."""
    np.save(tmp_path / "x.npy", np.ones((2, 4096), np.float32))
    arguments = ["diff", model, "--dim", "batch=2", "--input", f"x={tmp_path / 'x.npy'}", *ACCUMULATION]
    code, output, errors = call(*arguments, "--json")
    assert code == 0, errors
    found = json.loads(output)
    assert found["semantics"] == {"accumulation": "float16"}
    first, *others = found["values"]
    assert (first["name"], first["operation"], first["relative"]) == ("summed", "reduceSum", 0.5)
    assert (first["one"], first["other"]) == (2048, 1024)
    assert not any(each["relative"] for each in others)
    # The sign is the same.
    assert found["outputs"] == {"y": 0}
    code, output, _ = call(*arguments)
    lines = output.splitlines()
    assert lines[0].startswith("semantics.accumulation='float16' changes 1 of ")
    assert lines[1].split() == ["differs", "so", "far", "before", "after", "operator"]
    assert lines[2].split() == ["0.5", "0.5", "2048", "1024", "reduceSum", "summed"]
    assert lines[3:] == ["  output y: equal"]


def test_what_stays_in_float32_does_not_change(model: Path) -> None:
    code, output, _ = call("diff", model, "--dim", "batch=2", *ACCUMULATION, "--keep", "reduceSum,mul")
    assert code == 0
    assert output.splitlines()[0].startswith("semantics.accumulation='float16' changes 0 of ")


def test_another_switch(model: Path, tmp_path: Path) -> None:
    """The exit status says that an output differs."""
    np.save(tmp_path / "x.npy", np.full((1, 4096), np.nan, np.float32))
    code, output, _ = call("diff", model, "--dim", "batch=1", "--input", f"x={tmp_path / 'x.npy'}", "--semantics", "signNaN=nan")
    assert code == 1
    assert "output y: differs by inf of its largest value" in output


WRONG: list[tuple[list[str], str]] = [
    (["--semantics", "accumulation=float16"], "accumulation is about float16: give --float16, too"),
    (["--semantics", "accumulation=float32"], "--semantics must be about an operator of the graph, got values other than the defaults"),
    (["--semantics", "clampNaN=ignore"], "--semantics must be about an operator of the graph, got semantics.clampNaN='ignore'"),
    (["--semantics", "clampNaN"], "--semantics must be switches with values"),
    ([*ACCUMULATION, "--no-numbers"], "--semantics compares the numbers of one graph with its own with other semantics"),
    ([*ACCUMULATION, "--keep", "sofmax"], "keep must be operations, labels or results of the graph, got 'sofmax'"),
]


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_wrong_options(model: Path, options: list[str], message: str) -> None:
    code, _, errors = call("diff", model, "--dim", "batch=2", *options)
    assert code == 2
    assert message in " ".join(errors.split())
