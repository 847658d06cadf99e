"""Sums of 4,096 ones, with accumulators of float16 and of float32: a float16 accumulator stops at 2,048, because 2,049 is not a float16."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["CASES", "COUNT", "STOP"]

#: How many ones are added, and where an accumulator of float16 stops.
COUNT, STOP = 4096, 2048

Array = np.ndarray[Any, np.dtype[Any]]


def _ones(*shape: int) -> Array:
    return np.ones(shape, np.float16)


def _gates(*values: float) -> Array:
    """Return the weights of gates of one unit: all inputs have the same weight."""
    return np.repeat(np.array(values, np.float16), COUNT).reshape(len(values), COUNT)


_GRU = (_ones(1, COUNT), _gates(0, 0, 1), np.zeros([3, 1], np.float16))
_LSTM = (_ones(1, COUNT), _gates(0, 0, 0, 1), np.zeros([4, 1], np.float16))
_ZERO = np.zeros([1, 1], np.float16)
_RELU: dict[str, Any] = {"activations": ["sigmoid", "relu"]}
_RELUS: dict[str, Any] = {"activations": ["sigmoid", "relu", "relu"]}

#: The operation, a call, its operands, and the first element of the result, by the sum.
CASES: list[tuple[str, Callable[..., Any], list[Array], Callable[[float], float]]] = [
    ("matmul", lambda b, x, y: b.matmul(x, y), [_ones(1, COUNT), _ones(COUNT, 1)], float),
    (
        "gemm",
        lambda b, x, y, c: b.gemm(x, y, c=c, alpha=0.5, bTranspose=True),
        [_ones(1, COUNT), _ones(1, COUNT), _ones(1)],
        lambda n: n / 2 + 1,
    ),
    ("conv2d", lambda b, x, w: b.conv2d(x, w), [_ones(1, COUNT, 1, 1), _ones(1, COUNT, 1, 1)], float),
    ("conv2d", lambda b, x, w: b.conv2d(x, w), [_ones(1, 1, 64, 64), _ones(1, 1, 64, 64)], float),
    ("convTranspose2d", lambda b, x, w: b.convTranspose2d(x, w), [_ones(1, COUNT, 1, 1), _ones(COUNT, 1, 1, 1)], float),
    ("reduceSum", lambda b, x: b.reduceSum(x), [_ones(64, 64)], float),
    ("reduceL1", lambda b, x: b.reduceL1(x, axes=[1]), [-_ones(1, COUNT)], float),
    ("reduceL2", lambda b, x: b.reduceL2(x), [_ones(COUNT)], math.sqrt),
    ("reduceLogSum", lambda b, x: b.reduceLogSum(x), [_ones(COUNT)], math.log),
    ("reduceLogSumExp", lambda b, x: b.reduceLogSumExp(x), [3 * _ones(COUNT)], lambda n: 3 + math.log(n)),
    ("reduceMean", lambda b, x: b.reduceMean(x), [_ones(COUNT)], lambda n: n / COUNT),
    ("reduceSumSquare", lambda b, x: b.reduceSumSquare(x), [_ones(COUNT)], float),
    ("gruCell", lambda b, *x: b.gruCell(*x, 1, **_RELU), [*_GRU, _ZERO], lambda n: n / 2),
    ("gru", lambda b, *x: b.gru(*x, 1, 1, **_RELU)[0], [each[np.newaxis] for each in _GRU], lambda n: n / 2),
    ("lstmCell", lambda b, *x: b.lstmCell(*x, 1, **_RELUS)[1], [*_LSTM, _ZERO, _ZERO], lambda n: n / 2),
    ("lstm", lambda b, *x: b.lstm(*x, 1, 1, **_RELUS)[0], [each[np.newaxis] for each in _LSTM], lambda n: n / 4),
]
