"""Quantized graphs: operators between `dequantizeLinear` and `quantizeLinear` compute integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import webnn
import webnn.tflite
from tests.support import Array, each_row
from tests.webnn.tflite.export.litert import check, codes, constant, describe, ramp
from webnn.reference import compute
from webnn.tflite.export import export

RANDOM = np.random.default_rng(3)


def whole(b: Any, rank: int, scale: float, zero: int, dtype: Any) -> list[Any]:
    """Return the scale and the zero point of a whole tensor."""
    return [constant(b, np.full((1,) * rank, scale, np.float32)), constant(b, np.full((1,) * rank, zero, dtype))]


def number(b: Any, x: Any, scale: float = 0.05, zero: int = 3, dtype: Any = np.int8) -> Any:
    return b.dequantizeLinear(x, *whole(b, len(x.shape), scale, zero, dtype))


def integer(b: Any, x: Any, scale: float = 0.25, zero: int = -5, dtype: Any = np.int8) -> Any:
    return b.quantizeLinear(x, *whole(b, len(x.shape), scale, zero, dtype))


def filters(b: Any, *shape: int, along: int | None = None) -> Any:
    """Return weights of int8, with one scale for each index of an axis or one for all."""
    weights = constant(b, RANDOM.integers(-127, 127, shape, dtype=np.int8))
    if along is None:
        return number(b, weights, 0.01, 0)
    sizes = [size if axis == along else 1 for axis, size in enumerate(shape)]
    scales = np.linspace(0.01, 0.02, shape[along], dtype=np.float32).reshape(sizes)
    return b.dequantizeLinear(weights, constant(b, scales), constant(b, np.zeros(sizes, np.int8)))


def bias(b: Any, scale: Any) -> Any:
    scales = np.atleast_1d(np.asarray(scale, np.float32))
    return b.dequantizeLinear(
        constant(b, np.arange(3, dtype=np.int32) * 50), constant(b, scales), constant(b, np.zeros(len(scales), np.int32))
    )


X = RANDOM.integers(-128, 127, (1, 4, 5, 6), dtype=np.int8)
M = RANDOM.integers(-128, 127, (3, 4), dtype=np.int8)
LINE = np.linspace(0.01, 0.02, 3, dtype=np.float32)


@each_row(
    ("make", "x", "made"),
    [
        (lambda b, x: integer(b, b.conv2d(number(b, x), filters(b, 3, 4, 2, 2))), X, ["TRANSPOSE", "CONV_2D", "TRANSPOSE"]),
        (lambda b, x: integer(b, b.conv2d(number(b, x), filters(b, 3, 4, 2, 2, along=0))), X, ["TRANSPOSE", "CONV_2D", "TRANSPOSE"]),
        (
            lambda b, x: integer(
                b, b.relu(b.conv2d(number(b, x), filters(b, 3, 4, 3, 3, along=0), padding=[1, 1, 1, 1], bias=bias(b, 0.05 * LINE)))
            ),
            X,
            ["TRANSPOSE", "CONV_2D", "TRANSPOSE"],
        ),
        # The padding is the integer that means 0.
        (
            lambda b, x: integer(b, b.conv2d(number(b, x), filters(b, 3, 4, 2, 2), padding=[1, 0, 0, 1])),
            X,
            ["PAD", "TRANSPOSE", "CONV_2D", "TRANSPOSE"],
        ),
        (
            lambda b, x: integer(b, b.conv2d(number(b, x), filters(b, 4, 1, 2, 2, along=0), groups=4)),
            X,
            ["TRANSPOSE", "DEPTHWISE_CONV_2D", "TRANSPOSE"],
        ),
        (lambda b, x: integer(b, b.gemm(number(b, x), filters(b, 4, 3), c=bias(b, 0.05 * 0.01))), M, ["FULLY_CONNECTED"]),
        (lambda b, x: integer(b, b.add(number(b, x), number(b, b.reverse(x), 0.1, 1))), M, None),
        (lambda b, x: integer(b, b.mul(number(b, x), number(b, x))), M, ["MUL"]),
        (lambda b, x: integer(b, b.matmul(number(b, x), number(b, b.transpose(x)))), M, None),
        (lambda b, x: integer(b, b.sigmoid(number(b, x)), 1 / 256, -128), M, ["LOGISTIC"]),
        (lambda b, x: integer(b, b.tanh(number(b, x)), 1 / 128, 0), M, ["TANH"]),
        (lambda b, x: integer(b, b.softmax(number(b, x), 1), 1 / 256, -128), M, ["SOFTMAX"]),
        (
            lambda b, x: integer(b, b.averagePool2d(number(b, x), windowDimensions=[2, 2]), 0.05, 3),
            X,
            ["TRANSPOSE", "AVERAGE_POOL_2D", "TRANSPOSE"],
        ),
        (
            lambda b, x: integer(b, b.maxPool2d(number(b, x), windowDimensions=[2, 2]), 0.05, 3),
            X,
            ["TRANSPOSE", "MAX_POOL_2D", "TRANSPOSE"],
        ),
        (lambda b, x: integer(b, b.concat([number(b, x), number(b, x)], 0), 0.05, 3), M, ["CONCATENATION"]),
        (lambda b, x: integer(b, b.reduceMean(number(b, x), axes=[1])), M, ["MEAN"]),
        (lambda b, x: integer(b, b.transpose(b.reshape(number(b, x), [2, 6])), 0.05, 3), M, ["RESHAPE", "TRANSPOSE"]),
        # Other scales: the numbers are computed.
        (lambda b, x: integer(b, b.sigmoid(number(b, x))), M, ["DEQUANTIZE", "LOGISTIC", "QUANTIZE"]),
        (lambda b, x: integer(b, b.abs(number(b, x))), M, ["DEQUANTIZE", "ABS", "QUANTIZE"]),
        (number, M, ["DEQUANTIZE"]),
    ],
)
def test_integers(make: Any, x: Array, made: list[str] | None) -> None:
    found = check(make, x, steps=1)
    if made is None:
        assert not {"QUANTIZE", "DEQUANTIZE"} & {*found}
    else:
        assert found == made


def test_numbers_that_something_else_needs_are_computed() -> None:
    def make(b: Any, x: Any) -> Any:
        total = b.add(number(b, x), number(b, x))
        return b.mul(total, number(b, integer(b, total), 0.25, -5))

    program = export(describe(make, M)[0])
    assert "QUANTIZE" in codes(program)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_weights_alone(dtype: Any) -> None:
    """Weights whose operator computes numbers stay integers in the file."""
    weights = RANDOM.integers(0, 100, (4, 3)).astype(dtype)

    def make(b: Any, x: Any) -> Any:
        return b.matmul(x, number(b, constant(b, weights), 0.1, 7, dtype))

    check(make, ramp(2, 4))
    program = export(describe(make, ramp(2, 4))[0])
    constants = [each.data for operator in program.needed() for each in operator.inputs if each is not None and each.data is not None]
    assert {each.dtype for each in constants if each.size == weights.size} == {np.dtype(dtype)}


def test_integers_that_mean_different_numbers() -> None:
    """One tensor of integers has two scales; the second one gets a copy."""

    def twice(b: Any, x: Any) -> Any:
        return b.add(b.transpose(number(b, x)), number(b, b.transpose(x), 0.5, 7))

    check(twice, M)

    def joined(b: Any, x: Any) -> Any:
        return b.concat([integer(b, number(b, x), 0.25, 1), integer(b, number(b, x), 0.5, 2), x], 0)

    check(joined, M, steps=1)
    check(lambda b, x: b.max(integer(b, number(b, x), 0.25, 1), constant(b, np.int8(3))), M, steps=1)


def test_blocks() -> None:
    """A scale for each block: LiteRT has no such meaning, so that the numbers are computed."""

    def make(b: Any, x: Any) -> Any:
        return b.dequantizeLinear(x, constant(b, ramp(3, 2) + 3), constant(b, np.zeros((3, 2), np.int8)))

    assert "DEQUANTIZE" not in check(make, M)


def test_a_zero_point_of_quantized_integers() -> None:
    """Imported again, it is the integers themselves: `CAST` does not read what they mean."""

    def make(b: Any, x: Any) -> Any:
        zeros = integer(b, x, 0.5, 3, np.uint8)
        return b.quantizeLinear(x, constant(b, np.full(x.shape, 0.25, np.float32)), zeros)

    description, arrays = describe(make, ramp(2, 3))
    again = webnn.tflite.load(bytes(export(description).to_bytes())).description
    assert compute(again, arrays)["y"].tolist() == compute(description, arrays)["y"].tolist()


def test_the_file_says_that_results_may_differ_by_one_step() -> None:
    notes = export(describe(lambda b, x: integer(b, b.mul(number(b, x), number(b, x))), M)[0]).notes
    assert any("one step" in each for each in notes)
