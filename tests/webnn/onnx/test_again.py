"""The import of one node, given the shapes of its inputs and its attributes."""

from __future__ import annotations

from typing import Any

import pytest

import webnn.onnx
from tests.webnn.onnx.contrib import floats
from tools.evidence.onnx_contrib.cases import Case
from webnn.importing.report import RefusedModelError
from webnn.onnx.again import import_again

OPERANDS: Any = (("q", "float32", (1, 2, 8)), ("", "", ()), ("k", "float32", (1, 2, 8)))


def test_it_is_the_import_of_a_model() -> None:
    operands: Any = (("q", "float32", (1, 3, 8)), ("k", "float32", (1, 3, 8)), ("v", "float32", (1, 3, 8)))
    inputs = {name: floats(*shape) for name, _, shape in operands}
    model = Case(operator="MultiHeadAttention", inputs=inputs, attributes={"num_heads": 2, "scale": 0.25}).model()
    found = import_again("MultiHeadAttention", operands, (("num_heads", 2), ("scale", 0.25)), ("y",))
    wanted = webnn.onnx.load(model).description
    assert (found.operators, found.inputs) == (wanted.operators, wanted.inputs)
    # It is made once.
    assert import_again("MultiHeadAttention", operands, (("num_heads", 2), ("scale", 0.25)), ("y",)) is found


def test_inputs_may_be_left_out() -> None:
    operands: Any = (("x", "float32", (2, 8)), ("y", "float32", (2, 8)), ("scale", "float32", (8,)), ("", "", ()))
    found = import_again("SkipLayerNormalization", operands, (("epsilon", 1e-5),), ("z",))
    assert list(found.inputs) == ["x", "y", "scale"]


def test_refused_nodes() -> None:
    with pytest.raises(RefusedModelError, match="num_heads"):
        import_again("GroupQueryAttention", OPERANDS, (("kv_num_heads", 2),), ("y",))
