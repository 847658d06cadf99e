"""Graphs for the tests of files."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.support import BROWSERS, CURRENT, make_context
from webnn import GraphDescription, MLGraphBuilder, describe

__all__ = ["mixed", "new_builder", "relu", "small_integers"]


def new_builder(draft: str = CURRENT) -> MLGraphBuilder:
    return MLGraphBuilder(make_context(draft))


def tensor(dataType: str, *shape: int) -> Any:
    return {"dataType": dataType, "shape": list(shape)}


def relu(name: str = "", value: str = "x", output: str = "y") -> GraphDescription:
    """Describe the graph of one operator."""
    builder = new_builder()
    return describe({output: builder.relu(builder.input(value, tensor("float32", 2)))}, name=name)


def mixed() -> GraphDescription:
    """Describe a graph that has every kind of part: sequences, optional operands, constants of all sizes, special numbers, labels."""
    builder = new_builder()
    x = builder.input("x", tensor("float32", 1, 2, 4, 4))
    filter = builder.constant(tensor("float32", 2, 2, 1, 1), np.arange(4, dtype=np.float32).reshape(2, 2, 1, 1))
    large = builder.constant(tensor("float16", 1, 2, 4, 4), np.full((1, 2, 4, 4), np.inf, np.float16))
    bias = builder.constant(tensor("float32", 2), np.array([-0.0, math.nan], np.float32))
    y = builder.conv2d(x, filter, bias=bias, strides=[1, 1], inputLayout="nchw", label='conv "1"\n\U0001f926')
    left, right = builder.split(y, 2, axis=1)
    clamped = builder.clamp(left, minValue=-0.0, maxValue=math.inf)
    scaled = builder.resample2d(right, scales=[0.1 + 1.0, 1.0], mode="linear")
    joined = builder.concat([builder.cast(clamped, "float16"), builder.slice(large, [0, 0, 0, 0], [1, 1, 4, 4])], 1)
    big = builder.constant("int64", 2**62 + 1)
    count = builder.clamp(big, maxValue=2**63 - 1)
    return describe({"scaled": scaled, "joined": joined, "count": count}, name="mixed")


def small_integers() -> GraphDescription:
    """Describe a graph with an odd number of elements of four bits."""
    builder = new_builder(BROWSERS)
    packed = builder.constant(tensor("int4", 5), np.array([0x21, 0x43, 0x0F], np.uint8))
    scale, zero = builder.constant(tensor("float32", 1), np.ones(1, np.float32)), builder.constant(tensor("int4", 1), np.zeros(1, np.uint8))
    return describe({"y": builder.dequantizeLinear(packed, scale, zero)})
