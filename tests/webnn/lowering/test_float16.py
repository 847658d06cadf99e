"""A graph in float16: what stays in float32, and constants that do not fit."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import webnn
from tests.support import make_context
from webnn import GraphDescription, MLGraphBuilder, OperandDescriptor
from webnn.commands.feeds import build, compute
from webnn.lowering.float16 import to_float16
from webnn.lowering.staying import LEAST
from webnn.validation.drafts import find_revision
from webnn.wpt_runner.vectors.cases import load_cases
from webnn.wpt_runner.vectors.files import bundled_archives
from webnn.wpt_runner.vectors.graphs import read_graph

DRAFT = "2026-06"
_random = np.random.default_rng(3)
WEIGHTS = _random.normal(size=(8, 4)).astype(np.float32)


def constant(b: Any, array: Any) -> Any:
    array = np.asarray(array)
    return b.constant({"dataType": array.dtype.name, "shape": list(array.shape)}, array)


def describe(make: Callable[[Any, Any], Any], draft: str = DRAFT, dataType: str = "float32") -> GraphDescription:
    """Describe a graph of one input x, 3 by 8."""
    builder: Any = MLGraphBuilder(make_context(draft))
    shape = "dimensions" if draft == "2024-06" else "shape"
    made = make(builder, builder.input("x", {"dataType": dataType, shape: [3, 8]}))
    return webnn.describe(made if isinstance(made, dict) else {"y": made})


def operations(description: GraphDescription) -> list[str]:
    return [f"{each.operation} {each.descriptors[0].dataType}" for each in description.operators]


def network(b: Any, x: Any) -> Any:
    return b.softmax(b.relu(b.matmul(x, constant(b, WEIGHTS), label="dense"), label="act"), 1, label="end")


def test_float32_becomes_float16_between_inputs_and_outputs() -> None:
    source = describe(network)
    made = to_float16(source)
    assert operations(made.description) == ["cast float16", "matmul float16", "relu float16", "softmax float16", "cast float32"]
    assert made.description.inputs == source.inputs
    assert made.description.descriptors()[made.description.outputs["y"]] == OperandDescriptor("float32", (3, 4))
    assert [each.descriptor.dataType for each in made.description.constants.values()] == ["float16"]
    assert (made.staying, made.saturated, made.vanished) == ((), {}, {})
    x = _random.normal(size=(3, 8)).astype(np.float32)
    expected, actual = (compute(*build(each), {"x": x})["y"] for each in (source, made.description))
    np.testing.assert_allclose(actual, expected, rtol=0, atol=2e-3)
    assert not np.array_equal(actual, expected)


def test_inputs_and_outputs_become_float16_if_asked() -> None:
    made = to_float16(describe(network), inputs=True).description
    assert operations(made) == ["matmul float16", "relu float16", "softmax float16"]
    assert made.inputs == {"x": OperandDescriptor("float16", (3, 8))}
    assert made.descriptors()[made.outputs["y"]].dataType == "float16"


@pytest.mark.parametrize(
    ("keep", "expected"),
    [
        (["dense"], ["matmul float32", "cast float16", "relu float16", "softmax float16", "cast float32"]),
        (["Softmax", "act"], ["cast float16", "matmul float16", "cast float32", "relu float32", "softmax float32"]),
        (["matmul", "relu", "y"], ["matmul float32", "relu float32", "softmax float32"]),
    ],
)
def test_kept_operators_stay_without_pairs_of_casts(keep: list[str], expected: list[str]) -> None:
    made = to_float16(describe(network), keep=keep)
    assert operations(made.description) == expected
    assert {each.reason for each in made.staying} == {"kept"}


def test_moves_between_operators_that_stay_need_no_casts() -> None:
    def make(b: Any, x: Any) -> Any:
        return b.softmax(b.transpose(b.reshape(b.exp(x), [2, 12])), 1)

    made = to_float16(describe(make), keep=["exp", "softmax"])
    assert operations(made.description) == ["exp float32", "reshape float32", "transpose float32", "softmax float32"]
    assert [each.operation for each in made.staying] == ["exp", "softmax"]


def test_a_name_that_the_graph_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match=r"got 'sofmax'; did you mean softmax\?"):
        to_float16(describe(network), keep=["sofmax"])


@pytest.mark.parametrize("dataType", ["float16", "int32"])
def test_casts_that_are_there_are_not_doubled(dataType: str) -> None:
    made = to_float16(describe(lambda b, x: b.cast(b.sqrt(b.cast(x, "float32")), "float16"), dataType=dataType)).description
    assert operations(made) == ["sqrt float16"] if dataType == "float16" else ["cast float32", "sqrt float32", "cast float16"]


def _mask(b: Any, x: Any) -> Any:
    return b.softmax(b.add(x, b.mul(b.constant("float32", -3.4e38), b.cast(b.greater(x, b.constant("float32", 0)), "float32"))), 1)


SATURATED: list[tuple[str, Callable[[Any, Any], Any], list[str]]] = [
    ("a sum", lambda b, x: b.add(x, b.constant("float32", -1e9)), ["cast float16", "add float16", "cast float32"]),
    ("a choice", lambda b, x: b.max(x, b.constant("float32", -1e30)), ["cast float16", "max float16", "cast float32"]),
]


@pytest.mark.parametrize(("make", "expected"), [each[1:] for each in SATURATED], ids=[each[0] for each in SATURATED])
def test_numbers_beyond_the_range_saturate_where_nothing_multiplies(make: Any, expected: list[str]) -> None:
    made = to_float16(describe(make))
    assert operations(made.description) == expected
    assert list(made.saturated.values()) == [1]
    [number] = [each.value.item() for each in made.description.constants.values()]
    assert number == -65504


def test_a_factor_beyond_the_range_stays_and_its_product_saturates() -> None:
    made = to_float16(describe(_mask))
    assert [each.operation for each in made.staying] == ["mul"]
    assert "clamp" in [each.operation for each in made.description.operators]
    x = np.array([[1, -1, 2, -2, 3, -3, 0.5, 4]] * 3, np.float32)
    results = [compute(*build(each), {"x": x})["y"] for each in (describe(_mask), made.description)]
    np.testing.assert_allclose(results[1], results[0], atol=1e-3)


SMALL: list[tuple[str, Callable[[Any, Any], Any], str, float]] = [
    (
        "a divisor is kept from 0",
        lambda b, x: b.sqrt(b.add(b.mul(x, b.constant("float32", 0)), b.constant("float32", 1e-12))),
        "",
        LEAST**0.5,
    ),
    ("a subnormal factor", lambda b, x: b.div(b.mul(x, b.constant("float32", 1e-7)), b.constant("float32", 1e-7)), "subnormal", 3.0),
    ("an option", lambda b, x: b.linear(b.linear(x, alpha=1e-7), alpha=1e7), "number that is too large", 3.0),
    ("epsilon", lambda b, x: b.layerNormalization(x, axes=[1], epsilon=1e-12), "", 0.0),
]


@pytest.mark.parametrize(("make", "reason", "expected"), [each[1:] for each in SMALL], ids=[each[0] for each in SMALL])
def test_numbers_that_are_too_small(make: Any, reason: str, expected: float) -> None:
    made = to_float16(describe(make))
    assert any(reason in each.reason for each in made.staying) == bool(reason)
    result = compute(*build(made.description), {"x": np.full((3, 8), 3, np.float32)})["y"]
    np.testing.assert_allclose(result, expected, rtol=2e-3)


def test_weights_that_vanish_are_counted() -> None:
    weights = WEIGHTS.copy()
    weights[0, :2] = 1e-9, -1e-9
    made = to_float16(describe(lambda b, x: b.matmul(x, constant(b, weights))))
    assert list(made.vanished.values()) == [2]
    [array] = [each.value for each in made.description.constants.values()]
    assert np.array_equal(array, weights.astype(np.float16))


def test_positions_stay_until_they_meet_data() -> None:
    def make(b: Any, x: Any) -> Any:
        positions = b.cast(b.input("positions", {"dataType": "int32", "shape": [3, 1]}), "float32")
        angles = b.matmul(positions, constant(b, np.array([[1.0, 0.1, 0.01, 0.001] * 2], np.float32)), label="angles")
        return b.mul(x, b.cos(angles))

    made = to_float16(describe(make))
    assert [each.operation for each in made.staying] == ["cast", "matmul", "cos"]
    inputs = {"x": np.ones((3, 8), np.float32), "positions": np.array([[100], [4001], [9999]], np.int32)}
    expected, actual = (compute(*build(each), inputs)["y"] for each in (describe(make), made.description))
    np.testing.assert_allclose(actual, expected, atol=1e-3)


def _integer_product(b: Any, x: Any) -> Any:
    one, zero = constant(b, np.ones((1, 1), np.float32)), constant(b, np.zeros((1, 1), np.uint8))
    factor = constant(b, np.full((8, 4), 255, np.uint8))
    product = b.matmul(b.dequantizeLinear(x, one, zero), b.dequantizeLinear(factor, one, zero))
    return b.mul(b.reshape(product, [12]), b.constant("float32", 1e-3))


def test_products_of_integers_stay_until_they_are_scaled() -> None:
    source = describe(_integer_product, dataType="uint8")
    made = to_float16(source)
    assert [each.operation for each in made.staying] == ["matmul", "reshape", "mul"]
    x = np.full((3, 8), 255, np.uint8)
    expected, actual = (compute(*build(each), {"x": x})["y"] for each in (source, made.description))
    assert expected.max() > 520
    np.testing.assert_allclose(actual, expected, rtol=1e-3)


def test_squares_that_are_added_up_stay() -> None:
    def make(b: Any, x: Any) -> Any:
        variance = b.reduceMean(b.mul(x, x), axes=[1], keepDimensions=True)
        return b.div(x, b.sqrt(b.add(variance, b.constant("float32", 1e-6))))

    made = to_float16(describe(make))
    assert [each.operation for each in made.staying] == ["mul", "reduceMean", "add", "sqrt"]
    result = compute(*build(made.description), {"x": np.full((3, 8), 3000, np.float32)})["y"]
    np.testing.assert_allclose(result, 1, rtol=2e-3)


def test_older_drafts_have_float16_too() -> None:
    made = to_float16(describe(lambda b, x: b.softmax(x, 1), draft="2024-06")).description
    assert made.draft == "2024-06"
    assert operations(made) == ["cast float16", "softmax float16", "cast float32"]


def test_every_recorded_graph_keeps_its_outputs() -> None:
    count = 0
    for case in itertools.islice(load_cases(bundled_archives()), 0, None, 20):
        try:
            source = read_graph(case).graph.infer()
        except webnn.WebNNTypeError:
            continue
        for inputs in (False, True):
            made = to_float16(source, inputs=inputs).description
            assert made.select(made.outputs) == made
            known, before = made.infer().descriptors(), source.descriptors()
            for name, value in source.outputs.items():
                dataType = "float16" if inputs and before[value].dataType == "float32" else before[value].dataType
                assert known[made.outputs[name]] == OperandDescriptor(dataType, before[value].dimensions)
            # Nothing is left to change.
            assert len(to_float16(made, inputs=inputs).description.operators) <= len(made.operators)
        count += 1
    assert count > 100


def test_an_operator_that_the_draft_has_in_float32_only_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    revision = find_revision(DRAFT)
    without = replace(revision, data_types={**revision.data_types, "relu": {"input": ("float32",)}})
    monkeypatch.setattr("webnn.lowering.float16.find_revision", lambda name, imports: without)
    made = to_float16(describe(network))
    assert [f"{each.operation} {each.reason}" for each in made.staying] == ["relu the draft has no float16 there"]
    types = [f"{each.operation} {each.descriptors[0].dataType}" for each in made.description.operators]
    assert types == ["cast float16", "matmul float16", "cast float32", "relu float32", "cast float16", "softmax float16", "cast float32"]
