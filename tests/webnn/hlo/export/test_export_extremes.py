"""Extreme operands in exported programs: their operations, computed one by one, overflow no more than the result does."""

from __future__ import annotations

import pytest

import webnn
import webnn.stablehlo
from tests.extremes import FUNCTIONS, NUMBERS, ROW_FUNCTIONS, ROWS, Array, Function, assert_near, cast
from tests.support import CURRENT, compute_directly, make_context
from webnn.hlo.export import export

TABLE = [(name, function, NUMBERS) for name, function in FUNCTIONS.items()]
TABLE += [(name, function, ROWS) for name, function in ROW_FUNCTIONS.items()]


def made(name: str, x: Array) -> webnn.GraphDescription:
    """Return a graph of one operation."""
    builder = webnn.MLGraphBuilder(make_context(CURRENT))
    operand = builder.input("x", {"dataType": x.dtype.name, "shape": x.shape})  # type: ignore[typeddict-item]
    options = {"axes": [x.ndim - 1]} if name.startswith(("reduce", "layer")) else {}
    arguments = [x.ndim - 1] if name == "softmax" else []
    return webnn.describe({"y": getattr(builder, name)(operand, *arguments, **options)}, name="extreme")


@pytest.mark.parametrize("dataType", ["float32", "float16"])
@pytest.mark.parametrize(("name", "function", "numbers"), TABLE, ids=[name for name, *_ in TABLE])
def test_exported(name: str, function: Function, numbers: Array, dataType: str) -> None:
    x = cast(numbers, dataType)
    read = webnn.stablehlo.load(export(made(name, x))).description
    if name not in ("erf", "relu", "sigmoid", "tanh"):
        # The operation is not found again: what follows computes the program's own operations.
        assert name not in {operator.operation for operator in read.operators}
    builder = webnn.MLGraphBuilder(make_context(CURRENT))
    [found] = compute_directly(builder.buildSync(read.build(builder)), dict.fromkeys(read.inputs, x))
    assert_near(found, function, x)
