"""Whole models: right, wrong, refused and failed ones, and their times."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import webnn
from tests.docs.lines import installed
from tests.shared import ROOT
from tests.support import each_row
from tests.tools.evidence.models.toys import RELU, write_relu
from tools.evidence.models.catalog import load_catalog
from tools.evidence.models.formats import FORMATS, OnnxJudge, load_onnx
from tools.evidence.models.inputs import move
from tools.evidence.models.measure import check, find_sigmoids, interleave, judge, spread
from tools.evidence.models.result import Result, find_fault

JUDGED: list[tuple[dict[str, Any], dict[str, Any], float, str]] = [
    ({"y": np.float32([1, 2])}, {"y": np.float32([1, 2])}, 0, ""),
    ({"y": np.float32([1, 2.00001])}, {"y": np.float32([1, 2])}, 5e-6, ""),
    ({"y": np.float32([1, 2.0001])}, {"y": np.float32([1, 2])}, 5e-5, "y differs by 5.0e-05 of its largest value"),
    ({"y": np.float32([1, np.nan])}, {"y": np.float32([1, 2])}, np.inf, "y differs by inf"),
    # Each output is measured by its own largest value, and the worst one is named.
    (
        {"a": np.float32([100]), "b": np.float32([0.011]), "c": np.float32([1.001])},
        {"a": np.float32([100]), "b": np.float32([0.01]), "c": np.float32([1])},
        0.1,
        "b differs by 1.0e-01",
    ),
    ({"y": np.uint8([1, 0])}, {"y": np.array([True, False])}, 0, ""),
    ({"y": np.uint8([1, 1])}, {"y": np.array([True, False])}, np.inf, "y differs by inf"),
    ({"y": np.float32([1])}, {"y": np.float64([1])}, 0, ""),
    ({"y": np.float32([[1]])}, {"y": np.float32([1])}, np.inf, r"y must have the shape \[1\], got \[1, 1\]"),
    ({"z": np.float32([1])}, {"y": np.float32([1])}, np.inf, r"the outputs must be \['y'\], got \['z'\]"),
]


@each_row(("found", "expected", "difference", "message"), JUDGED)
def test_judge(found: Any, expected: Any, difference: float, message: str) -> None:
    measured, said = judge(found, expected)
    assert measured == pytest.approx(difference, rel=0.05)
    assert bool(said) == bool(message)
    assert re.search(message, said)


STEPS = [(np.uint8, 0, 1, False), (np.uint8, 1, 1, True), (np.int8, 1, 2, False), (np.int8, 2, 2, True), (np.int32, 1, 1, False)]


@each_row(("dtype", "steps", "difference", "right"), STEPS)
def test_steps_of_quantized_outputs(dtype: Any, steps: int, difference: int, right: bool) -> None:
    wanted = np.array([100, 3], dtype)
    _, message = judge({"y": wanted + dtype(difference)}, {"y": wanted}, steps)
    assert (message == "") is right


def test_outputs_that_sigmoid_makes() -> None:
    builder = webnn.MLGraphBuilder(webnn.ML(revision="2026-06").createContextSync())
    x = builder.input("x", dataType="float32", shape=[2, 3])
    condition = builder.input("condition", dataType="uint8", shape=[2, 3])
    y = builder.sigmoid(x)
    outputs = {
        "moved": builder.transpose(builder.reshape(y, [3, 2])),
        "chosen": builder.where(condition, y, builder.sigmoid(builder.neg(x))),
        "mixed": builder.where(condition, y, x),
        "added": builder.add(y, x),
    }
    assert find_sigmoids(webnn.describe(outputs)) == {"moved", "chosen"}


def test_turns() -> None:
    calls: list[str] = []

    def ours() -> None:
        calls.append("a")

    def theirs() -> None:
        calls.append("b")
        end = time.process_time() + 2e-2
        while time.process_time() < end:
            pass

    mine, other = interleave(ours, theirs, 3)
    assert mine < 2e-2 <= other
    # Two calls of each tell how often it is called in its turn: the long one once.
    many = "a" * (1 + 50)
    assert "".join(calls) == "aabb" + many + "bb" + "bb" + many + many + "bb"


def test_a_model(tmp_path: Path) -> None:
    path = write_relu(tmp_path / "relu.onnx", sizes=("batch", 3))
    model = replace(RELU, dims={"batch": 2})
    result, description = check(model, path, rounds=3)
    assert (result.status, result.message, result.difference) == ("ok", "", 0)
    assert (result.nodes, result.folded, result.operators) == (1, 0, 1)
    assert description is not None
    assert description.inputs["x"].dimensions == (2, 3)
    times = result.times
    assert times is not None
    assert times.ratios is not None
    assert min(*times.ratios, times.build) > 0
    assert result.fast == 0
    assert Result.from_dict(json.loads(json.dumps(result.to_dict()))) == result


def test_spread(tmp_path: Path) -> None:
    """A step at 1 turns a change in the last bit into 1; relu does not."""
    x = np.ones((2, 3), np.float32)
    for operator, factor, bounds in (("Relu", 1, (2**-24, 2**-23)), ("Floor", 1, (1, 1)), ("Floor", 0.5, (0, 0))):
        reference, value = OnnxJudge(RELU, write_relu(tmp_path / "m.onnx", operator)), np.float32(factor) * x
        expected = {"y": reference.bind({"x": value})()[0]}
        moved = spread(lambda rng: {"y": reference.bind({"x": move(rng, value)})()[0]}, expected, 0)  # noqa: B023 (called at once)
        assert bounds[0] <= moved <= bounds[1], operator


@pytest.mark.processes
@pytest.mark.skipif(not installed("jaxlib"), reason="needs the extra stablehlo")
def test_a_program_of_jax() -> None:
    model = load_catalog()["jax-mlp"]
    result, description = check(model, ROOT / model.artifact, rounds=3)
    assert (result.status, result.spread) == ("ok", None)
    assert result.difference is not None
    assert 0 < result.difference < 1e-6
    assert description is not None
    assert result.times is not None
    assert result.times.ratios is None
    assert result.times.run > 0


def test_a_model_that_is_refused(tmp_path: Path) -> None:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
    graph = helper.make_graph(
        [helper.make_node("FusedGelu", ["x"], ["y"], domain="a.b")], "g", [x], [helper.make_tensor_value_info("y", 1, [2, 3])]
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("a.b", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), tmp_path / "m.onnx")
    result, description = check(RELU, tmp_path / "m.onnx")
    assert (result.status, description) == ("refused", None)
    assert "a.b.FusedGelu" in result.message
    assert find_fault(RELU, result).startswith("refused: a.b.FusedGelu")


def test_a_model_that_fails(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(b"no model")
    result, _ = check(RELU, tmp_path / "m.onnx")
    assert result.status == "failed"
    assert result.message.startswith("import: ")


def test_a_wrong_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, other = write_relu(tmp_path / "relu.onnx"), write_relu(tmp_path / "other.onnx", "Neg")
    kind = replace(FORMATS[".onnx"], load=lambda model, file: load_onnx(model, other))
    monkeypatch.setattr("tools.evidence.models.measure.format_of", lambda model: kind)
    result, _ = check(RELU, path)
    assert result.status == "wrong"
    assert result.difference is not None
    assert result.difference > 0.1
    assert find_fault(RELU, result).startswith("wrong: y differs by ")
