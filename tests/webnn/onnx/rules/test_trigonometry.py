"""Inverse trigonometric and hyperbolic functions, compared with float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from onnx import helper

from tests.webnn.onnx.models import compute, make

Array = np.ndarray[Any, np.dtype[Any]]
#: The function, and the range in which it is a finite number of float32.
FUNCTIONS: dict[str, tuple[Callable[[Array], Array], float, float]] = {
    "Acos": (np.arccos, -1, 1),
    "Acosh": (np.arccosh, 1, 3.4e38),
    "Asin": (np.arcsin, -1, 1),
    "Asinh": (np.arcsinh, -3.4e38, 3.4e38),
    "Atan": (np.arctan, -3.4e38, 3.4e38),
    "Atanh": (np.arctanh, -0.9999999, 0.9999999),
    "Cosh": (np.cosh, -89.4, 89.4),
    "Sinh": (np.sinh, -89.4, 89.4),
}
#: The largest error that is allowed, in units of the last place; measured are 2.4.
MOST = 4


def _compute(operator: str, x: Array) -> Array:
    feeds = {"x": x}
    return compute(make(helper.make_node(operator, ["x"], ["y"]), feeds, 20), feeds)["y"]


@pytest.mark.parametrize("operator", FUNCTIONS)
def test_errors(operator: str) -> None:
    function, low, high = FUNCTIONS[operator]
    random = np.random.default_rng(0)
    magnitudes = np.exp(random.uniform(np.log(1e-36), np.log(high), 20000))
    near_one = np.exp(random.uniform(np.log(1e-7), 0, 5000))
    borders = [np.linspace(each - 0.01, each + 0.01, 2001) for each in (np.sqrt(2) - 1, 0.5, 1, 2, 1 + np.sqrt(2), 80, 16384)]
    numbers = np.concatenate([magnitudes, 1 + near_one, 1 - near_one, random.uniform(0, 4, 20000), *borders])
    x = np.concatenate([numbers, -numbers]).astype(np.float32)
    x = x[(low <= x) & (x <= high)]
    exact = function(x.astype(np.float64))
    errors = np.abs(_compute(operator, x) - exact) / np.spacing(np.abs(exact).astype(np.float32))
    assert errors.size > 10000
    assert errors.max() < MOST, x[errors.argmax()]


@pytest.mark.parametrize("operator", FUNCTIONS)
def test_special_values(operator: str) -> None:
    """Infinities, NaN, zeros, borders, and numbers outside the domain."""
    x = np.array([0.0, np.inf, -np.inf, np.nan, 1, -1, 1.001, -1.001, 3.4e38, -3.4e38, 1e-38, 500], np.float32)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(_compute(operator, x), FUNCTIONS[operator][0](x), rtol=1e-6)


@pytest.mark.parametrize("operator", FUNCTIONS)
def test_float16(operator: str) -> None:
    """Every number of the type; all but a few are the nearest one."""
    function, _, _ = FUNCTIONS[operator]
    x = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    x = x[np.abs(x) > 1e-4]
    with np.errstate(all="ignore"):
        wanted = function(x.astype(np.float64)).astype(np.float16)
    actual = _compute(operator, x)
    np.testing.assert_allclose(actual, wanted, rtol=1.1e-3)
    assert np.mean((actual != wanted) & ~np.isnan(wanted)) < 1e-3
