"""Tensors and models of one operator, in few words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.webnn.tflite.models import Graph, Op, T, write

__all__ = ["b", "c", "f", "feed", "i", "ints", "one", "q", "qc"]

Array = np.ndarray[Any, np.dtype[Any]]


def f(*shape: int, **settings: Any) -> T:
    """A float32 input or output."""
    return T(type="FLOAT32", shape=shape, **settings)


def i(*shape: int, type: str = "INT32", **settings: Any) -> T:
    return T(type=type, shape=shape, **settings)


def b(*shape: int) -> T:
    return T(type="BOOL", shape=shape)


def q(*shape: int, scale: float = 0.05, zero: int = 3, type: str = "INT8") -> T:
    """Quantized integers."""
    return T(type=type, shape=shape, scale=[scale], zero=[zero])


def c(*shape: int, seed: int = 1) -> T:
    """A float32 constant."""
    return T(np.random.default_rng(seed).normal(size=shape).astype(np.float32))


def ints(*values: Any, type: str = "i4") -> T:
    return T(np.array(values[0] if len(values) == 1 else values, type))


def qc(*shape: int, scales: Sequence[float] = (0.02,), axis: int = 0, type: str = "i1", zero: Sequence[int] = (0,), seed: int = 2) -> T:
    """A quantized constant."""
    low, high = (-127, 127) if type == "i1" else (0, 255) if type == "u1" else (-1000, 1000)
    data = np.random.default_rng(seed).integers(low, high, shape, endpoint=True).astype(type)
    return T(data, scale=scales, zero=list(zero) * (len(scales) if len(zero) == 1 else 1), axis=axis)


def one(
    code: str,
    inputs: Sequence[T | None],
    outputs: Sequence[T],
    options: str = "",
    *,
    custom: bytes | None = None,
    version: int = 1,
    **fields: Any,
) -> bytes:
    """Write a model of one operator. Tensors without elements are its inputs."""
    given = [each for each in inputs if each is not None]
    tensors = [*given, *outputs]
    indices = [-1 if each is None else next(k for k, t in enumerate(tensors) if t is each) for each in inputs]
    results = list(range(len(given), len(tensors)))
    feeds = [k for k, each in enumerate(given) if each.data is None and each.raw is None and not each.variable]
    operator = Op(code, indices, results, (options, fields) if options else None, custom, version)
    return write(Graph(tensors, [operator], feeds, results))


def feed(details: Sequence[tuple[str, Sequence[int], np.dtype[Any]]]) -> list[Array]:
    """Return inputs: numbers around 0, small integers, booleans."""
    rng = np.random.default_rng(5)
    found: list[Array] = []
    for _, shape, dtype in details:
        if dtype.kind == "f":
            found.append(rng.normal(size=shape).astype(dtype))
        elif dtype.kind == "b":
            found.append(rng.random(shape) < 0.5)
        else:
            low = 0 if dtype.kind == "u" else -100
            found.append(rng.integers(low, 100, shape).astype(dtype))
    return found
