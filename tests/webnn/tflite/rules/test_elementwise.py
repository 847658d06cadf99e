from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import webnn
import webnn.tflite
from tests.support import CURRENT
from tests.webnn.tflite.cases import FAMILIES
from tests.webnn.tflite.makers import c, f, one
from tests.webnn.tflite.support import check, compute, refusals
from webnn import reference
from webnn.tflite.export import export


@pytest.mark.parametrize("name", [*FAMILIES["elementwise"], *FAMILIES["quantization"]])
def test_results(name: str) -> None:
    check(name)


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("STABLEHLO_CBRT", np.cbrt),
        ("STABLEHLO_RSQRT", lambda x: 1 / np.sqrt(x)),
        ("STABLEHLO_NEGATE", np.negative),
        ("STABLEHLO_EXPONENTIAL", np.exp),
        ("STABLEHLO_LOGISTIC", lambda x: 1 / (1 + np.exp(-x))),
    ],
)
def test_operators_of_stablehlo(code: str, wanted: Any) -> None:
    """Few files have them; LiteRT's reference kernels have not."""
    x = np.linspace(0.5, 4, 6, dtype=np.float32)
    np.testing.assert_allclose(compute(one(code, [f(6)], [f(6)]), {"t0": x})["t1"], wanted(x), rtol=1e-5)


def test_limits_of_stablehlo() -> None:
    found = compute(one("STABLEHLO_CLAMP", [c(), f(4), c(seed=3)], [f()]), {"t1": np.array([-9, 0, 0.5, 9])})["t3"]
    low, high = c().data, c(seed=3).data
    np.testing.assert_array_equal(found, np.minimum(np.maximum(np.array([-9, 0, 0.5, 9], np.float32), low), high))


@pytest.mark.parametrize("dataType", ["int64", "uint64"])
def test_bits_of_large_integers(dataType: Any) -> None:
    """An export has unsigned integers of 64 bits as signed ones in between; they come back as they were."""
    builder = webnn.MLGraphBuilder(webnn.ML(revision=CURRENT).createContextSync())
    x = builder.input("x", dataType=dataType, shape=[4])
    again = webnn.tflite.load(bytes(export(webnn.describe({"y": builder.add(x, x)})).to_bytes())).description
    value = np.array([0, 5, 2**63, 2**64 - 1], np.uint64).view(dataType)
    np.testing.assert_array_equal(reference.compute(again, {"x": value})["y"], value + value)


def test_bits_of_floats_are_refused() -> None:
    assert refusals(one("BITWISE_XOR", [f(2), f(2)], [f()])) == [("BITWISE_XOR", "the input 0 must be integers, got float32")]


def test_an_input_that_is_missing() -> None:
    assert refusals(one("CAST", [None], [f(2)])) == [("CAST", "the input 0 must be given")]


@pytest.mark.parametrize("limit", [float("nan"), float("inf"), 0.0])
def test_a_range_that_cannot_be_quantized(limit: float) -> None:
    model = one("FAKE_QUANT", [f(2)], [f()], "FakeQuantOptions", Min=0.0, Max=limit, NumBits=8)
    assert "must be finite and enclose 0" in refusals(model)[0][1]
