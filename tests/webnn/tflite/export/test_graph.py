"""Names, signatures, outputs and refusals of exported models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import webnn
from tests.support import BROWSERS, CURRENT, each_row, shared_context
from tests.webnn.tflite.export.litert import constant, describe, judge, ramp
from webnn.hlo.export.graph import RULES as SHARED
from webnn.tflite.export import RuleError, export
from webnn.tflite.export.rules import RULES
from webnn.tflite.model import read


def test_the_names() -> None:
    builder = webnn.MLGraphBuilder(shared_context(CURRENT))
    a, b = (builder.input(name, dataType="float32", shape=[2, 2]) for name in ("left", "right"))
    product = builder.matmul(a, builder.mul(b, constant(builder, ramp(2, 2)), label="scaled"), label="product")
    description = webnn.describe({"out": builder.relu(product), "mid": product}, name="net")
    model = read(bytes(export(description).to_bytes()))
    [graph], [signature] = model.subgraphs, model.signatures
    assert graph.name == "net"
    assert [graph.tensors[each].name for each in graph.inputs] == list(description.inputs)
    assert [graph.tensors[each].name for each in graph.outputs] == ["out", "mid"]
    assert [*signature.inputs.values()] == list(description.inputs)
    assert [*signature.outputs.values()] == ["out", "mid"]
    assert "scaled" in {each.name for each in graph.tensors}


def test_inputs_and_constants_as_outputs() -> None:
    builder = webnn.MLGraphBuilder(shared_context(CURRENT))
    x = builder.input("x", dataType="float32", shape=[3])
    y = builder.abs(x)
    outputs = {"a": builder.identity(x), "b": y, "c": builder.identity(y), "d": builder.identity(constant(builder, ramp(3)))}
    found = judge(webnn.describe(outputs), {"x": ramp(3)})
    for name, wanted in {"a": ramp(3), "b": abs(ramp(3)), "c": abs(ramp(3)), "d": ramp(3)}.items():
        np.testing.assert_array_equal(found[name], wanted)


def test_converted_weights_as_outputs() -> None:
    """XNNPACK, which takes weights of float16 as they are, cannot write them to an output."""
    builder = webnn.MLGraphBuilder(shared_context(CURRENT))
    x, weights = builder.input("x", dataType="float32", shape=[3]), ramp(3).astype(np.float16)
    wide = builder.cast(constant(builder, weights), "float32")
    found = judge(webnn.describe({"a": wide, "b": builder.add(x, wide)}), {"x": ramp(3)})
    assert np.array_equal(found["a"], weights.astype(np.float32))
    assert np.array_equal(found["b"], ramp(3) + weights.astype(np.float32))


def test_inputs_that_nothing_needs_stay() -> None:
    builder = webnn.MLGraphBuilder(shared_context(CURRENT))
    x, y = (builder.input(name, dataType="float32", shape=[2]) for name in "xy")
    description = webnn.describe({"z": builder.relu(x)})
    assert list(export(description).inputs) == list(description.inputs)
    del y


@each_row(
    ("make", "dtype", "said"),
    [
        (lambda b, x: b.div(x, x), np.int64, "div needs DIV, which LiteRT does not compute for i64"),
        (lambda b, x: b.cast(x, "float32"), np.uint64, "LiteRT converts no ui64"),
        (lambda b, x: b.pow(x, x), np.int64, "must have a constant exponent"),
    ],
)
def test_refusals_name_the_operation(make: Any, dtype: Any, said: str) -> None:
    with pytest.raises(RuleError, match=said):
        export(describe(make, ramp(2, dtype=dtype))[0])


@pytest.mark.parametrize("dataType", ["int4", "uint4"])
def test_small_inputs_are_refused_by_name(dataType: Any) -> None:
    builder = webnn.MLGraphBuilder(shared_context(BROWSERS))
    x = builder.input("small", dataType=dataType, shape=[2])
    scale, zero = constant(builder, np.ones(1, np.float32)), builder.constant({"dataType": dataType, "shape": [1]}, np.zeros(1, np.uint8))
    with pytest.raises(RuleError, match=f"the input 'small' is {dataType}"):
        export(webnn.describe({"y": builder.dequantizeLinear(x, scale, zero)}))


def test_operations_have_rules() -> None:
    """An operation that other exports have is exported to LiteRT, too."""
    assert set(RULES) == set(SHARED)
