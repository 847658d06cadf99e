"""Graphs for the tests of tables and pictures."""

from __future__ import annotations

import functools

import numpy as np

import webnn
from tests.support import CURRENT, shared_context
from webnn import GraphDescription, MLGraphBuilder, MLOperand

__all__ = ["HOSTILE", "builder", "chain", "encoder", "hostile", "weights"]

#: A label that tries everything: markup, quotes, escapes, control characters, directions, a surrogate, wide characters.
HOSTILE = "</title><script>alert(1)</script>]]>\"'&amp;\\n\x00\x1b[2J\u202e\ud800`end` [x](y) {z} 層%% #35;"


def builder() -> MLGraphBuilder:
    """A builder of the newest draft."""
    return MLGraphBuilder(shared_context(CURRENT))


def weights(b: MLGraphBuilder, *shape: int) -> MLOperand:
    """A constant of ones."""
    return b.constant({"dataType": "float32", "shape": shape}, np.ones(shape, np.float32))


@functools.cache
def encoder(layers: int) -> GraphDescription:
    """A network of equal layers; each takes the mask, and has two branches and a residual."""
    b = builder()
    x, mask = (b.input(name, dataType="float32", shape=[4, 8]) for name in ("x", "mask"))
    x = b.add(x, weights(b, 8), label="position")
    for number in range(layers):
        query, key = (b.matmul(x, weights(b, 8, 8), label=f"layer{number}/{name}") for name in ("query", "key"))
        scores = b.softmax(b.matmul(b.add(query, mask), b.transpose(key), label=f"layer{number}/scores"), 1)
        x = b.add(x, b.relu(b.matmul(scores, weights(b, 4, 8), label=f"layer{number}/out")))
    return webnn.describe({"y": b.tanh(x)}, name="encoder")


@functools.cache
def chain(operations: tuple[str, ...]) -> GraphDescription:
    """A chain of unary operations."""
    b = builder()
    x = b.input("x", dataType="float32", shape=[2, 3])
    for name in operations:
        x = getattr(b, name)(x)
    return webnn.describe({"y": x})


@functools.cache
def hostile() -> GraphDescription:
    """A graph whose every name is `HOSTILE`."""
    b = builder()
    x = b.input(HOSTILE, dataType="float32", shape=[2, 3])
    y = b.add(b.relu(x, label=HOSTILE), weights(b, 3), label=HOSTILE)
    return webnn.describe({f"{HOSTILE}1": b.split(y, 3, axis=1, label=HOSTILE)[1], f"{HOSTILE}2": y}, name=HOSTILE)
