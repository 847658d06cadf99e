"""Sampling at computed places, compared with ONNX Runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx.reference import ReferenceEvaluator

import webnn.onnx
from tests.webnn.onnx.models import check, compute, one

RANDOM = np.random.default_rng(17)


@pytest.mark.parametrize("align", [0, 1])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("shape", [[2, 3, 4, 5], [1, 2, 1, 6]])
def test_images(shape: list[int], mode: str, padding: str, align: int) -> None:
    if padding == "reflection" and align and 1 in shape[2:]:
        # ONNX Runtime divides by 0.
        shape = [1, 2, 2, 6]
    feeds = {
        "x": RANDOM.standard_normal(shape).astype(np.float32),
        "grid": RANDOM.uniform(-2.5, 2.5, [shape[0], 7, 6, 2]).astype(np.float32),
    }
    feeds["grid"][0, 0, :4] = np.array([[-1, 1], [1, -1], [50, -60], [0.9999, -0.9999]])
    check(one("GridSample", feeds, 16, mode=mode, padding_mode=padding, align_corners=align), feeds, 1e-4)


@pytest.mark.parametrize("align", [0, 1])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["linear", "nearest"])
def test_volumes(mode: str, padding: str, align: int) -> None:
    feeds = {
        "x": RANDOM.standard_normal([2, 2, 3, 4, 5]).astype(np.float32),
        "grid": RANDOM.uniform(-2, 2, [2, 2, 3, 4, 3]).astype(np.float32),
    }
    check(one("GridSample", feeds, 20, mode=mode, padding_mode=padding, align_corners=align), feeds, 1e-5)


@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_lines(mode: str) -> None:
    feeds = {"x": RANDOM.standard_normal([2, 3, 6]).astype(np.float32), "grid": RANDOM.uniform(-1.2, 1.2, [2, 5, 1]).astype(np.float32)}
    model = one("GridSample", feeds, 22, mode=mode)
    (expected,) = ReferenceEvaluator(model).run(None, feeds)
    np.testing.assert_allclose(compute(model, feeds)["y"], expected, rtol=1e-5, atol=1e-5)


def test_integers_and_infinite_places() -> None:
    feeds = {
        "x": RANDOM.integers(-9, 9, [1, 2, 4, 5]).astype(np.int32),
        "grid": np.array([[[[-np.inf, 0], [np.inf, np.inf], [3e38, -1], [-0.1, 0.3]]]], np.float32),
    }
    x = feeds["x"]
    expected = np.stack([x[:, :, 2, 0], x[:, :, 3, 4], x[:, :, 0, 4], x[:, :, 2, 2]], axis=2)[:, :, None]
    np.testing.assert_array_equal(compute(one("GridSample", feeds, 22, mode="nearest", padding_mode="border"), feeds)["y"], expected)


@pytest.mark.parametrize("align", [0, 1])
@pytest.mark.parametrize("size", [[2, 3, 4, 5], [1, 2, 2, 3, 4]])
def test_affine_grids(size: list[int], align: int) -> None:
    count = len(size) - 2
    feeds = {"theta": RANDOM.standard_normal([size[0], count, count + 1]).astype(np.float32), "size": np.array(size)}
    check(one("AffineGrid", feeds, 20, align_corners=align), feeds, 1e-5, constants=["size"])


@pytest.mark.parametrize(
    ("grid", "attributes", "message"),
    [
        ([2, 4, 4, 2], {}, r"the grid of an input \[1, 2, 3, 4\] must have the shape \[1, ..., 2\], got \[2, 4, 4, 2\]"),
        ([1, 4, 4, 3], {}, "must have the shape"),
        ([1, 4, 2], {}, "must have the shape"),
        ([1, 4, 4, 2], {"mode": "area"}, "mode must be one of linear, bilinear, nearest, cubic, bicubic, got 'area'"),
        ([1, 4, 4, 2], {"padding_mode": "wrap"}, "padding_mode must be one of zeros, border, reflection, got 'wrap'"),
        ([1, 4, 4, 2], {"align_corners": 2}, "align_corners must be 0 or 1, got 2"),
    ],
)
def test_refusals_of_samples(grid: list[int], attributes: dict[str, Any], message: str) -> None:
    feeds = {"x": np.zeros([1, 2, 3, 4], np.float32), "grid": np.zeros(grid, np.float32)}
    with pytest.raises(webnn.onnx.RefusedModelError, match=message):
        webnn.onnx.load(one("GridSample", feeds, 22, **attributes))


@pytest.mark.parametrize(
    ("theta", "size", "attributes", "message"),
    [
        ([1, 2, 3], [1, 1, 4], {}, "the size must be 4 or 5 numbers of at least 1"),
        ([1, 2, 3], [1, 1, 0, 4], {}, "the size must be 4 or 5 numbers of at least 1"),
        ([1, 2, 3], [1, 1, 2**40, 4], {}, "have at most 67108864 places"),
        ([1, 3, 4], [1, 1, 4, 4], {}, r"theta must have the shape \[1, 2, 3\], got \[1, 3, 4\]"),
        ([1, 2, 3], [1, 1, 1, 4], {"align_corners": 1}, "each dimension must have two places at least"),
    ],
)
def test_refusals_of_affine_grids(theta: list[int], size: list[int], attributes: dict[str, Any], message: str) -> None:
    feeds = {"theta": np.zeros(theta, np.float32), "size": np.array(size)}
    with pytest.raises(webnn.onnx.RefusedModelError, match=message):
        webnn.onnx.load(one("AffineGrid", feeds, 20, **attributes), constants={"size": feeds["size"]})


@pytest.mark.parametrize("version", [10, 16])
@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("transformation", ["half_pixel", "output_half_pixel"])
@pytest.mark.parametrize("ratio", [1, 2, 3])
def test_regions(ratio: int, transformation: str, mode: str, version: int) -> None:
    attributes: dict[str, Any] = {"mode": mode, "sampling_ratio": ratio, "output_height": 3, "output_width": 2, "spatial_scale": 0.5}
    if version >= 16:
        attributes["coordinate_transformation_mode"] = transformation
    corners = RANDOM.uniform(-4, 22, [6, 2, 2]).astype(np.float32)
    feeds = {
        "x": RANDOM.standard_normal([3, 4, 9, 8]).astype(np.float32),
        "rois": np.concatenate([corners.min(1), corners.max(1)], axis=1),
        "batches": RANDOM.integers(0, 3, 6),
    }
    check(one("RoiAlign", feeds, version, **attributes), feeds, 1e-4)


@pytest.mark.parametrize("axis", [0, 1])
def test_regions_at_the_ends(axis: int) -> None:
    """Places one element outside count; farther ones do not."""
    places = np.array([-1.0, np.nextafter(np.float32(-1), np.float32(-2)), -0.75, 0, 5, 6, np.nextafter(np.float32(6), np.float32(7))])
    # Each region has one place, in the middle of its length of 1.
    middles = np.full([len(places), 2], 2, np.float32)
    middles[:, axis] = places
    feeds = {
        "x": RANDOM.uniform(1, 2, [1, 2, 6, 6]).astype(np.float32),
        "rois": np.concatenate([middles - 0.5, middles + 0.5], axis=1).astype(np.float32),
        "batches": np.zeros(len(places), np.int64),
    }
    model = one("RoiAlign", feeds, 10, sampling_ratio=1)
    check(model, feeds, 1e-6)
    assert (compute(model, feeds)["y"] == 0).all(axis=(1, 2, 3)).tolist() == [False, True, False, False, False, False, True]


@pytest.mark.parametrize(
    ("rois", "attributes", "message"),
    [
        ([2, 4], {}, "sampling_ratio must be at least 1"),
        ([2, 5], {"sampling_ratio": 1}, r"got \[1, 2, 3, 4\], \[2, 5\] and \[2\], and the output \[1, 1\]"),
        ([2, 4], {"sampling_ratio": 1, "output_width": 0}, r"and the output \[1, 0\]"),
        ([2, 4], {"sampling_ratio": 2**40}, "the places of a region along a dimension at most 65536"),
        ([2, 4], {"sampling_ratio": 1, "mode": "sum"}, "mode must be one of avg, max, got 'sum'"),
    ],
)
def test_refusals_of_regions(rois: list[int], attributes: dict[str, Any], message: str) -> None:
    feeds = {"x": np.zeros([1, 2, 3, 4], np.float32), "rois": np.zeros(rois, np.float32), "batches": np.zeros(2, np.int64)}
    with pytest.raises(webnn.onnx.RefusedModelError, match=message):
        webnn.onnx.load(one("RoiAlign", feeds, 22, **attributes))
