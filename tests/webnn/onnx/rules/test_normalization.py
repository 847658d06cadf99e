"""Normalizations, and softmax with its relatives, compared with ONNX Runtime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

import webnn.onnx
from tests.webnn.onnx.models import Array, check, compute, make, one, operations

RANDOM = np.random.default_rng(5)


def normal(*shape: int, dtype: Any = np.float32) -> Array:
    return RANDOM.standard_normal(shape).astype(dtype)


def batch(*shape: int, parameters: Sequence[int] | None = None, dtype: Any = np.float32, statistics: Any = None) -> dict[str, Array]:
    own = parameters or [shape[1]]
    return {
        "x": normal(*shape, dtype=dtype),
        "scale": normal(*own, dtype=dtype),
        "bias": normal(*own, dtype=dtype),
        "mean": normal(*own, dtype=statistics or dtype),
        "variance": np.abs(normal(*own, dtype=statistics or dtype)) + np.asarray(0.5, statistics or dtype),
    }


@pytest.mark.parametrize("version", [7, 9, 14, 15])
@pytest.mark.parametrize("shape", [[2, 3], [2, 3, 4], [2, 3, 4, 5], [1, 2, 3, 2, 3]])
def test_batch_normalization(shape: list[int], version: int) -> None:
    feeds = batch(*shape)
    check(one("BatchNormalization", feeds, version, epsilon=1e-3), feeds, 1e-5)


def test_batch_normalization_of_each_element() -> None:
    feeds = batch(2, 3, 4, 5, parameters=[3, 4, 5])
    check(one("BatchNormalization", feeds, 7, spatial=0), feeds, 1e-5)


def test_batch_normalization_of_two_types() -> None:
    feeds = batch(2, 3, 4, dtype=np.float16, statistics=np.float32)
    y = compute(one("BatchNormalization", feeds, 15), feeds)["y"]
    wide = {name: array.astype(np.float64).reshape(-1 if array.ndim == 1 else array.shape) for name, array in feeds.items()}
    x, scale, bias, mean, variance = (each.reshape(3, 1) if each.ndim == 1 else each for each in wide.values())
    expected = (x - mean) / np.sqrt(variance + 1e-5) * scale + bias
    assert y.dtype == np.float16
    np.testing.assert_allclose(y.astype(np.float64), expected, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("shape", [[4, 3, 5], [4, 3, 2, 2]])
def test_batch_normalization_in_training_mode(shape: list[int]) -> None:
    feeds = batch(*shape)
    check(one("BatchNormalization", feeds, 15, outputs=["y", "m", "v"], training_mode=1, momentum=0.7), feeds, 1e-5)


@pytest.mark.parametrize("shape", [[2, 3, 4], [2, 3, 4, 5], [1, 2, 3, 2, 3]])
def test_instance_normalization(shape: list[int]) -> None:
    feeds = {"x": normal(*shape), "scale": normal(shape[1]), "bias": normal(shape[1])}
    check(one("InstanceNormalization", feeds, epsilon=1e-2), feeds, 1e-5)


@pytest.mark.parametrize("shape", [[2, 6, 4], [2, 6, 3, 4], [1, 6, 2, 3, 2]])
@pytest.mark.parametrize("groups", [1, 2, 6])
@pytest.mark.parametrize("version", [21, 24])
def test_group_normalization(version: int, groups: int, shape: list[int]) -> None:
    feeds = {"x": normal(*shape), "scale": normal(6), "bias": normal(6)}
    model = one("GroupNormalization", feeds, version, num_groups=groups)
    check(model, feeds, 1e-5)
    assert len(webnn.onnx.load(model).description.operators) <= 7


@pytest.mark.parametrize("axis", [-1, 1, 2, 0])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("outputs", [["y"], ["y", "m", "d"], ["y", "", "d"]])
def test_layer_normalization(outputs: list[str], bias: bool, axis: int) -> None:
    feeds = {"x": normal(2, 3, 4, 5) + 3, "scale": normal(*[2, 3, 4, 5][axis:])}
    if bias:
        feeds["bias"] = normal(*[2, 3, 4, 5][axis:])
    check(one("LayerNormalization", feeds, 17, outputs=outputs, axis=axis), feeds, 2e-5)


@pytest.mark.parametrize(
    ("scale", "bias", "wanted"),
    [
        ([4], [4], ["layerNormalization"]),
        ([1, 4], [1, 1, 4], ["reshape", "reshape", "layerNormalization"]),
        ([1], [4], ["expand", "layerNormalization"]),
        ([], [], ["expand", "expand", "layerNormalization"]),
        ([3, 4], [4], ["layerNormalization", "mul", "add"]),
        ([4], [2, 1, 4], ["layerNormalization", "mul", "add"]),
        ([2, 1, 1], None, ["layerNormalization", "mul"]),
    ],
)
def test_layer_normalization_broadcasts_its_parameters(scale: list[int], bias: list[int] | None, wanted: list[str]) -> None:
    feeds = {"x": normal(2, 3, 4), "scale": normal(*scale)}
    if bias is not None:
        feeds["bias"] = normal(*bias)
    model = one("LayerNormalization", feeds, 17)
    (expected,) = ReferenceEvaluator(model).run(None, feeds)
    np.testing.assert_allclose(compute(model, feeds)["y"], expected, rtol=1e-5, atol=1e-5)
    assert sorted(operations(model)) == sorted(wanted)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("axis", [-1, 1])
def test_rms_normalization(axis: int, dtype: Any) -> None:
    feeds = {"x": normal(2, 3, 4, dtype=dtype) * np.asarray(100, dtype), "scale": normal(*[2, 3, 4][axis:], dtype=dtype)}
    model = one("RMSNormalization", feeds, 23, axis=axis)
    wide = feeds["x"].astype(np.float64)
    expected = wide / np.sqrt(np.mean(wide**2, tuple(range(axis % 3, 3)), keepdims=True) + 1e-5) * feeds["scale"].astype(np.float64)
    tolerance = 1e-5 if dtype == np.float32 else 2e-3
    np.testing.assert_allclose(compute(model, feeds)["y"].astype(np.float64), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("axes", [None, [1, 2], [-1]])
def test_mean_variance_normalization(axes: list[int] | None) -> None:
    feeds = {"x": normal(2, 3, 4, 5) + 50}
    attributes = {} if axes is None else {"axes": axes}
    y = compute(make(helper.make_node("MeanVarianceNormalization", ["x"], ["y"], **attributes), feeds, 13), feeds)["y"]
    wide, chosen = feeds["x"].astype(np.float64), tuple(axes or [0, 2, 3])
    expected = (wide - wide.mean(chosen, keepdims=True)) / (wide.std(chosen, keepdims=True) + 1e-9)
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_lp_normalization(axis: int, order: int) -> None:
    feeds = {"x": normal(2, 3, 4)}
    feeds["x"][:, 0] = 0
    feeds["x"][0] = 0
    check(make(helper.make_node("LpNormalization", ["x"], ["y"], axis=axis, p=order), feeds), feeds, 1e-5)


@pytest.mark.parametrize("channels", [1, 2, 5, 8])
@pytest.mark.parametrize("size", [1, 3, 5, 9, 31])
@pytest.mark.parametrize("inner", [[], [6], [3, 4], [2, 3, 2]])
def test_lrn(inner: list[int], size: int, channels: int) -> None:
    feeds = {"x": normal(2, channels, *inner) * np.float32(10)}
    model = make(helper.make_node("LRN", ["x"], ["y"], size=size, alpha=0.2, beta=0.5, bias=1.5), feeds)
    wide = feeds["x"].astype(np.float64)
    sums = [(wide[:, max(0, channel - (size - 1) // 2) : channel + size // 2 + 1] ** 2).sum(axis=1) for channel in range(channels)]
    expected = wide / (1.5 + 0.2 / size * np.stack(sums, 1)) ** 0.5
    np.testing.assert_allclose(compute(model, feeds)["y"], expected, rtol=1e-5)


AXES: Mapping[str, tuple[list[int], dict[str, int]]] = {
    "default": ([2, 3, 4], {}),
    "last": ([2, 3, 4], {"axis": 2}),
    "first": ([2, 3, 4], {"axis": 0}),
    "negative": ([2, 3, 4], {"axis": -2}),
    "one long dimension": ([2, 3, 1, 1], {"axis": 1}),
    "one long dimension behind": ([2, 1, 3, 1], {"axis": 1}),
    "no long dimension": ([2, 1, 1], {"axis": 1}),
    "matrix": ([3, 4], {}),
}


@pytest.mark.parametrize("version", [7, 11, 13])
@pytest.mark.parametrize("operator", ["Softmax", "LogSoftmax", "Hardmax"])
@pytest.mark.parametrize("name", AXES)
def test_softmax_and_relatives(name: str, operator: str, version: int) -> None:
    shape, attributes = AXES[name]
    if version < 11 and attributes.get("axis", 0) < 0:
        attributes = {"axis": attributes["axis"] + len(shape)}
    feeds = {"x": normal(*shape) * np.float32(20)}
    check(make(helper.make_node(operator, ["x"], ["y"], **attributes), feeds, version), feeds, 1e-5)


@pytest.mark.parametrize("version", [7, 13])
def test_softmax_along_the_last_dimension_is_one_operation(version: int) -> None:
    feeds = {"x": np.zeros([2, 3, 4], np.float32)}
    assert operations(make(helper.make_node("Softmax", ["x"], ["y"], axis=2), feeds, version)) == ["softmax"]


def test_log_softmax_of_large_numbers() -> None:
    feeds = {"x": np.array([[1e4, 1e4 + 1, -1e30], [-1e4, -1e4, -1e4 - 2]], np.float32)}
    y = compute(make(helper.make_node("LogSoftmax", ["x"], ["y"]), feeds), feeds)["y"]
    wide = feeds["x"].astype(np.float64)
    below = wide - wide.max(1, keepdims=True)
    np.testing.assert_allclose(y, below - np.log(np.exp(below).sum(1, keepdims=True)), rtol=1e-6)


def test_the_first_of_equal_maxima_is_hard() -> None:
    feeds = {"x": RANDOM.integers(0, 2, [3, 4, 5]).astype(np.float32)}
    check(make(helper.make_node("Hardmax", ["x"], ["y"], axis=1), feeds), feeds)


@pytest.mark.parametrize(
    ("operator", "version", "shapes", "attributes", "outputs", "message"),
    [
        ("BatchNormalization", 15, [[2, 3], [4], [4], [4], [4]], {}, 1, "WebNN refuses it"),
        ("BatchNormalization", 15, [[2, 3], [3], [3], [3], [3]], {}, 3, "only training mode of opset 14 and newer"),
        ("BatchNormalization", 7, [[2, 3], [3], [3], [3], [3]], {}, 5, "only training mode of opset 14 and newer"),
        ("InstanceNormalization", 21, [[2], [2], [2]], {}, 1, r"must have batches and channels, got the shape \[2\]"),
        ("GroupNormalization", 21, [[2, 6, 2], [6], [6]], {"num_groups": 4}, 1, "num_groups must divide the 6 channels evenly, got 4"),
        ("GroupNormalization", 21, [[2, 6, 2], [6], [6]], {"num_groups": 0}, 1, "num_groups must divide the 6 channels evenly, got 0"),
        ("LayerNormalization", 17, [[2, 6], [6]], {"axis": 2}, 1, "axis must be from -2 to 1, got 2"),
        ("LayerNormalization", 17, [[2, 6], [5]], {}, 1, "WebNN refuses it"),
        ("LRN", 13, [[2, 6, 2]], {"size": 0}, 1, "size must be at least 1, got 0"),
        ("LpNormalization", 22, [[2, 6, 2]], {"p": 3}, 1, "p must be 1 or 2, got 3"),
        ("MeanVarianceNormalization", 13, [[2, 6, 2]], {"axes": [0, -3]}, 1, "axes must name each axis once"),
        ("Softmax", 7, [[3]], {}, 1, "axis must be from -1 to 0, got 1"),
        ("Softmax", 13, [[]], {}, 1, "axis must be from 0 to -1, got -1"),
    ],
)
def test_refusals(operator: str, version: int, shapes: list[list[int]], attributes: dict[str, Any], outputs: int, message: str) -> None:
    feeds = {f"input{index}": normal(*shape) for index, shape in enumerate(shapes)}
    names = [f"output{index}" for index in range(outputs)]
    with pytest.raises(webnn.onnx.RefusedModelError, match=message):
        webnn.onnx.load(one(operator, feeds, version, outputs=names, **attributes))
