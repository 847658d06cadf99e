"""Graphs that the tests of `webnn.inspect` look into."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.support import make_context
from webnn import MLContext, MLGraph, MLGraphBuilder, MLOperand

__all__ = ["build", "constant", "float_input", "network", "network_inputs"]

Array = np.ndarray[Any, np.dtype[Any]]


def build(make: Callable[[MLGraphBuilder], dict[str, MLOperand]], revision: str = "2026-06", context: MLContext | None = None) -> MLGraph:
    """Build what a function makes."""
    builder = MLGraphBuilder(context or make_context(revision))
    return builder.buildSync(make(builder))


def float_input(builder: MLGraphBuilder, name: str, *shape: int, dataType: str = "float32") -> MLOperand:
    descriptor: Any = {"dataType": dataType, builder._revision.shape: list(shape)}
    return builder.input(name, descriptor)


def constant(builder: MLGraphBuilder, array: Array) -> MLOperand:
    descriptor: Any = {"dataType": array.dtype.name, builder._revision.shape: list(array.shape)}
    return builder.constant(descriptor, array)


def network(builder: MLGraphBuilder) -> dict[str, MLOperand]:
    """A convolution with a bias that is known at the build, ReLU, a sum with another convolution, and a softmax."""
    x = float_input(builder, "x", 1, 3, 16, 16)
    weights = constant(builder, np.linspace(-1, 1, 108, dtype=np.float32).reshape(4, 3, 3, 3))
    ones = constant(builder, np.ones(4, np.float32))
    bias = builder.mul(ones, ones, {"label": "bias"})
    first = builder.relu(builder.conv2d(x, weights, {"bias": bias, "label": "conv"}), {"label": "act"})
    second = builder.add(builder.conv2d(x, weights), first, {"label": "sum"})
    flat = builder.reshape(second, [1, 784])
    return {"y": builder.softmax(flat, 1, {"label": "probabilities"})}


def network_inputs() -> dict[str, Array]:
    return {"x": np.linspace(-1, 1, 768, dtype=np.float32).reshape(1, 3, 16, 16)}
