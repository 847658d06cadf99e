"""Windows of ``auto_pad`` that are smaller than their strides. ONNX leaves open which elements they leave over."""

from __future__ import annotations

import numpy as np
import pytest

import webnn.onnx
from tests.webnn.onnx.models import compute, one

#: The kernel, the stride, and how many of 11 elements are in front of the first window with SAME_UPPER and SAME_LOWER: onnxruntime 1.32.
CONV = [(1, 6, 1, 1), (2, 7, 0, 0), (3, 7, 0, 0), (1, 4, 0, 0), (1, 11, 4, 4), (2, 11, 4, 3), (3, 11, 3, 3), (1, 12, 4, 4)]
LP_POOL = [(1, 6, 2, 1), (2, 7, 1, 0), (3, 7, 0, 0), (1, 4, 1, 0), (1, 11, 5, 4), (2, 11, 4, 4), (3, 11, 4, 3), (1, 12, 5, 4)]


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize(
    ("operator", "kernel", "stride", "upper", "lower"), [*[("Conv", *row) for row in CONV], *[("LpPool", *row) for row in LP_POOL]]
)
def test_elements_that_are_left_over(operator: str, kernel: int, stride: int, upper: int, lower: int, rank: int) -> None:
    size = 11
    places = -(-size // stride)
    x = np.arange(1, 1 + size**rank, dtype=np.float32).reshape([1, 1, *[size] * rank])
    for auto, start in (("SAME_UPPER", upper), ("SAME_LOWER", lower)):
        feeds = {"x": x}
        if operator == "Conv":
            feeds["w"] = np.ones([1, 1, *[kernel] * rank], np.float32)
        model = one(operator, feeds, 18, auto_pad=auto, kernel_shape=[kernel] * rank, strides=[stride] * rank)
        wanted = x.astype(np.float64) if operator == "Conv" else x.astype(np.float64) ** 2
        for axis in range(2, rank + 2):
            begins = start + stride * np.arange(places)
            wanted = np.stack([wanted.take(range(begin, begin + kernel), axis).sum(axis) for begin in begins], axis)
        np.testing.assert_allclose(compute(model, feeds)["y"], wanted if operator == "Conv" else np.sqrt(wanted), rtol=1e-6)
        (note,) = webnn.onnx.load(model).report.notes
        assert operator in note
        assert auto in note


@pytest.mark.parametrize("operator", ["AveragePool", "MaxPool"])
def test_pooling_that_onnxruntime_refuses(operator: str) -> None:
    """The windows begin at the first element."""
    x = np.arange(11, dtype=np.float32).reshape(1, 1, 11)
    model = one(operator, {"x": x}, 18, auto_pad="SAME_LOWER", kernel_shape=[1], strides=[6])
    np.testing.assert_array_equal(compute(model, {"x": x})["y"].reshape(-1), [0, 6])
    (note,) = webnn.onnx.load(model).report.notes
    assert "onnxruntime fails" in note


@pytest.mark.parametrize(("kernel", "stride"), [(3, 2), (2, 2), (1, 1), (2, 3)])
def test_nothing_is_left_over(kernel: int, stride: int) -> None:
    x = np.zeros((1, 1, 11), np.float32)
    assert webnn.onnx.load(one("MaxPool", {"x": x}, 18, auto_pad="SAME_UPPER", kernel_shape=[kernel], strides=[stride])).report.notes == ()
