"""Reductions, positions of extremes and running sums, against ONNX Runtime and NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import webnn.onnx
from tests.webnn.onnx.models import check, compute, one, operations
from webnn.onnx import RefusedModelError

RANDOM = np.random.default_rng(5)
X = RANDOM.uniform(-3, 3, (2, 3, 4)).astype(np.float32)
SMALL = RANDOM.integers(-4, 5, (2, 3, 4))

REDUCTIONS = ["L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare"]
#: The version of ONNX, the attributes, and the axes if they are an input.
FORMS: dict[str, tuple[int, dict[str, Any], list[int] | None]] = {
    "all": (11, {}, None),
    "attribute": (11, {"axes": [0, -1], "keepdims": 0}, None),
    "input": (18, {"keepdims": 0}, [1]),
    "input, kept": (18, {}, [-1, 0]),
    "empty": (18, {"keepdims": 0}, []),
    "nothing": (18, {"noop_with_empty_axes": 1}, []),
    "nothing by default": (18, {"noop_with_empty_axes": 1}, None),
}


def build(operator: str, version: int, x: Any, attributes: dict[str, Any], axes: list[int] | None) -> tuple[Any, dict[str, Any]]:
    feeds = {"x": x} if axes is None else {"x": x, "axes": np.array(axes, np.int64)}
    return one(operator, feeds, version, **attributes), feeds


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name: str, form: str) -> None:
    version, attributes, axes = FORMS[form]
    if name == "Sum" and version == 11:
        version = 12
    model, feeds = build(f"Reduce{name}", version, np.abs(X) if name == "LogSum" else X, attributes, axes)
    check(model, feeds, 2e-6, constants=list(feeds)[1:])


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("name", ["L1", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare"])
def test_integers(name: str, dtype: str) -> None:
    model, feeds = build(f"Reduce{name}", 13, SMALL.astype(dtype), {"keepdims": 0}, [2] if name == "Sum" else None)
    found = compute(model, feeds, constants=list(feeds)[1:])["y"]
    assert found.dtype == dtype
    axis = 2 if name == "Sum" else None
    truth = {
        "L1": np.abs(SMALL).sum(axis),
        "Max": SMALL.max(axis),
        "Mean": np.trunc(SMALL.mean(axis)),
        "Min": SMALL.min(axis),
        "Prod": SMALL.prod(axis),
        "Sum": SMALL.sum(axis),
        "SumSquare": (SMALL**2).sum(axis),
    }
    np.testing.assert_array_equal(found, np.asarray(truth[name], dtype))


@pytest.mark.parametrize(("name", "dtype"), [(name, dtype) for name in ("Max", "Min") for dtype in ("int8", "uint8", "bool")])
def test_small_integers(name: str, dtype: str) -> None:
    x = (SMALL > 0) if dtype == "bool" else (SMALL * 25).astype(dtype)
    model, feeds = build(f"Reduce{name}", 20, x, {}, [0, 2])
    if dtype == "bool":
        expected = x.max((0, 2), keepdims=True) if name == "Max" else x.min((0, 2), keepdims=True)
        np.testing.assert_array_equal(compute(model, feeds, constants=["axes"])["y"], expected)
    else:
        check(model, feeds, constants=["axes"])
    assert operations(model, axes=feeds["axes"]) == ["cast", f"reduce{name}", "cast"]


@pytest.mark.parametrize(
    ("name", "dtype", "wanted"),
    [
        ("L2", "float32", 0),
        ("LogSum", "float32", -np.inf),
        ("LogSumExp", "float32", -np.inf),
        ("Max", "float32", -np.inf),
        ("Max", "int8", -128),
        ("Max", "bool", 0),
        ("Mean", "float32", np.nan),
        ("Min", "int64", 2**63 - 1),
        ("Min", "bool", 1),
        ("Prod", "int32", 1),
        ("Sum", "float16", 0),
    ],
)
def test_tensors_without_elements(name: str, dtype: str, wanted: float) -> None:
    model, feeds = build(f"Reduce{name}", 20, np.zeros((2, 0, 3), dtype), {}, [1])
    np.testing.assert_array_equal(compute(model, feeds, constants=["axes"])["y"], np.full((2, 1, 3), wanted))


@pytest.mark.parametrize("operator", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8", "int8"])
@pytest.mark.parametrize("attributes", [{}, {"axis": -1, "keepdims": 0}, {"axis": 1, "select_last_index": 1}])
def test_positions(operator: str, dtype: str, attributes: dict[str, Any]) -> None:
    # Many are equal.
    model, feeds = build(operator, 13, np.abs(SMALL).astype(dtype), attributes, None)
    check(model, feeds)


@pytest.mark.parametrize("operator", ["CumSum", "CumProd"])
@pytest.mark.parametrize("dtype", ["float32", "int32", "int64"])
@pytest.mark.parametrize("exclusive", [0, 1])
@pytest.mark.parametrize("is_reversed", [0, 1])
@pytest.mark.parametrize("size", [1, 5, 8])
def test_running_sums_and_products(operator: str, dtype: str, exclusive: int, is_reversed: int, size: int) -> None:
    x = RANDOM.integers(-3, 4, (2, size, 3)).astype(dtype)
    feeds = {"x": x, "axis": np.array(-2)}
    found = compute(one(operator, feeds, 26, exclusive=exclusive, reverse=is_reversed), feeds, constants=["axis"])["y"]
    wanted = (np.cumsum if operator == "CumSum" else np.cumprod)(x[:, ::-1] if is_reversed else x, axis=1, dtype=dtype)
    if exclusive:
        wanted = np.concatenate([np.full((2, 1, 3), int(operator == "CumProd")), wanted[:, :-1]], 1)
    np.testing.assert_array_equal(found, wanted[:, ::-1] if is_reversed else wanted)


@pytest.mark.parametrize(
    ("operator", "version", "x", "attributes", "axes", "reason"),
    [
        ("ReduceSum", 13, X, {}, [3], "axes must be from -3 to 2, got 3"),
        ("ReduceMax", 11, X, {"axes": [0, 0]}, None, "axes must name each axis once"),
        ("ReduceL2", 13, SMALL, {}, None, "must be of a floating-point type, got int64"),
        ("ReduceMean", 13, SMALL[:0], {}, None, "the input must have elements"),
        ("ReduceSum", 13, X, {"keepdims": 2}, [0], "the attribute keepdims must be 0 or 1, got 2"),
        ("ArgMax", 13, X, {"axis": -4}, None, "axis must be from -3 to 2, got -4"),
        ("CumSum", 14, X, {}, [5], "axis must be from -3 to 2, got 5"),
        ("CumProd", 26, X, {}, [0, 1], r"axis must be one number, got \[0, 1\]"),
    ],
)
def test_refusals(operator: str, version: int, x: Any, attributes: dict[str, Any], axes: list[int] | None, reason: str) -> None:
    model, feeds = build(operator, version, x, attributes, axes)
    with pytest.raises(RefusedModelError, match=reason):
        webnn.onnx.load(model, constants={} if axes is None else {"axes": feeds["axes"]}, shapes={"x": x.shape})
