"""Batch normalization, and linear algebra."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.webnn.stablehlo.programs import Array, check, refusal, type_of

RANDOM = np.random.default_rng(3)
NORM = {"epsilon": 0.01, "feature_index": 1}
X = RANDOM.standard_normal((4, 3, 5)).astype(np.float32)
SCALE, OFFSET, MEAN = (RANDOM.standard_normal(3).astype(np.float32) for _ in range(3))
VARIANCE = np.abs(SCALE) + np.float32(0.5)
GRADIENT = RANDOM.standard_normal(X.shape).astype(np.float32)


def along(array: Any) -> Any:
    return np.asarray(array, np.float64).reshape(1, 3, 1)


def normalize(mean: Any, variance: Any) -> Any:
    return (X - along(mean)) / np.sqrt(along(variance) + 0.01) * along(SCALE) + along(OFFSET)


def test_inference() -> None:
    wanted = normalize(MEAN, VARIANCE).astype(np.float32)
    check("batch_norm_inference", [X, SCALE, OFFSET, MEAN, VARIANCE], wanted, NORM, tolerance=1e-5)


def test_training() -> None:
    wide = X.astype(np.float64)
    mean, variance = wide.mean((0, 2)), wide.var((0, 2))
    wanted = [each.astype(np.float32) for each in (normalize(mean, variance), mean, variance)]
    check("batch_norm_training", [X, SCALE, OFFSET], wanted, NORM, tolerance=2e-5)


def test_training_of_float16() -> None:
    """The squares of the differences leave float16, their root and the results do not."""
    x = np.array([[300, 400, 500, -600], [2, 4, 6, 8]], np.float16)
    ones, zeros = np.ones(2, np.float16), np.zeros(2, np.float16)
    wide = x.astype(np.float64)
    mean, variance = wide.mean(1), wide.var(1)
    centred = (wide - mean[:, np.newaxis]) / np.sqrt(variance + 0.01)[:, np.newaxis]
    with np.errstate(over="ignore"):
        wanted = [each.astype(np.float16) for each in (centred, mean, variance)]
    assert np.isinf(wanted[2][0])
    check("batch_norm_training", [x, ones, zeros], wanted, {"epsilon": 0.01, "feature_index": 0}, tolerance=2e-3)


def test_gradients() -> None:
    """The gradients are those of a numerical derivative, if mean and variance are those of the tensor."""
    wide, scale = X.astype(np.float64), SCALE.astype(np.float64)

    def loss(x: Array, scale: Array) -> float:
        mean, variance = x.mean((0, 2), keepdims=True), x.var((0, 2), keepdims=True)
        return float(((x - mean) / np.sqrt(variance + 0.01) * along(scale) * GRADIENT).sum())

    def derive(function: Callable[[Array], float], at: Array) -> Array:
        found = np.zeros_like(at)
        for index in np.ndindex(*at.shape):
            step = np.zeros_like(at)
            step[index] = 1e-5
            found[index] = (function(at + step) - function(at - step)) / 2e-5
        return found.astype(np.float32)

    wanted = [derive(lambda x: loss(x, scale), wide), derive(lambda s: loss(wide, s), scale), GRADIENT.sum((0, 2))]
    operands = [X, SCALE, wide.mean((0, 2)).astype(np.float32), wide.var((0, 2)).astype(np.float32), GRADIENT]
    check("batch_norm_grad", operands, wanted, NORM, tolerance=1e-3)


@pytest.mark.parametrize(
    ("feature", "scale", "message"),
    [
        (3, SCALE, "feature_index must be from 0 to 2, got 3"),
        (-1, SCALE, "feature_index must be from 0 to 2, got -1"),
        (1, SCALE[:2], r"the operand 1 must have the shape \[4, 3, 5\] or \[3\], got \[2\]"),
    ],
)
def test_refusals(feature: int, scale: Array, message: str) -> None:
    attributes = {"epsilon": 0.01, "feature_index": feature}
    operands = [X, scale, OFFSET, MEAN, VARIANCE]
    assert re.search(message, refusal("batch_norm_inference", operands, [type_of(X)], attributes))


@pytest.mark.parametrize("is_lower", [False, True])
@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (3, 5, 5), (9, 9)])
def test_cholesky(shape: tuple[int, ...], is_lower: bool) -> None:
    root = RANDOM.standard_normal(shape)
    matrix = (root @ np.swapaxes(root, -1, -2) + 2 * np.eye(shape[-1])).astype(np.float32)
    wanted = np.linalg.cholesky(matrix.astype(np.float64)).astype(np.float32)
    # The other triangle is not read.
    given = np.where(np.tri(shape[-1], dtype=bool), matrix, np.float32(np.nan))
    if not is_lower:
        given, wanted = np.swapaxes(given, -1, -2), np.swapaxes(wanted, -1, -2)
    check("cholesky", [given.copy()], wanted, {"lower": is_lower}, tolerance=1e-4)


@pytest.mark.parametrize("left_side", [False, True])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("unit_diagonal", [False, True])
@pytest.mark.parametrize("transpose_a", ["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"])
def test_triangular_solve(left_side: bool, lower: bool, unit_diagonal: bool, transpose_a: str) -> None:
    matrix = RANDOM.standard_normal((2, 5, 5)).astype(np.float32) / 4 + 2 * np.eye(5, dtype=np.float32)
    wide = (np.tril if lower else np.triu)(matrix.astype(np.float64))
    if unit_diagonal:
        wide = np.where(np.eye(5, dtype=bool), 1.0, wide)
    wide = wide if transpose_a == "NO_TRANSPOSE" else np.swapaxes(wide, -1, -2)
    solution = RANDOM.integers(1, 9, (2, 5, 3) if left_side else (2, 3, 5)).astype(np.float64)
    right = (wide @ solution if left_side else solution @ wide).astype(np.float32)
    given = np.where(np.tri(5, dtype=bool) if lower else np.tri(5, dtype=bool).T, matrix, np.float32(np.nan))
    if unit_diagonal:
        given = np.where(np.eye(5, dtype=bool), np.float32(np.nan), given)
    attributes = {"left_side": left_side, "lower": lower, "unit_diagonal": unit_diagonal, "transpose_a": transpose_a}
    check("triangular_solve", [given, right], solution.astype(np.float32), attributes, tolerance=1e-4, known=[(), (0,)])


SOLVE = {"left_side": True, "lower": True, "unit_diagonal": False, "transpose_a": "NO_TRANSPOSE"}


@pytest.mark.parametrize(
    ("name", "shapes", "attributes", "message"),
    [
        ("cholesky", [(2, 3)], {"lower": True}, "the operand must be square matrices of floating-point numbers, got"),
        ("cholesky", [(3,)], {"lower": True}, "the operand must be square matrices of floating-point numbers, got"),
        ("cholesky", [(300, 300)], {"lower": True}, "a matrix must have at most 256 rows, got 300"),
        ("triangular_solve", [(3, 3), (2, 3)], SOLVE, r"the second operand must fit the matrices \[3, 3\], got \[2, 3\]"),
        ("triangular_solve", [(3, 3), (3,)], SOLVE, r"the second operand must fit the matrices \[3, 3\], got \[3\]"),
        ("triangular_solve", [(3, 3), (3, 2)], {**SOLVE, "transpose_a": "X"}, "transpose_a must be NO_TRANSPOSE, TRANSPOSE or ADJOINT"),
    ],
)
def test_refusals_of_linear_algebra(name: str, shapes: list[tuple[int, ...]], attributes: dict[str, Any], message: str) -> None:
    operands = [np.zeros(shape, np.float32) for shape in shapes]
    assert re.search(message, refusal(name, operands, [type_of(operands[-1])], attributes))


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("batch_norm_grad", 4),
        ("batch_norm_inference", 4),
        ("batch_norm_training", 2),
        ("cholesky", 2),
        ("convolution", 1),
        ("dot", 3),
        ("dot_general", 1),
        ("dynamic_conv", 2),
        ("reduce", 3),
        ("reduce_window", 1),
        ("select_and_scatter", 2),
        ("triangular_solve", 1),
        ("uniform_dequantize", 2),
        ("uniform_quantize", 2),
    ],
)
@pytest.mark.parametrize("is_known", [False, True])
def test_wrong_numbers_of_operands(name: str, count: int, is_known: bool) -> None:
    """A module that is built by hand is not checked by MLIR."""
    operands = [np.zeros((3, 3), np.float32)] * count
    reason = refusal(name, operands, [type_of(operands[0])], {}, known=range(count) if is_known else ())
    assert re.search(r"there must be \d operands, got \d|there must be an initial value and a result for each operand, got", reason)
