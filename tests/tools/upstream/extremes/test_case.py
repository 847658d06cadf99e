"""A row of the tables as a case: its inputs, and results of float64."""

from __future__ import annotations

import numpy as np
import pytest

from tools.upstream.extremes.case import Extreme, array, largest, limits, smallest, special, values_of
from webnn.validation.errors import WebNNTypeError


def test_a_case() -> None:
    row = Extreme(operation="add", about="overflow", operands=[array("float32", [largest("float32"), 1]), array("float32", np.inf)])
    case = row.case()
    assert case.name == "[add] overflow"
    assert {name: value.shape for name, value in case.inputs.items()} == {"a": (2,), "b": ()}
    assert case.expected["output"].tolist() == [np.inf, np.inf]


def test_operands_among_the_options_and_in_sequences() -> None:
    x = array("float32", [[1.0]])
    gemm = Extreme(operation="gemm", about="c", operands=[x, x], options={"c": array("float32", [np.nan]), "beta": 2.0}).case()
    assert list(gemm.inputs) == ["a", "b", "c"]
    assert np.isnan(gemm.expected["output"]).all()
    concat = Extreme(operation="concat", about="two", operands=[[x, x]], arguments=[1]).case()
    assert list(concat.inputs) == ["inputs1", "inputs2"]
    split = Extreme(operation="split", about="two", operands=[array("int8", [1, 2])], arguments=[2]).case()
    assert [each.tolist() for each in split.expected.values()] == [[1], [2]]


def test_a_call_that_the_draft_refuses() -> None:
    with pytest.raises(WebNNTypeError):
        Extreme(operation="sqrt", about="integers", operands=[array("int8", [1])]).case()


def test_numbers() -> None:
    assert array("float16", [1e9]).tolist() == [np.inf]
    assert array("int8", [1, 2], (2, 1)).shape == (2, 1)
    assert (largest("float16"), smallest("float16")) == (65504.0, 2.0**-14)
    assert (largest("uint64"), smallest("int8")) == (2**64 - 1, -128)
    assert {-128, -127, 127, 126} < set(limits("int8"))
    assert np.isnan(special("float32")).sum() == 1
    assert values_of("int64").dtype == np.int64
    assert values_of("float16").size == values_of("uint8").size == 8
