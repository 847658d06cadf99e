"""The formats of files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.tools.evidence.models.toys import RELU, TOY
from tools.evidence.models.formats import format_of, move_onnx


def test_an_unknown_format() -> None:
    with pytest.raises(ValueError, match=r"toy: the suffix of a file must be one of \.onnx, .*, got '\.bin'"):
        format_of(replace(RELU, name="toy", archived=replace(TOY, file="toy/model.bin")))


def test_weights_change_by_a_millionth(tmp_path: Path) -> None:
    w = numpy_helper.from_array(np.ones(3, np.float32), "w")
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in ("x", "y"))
    graph = helper.make_graph([helper.make_node("Mul", ["x", "w"], ["y"])], "mul", [x], [y], [w])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    reference = move_onnx(RELU, tmp_path / "m.onnx", False, np.random.default_rng(0))
    (found,) = reference.bind({"x": np.ones(3, np.float32)})()
    assert 0 < np.abs(found - 1).max() <= 1.1e-6
