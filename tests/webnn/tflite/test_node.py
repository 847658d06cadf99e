from __future__ import annotations

import pytest

from tests.webnn.tflite.makers import f, ints, one
from tests.webnn.tflite.support import operations, refusals


def test_options_that_are_missing_have_defaults() -> None:
    assert operations(one("SOFTMAX", [f(2, 3)], [f()])) == ["softmax"]
    assert refusals(one("CONV_2D", [f(1, 4, 4, 1), f(1, 2, 2, 1)], [f()])) == [("CONV_2D", "the options must have StrideH")]


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (one("CONCATENATION", [f(2), f(2)], [f()], "ConcatenationOptions", Axis=3), "Axis must be from -1 to 0, got 3"),
        (one("CONCATENATION", [], [f()], "ConcatenationOptions"), "the input 0 must be given"),
        (one("SPLIT", [ints(1, 2), f(2, 2)], [f(), f()], "SplitOptions", NumSplits=2), "the axis must be one number, got [1, 2]"),
        (one("DEPTH_TO_SPACE", [f(1, 2, 2, 4)], [f()], "DepthToSpaceOptions", BlockSize=-1), "BlockSize must be at least 1, got -1"),
    ],
)
def test_options_that_are_wrong(model: bytes, reason: str) -> None:
    assert refusals(model)[0][1] == reason


@pytest.mark.parametrize(("number", "operation"), [(1, "relu"), (2, "clamp"), (3, "clamp"), (4, "tanh")])
def test_fused_activations(number: int, operation: str) -> None:
    assert operations(one("ADD", [f(2), f(2)], [f()], "AddOptions", FusedActivationFunction=number)) == ["add", operation]
