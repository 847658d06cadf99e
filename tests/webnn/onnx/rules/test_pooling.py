"""Pooling, compared with ONNX Runtime."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from onnx import helper

import webnn.onnx
from tests.webnn.onnx.models import Array, check, compute, make, one

RANDOM = np.random.default_rng(11)

#: Shapes of the input, and attributes.
PLACES: Mapping[str, tuple[list[int], dict[str, Any]]] = {
    "plain": ([2, 3, 8, 9], {"kernel_shape": [3, 2], "strides": [2, 3]}),
    "pads at each end": ([1, 2, 7, 6], {"kernel_shape": [3, 4], "pads": [0, 2, 1, 3]}),
    "same upper": ([1, 2, 8, 7], {"kernel_shape": [3, 4], "strides": [2, 3], "auto_pad": "SAME_UPPER"}),
    "same lower": ([1, 2, 8, 7], {"kernel_shape": [2, 4], "strides": [1, 3], "auto_pad": "SAME_LOWER"}),
    "valid": ([1, 2, 8, 7], {"kernel_shape": [2, 4], "auto_pad": "VALID"}),
    "rounded up": ([1, 2, 8, 7], {"kernel_shape": [3, 2], "strides": [3, 2], "ceil_mode": 1}),
    "rounded up, a window in the padding": (
        [1, 2, 6, 5],
        {"kernel_shape": [2, 3], "strides": [5, 3], "pads": [1, 1, 1, 2], "ceil_mode": 1},
    ),
    "rounded up, dilated": (
        [1, 2, 9, 8],
        {"kernel_shape": [3, 2], "strides": [3, 4], "dilations": [2, 3], "pads": [1, 1, 2, 0], "ceil_mode": 1},
    ),
    "larger than the input": ([1, 1, 2, 2], {"kernel_shape": [3, 2], "strides": [2, 1], "ceil_mode": 1}),
    "one dimension": ([2, 3, 11], {"kernel_shape": [4], "strides": [3], "pads": [1, 2]}),
    "three dimensions": ([2, 3, 6, 5, 7], {"kernel_shape": [3, 2, 2], "strides": [1, 2, 3], "pads": [1, 0, 1, 2, 1, 0]}),
    "three dimensions, rounded up": ([1, 2, 6, 5, 7], {"kernel_shape": [2, 3, 1], "strides": [3, 3, 3], "ceil_mode": 1}),
    "three dimensions, depth 1": ([1, 2, 6, 5, 7], {"kernel_shape": [1, 3, 2]}),
}
OPERATORS: Mapping[str, tuple[str, dict[str, Any], list[str]]] = {
    "average": ("AveragePool", {}, ["y"]),
    "average with padding": ("AveragePool", {"count_include_pad": 1}, ["y"]),
    "maximum": ("MaxPool", {}, ["y"]),
    "indices": ("MaxPool", {}, ["y", "indices"]),
    "indices by columns": ("MaxPool", {"storage_order": 1}, ["y", "indices"]),
    "norm 1": ("LpPool", {"p": 1}, ["y"]),
    "norm 2": ("LpPool", {}, ["y"]),
    "norm 4": ("LpPool", {"p": 4}, ["y"]),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("operator", OPERATORS)
def test_pooling(operator: str, place: str) -> None:
    name, attributes, outputs = OPERATORS[operator]
    shape, window = PLACES[place]
    feeds = {"x": RANDOM.standard_normal(shape).astype(np.float32)}
    check(make(helper.make_node(name, ["x"], outputs, **attributes, **window), feeds, 22), feeds, 1e-5)


@pytest.mark.parametrize("version", [7, 8, 10, 11, 12, 19])
@pytest.mark.parametrize("operator", ["average", "average with padding", "maximum", "norm 2"])
def test_versions(operator: str, version: int) -> None:
    name, attributes, outputs = OPERATORS[operator]
    feeds = {"x": RANDOM.standard_normal([1, 2, 7, 6]).astype(np.float32)}
    node = helper.make_node(name, ["x"], outputs, **attributes, kernel_shape=[3, 2], pads=[1, 0, 1, 1], strides=[2, 2])
    check(make(node, feeds, version), feeds, 1e-5)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_maxima_of_integers_with_indices(dtype: type[np.generic]) -> None:
    feeds = {"x": RANDOM.integers(-128, 128, [2, 3, 6, 5]).astype(dtype)}
    node = helper.make_node("MaxPool", ["x"], ["y", "indices"], kernel_shape=[3, 2], strides=[2, 1])
    check(make(node, feeds, 12), feeds)


def test_the_first_of_equal_maxima_counts() -> None:
    feeds = {"x": RANDOM.integers(0, 2, [2, 3, 9, 9]).astype(np.float32)}
    node = helper.make_node("MaxPool", ["x"], ["y", "indices"], kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2])
    check(make(node, feeds, 12), feeds)


@pytest.mark.parametrize("shape", [[2, 3, 5], [2, 3, 5, 4], [2, 1, 3, 5, 4]])
@pytest.mark.parametrize(
    ("operator", "attributes"),
    [("GlobalAveragePool", {}), ("GlobalMaxPool", {}), *[("GlobalLpPool", {"p": order}) for order in (1, 2, 3, 4)]],
)
def test_global_pooling(operator: str, attributes: dict[str, int], shape: list[int]) -> None:
    feeds = {"x": RANDOM.standard_normal(shape).astype(np.float32)}
    check(make(helper.make_node(operator, ["x"], ["y"], **attributes), feeds), feeds, 1e-5)


@pytest.mark.parametrize("operator", ["average", "maximum", "norm 2"])
@pytest.mark.parametrize("place", ["plain", "pads at each end", "rounded up", "rounded up, dilated"])
def test_two_dimensions_are_one_operation(operator: str, place: str) -> None:
    name, attributes, outputs = OPERATORS[operator]
    shape, window = PLACES[place]
    model = one(name, {"x": np.zeros(shape, np.float32)}, 22, outputs=outputs, **attributes, **window)
    assert len(webnn.onnx.load(model).description.operators) == 1


def test_unpooling() -> None:
    feeds: dict[str, Array] = {"x": RANDOM.standard_normal([2, 3, 9, 6]).astype(np.float32)}
    window = {"kernel_shape": [3, 2], "strides": [3, 2]}
    nodes = [
        helper.make_node("MaxPool", ["x"], ["m", "indices"], **window),
        helper.make_node("MaxUnpool", ["m", "indices"], ["y"], **window),
    ]
    model = make(nodes[0], feeds, 12)
    model.graph.node.append(nodes[1])
    del model.graph.output[:]
    model.graph.output.append(helper.make_empty_tensor_value_info("y"))
    assert np.count_nonzero(check(model, feeds)["y"]) == 2 * 3 * 3 * 3


def test_averages_in_float64() -> None:
    """The mean of means is the mean, also where windows have fewer elements at the borders."""
    feeds = {"x": RANDOM.standard_normal([1, 1, 5, 6, 4]).astype(np.float32)}
    node = helper.make_node("AveragePool", ["x"], ["y"], kernel_shape=[3, 3, 3], pads=[1, 2, 0, 1, 0, 2])
    y = compute(make(node, feeds), feeds, reference=True)["y"]
    padded = np.pad(feeds["x"][0, 0].astype(np.float64), [(1, 1), (2, 0), (0, 2)], constant_values=np.nan)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3, 3))
    np.testing.assert_allclose(y[0, 0], np.nanmean(windows, axis=(3, 4, 5)), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    ("operator", "shape", "attributes", "message"),
    [
        (
            "MaxPool",
            [2, 3],
            {"kernel_shape": [1]},
            r"the input 0 must have batches, channels and spatial dimensions, got the shape \[2, 3\]",
        ),
        ("MaxPool", [1, 1, 4, 4], {"kernel_shape": [2]}, r"kernel_shape must have 2 numbers of at least 1, got \[2\]"),
        ("MaxPool", [1, 1, 4, 4], {"kernel_shape": [2, 0]}, r"kernel_shape must have 2 numbers of at least 1, got \[2, 0\]"),
        ("AveragePool", [1, 1, 4, 4], {"kernel_shape": [2, 2], "strides": [0, 1]}, r"strides must have 2 numbers of at least 1"),
        ("AveragePool", [1, 1, 4, 4], {"kernel_shape": [2, 5]}, r"the window must fit into the padded input, \[4, 4\], got \[2, 5\]"),
        ("AveragePool", [1, 1, 4, 4], {"kernel_shape": [2, 2], "pads": [0, 0, 0, -1]}, r"pads must have 4 numbers of at least 0"),
        ("MaxPool", [1, 1, 4, 4], {"kernel_shape": [2, 2], "ceil_mode": 2}, r"ceil_mode must be 0 or 1, got 2"),
        ("LpPool", [1, 1, 4, 4], {"kernel_shape": [2, 2], "p": 0}, r"p must be at least 1, got 0"),
        ("GlobalLpPool", [1, 1, 4, 4], {"p": -1}, r"p must be at least 1, got -1"),
        ("GlobalMaxPool", [1, 1], {}, r"the input 0 must have batches, channels and spatial dimensions"),
        ("MaxPool", [1, 1, 99, 99], {"kernel_shape": [40, 40], "outputs": 2}, r"indices need a window of at most 256 elements, got 1600"),
    ],
)
def test_refusals(operator: str, shape: list[int], attributes: dict[str, Any], message: str) -> None:
    outputs = ["y", "indices"][: attributes.pop("outputs", 1)]
    with pytest.raises(webnn.onnx.RefusedModelError, match=message):
        webnn.onnx.load(one(operator, {"x": np.zeros(shape, np.float32)}, 22, outputs=outputs, **attributes))


def test_an_output_shape_of_its_own_is_refused() -> None:
    feeds = {"x": np.zeros([1, 1, 2, 2], np.float32), "i": np.zeros([1, 1, 2, 2], np.int64), "s": np.array([1, 1, 5, 5])}
    with pytest.raises(webnn.onnx.RefusedModelError, match=r"must be that of the window, \[1, 1, 4, 4\], got \[1, 1, 5, 5\]"):
        webnn.onnx.load(one("MaxUnpool", feeds, 22, kernel_shape=[2, 2], strides=[2, 2]), constants={"s": feeds["s"]})
