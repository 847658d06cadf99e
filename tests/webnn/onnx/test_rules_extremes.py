"""Extreme operands of ONNX operators that are made of others: nothing overflows, or cancels, where the result does not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.extremes import FUNCTIONS, NUMBERS, ROW_FUNCTIONS, ROWS, Array, Function, assert_near, cast
from tests.webnn.onnx.models import compute, make
from tests.webnn.onnx.rules.test_elementwise import node

_ALPHA, _GAMMA = 1.67326319217681884765625, 1.05070102214813232421875


def _log_softmax(x: Array) -> Array:
    below = x - x.max(-1, keepdims=True)
    return np.asarray(below - ROW_FUNCTIONS["reduceLogSumExp"](below)[..., np.newaxis])


def _gelu_tanh(x: Array) -> Array:
    u = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    return x * FUNCTIONS["sigmoid"](2 * u)


def _centred(x: Array) -> Array:
    return np.asarray(x - x.mean(-1, keepdims=True))


#: ONNX's operator, its attributes, and the truth.
ELEMENTS: list[tuple[str, dict[str, Any], Function]] = [
    ("Celu", {"alpha": 2.0}, lambda x: np.maximum(x, 0) + 2 * np.expm1(np.minimum(x, 0) / 2)),
    ("Gelu", {"approximate": "tanh"}, _gelu_tanh),
    ("Mish", {}, lambda x: x * np.tanh(FUNCTIONS["softplus"](x))),
    ("Selu", {}, lambda x: _GAMMA * (np.maximum(x, 0) + _ALPHA * np.expm1(np.minimum(x, 0)))),
    ("Softplus", {}, FUNCTIONS["softplus"]),
    ("Sinh", {}, np.sinh),
    ("Cosh", {}, np.cosh),
    ("Asinh", {}, np.arcsinh),
    ("Atan", {}, np.arctan),
]
ALONG: list[tuple[str, dict[str, Any], Function]] = [
    ("LogSoftmax", {}, _log_softmax),
    ("LpNormalization", {"p": 1}, lambda x: x / np.abs(x).sum(-1, keepdims=True)),
    ("LpNormalization", {"p": 2}, lambda x: x / np.sqrt((x * x).sum(-1, keepdims=True))),
    ("MeanVarianceNormalization", {"axes": [1]}, lambda x: _centred(x) / (x.std(-1, keepdims=True) + 1e-9)),
    ("Softmax", {}, ROW_FUNCTIONS["softmax"]),
]
#: Of float16, the gate is rounded to a multiple of 2**-24, and multiplied with numbers up to 20.
GATED = {"Gelu": 2.0**-20, "Mish": 2.0**-20}
TABLE = [
    (*row, cast(numbers, dataType))
    for rows, numbers in ((ELEMENTS, NUMBERS), (ALONG, ROWS))
    for row in rows
    for dataType in ("float32", "float16")
    # ONNX has no Celu of float16.
    if (row[0], dataType) != ("Celu", "float16")
]


@pytest.mark.parametrize(
    ("operator", "attributes", "function", "x"), TABLE, ids=[f"{row[0]}-{row[3].dtype}-{i}" for i, row in enumerate(TABLE)]
)
def test_operators(operator: str, attributes: dict[str, Any], function: Function, x: Array) -> None:
    found = compute(make(node(operator, **attributes), {"x": x}), {"x": x})["r"]
    assert_near(found, function, x, slack=GATED.get(operator, 0) if x.dtype == np.float16 else 0)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_pools_of_float16(order: int) -> None:
    """Powers of numbers above 255 leave float16, their roots do not."""
    x = np.array([300, -400, 500, 3000], np.float16).reshape(1, 1, 2, 2)
    found = compute(make(node("LpPool", p=order, kernel_shape=[2, 2]), {"x": x}), {"x": x})["r"]
    wanted = (np.abs(x.astype(np.float64)) ** order).sum() ** (1 / order)
    np.testing.assert_allclose(found.ravel().astype(np.float64), [wanted], rtol=2**-10)


def test_neighbours_of_float16() -> None:
    """LRN squares numbers whose squares leave float16."""
    x = np.array([300, 400, -500, 60000, 0.5], np.float16).reshape(1, 5, 1, 1)
    found = compute(make(node("LRN", size=3, alpha=0.01, beta=0.5), {"x": x}), {"x": x})["r"]
    squares = np.pad(x.ravel().astype(np.float64) ** 2, 1)
    wanted = x.ravel() / np.sqrt(1 + 0.01 / 3 * (squares[:-2] + squares[1:-1] + squares[2:]))
    np.testing.assert_allclose(found.ravel().astype(np.float64), wanted, rtol=2**-10)
