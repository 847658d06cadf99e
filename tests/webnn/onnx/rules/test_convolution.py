"""Convolutions, compared with ONNX Runtime."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

import webnn.onnx
from tests.webnn.onnx.models import Array, check, compute, make, one, operations

RANDOM = np.random.default_rng(7)


def normal(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


def case(operator: str, x: list[int], w: list[int], bias: bool = False, **attributes: Any) -> tuple[Any, dict[str, Array]]:
    feeds = {"x": normal(*x), "w": normal(*w)}
    if bias:
        feeds["b"] = normal(w[0] if operator == "Conv" else w[1] * attributes.get("group", 1))
    return helper.make_node(operator, list(feeds), ["y"], **attributes), feeds


CONVOLUTIONS: Mapping[str, tuple[Any, dict[str, Array]]] = {
    "plain": case("Conv", [1, 3, 8, 9], [4, 3, 3, 2], bias=True),
    "pads at each end": case("Conv", [2, 2, 7, 6], [4, 2, 3, 3], pads=[0, 2, 1, 3], strides=[2, 1]),
    "groups": case("Conv", [2, 6, 7, 6], [9, 2, 3, 3], bias=True, group=3, dilations=[2, 1]),
    "same upper": case("Conv", [1, 2, 8, 7], [3, 2, 3, 4], auto_pad="SAME_UPPER", strides=[2, 3]),
    "same lower": case("Conv", [1, 2, 8, 7], [3, 2, 3, 4], auto_pad="SAME_LOWER"),
    "valid": case("Conv", [1, 2, 8, 7], [3, 2, 3, 4], auto_pad="VALID", kernel_shape=[3, 4]),
    "one dimension": case("Conv", [2, 4, 11], [6, 2, 3], bias=True, group=2, pads=[2, 0], strides=[2], dilations=[3]),
    "three dimensions": case("Conv", [2, 3, 6, 5, 4], [4, 3, 3, 2, 2], bias=True, pads=[1, 0, 1, 0, 1, 1], strides=[2, 1, 2]),
    "three dimensions, groups": case("Conv", [2, 4, 6, 5, 4], [6, 2, 2, 3, 1], group=2, dilations=[2, 1, 1]),
    "three dimensions, depth 1": case("Conv", [1, 2, 6, 5, 4], [4, 2, 1, 3, 3], strides=[1, 1, 1]),
    "transposed": case("ConvTranspose", [1, 3, 4, 5], [3, 2, 3, 2], bias=True, strides=[2, 3]),
    "transposed, pads": case("ConvTranspose", [1, 3, 4, 5], [3, 2, 3, 3], pads=[1, 0, 2, 1], strides=[2, 2], output_padding=[1, 0]),
    "transposed, groups": case("ConvTranspose", [2, 6, 4, 5], [6, 2, 3, 3], bias=True, group=3, dilations=[2, 1]),
    "transposed, output shape": case("ConvTranspose", [1, 2, 3, 4], [2, 3, 3, 3], strides=[3, 2], output_shape=[10, 8]),
    "transposed, output shape and padding": case(
        "ConvTranspose", [1, 2, 3, 4], [2, 3, 3, 3], strides=[3, 2], output_shape=[8, 7], output_padding=[1, 1], auto_pad="SAME_UPPER"
    ),
    "transposed, same upper": case("ConvTranspose", [1, 2, 3, 4], [2, 3, 4, 3], strides=[1, 2], auto_pad="SAME_UPPER"),
    "transposed, same lower": case("ConvTranspose", [1, 2, 3, 4], [2, 3, 4, 3], strides=[1, 2], auto_pad="SAME_LOWER"),
    "transposed, one dimension": case("ConvTranspose", [2, 2, 5], [2, 3, 3], bias=True, strides=[2], pads=[1, 1], output_padding=[1]),
    "transposed, three dimensions": case(
        "ConvTranspose",
        [2, 4, 3, 4, 3],
        [4, 2, 3, 2, 3],
        bias=True,
        group=2,
        strides=[2, 1, 2],
        pads=[1, 0, 1, 0, 1, 1],
        output_padding=[1, 0, 0],
    ),
    "transposed, three dimensions, cut": case("ConvTranspose", [1, 2, 3, 4, 3], [2, 2, 2, 2, 2], pads=[2, 0, 0, 1, 0, 0]),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
@pytest.mark.parametrize("version", [7, 22])
def test_convolutions(name: str, version: int) -> None:
    node, feeds = CONVOLUTIONS[name]
    check(make(node, feeds, version), feeds, 2e-5)


def scatter(x: Array, w: Array, strides: list[int], dilations: list[int], begin: list[int], output: list[int]) -> Array:
    """Compute a transposed convolution as it is defined: each element of the input adds the filter to a place of the output."""
    places = [
        (size - 1) * stride + (length - 1) * dilation + 1
        for size, stride, length, dilation in zip(x.shape[2:], strides, w.shape[2:], dilations, strict=True)
    ]
    full = np.zeros([x.shape[0], w.shape[1], *(max(place, cut + size) for place, cut, size in zip(places, begin, output, strict=True))])
    for tap in np.ndindex(*w.shape[2:]):
        where = tuple(
            slice(index * dilation, index * dilation + (size - 1) * stride + 1, stride)
            for index, dilation, size, stride in zip(tap, dilations, x.shape[2:], strides, strict=True)
        )
        full[(slice(None), slice(None), *where)] += np.einsum("nc...,co->no...", x.astype(np.float64), w[(slice(None), slice(None), *tap)])
    return full[(slice(None), slice(None), *(slice(cut, cut + size) for cut, size in zip(begin, output, strict=True)))]


@pytest.mark.parametrize(
    ("size", "kernel", "attributes", "begin", "output"),
    [
        # Output padding takes back what the pads cut off.
        ([4, 4], [3, 3], {"pads": [0, 0, 2, 2], "dilations": [3, 3], "output_padding": [1, 2]}, [0, 0], [9, 10]),
        # Output padding of a stride and more is zeros.
        ([4, 4], [3, 3], {"dilations": [3, 3], "strides": [2, 1], "output_padding": [2, 2]}, [0, 0], [15, 12]),
        ([4, 4, 3], [2, 3, 1], {"dilations": [3, 3, 4], "strides": [2, 1, 1], "output_padding": [2, 2, 3]}, [0, 0, 0], [12, 12, 6]),
        # An output that the filter does not reach.
        ([3, 4], [2, 2], {"strides": [3, 2], "output_shape": [14, 9]}, [0, 0], [14, 9]),
        ([3, 4], [2, 2], {"strides": [3, 2], "output_shape": [2, 2, 14, 5]}, [0, 2], [14, 5]),
        # The kernel is shorter than the stride: ONNX Runtime makes the output smaller.
        ([2, 2], [1, 1], {"strides": [2, 2], "auto_pad": "SAME_UPPER"}, [0, 0], [4, 4]),
        ([3], [5], {"strides": [2], "auto_pad": "SAME_UPPER"}, [1], [6]),
        ([3], [5], {"strides": [2], "auto_pad": "SAME_LOWER"}, [2], [6]),
    ],
)
def test_transposed_convolutions_that_onnx_runtime_refuses(
    size: list[int], kernel: list[int], attributes: dict[str, Any], begin: list[int], output: list[int]
) -> None:
    node, feeds = case("ConvTranspose", [2, 3, *size], [3, 2, *kernel], bias=True, **attributes)
    ones = [1] * len(size)
    expected = scatter(feeds["x"], feeds["w"], attributes.get("strides", ones), attributes.get("dilations", ones), begin, output)
    expected += feeds["b"].reshape(-1, *ones)
    np.testing.assert_allclose(compute(make(node, feeds), feeds)["y"], expected, rtol=1e-5, atol=1e-5)


def test_same_padding_counts_the_dilation() -> None:
    feeds = {"x": normal(1, 2, 8, 7), "w": normal(3, 2, 3, 4)}
    same, explicit = (
        compute(make(helper.make_node("Conv", ["x", "w"], ["y"], dilations=[1, 2], **padding), feeds), feeds)["y"]
        for padding in ({"auto_pad": "SAME_LOWER"}, {"pads": [1, 3, 1, 3]})
    )
    np.testing.assert_array_equal(same, explicit)


def test_a_convolution_is_one_operation() -> None:
    node, feeds = CONVOLUTIONS["groups"]
    assert operations(make(node, feeds)) == ["conv2d"]


@pytest.mark.parametrize("known", [(), ("w", "zero")])
@pytest.mark.parametrize("points", [[], ["uint8"], ["uint8", "int8"], ["uint8", "int8 of each channel"]])
@pytest.mark.parametrize("channels", [2, 100, 2000])
def test_integers_are_exact(channels: int, points: list[str], known: tuple[str, ...]) -> None:
    """2000 channels give sums that float32 does not have."""
    feeds: dict[str, Array] = {
        "x": RANDOM.integers(200, 255, [1, channels, 4, 5]).astype(np.uint8),
        "w": RANDOM.integers(-128, 127, [3, channels, 3, 3]).astype(np.int8),
    }
    feeds["w"][0] = 127
    if points:
        feeds["x_zero"] = np.array(3, np.uint8)
    if len(points) > 1:
        feeds["zero"] = np.array([-128, 5, 0] if "each" in points[1] else -7, np.int8)
    node = helper.make_node("ConvInteger", list(feeds), ["y"], pads=[1, 1, 1, 1])
    x, w = feeds["x"].astype(np.int64) - feeds.get("x_zero", np.int64(0)), feeds["w"].astype(np.int64)
    w = w - feeds["zero"].astype(np.int64).reshape(-1, 1, 1, 1) if "zero" in feeds else w
    padded = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)])
    expected = np.einsum("nchwrs,ocrs->nohw", np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3)), w)
    actual = compute(make(node, feeds, 10), feeds, constants=[name for name in known if name in feeds])["y"]
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize(
    ("image", "block", "attributes"),
    [
        ([5, 5], [1, 5], {}),
        ([7, 6], [2, 3], {"strides": [2, 1], "pads": [1, 0, 0, 2]}),
        ([7, 7], [2, 2], {"dilations": [3, 2], "strides": [2, 3]}),
        ([9], [3], {"strides": [2], "pads": [1, 1]}),
        ([4, 5, 6], [2, 1, 3], {"strides": [2, 1, 2], "pads": [0, 1, 0, 1, 0, 0]}),
    ],
)
def test_col2im(image: list[int], block: list[int], attributes: dict[str, list[int]]) -> None:
    count = len(image)
    pads = attributes.get("pads", [0] * 2 * count)
    places = [
        (size + pads[axis] + pads[axis + count] - (attributes.get("dilations", [1] * count)[axis] * (block[axis] - 1) + 1))
        // attributes.get("strides", [1] * count)[axis]
        + 1
        for axis, size in enumerate(image)
    ]
    feeds = {"x": normal(2, 3 * int(np.prod(block)), int(np.prod(places))), "image": np.array(image), "block": np.array(block)}
    model = one("Col2Im", feeds, 18, **attributes)
    (expected,) = ReferenceEvaluator(model).run(None, feeds)
    np.testing.assert_allclose(compute(model, feeds, constants=["image", "block"])["y"], expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("operator", "x", "w", "attributes", "message"),
    [
        ("Conv", [1, 2], [3, 2], {}, r"the input 0 must have batches, channels and spatial dimensions, got the shape \[1, 2\]"),
        ("Conv", [1, 2, 5, 5], [3, 2, 3], {}, r"the filter must have 4 dimensions, as the input, got the shape \[3, 2, 3\]"),
        ("Conv", [1, 2, 5, 5], [3, 2, 3, 3], {"kernel_shape": [3, 2]}, r"kernel_shape must be the filter's, \[3, 3\], got \[3, 2\]"),
        ("Conv", [1, 2, 5, 5], [3, 2, 3, 3], {"strides": [0, 1]}, r"strides must have 2 numbers of at least 1, got \[0, 1\]"),
        ("Conv", [1, 2, 5, 5], [3, 2, 3, 3], {"pads": [1, 1]}, r"pads must have 4 numbers of at least 0, got \[1, 1\]"),
        ("Conv", [1, 2, 5, 5], [3, 2, 3, 3], {"pads": [1, 1, -1, 1]}, r"pads must have 4 numbers of at least 0"),
        ("Conv", [1, 2, 5, 5], [3, 2, 3, 3], {"auto_pad": "SAME"}, r"auto_pad must be one of NOTSET, SAME_UPPER"),
        ("Conv", [1, 2, 5, 5], [3, 2, 3, 3], {"group": 0}, r"group must be at least 1, got 0"),
        ("Conv", [1, 2, 5, 5], [3, 2, 6, 3], {}, r"WebNN refuses it"),
        ("Conv", [1, 2, 3, 5, 5], [3, 2, 4, 3, 3], {}, r"the window must fit into the padded input, 3, got 4"),
        ("Conv", [1, 2, 3, 5, 5], [3, 2, 2, 3, 3], {"group": 4}, r"group must divide the 2 channels of the input evenly, got 4"),
        ("ConvTranspose", [1, 2, 5, 5], [2, 3, 3, 3], {"output_padding": [1]}, r"output_padding must have 2 numbers of at least 0"),
        ("ConvTranspose", [1, 2, 5, 5], [2, 3, 3, 3], {"output_shape": [0, 9]}, r"output_shape must have 2 numbers of at least 1"),
        ("ConvTranspose", [1, 2, 5, 5], [2, 3, 3, 3], {"pads": [9, 0, 0, 0]}, r"pads must leave an output of at least one element"),
        ("ConvTranspose", [1, 2, 5, 5], [3, 3, 3, 3], {}, r"WebNN refuses it"),
    ],
)
def test_refusals(operator: str, x: list[int], w: list[int], attributes: dict[str, Any], message: str) -> None:
    node, feeds = case(operator, x, w, **attributes)
    with pytest.raises(webnn.onnx.RefusedModelError, match=message):
        webnn.onnx.load(make(node, feeds))


def test_scalar_filters_of_integers_are_refused() -> None:
    feeds = {"x": np.zeros([1, 2, 4, 4], np.uint8), "w": np.zeros([], np.uint8)}
    with pytest.raises(webnn.onnx.RefusedModelError, match=r"the filter must have 4 dimensions, as the input, got the shape \[\]"):
        webnn.onnx.load(one("ConvInteger", feeds, 10), constants={"w": feeds["w"]})
