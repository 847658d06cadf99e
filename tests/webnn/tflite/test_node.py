from __future__ import annotations

import numpy as np
import pytest

import webnn
import webnn.tflite
from tests.webnn.tflite.makers import f, ints, one, q, qc
from tests.webnn.tflite.models import T
from tests.webnn.tflite.support import compute, operations, refusals
from webnn.validation.drafts import for_devices


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


# Quantized tensors.


def test_int16_is_carried_by_int32() -> None:
    model = one("QUANTIZE", [f(3)], [q(type="INT16", zero=0, scale=1.0)])
    assert operations(model) == ["quantizeLinear", "clamp"]
    assert compute(model, {"t0": np.array([1.5, 1e9, -1e9])})["t1"].tolist() == [2, 32767, -32768]


def test_integers_of_4_bits() -> None:
    weights = T(type="INT4", shape=[2, 2], raw=bytes([0x7F, 0x80]), scale=[0.5])
    model = one("FULLY_CONNECTED", [q(1, 2, scale=1.0, zero=0), weights], [q(scale=0.5, zero=0)], "FullyConnectedOptions")
    found = webnn.tflite.load(model).description
    assert "int4" in [each.descriptor.dataType for each in found.constants.values()]
    # Rows of -1 and 7, 0 and -8, by 1 and 2, in steps of a half.
    context = webnn.ML(revision=for_devices()).createContextSync()
    assert compute(model, {"t0": np.array([[1, 2]])}, context=context)["t2"].tolist() == [[13, -16]]


def test_weights_stay_small() -> None:
    model = one("FULLY_CONNECTED", [q(1, 6), qc(4, 6, scales=(0.1, 0.2, 0.3, 0.4))], [q()], "FullyConnectedOptions")
    types = [each.descriptor.dataType for each in webnn.tflite.load(model).description.constants.values() if each.descriptor.rank == 2]
    assert types.count("int8") >= 1
    assert "float32" in types


@pytest.mark.parametrize(
    ("scale", "zero", "reason"),
    [
        ([0.0], [0], "scales must be finite and above 0"),
        ([float("nan")], [0], "scales must be"),
        ([1.0], [200], "zero points from -128 to 127"),
    ],
)
def test_a_wrong_quantization(scale: list[float], zero: list[int], reason: str) -> None:
    model = one("DEQUANTIZE", [T(type="INT8", shape=[2], scale=scale, zero=zero)], [f()])
    assert reason in refusals(model)[0][1]


def test_inputs_of_quantized_weights_are_rounded() -> None:
    """A number is rounded to a step of the largest one divided by 127, as LiteRT does."""
    model = one("FULLY_CONNECTED", [f(1, 2), T(np.eye(2, dtype=np.int8), scale=[1.0])], [f()], "FullyConnectedOptions")
    np.testing.assert_allclose(compute(model, {"t0": np.array([[127, 3.4]])})["t2"], [[127, 3]], rtol=1e-6)
    assert compute(model, {"t0": np.zeros((1, 2))})["t2"].tolist() == [[0, 0]]
