"""Weights as integers by blocks: which constants, which blocks, and what comes back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import webnn
from tests.support import make_context
from webnn import GraphDescription, MLGraphBuilder
from webnn.commands.feeds import build, compute
from webnn.lowering.blocks import to_integers

_random = np.random.default_rng(5)
MATRIX = _random.normal(size=(96, 64)).astype(np.float32)
FILTER = _random.normal(size=(32, 64, 3, 3)).astype(np.float32)
DEPTHWISE = _random.normal(size=(512, 1, 3, 3)).astype(np.float32)


def constant(b: Any, array: np.ndarray[Any, Any]) -> Any:
    return b.constant({"dataType": array.dtype.name, "shape": list(array.shape)}, array)


def describe(make: Callable[[Any, Any], Any], shape: list[int]) -> GraphDescription:
    builder: Any = MLGraphBuilder(make_context("2026-06"))
    x = builder.input("x", {"dataType": "float32", "shape": shape})
    return webnn.describe({"y": make(builder, x)})


#: The graph, the shape of its input, and the numbers of blocks along the axes of the weight for 8 and for 4 bits.
CASES: list[tuple[str, Callable[[Any, Any], Any], list[int], list[int], list[int]]] = [
    ("the second matrix", lambda b, x: b.matmul(x, constant(b, MATRIX)), [2, 96], [1, 64], [3, 64]),
    ("the first matrix", lambda b, x: b.matmul(constant(b, MATRIX), x), [64, 2], [96, 1], [96, 2]),
    ("gemm", lambda b, x: b.gemm(x, constant(b, MATRIX), bTranspose=True), [2, 64], [96, 1], [96, 2]),
    ("a table", lambda b, x: b.gather(constant(b, MATRIX), b.cast(x, "int32"), axis=0), [3], [96, 1], [96, 2]),
    ("a filter", lambda b, x: b.conv2d(x, constant(b, FILTER)), [1, 64, 4, 4], [32, 1, 1, 1], [32, 2, 1, 1]),
    (
        "a filter in another layout",
        lambda b, x: b.conv2d(x, constant(b, FILTER.transpose(2, 3, 1, 0).copy()), filterLayout="hwio"),
        [1, 64, 4, 4],
        [1, 1, 1, 32],
        [1, 1, 2, 32],
    ),
    (
        "a filter of one channel",
        lambda b, x: b.conv2d(x, constant(b, DEPTHWISE), groups=512),
        [1, 512, 4, 4],
        [512, 1, 1, 1],
        [512, 1, 1, 1],
    ),
]


@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize(("make", "shape", "eight", "four"), [each[1:] for each in CASES], ids=[each[0] for each in CASES])
def test_weights_become_integers(make: Any, shape: list[int], eight: list[int], four: list[int], bits: Any, tmp_path: Path) -> None:
    source = describe(make, shape)
    made = to_integers(source, bits)
    [dequantize] = [each for each in made.description.operators if each.operation == "dequantizeLinear"]
    known = made.description.descriptors()
    integers, scale, zero = [known[name] for _, _, name in dequantize.named_values()]
    assert (integers.dataType, list(scale.shape), zero.shape) == (f"int{bits}", eight if bits == 8 else four, scale.shape)
    assert dequantize.outputs[0] in source.constants
    [weight] = made.weights
    assert weight.name == dequantize.outputs[0]
    assert 0 < weight.error < (0.02 if bits == 8 else 0.25)
    # The graph computes with these numbers, also after it was saved.
    x = _random.integers(0, 9, shape).astype(np.float32)
    expected = compute(*build(source), {"x": x})["y"]
    for suffix in (".webnn", ".onnx"):
        made.description.save(tmp_path / f"graph{suffix}")
        actual = compute(*build(webnn.load(tmp_path / f"graph{suffix}")), {"x": x})["y"]
        difference = np.sqrt(np.square(actual - expected).mean() / np.square(expected).mean())
        assert 0 < difference < 2 * weight.error


def test_the_error_is_that_of_the_numbers() -> None:
    made = to_integers(describe(lambda b, x: b.matmul(x, constant(b, MATRIX)), [96, 96]), 4)
    numbers = compute(*build(made.description), {"x": np.eye(96, dtype=np.float32)})["y"]
    wanted = np.sqrt(np.square(numbers - MATRIX, dtype=np.float64).sum() / np.square(MATRIX, dtype=np.float64).sum())
    assert made.weights[0].error == pytest.approx(wanted, rel=1e-5)


def _used_twice(b: Any, x: Any) -> Any:
    weights = constant(b, MATRIX)
    return b.add(b.matmul(x, weights), b.matmul(x, b.abs(weights)))


OTHERS: list[tuple[str, Callable[[Any, Any], Any]]] = [
    ("small", lambda b, x: b.matmul(x, constant(b, MATRIX[:, :8].copy()))),
    ("not a weight", lambda b, x: b.add(x, constant(b, np.ones((96, 96), np.float32)))),
    ("used otherwise too", _used_twice),
    ("not finite", lambda b, x: b.matmul(x, constant(b, np.where(MATRIX > 3, np.inf, MATRIX).astype(np.float32)))),
]


@pytest.mark.parametrize("make", [each[1] for each in OTHERS], ids=[each[0] for each in OTHERS])
def test_other_constants_stay(make: Any) -> None:
    source = describe(make, [96, 96])
    made = to_integers(source, 8)
    assert made.weights == ()
    assert made.description == source


def test_a_block_of_zeros_stays_zero() -> None:
    weights = MATRIX.copy()
    weights[:, 3] = 0
    made = to_integers(describe(lambda b, x: b.matmul(x, constant(b, weights)), [1, 96]), 4)
    assert compute(*build(made.description), {"x": np.ones((1, 96), np.float32)})["y"][0, 3] == 0


def test_an_older_draft_is_lifted() -> None:
    builder = MLGraphBuilder(make_context("2024-06"))
    x = builder.input("x", {"dataType": "float32", "dimensions": [1, 96]})
    weights = builder.constant({"dataType": "float32", "dimensions": [96, 64]}, MATRIX)
    made = to_integers(webnn.describe({"y": builder.matmul(x, weights)}), 8)
    assert made.description.draft != "2024-06"
    assert [each.operation for each in made.description.operators] == ["dequantizeLinear", "matmul"]
