"""Operators that choose elements by their values, against ONNX Runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper

import webnn.onnx
from tests.webnn.onnx.models import check, compute, make, one, operations
from webnn.onnx import RefusedModelError

RANDOM = np.random.default_rng(7)


def build_top_k(x: Any, k: int, version: int = 11, **attributes: int) -> tuple[Any, dict[str, Any]]:
    feeds = {"x": x} if version < 10 else {"x": x, "k": np.array([k])}
    if version < 10:
        attributes["k"] = k
    return one("TopK", feeds, version, outputs=["y", "i"], **attributes), feeds


@pytest.mark.parametrize("largest", [0, 1])
@pytest.mark.parametrize(("axis", "k"), [(0, 2), (1, 3), (-1, 1)])
def test_known_elements_are_put_in_order_at_import(axis: int, k: int, largest: int) -> None:
    """Of equal ones the first one comes first."""
    x = RANDOM.integers(0, 3, (4, 5)).astype(np.float32)
    model, feeds = build_top_k(x, k, axis=axis, largest=largest)
    check(model, feeds, constants=["x", "k"])
    assert set(operations(model, **feeds)) == {"identity"}


@pytest.mark.parametrize(("size", "k"), [(9, 1), (9, 3), (600, 3)])
def test_browsers_take_it(size: int, k: int) -> None:
    """TFLite's gatherElements and scatterElements take no computed indices."""
    model, feeds = build_top_k(np.zeros((2, size, 2), np.float32), k, axis=1)
    builder = webnn.MLGraphBuilder(webnn.ML(revision="2026-06", profile="tflite-chromium153", fallback="deny").createContextSync())
    assert isinstance(builder.buildSync(webnn.onnx.load(model, builder, constants={"k": feeds["k"]}).outputs), webnn.MLGraph)


@pytest.mark.parametrize("largest", [0, 1])
@pytest.mark.parametrize(("shape", "axis", "k"), [((7,), 0, 1), ((7,), 0, 7), ((3, 9), -1, 4), ((3, 9, 2), 1, 3), ((5, 2, 3), 0, 1)])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "int32"])
def test_top_k(shape: tuple[int, ...], axis: int, k: int, dtype: str, largest: int) -> None:
    # Many are equal: the first one counts.
    x = RANDOM.integers(-4, 4, shape).astype(dtype)
    model, feeds = build_top_k(x, k, axis=axis, largest=largest)
    found = compute(model, feeds, constants=["k"])
    order = np.argsort(-x if largest else x, axis, "stable").take(range(k), axis)
    np.testing.assert_array_equal(found["i"], order)
    np.testing.assert_array_equal(found["y"], np.take_along_axis(x, order, axis))
    assert found["y"].dtype == dtype
    assert found["i"].dtype == np.int64


@pytest.mark.parametrize("largest", [0, 1])
@pytest.mark.parametrize(("shape", "k"), [((2, 513), 3), ((1, 2000), 300), ((3, 1500), 1), ((1, 8400), 100), ((1, 1100), 1100)])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_top_k_of_many(shape: tuple[int, ...], k: int, dtype: str, largest: int) -> None:
    x = RANDOM.integers(-300, 300, shape).astype(dtype)
    if dtype == "float32":
        x[0, :7] = np.inf, -np.inf, np.inf, -np.inf, 0, -0.0, 1e-40
    model, feeds = build_top_k(x, k, largest=largest)
    check(model, feeds, constants=["k"])


def test_top_k_of_many_rows() -> None:
    model, feeds = build_top_k(RANDOM.integers(0, 50, (1200, 130)).astype(np.int32), 4)
    check(model, feeds, constants=["k"])
    assert "scatterElements" not in operations(model, k=feeds["k"])


def test_what_is_added_to_blocks_is_not_chosen() -> None:
    for largest, worst in ((1, -np.inf), (0, np.inf)):
        model, feeds = build_top_k(np.full((1, 700), worst, np.float32), 600, largest=largest)
        assert compute(model, feeds, constants=["k"])["i"].tolist() == [[*range(600)]]


@pytest.mark.parametrize("size", [9, 600])
def test_nan_is_the_largest_number(size: int) -> None:
    x = np.arange(size, dtype=np.float32)
    x[4] = np.nan
    model, feeds = build_top_k(x, 2)
    found = compute(model, feeds, constants=["k"])
    assert found["i"].tolist() == [4, size - 1]
    np.testing.assert_array_equal(found["y"], [np.nan, size - 1])
    model, feeds = build_top_k(x, size, largest=0)
    assert compute(model, feeds, constants=["k"])["i"].tolist() == [*(each for each in range(size) if each != 4), 4]


def test_top_k_of_opset_9() -> None:
    check(*build_top_k(RANDOM.uniform(size=(3, 8)).astype(np.float32), 3, 9, axis=0))


def test_k_may_be_0() -> None:
    model, _ = build_top_k(np.zeros((2, 3), np.float32), 0)
    model.graph.node.append(helper.make_node("Concat", ["y", "x"], ["z"], axis=1))
    model.graph.output[1].name = "z"
    del model.graph.output[0]
    assert operations(model, k=np.array([0])) == ["identity"]


@pytest.mark.parametrize(
    ("x", "k", "attributes", "reason"),
    [
        (np.zeros((2, 3), np.float32), 4, {}, r"k must be a number from 0 to the size of axis 1, 3, got \[4\]"),
        (np.zeros((2, 3), np.float32), -1, {}, "k must be a number from 0"),
        (np.zeros((2, 3), np.float32), 1, {"axis": 2}, "axis must be from -2 to 1, got 2"),
    ],
)
def test_top_k_that_is_refused(x: Any, k: int, attributes: dict[str, int], reason: str) -> None:
    model, feeds = build_top_k(x, k, **attributes)
    with pytest.raises(RefusedModelError, match=reason):
        webnn.onnx.load(model, constants={"k": feeds["k"]})


@pytest.mark.parametrize(
    ("shape", "attributes", "condition"),
    [
        ((3, 4), {"axis": -1}, [True, False, False, True]),
        ((3, 4), {"axis": 0}, [False, True]),
        ((3, 4), {}, [False, True, True, False, False, True]),
    ],
)
def test_compress(shape: tuple[int, ...], attributes: dict[str, int], condition: list[bool]) -> None:
    feeds = {"x": np.arange(12, dtype=np.float32).reshape(shape), "c": np.array(condition)}
    check(one("Compress", feeds, 11, **attributes), feeds, constants=["c"])


def test_results_whose_shape_depends_on_elements_are_refused() -> None:
    x = {"x": np.ones((2, 3), np.float32)}
    for operator in ("NonZero", "Unique"):
        model = make(helper.make_node(operator, ["x"], ["y"]), x, 13)
        with pytest.raises(RefusedModelError, match="the input, which gives the result its shape, must be known at import"):
            webnn.onnx.load(model)
        assert compute(model, x, constants=["x"])["y"].size
    feeds = {"x": x["x"], "c": np.array([True])}
    for condition, reason in ((None, "condition must be known"), (np.ones(7, np.bool_), r"1-D with at most 6 elements, got \[7\]")):
        if condition is not None:
            feeds["c"] = condition
        model = one("Compress", feeds, 11)
        with pytest.raises(RefusedModelError, match=reason):
            webnn.onnx.load(model, constants={} if condition is None else {"c": condition})
