"""int64 as int32: where it is proven, and where it is promised."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import parser

import webnn
import webnn.onnx
from tests.support import CURRENT
from webnn.commands.feeds import build, compute
from webnn.importing.narrow import narrow

#: `best` is proven, `shifted` is not: the input may hold any number.
MODEL = """
<ir_version: 9, opset_import: ["" : 20]>
m (float[2, 3] x, int64[2] ids) => (int64[2] best, int64[2] shifted, float[2, 3] rows)
<int64[1] two = {2}, float[4, 3] table = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}>
{
    a = ArgMax <axis = 1, keepdims = 0> (x)
    best = Mul(a, two)
    shifted = Add(ids, best)
    half = Div(best, two)
    rows = Gather(table, half)
}
"""
INPUTS = {"x": np.array([[3, 1, 2], [1, 2, 5]], np.float32), "ids": np.array([7, 2**40])}


def results(description: webnn.GraphDescription, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    context, graph = build(description)
    return compute(context, graph, inputs)


def test_what_is_proven_becomes_int32() -> None:
    model = parser.parse_model(MODEL)
    plain = webnn.onnx.load(model).description
    narrowed = narrow(plain, promised=False)
    types = {name: each.dataType for name, each in narrowed.descriptors().items()}
    assert (types["a"], types["best"], types["shifted"]) == ("int32", "int32", "int64")
    assert narrowed.inputs == plain.inputs
    known = narrowed.descriptors()
    assert {name: known[value].dataType for name, value in narrowed.outputs.items()} == {
        "best": "int64",
        "shifted": "int64",
        "rows": "float32",
    }
    for name, array in results(plain, INPUTS).items():
        np.testing.assert_array_equal(results(narrowed, INPUTS)[name], array)


def test_a_device_without_int64_constants_gets_them_as_int32() -> None:
    text = MODEL.replace(", int64[2] ids", "").replace("int64[2] shifted, ", "").replace("    shifted = Add(ids, best)\n", "")
    text = text.replace("int64[2] best, ", "")
    builder = webnn.MLGraphBuilder(webnn.ML(revision=CURRENT, profile="coreml").createContextSync())
    imported = webnn.onnx.load(parser.parse_model(text), builder)
    assert builder.buildSync(dict(imported.outputs)) is not None
    assert "int64" not in {each.dataType for each in imported.description.descriptors().values()}


def test_a_promise_needs_no_proof() -> None:
    imported = webnn.onnx.load(parser.parse_model(MODEL), int32=True)
    assert "int64" not in {each.dataType for each in imported.description.descriptors().values()}
    found = results(imported.description, {"x": INPUTS["x"], "ids": np.array([7, 8], np.int32)})
    assert found["shifted"].tolist() == [7, 12]
    assert found["shifted"].dtype == np.int32


def test_a_constant_that_does_not_fit_breaks_the_promise() -> None:
    model = parser.parse_model(MODEL.replace("two = {2}", "two = {5000000000}"))
    with pytest.raises(webnn.NotSupportedError, match="the constant 'two' must fit into int32, got 5000000000 to 5000000000"):
        webnn.onnx.load(model, int32=True)
