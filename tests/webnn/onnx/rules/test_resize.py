"""Resizing, compared with ONNX Runtime and with the reference evaluator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, helper
from onnx.reference import ReferenceEvaluator

import webnn.onnx
from tests.webnn.onnx.models import Array, check, compute, make

RANDOM = np.random.default_rng(13)


def resize(
    shape: Sequence[int],
    scales: Sequence[float] | None = None,
    sizes: Sequence[int] | None = None,
    roi: Sequence[float] | None = None,
    version: int = 19,
    dtype: Any = np.float32,
    **attributes: Any,
) -> tuple[ModelProto, dict[str, Array], list[str]]:
    """Make a model of one Resize; return it with its inputs and the names of those that must be known."""
    feeds: dict[str, Array] = {"x": (RANDOM.standard_normal(shape) * 50).astype(dtype)}
    if version > 10:
        feeds["roi"] = np.array(roi or [], np.float32)
    if scales is not None:
        feeds["scales"] = np.array(scales, np.float32)
    if sizes is not None:
        feeds["sizes"] = np.array(sizes, np.int64)
    names = [*feeds][:2] + ([""] if scales is None else []) + [*feeds][2:]
    model = make(helper.make_node("Resize", names, ["y"], **attributes), feeds, version)
    return model, feeds, [name for name in feeds if name != "x"]


def operations(model: ModelProto, feeds: Mapping[str, Array], known: Sequence[str]) -> list[str]:
    imported = webnn.onnx.load(model, constants={name: feeds[name] for name in known})
    return [each.operation for each in imported.description.operators]


@pytest.mark.parametrize("rounding", ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
@pytest.mark.parametrize("transformation", ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric"])
@pytest.mark.parametrize("sizes", [[8, 10], [2, 5], [7, 2], [4, 9], [1, 1]])
def test_nearest(sizes: list[int], transformation: str, rounding: str) -> None:
    model, feeds, known = resize(
        [2, 3, 4, 5], sizes=[2, 3, *sizes], mode="nearest", coordinate_transformation_mode=transformation, nearest_mode=rounding
    )
    check(model, feeds, constants=known)


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("transformation", ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric"])
@pytest.mark.parametrize("sizes", [[8, 10], [2, 5], [7, 2], [4, 9], [1, 1]])
@pytest.mark.parametrize("attributes", [{}, {"antialias": 1}, {"exclude_outside": 1, "cubic_coeff_a": -0.5}])
def test_interpolation(attributes: dict[str, Any], sizes: list[int], transformation: str, mode: str) -> None:
    if mode == "linear" and "exclude_outside" in attributes:
        attributes = {"exclude_outside": 0}
    model, feeds, known = resize([2, 3, 4, 5], sizes=[2, 3, *sizes], mode=mode, coordinate_transformation_mode=transformation, **attributes)
    check(model, feeds, 1e-4, constants=known)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize(
    ("shape", "scales", "axes"),
    [
        ([6], [2.5], None),
        ([3, 5], [2.0, 0.5], None),
        ([2, 3, 5], [1.0, 1.0, 3.0], None),
        ([2, 3, 5], [2.0, 3.0, 1.0], None),
        ([3, 4, 5, 2], [1.5, 2.0], [1, 2]),
        ([3, 4, 5, 2], [3.0], [0]),
        ([3, 4, 5, 2], [2.0, 3.0], [0, 3]),
        ([2, 2, 3, 4, 5], [2.0, 3.0, 1.5], [2, 3, 4]),
        ([2, 2, 3, 4, 5], [2.0, 2.0], [3, 1]),
    ],
)
def test_any_dimensions(shape: list[int], scales: list[float], axes: list[int] | None, mode: str) -> None:
    model, feeds, known = resize(shape, scales, mode=mode, **{} if axes is None else {"axes": axes})
    (expected,) = ReferenceEvaluator(model).run(None, {**feeds, "roi": np.zeros(2 * len(scales), np.float32)})
    np.testing.assert_allclose(compute(model, feeds, constants=known)["y"], expected, rtol=1e-5, atol=1e-4)


def test_axes_count_from_the_end() -> None:
    model, feeds, known = resize([2, 3, 4, 5], [2.0, 3.0], axes=[-1, 1], mode="linear")
    other = resize([2, 3, 4, 5], [3.0, 2.0], axes=[1, 3], mode="linear")[0]
    expected = compute(other, {**feeds, "scales": feeds["scales"][::-1]}, constants=known)["y"]
    np.testing.assert_array_equal(compute(model, feeds, constants=known)["y"], expected)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("region", [[0.23, 0.17, 0.81, 0.94], [-0.31, 0.63, 1.17, 0.12], [0.0, 0.0, 1.0, 1.0]])
@pytest.mark.parametrize("sizes", [[8, 10], [3, 3], [1, 4]])
def test_crops(sizes: list[int], region: list[float], mode: str) -> None:
    roi = [0, 0, *region[:2], 1, 1, *region[2:]]
    model, feeds, known = resize(
        [1, 2, 5, 6], sizes=[1, 2, *sizes], roi=roi, mode=mode, coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=9.0
    )
    check(model, feeds, 1e-4, constants=known)


@pytest.mark.parametrize("policy", ["stretch", "not_larger", "not_smaller"])
@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_aspect_ratios(mode: str, policy: str) -> None:
    model, feeds, known = resize([1, 1, 4, 6], sizes=[7, 9], mode=mode, axes=[2, 3], keep_aspect_ratio_policy=policy)
    check(model, feeds, 1e-5, constants=known)


@pytest.mark.parametrize("scales", [[1.0, 1.0, 2.0, 3.0], [1.0, 1.0, 0.5, 0.25], [1.0, 1.0, 0.6, 1.5]])
@pytest.mark.parametrize("version", [10, 11, 13, 18])
@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_versions(mode: str, version: int, scales: list[float]) -> None:
    model, feeds, known = resize([1, 2, 6, 8], scales, version=version, mode=mode)
    check(model, feeds, 1e-4, constants=known)


@pytest.mark.parametrize("version", [7, 9])
@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_upsample(mode: str, version: int) -> None:
    feeds = {"x": RANDOM.standard_normal([1, 2, 3, 4]).astype(np.float32)}
    scales = np.array([1, 1, 2, 1.5], np.float32)
    if version == 7:
        node = helper.make_node("Upsample", ["x"], ["y"], mode=mode, scales=scales.tolist())
    else:
        feeds["scales"] = scales
        node = helper.make_node("Upsample", list(feeds), ["y"], mode=mode)
    check(make(node, feeds, version), feeds, 1e-5, constants=[name for name in feeds if name != "x"])


@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_half_precision(mode: str) -> None:
    model, feeds, known = resize(
        [1, 2, 3, 4], sizes=[1, 2, 7, 5], dtype=np.float16, mode=mode, coordinate_transformation_mode="align_corners"
    )
    y = compute(model, feeds, constants=known)["y"]
    (expected,) = ReferenceEvaluator(model).run(None, {**feeds, "x": feeds["x"].astype(np.float64), "roi": np.zeros(8, np.float32)})
    assert y.dtype == np.float16
    np.testing.assert_allclose(y.astype(np.float64), expected, rtol=1e-3)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32])
def test_integers(dtype: type[np.generic]) -> None:
    model, feeds, known = resize([1, 2, 3, 4], sizes=[1, 2, 7, 5], dtype=dtype, mode="nearest")
    check(model, feeds, constants=known)


@pytest.mark.parametrize(
    ("sizes", "attributes", "expected"),
    [
        ([1, 2, 6, 8], {"mode": "linear"}, ["resample2d"]),
        ([1, 2, 7, 3], {"mode": "linear"}, ["resample2d"]),
        ([1, 2, 1, 8], {"mode": "linear", "coordinate_transformation_mode": "pytorch_half_pixel"}, ["matmul", "resample2d"]),
        ([1, 2, 6, 8], {"mode": "linear", "coordinate_transformation_mode": "align_corners"}, ["matmul", "matmul"]),
        ([1, 2, 6, 8], {"mode": "linear", "antialias": 1}, ["resample2d"]),
        ([1, 2, 6, 8], {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}, ["resample2d"]),
        # Elements that are equally near.
        ([1, 2, 3, 2], {"mode": "nearest"}, ["gather"]),
        ([1, 2, 3, 4], {"mode": "cubic"}, []),
        ([1, 1, 6, 8], {"mode": "nearest", "coordinate_transformation_mode": "asymmetric"}, ["gather", "resample2d"]),
    ],
)
def test_operations(sizes: list[int], attributes: dict[str, Any], expected: list[str]) -> None:
    found = operations(*resize([1, 2, 3, 4], sizes=sizes, **attributes))
    assert [each for each in found if each != "identity"] == expected


@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_long_dimensions_are_gathered(mode: str) -> None:
    model, feeds, known = resize([1, 1, 2, 1100], sizes=[1, 1, 2, 1900], mode=mode, coordinate_transformation_mode="align_corners")
    assert set(operations(model, feeds, known)) == {"gather", "mul", "add"}
    check(model, feeds, 1e-2, constants=known)
    (expected,) = ReferenceEvaluator(model).run(None, {**feeds, "roi": np.zeros(8, np.float32)})
    # A sum of products that cancel each other is as exact as its terms.
    np.testing.assert_allclose(compute(model, feeds, constants=known)["y"], expected, rtol=0, atol=1e-5 * np.abs(expected).max())


def test_positions_are_exact() -> None:
    """float32 does not have the third of an element; the middle between two elements is rounded as the model says."""
    model, feeds, known = resize(
        [1, 1, 1, 9], sizes=[1, 1, 1, 3], mode="nearest", coordinate_transformation_mode="half_pixel", nearest_mode="floor"
    )
    np.testing.assert_array_equal(compute(model, feeds, constants=known)["y"][0, 0, 0], feeds["x"][0, 0, 0, [1, 4, 7]])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"scales": [1.0, 2.0]}, r"the scales must be 4 finite numbers greater than 0, got \[1.0, 2.0\]"),
        ({"scales": [1.0, 1.0, 0.0, 2.0]}, "finite numbers greater than 0"),
        ({"scales": [1.0, 1.0, float("nan"), 2.0]}, r"the scales must be finite, got \[1.0, 1.0, nan, 2.0\]"),
        ({"scales": [1.0, 1.0, 3e38, 2.0]}, r"the sizes of the result must be from 1 to 4194304"),
        ({"scales": [1.0, 1.0, 0.1, 2.0]}, r"the sizes of the result must be from 1 to 4194304, got \[1, 2, 0, 8\]"),
        ({"sizes": [1, 1, 4]}, r"the sizes must be 4 numbers of at least 1, got \[1, 1, 4\]"),
        ({"sizes": [1, 1, 0, 2]}, "numbers of at least 1"),
        ({"sizes": [1, 1, 2**40, 2]}, "the sizes of the result must be from 1 to 4194304"),
        ({"sizes": [2, 2], "axes": [2, 4]}, "axes must be from -4 to 3, got 4"),
        ({"sizes": [2, 2], "axes": [2, -2]}, "axes must name each axis once"),
        ({}, "either the scales or the sizes must be given"),
        ({"sizes": [1, 2, 2, 2], "scales": [1.0, 1.0, 1.0, 1.0]}, "either the scales or the sizes must be given"),
        ({"sizes": [1, 2, 5, 5], "mode": "linear", "antialias": -1}, "antialias must be 0 or 1, got -1"),
        ({"sizes": [1, 2, 5, 5], "mode": "lanczos"}, "mode must be one of nearest, linear, cubic, got 'lanczos'"),
        ({"sizes": [1, 2, 5, 5], "coordinate_transformation_mode": "half"}, "coordinate_transformation_mode must be one of"),
        ({"sizes": [1, 2, 5, 5], "nearest_mode": "near"}, "nearest_mode must be one of"),
        ({"sizes": [5, 5], "axes": [2, 3], "keep_aspect_ratio_policy": "keep"}, "keep_aspect_ratio_policy must be one of"),
        ({"sizes": [1, 2, 5, 5], "coordinate_transformation_mode": "tf_crop_and_resize"}, "the region of interest must have 8 numbers"),
        ({"sizes": [1, 2, 5, 5], "mode": "linear", "dtype": np.uint8}, "linear resizing needs floating-point numbers, got uint8"),
    ],
)
def test_refusals(given: dict[str, Any], message: str) -> None:
    model, feeds, known = resize([1, 2, 3, 4], **given)
    with pytest.raises(webnn.onnx.RefusedModelError, match=message):
        webnn.onnx.load(model, constants={name: feeds[name] for name in known})
