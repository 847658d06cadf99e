"""Small graphs and data for the tests of whole data sets."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

import webnn

__all__ = ["WEIGHTS", "Array", "data", "double", "expected", "several", "times"]

Array = np.ndarray[Any, np.dtype[Any]]
WEIGHTS = np.arange(8, dtype=np.float32).reshape(4, 2)


@functools.cache
def times(draft: str = "2026-06", rows: int = 1) -> webnn.MLGraph:
    """Return a graph of x [rows, 4] that multiplies by `WEIGHTS`."""
    builder = webnn.MLGraphBuilder(webnn.ML(revision=draft).createContextSync())
    member = "shape" if draft == "2026-06" else "dimensions"
    x = builder.input("x", {"dataType": "float32", member: [rows, 4]})  # type: ignore[misc]
    weights = builder.constant({"dataType": "float32", member: [4, 2]}, WEIGHTS)  # type: ignore[misc]
    return builder.buildSync({"y": builder.matmul(x, weights)})


def double(dataType: str, shape: list[int], output: str = "y") -> webnn.MLGraph:
    """Return a graph that adds an input to itself."""
    builder = webnn.MLGraphBuilder(webnn.ML(revision="2026-06+browsers").createContextSync())
    x = builder.input("x", {"dataType": dataType, "shape": shape})
    return builder.buildSync({output: builder.add(x, x) if dataType not in ("int4", "uint4") else builder.reshape(x, shape)})


@functools.cache
def several() -> webnn.MLGraph:
    """Return a graph of a [2, 3] and b [2], with an output for each."""
    builder = webnn.MLGraphBuilder(webnn.ML(revision="2026-06").createContextSync())
    a = builder.input("a", dataType="float32", shape=[2, 3])
    b = builder.input("b", dataType="int32", shape=[2])
    return builder.buildSync({"a2": builder.add(a, a), "b2": builder.add(b, b)})


def data(rows: int) -> Array:
    """Return seeded rows for `times`."""
    return np.random.default_rng(rows).standard_normal((rows, 4)).astype(np.float32)


def expected(rows: Array) -> Array:
    return rows @ WEIGHTS
