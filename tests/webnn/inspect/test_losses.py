"""The loss of each operator in float16: an overflow is named, and an operator is not blamed for those before it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import webnn
from tests.support import make_context
from webnn import MLGraphBuilder
from webnn.inspect.losses import find_losses
from webnn.lowering.float16 import to_float16

X = np.array([[1.0, 2.0, 3.0, 4.0]], np.float32)


def describe(planted: float) -> webnn.GraphDescription:
    builder: Any = MLGraphBuilder(make_context("2026-06"))
    x = builder.input("x", {"dataType": "float32", "shape": [1, 4]})
    near = builder.sub(builder.add(x, builder.constant("float32", 1000), label="far"), builder.constant("float32", 1000), label="near")
    large = builder.mul(builder.relu(near, label="ramp"), builder.constant("float32", planted), label="planted")
    return webnn.describe({"y": builder.softmax(builder.mul(large, builder.constant("float32", 1 / planted), label="small"), 1)})


def test_the_operator_that_overflows_is_the_worst() -> None:
    source = describe(20000)
    losses = find_losses(source, to_float16(source).description, {"x": X}, make_context("2026-06"))
    assert losses.overflowing == ("planted",)
    assert [(each.name, each.overflows) for each in losses.values if math.isinf(each.relative)] == [("planted", 1)]
    found = {each.name: each for each in losses.values}
    assert found["planted"].largest == 80000
    # The next one gets an infinity, and computes rightly with it.
    assert (found["small"].relative < 1e-3, math.isinf(found["small"].accumulated)) == (True, True)


def test_errors_add_up_in_one_column_only() -> None:
    source = describe(2)
    losses = find_losses(source, to_float16(source, keep=["planted"]).description, {"x": X}, make_context("2026-06"), limit=1)
    found = {each.name: each for each in losses.values}
    assert losses.overflowing == ()
    assert [each.relative for each in losses.values] == sorted([each.relative for each in losses.values], reverse=True)
    assert found["near"].relative == 0
    assert found["far"].relative == 0
    assert {name: each.dataType for name, each in found.items() if each.dataType == "float32"} == {"planted": "float32"}
    # The value before the cast of the output counts, not the cast.
    assert (found["y"].operation, found["y"].dataType) == ("softmax", "float16")
    assert 0 < found["y"].relative < 1e-3
    assert losses.to_dict()["values"][0]["name"] == losses.values[0].name
