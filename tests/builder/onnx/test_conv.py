"""The values of convolutions, against the NumPy reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support import Case, check_cases, near, refused, run
from webnn import ML, MLGraphBuilder
from webnn.validation.errors import OperationError

RNG = np.random.default_rng(0)
NHWC = {"inputLayout": "nhwc"}


def f32(*shape: int) -> Any:
    return RNG.uniform(-1, 1, shape).astype(np.float32)


#: Operation, shapes of input and filter, options.
CASES: list[tuple[str, tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ("conv2d", (1, 2, 5, 5), (4, 1, 3, 3), {"groups": 2, "bias": f32(4), "padding": [1, 0, 2, 1]}),
    ("conv2d", (2, 3, 6, 5), (2, 3, 2, 3), {"dilations": [2, 1], "strides": [1, 2], "padding": [0, 3, 1, 0]}),
    ("conv2d", (1, 3, 4, 4), (3, 1, 2, 2), {"groups": 3}),
    ("conv2d", (1, 1, 2, 2), (1, 1, 3, 3), {"padding": [5, 0, 0, 7], "strides": [3, 2]}),
    ("conv2d", (1, 2, 5, 6), (3, 2, 2, 4), {"filterLayout": "hwio"}),
    ("conv2d", (1, 2, 5, 6), (4, 3, 2, 2), {"filterLayout": "ohwi"}),
    ("conv2d", (1, 2, 5, 6), (2, 3, 2, 4), {"filterLayout": "ihwo"}),
    ("conv2d", (1, 5, 6, 2), (4, 2, 3, 2), NHWC),
    ("conv2d", (1, 5, 6, 4), (3, 2, 2, 6), {**NHWC, "filterLayout": "hwio", "groups": 2, "bias": f32(6)}),
    ("conv2d", (1, 5, 6, 2), (4, 3, 3, 2), {**NHWC, "filterLayout": "ohwi", "strides": [2, 1]}),
    ("conv2d", (1, 5, 6, 4), (1, 3, 2, 4), {**NHWC, "filterLayout": "ihwo", "groups": 4}),
    # The attributes' whole range; an output that lies in the padding only.
    ("conv2d", (1, 1, 2, 2), (1, 1, 1, 1), {"dilations": [2**32 - 1, 1], "strides": [2**32 - 1, 1]}),
    ("convTranspose2d", (1, 2, 3, 3), (2, 3, 3, 2), {"bias": f32(3)}),
    ("convTranspose2d", (2, 4, 3, 2), (4, 2, 2, 3), {"groups": 2, "bias": f32(4), "strides": [2, 3], "padding": [1, 0, 0, 2]}),
    ("convTranspose2d", (1, 1, 3, 3), (1, 2, 3, 3), {"strides": [3, 2], "outputPadding": [2, 1]}),
    ("convTranspose2d", (1, 1, 3, 3), (1, 2, 3, 3), {"strides": [3, 2], "outputSizes": [11, 8], "outputPadding": [9, 9]}),
    (
        "convTranspose2d",
        (1, 1, 3, 3),
        (1, 1, 2, 2),
        {"dilations": [3, 2], "strides": [2, 2], "outputPadding": [1, 1], "padding": [1, 2, 0, 1]},
    ),
    # Output padding brings back what the ending padding cut off.
    ("convTranspose2d", (1, 1, 3, 3), (1, 1, 2, 2), {"strides": [3, 3], "outputPadding": [2, 1], "padding": [0, 2, 1, 3]}),
    # Without output padding nothing would be left.
    ("convTranspose2d", (1, 1, 1, 1), (1, 1, 1, 1), {"strides": [3, 3], "padding": [1, 1, 0, 1], "outputPadding": [2, 2]}),
    ("convTranspose2d", (1, 2, 3, 4), (3, 2, 3, 2), {"filterLayout": "hwoi"}),
    ("convTranspose2d", (1, 2, 3, 4), (3, 3, 2, 2), {"filterLayout": "ohwi"}),
    ("convTranspose2d", (1, 3, 4, 2), (2, 3, 2, 2), NHWC),
    ("convTranspose2d", (1, 3, 4, 2), (3, 2, 3, 2), {**NHWC, "filterLayout": "hwoi", "groups": 2, "strides": [2, 1]}),
    ("convTranspose2d", (1, 3, 4, 2), (3, 3, 2, 2), {**NHWC, "filterLayout": "ohwi", "padding": [0, 1, 1, 0]}),
    ("convTranspose2d", (1, 1, 1, 1), (1, 1, 2, 2), {"strides": [2**32 - 1, 2**32 - 1]}),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("name", sorted({name for name, *_ in CASES}))
def test_values(name: str, dtype: Any) -> None:
    calls = [Case(name, f32(*input), f32(*filter), **options) for each, input, filter, options in CASES if each == name]
    check_cases([call.astype(dtype) for call in calls], near(1e-5, 1e-6) if dtype is np.float32 else near(1e-3, 1e-4))


@pytest.mark.parametrize("name", ["conv2d", "convTranspose2d"])
def test_special_values(name: str) -> None:
    x = np.array([[[[1, np.inf], [np.nan, 2]]]], np.float32)
    w = np.full((1, 1, 1, 1), -2, np.float32)
    np.testing.assert_array_equal(run(name, x, w)[0], x * -2)


@pytest.mark.parametrize("name", ["conv2d", "convTranspose2d"])
def test_float16_accumulates_in_float32_and_rounds_once(name: str) -> None:
    x = np.array([60000, 60000, -60000, 2048, 1], np.float16).reshape(1, 5, 1, 1)
    w = np.ones((1, 5, 1, 1) if name == "conv2d" else (5, 1, 1, 1), np.float16)
    # 62049 lies between the float16 values 62048 and 62080.
    assert run(name, x, w)[0].item() == 62048
    assert run(name, x[:, :2], w[:, :2] if name == "conv2d" else w[:2])[0].item() == np.inf


def test_groups_without_meaning_are_refused_when_the_graph_is_built() -> None:
    builder = MLGraphBuilder(ML(revision="2024-06").createContextSync())
    x = builder.input("x", {"dataType": "float32", "dimensions": [1, 1, 5, 5]})
    w = builder.input("w", {"dataType": "float32", "dimensions": [1, 1, 3, 3]})
    y = builder.convTranspose2d(x, w, groups=3)
    assert y.shape() == [1, 3, 7, 7]
    with refused(OperationError, rule="divisible", operation="convTranspose2d"):
        builder.buildSync({"y": y})
