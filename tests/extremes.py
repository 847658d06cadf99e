"""Extreme operands, and what each function makes of them in float64: the truth that decompositions are compared with.

The numbers are those at which unstable forms overflow or cancel: exp(88.8) leaves float32, exp(11.1) leaves float16, 65,504 is the largest
number of float16. The truth is the formula of the draft, in a form that is right in float64. So it is NaN where the formula is infinity
times 0, or infinity by infinity.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

__all__ = ["FUNCTIONS", "NUMBERS", "ROWS", "ROW_FUNCTIONS", "Array", "Function", "assert_near", "cast"]

Array = np.ndarray[Any, np.dtype[Any]]
Function = Callable[[Array], Array]

_POSITIVE = (1e4, 88.8, 100, 104, 12, 5.957, 45, 17, 20, 9, 3, 1, 0.1, 1e-4, 65504, 3e38, 1e25, 1e-30, math.inf, 0.0)
#: Numbers for functions of single elements.
NUMBERS: Array = np.array([*_POSITIVE, *[-each for each in _POSITIVE], math.nan])

_ROWS = (
    *((1e4, 1e4 - 8, -1e4, 0), (100, 100, 100, 100), (-100, -100, -100, -100), (88.8, 88, 1, 2), (-104, -88.8, -90, -1e4)),
    *((65504, 65504, 65504, 65504), (65504, -65504, 1, 2), (300, 400, 500, -600), (2**-12, 2**-13, 0, 0)),
    *((math.inf, 1, 2, 3), (-math.inf, 1, 2, 3), (-math.inf,) * 4, (math.inf, -math.inf, 0, 1), (math.nan, 1, 2, 3)),
)
#: Rows for functions along an axis.
ROWS: Array = np.array(_ROWS)

_erf = np.vectorize(math.erf, otypes=[np.float64])
_erfc = np.vectorize(math.erfc, otypes=[np.float64])


def _sigmoid(x: Array) -> Array:
    small = np.exp(-np.abs(x))
    return np.asarray(np.where(x < 0, small, 1) / (1 + small))


def _log_sum_exp(x: Array) -> Array:
    greatest = x.max(-1, keepdims=True)
    greatest = np.where(np.isfinite(greatest), greatest, 0)
    return np.asarray(np.log(np.exp(x - greatest).sum(-1)) + greatest[..., 0])


def _softmax(x: Array) -> Array:
    exponentials = np.exp(x - x.max(-1, keepdims=True))
    return np.asarray(exponentials / exponentials.sum(-1, keepdims=True))


def _normalize(x: Array) -> Array:
    centred = x - x.mean(-1, keepdims=True)
    return np.asarray(centred / np.sqrt((centred * centred).mean(-1, keepdims=True) + 1e-5))


FUNCTIONS: Mapping[str, Function] = {
    "elu": lambda x: np.maximum(x, 0) + np.expm1(np.minimum(x, 0)),
    "erf": _erf,
    "gelu": lambda x: 0.5 * x * _erfc(-x / math.sqrt(2)),
    "hardSwish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "leakyRelu": lambda x: np.where(x < 0, 0.01 * x, x),
    "relu": lambda x: np.maximum(x, 0),
    "sigmoid": _sigmoid,
    "softplus": lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))),
    "softsign": lambda x: x / (1 + np.abs(x)),
    "tanh": np.tanh,
}
#: Functions along the last axis, which reductions remove.
ROW_FUNCTIONS: Mapping[str, Function] = {
    "layerNormalization": _normalize,
    "reduceL1": lambda x: np.abs(x).sum(-1),
    "reduceL2": lambda x: np.sqrt((x * x).sum(-1)),
    "reduceLogSum": lambda x: np.log(x.sum(-1)),
    "reduceLogSumExp": _log_sum_exp,
    "reduceMean": lambda x: x.mean(-1),
    "reduceSumSquare": lambda x: (x * x).sum(-1),
    "softmax": _softmax,
}


def cast(numbers: Array, dataType: str) -> Array:
    """Return numbers in a type; those beyond its range are infinite."""
    with np.errstate(over="ignore"):
        return numbers.astype(dataType)


def assert_near(found: Array, function: Function, x: Array, *, slack: float = 0) -> None:
    """Check results of operands against the truth: infinities and NaN exactly, numbers to some roundings of their type.

    ``slack`` is added to the absolute tolerance.
    """
    with np.errstate(all="ignore"):
        wanted = cast(function(x.astype(np.float64)), found.dtype.name)
    # float16: one unit in the last place, which is 2**-24 for the smallest; float32: what engines' functions are off by.
    rtol, atol = (2**-10, 2**-24) if found.dtype == np.float16 else (1e-5, 2e-7)
    np.testing.assert_allclose(found.astype(np.float64), wanted.astype(np.float64), rtol=rtol, atol=atol + slack, equal_nan=True)
