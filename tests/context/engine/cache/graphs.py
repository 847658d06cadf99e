"""Graphs for the tests of the cache: layers of every kind that the engine's optimizer changes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from webnn import ML, MLContext, MLGraph, MLGraphBuilder, MLOperand
from webnn.context.engine.cache import models
from webnn.context.once import compute

Array = np.ndarray[Any, np.dtype[Any]]
Make = Callable[[MLGraphBuilder], MLOperand]

SHAPE = (1, 4, 12, 12)


def numbers(*shape: int, dtype: str = "float32", seed: int = 0) -> Array:
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(dtype)


def whole(*shape: int, dtype: str, seed: int = 0) -> Array:
    limits = np.iinfo(dtype)
    return np.random.default_rng(seed).integers(limits.min, limits.max, shape, dtype, endpoint=True)


def constant(builder: MLGraphBuilder, value: Array) -> MLOperand:
    descriptor: Any = {"dataType": value.dtype.name, "shape": value.shape}
    operand: MLOperand = builder.constant(descriptor, value)
    return operand


def convolutions(builder: MLGraphBuilder, seed: int = 0, dtype: str = "float32") -> MLOperand:
    """Convolutions with biases, batch normalization, a residual connection and pooling, as the engine lays out anew."""
    value = builder.input("x", {"dataType": dtype, "shape": SHAPE})  # type: ignore[typeddict-item]
    for index, channels in enumerate([4, 16, 16, 16]):
        before = value
        filter = constant(builder, numbers(16, channels, 3, 3, dtype=dtype, seed=seed + index))
        bias = constant(builder, numbers(16, dtype=dtype, seed=seed + 10 + index))
        value = builder.conv2d(value, filter, bias=bias, padding=[1, 1, 1, 1])
        if index == 1:
            mean, variance = (constant(builder, abs(numbers(16, dtype=dtype, seed=seed + 20 + at))) for at in range(2))
            value = builder.batchNormalization(value, mean, variance)
        value = builder.clamp(value, minValue=0, maxValue=6)
        if index > 1:
            value = builder.add(before, value)
    return builder.softmax(builder.maxPool2d(value, windowDimensions=[2, 2], strides=[2, 2]), 1)


def channels_last(builder: MLGraphBuilder) -> MLOperand:
    """The same in "nhwc", with a depthwise convolution."""
    value = builder.transpose(builder.input("x", {"dataType": "float32", "shape": SHAPE}), permutation=[0, 2, 3, 1])
    for index, channels in enumerate([4, 16, 16]):
        filter = constant(builder, numbers(16, 3, 3, channels, seed=index))
        value = builder.conv2d(value, filter, padding=[1, 1, 1, 1], inputLayout="nhwc", filterLayout="ohwi")
        value = builder.relu(builder.add(value, constant(builder, numbers(16, seed=index + 5))))
    depthwise = constant(builder, numbers(1, 3, 3, 16, seed=9))
    value = builder.conv2d(value, depthwise, groups=16, inputLayout="nhwc", filterLayout="ihwo")
    return builder.sigmoid(builder.averagePool2d(value, layout="nhwc"))


def attention(builder: MLGraphBuilder, dtype: str = "float32") -> MLOperand:
    """A block of a transformer."""
    flat = builder.reshape(builder.input("x", {"dataType": dtype, "shape": SHAPE}), [1, 24, 24])  # type: ignore[typeddict-item]
    query, key, value = (builder.matmul(flat, constant(builder, numbers(24, 24, dtype=dtype, seed=seed))) for seed in range(3))
    scores = builder.mul(builder.matmul(query, builder.transpose(key, permutation=[0, 2, 1])), constant(builder, numbers(1, dtype=dtype)))
    mixed = builder.add(flat, builder.matmul(builder.softmax(scores, 2), value))
    scale, bias = (constant(builder, numbers(24, dtype=dtype, seed=seed)) for seed in (7, 8))
    mixed = builder.layerNormalization(mixed, scale=scale, bias=bias, axes=[2])
    inner = builder.gelu(builder.matmul(mixed, constant(builder, numbers(24, 48, dtype=dtype, seed=4))))
    return builder.add(mixed, builder.matmul(inner, constant(builder, numbers(48, 24, dtype=dtype, seed=5))))


def recurrent(builder: MLGraphBuilder) -> MLOperand:
    """A recurrent network, whose loop has weights inside."""
    sequence = builder.reshape(builder.input("x", {"dataType": "float32", "shape": SHAPE}), [6, 4, 24])
    weight, recurrence = (constant(builder, numbers(1, 96, 24, seed=seed)) for seed in range(2))
    bias = constant(builder, numbers(1, 96, seed=2))
    states = builder.lstm(sequence, weight, recurrence, 6, 24, bias=bias)
    gates, back = (constant(builder, numbers(1, 72, 24, seed=seed)) for seed in (3, 4))
    return builder.concat([builder.gru(sequence, gates, back, 6, 24)[0], states[0]], 0)


def quantized(builder: MLGraphBuilder) -> MLOperand:
    """Quantized weights, values quantized between the operations, and small integers."""
    value = builder.input("x", {"dataType": "float32", "shape": SHAPE})

    def like(rank: int, dataType: str, number: float) -> MLOperand:
        scalar: MLOperand = builder.constant(dataType, number)  # type: ignore[call-overload]
        return builder.reshape(scalar, [1] * rank)

    scale, zero = like(4, "float32", 0.03), like(4, "uint8", 128)
    for seed in range(3):
        packed = constant(builder, whole(4, 4, 3, 3, dtype="int8", seed=seed))
        filter = builder.dequantizeLinear(packed, like(4, "float32", 0.01), like(4, "int8", 3))
        value = builder.dequantizeLinear(builder.quantizeLinear(value, scale, zero), scale, zero)
        value = builder.relu(builder.conv2d(value, filter, padding=[1, 1, 1, 1]))
    small = builder.constant({"dataType": "int4", "shape": [144, 24]}, whole(144 * 12, dtype="uint8"))
    zeros = builder.constant({"dataType": "int4", "shape": [1, 24]}, whole(12, dtype="uint8", seed=5))
    weight = builder.dequantizeLinear(small, constant(builder, numbers(1, 24)), zeros)
    return builder.matmul(builder.reshape(value, [4, 144]), weight)


def integers(builder: MLGraphBuilder) -> MLOperand:
    """Casts, indices and reductions, with constants that are folded."""
    value = builder.cast(
        builder.mul(builder.input("x", {"dataType": "float32", "shape": SHAPE}), builder.constant("float32", 100)), "int32"
    )
    table = constant(builder, whole(12, 12, dtype="int32"))
    folded = builder.transpose(builder.add(builder.mul(table, table), table), permutation=[1, 0])
    picked = builder.gather(folded, builder.argMax(value, 3, outputDataType="int32"))
    return builder.reduceSum(builder.add(value, builder.sub(picked, builder.neg(picked))), axes=[1], keepDimensions=True)


GRAPHS: Mapping[str, Make] = {
    "convolutions": convolutions,
    "convolutions in float16": lambda builder: convolutions(builder, dtype="float16"),
    "channels last": channels_last,
    "attention": attention,
    "attention in float16": lambda builder: attention(builder, dtype="float16"),
    "recurrent": recurrent,
    "quantized": quantized,
    "integers": integers,
}


class Hits:
    """Counts the builds that took a stored model, and that the engine did not refuse."""

    def __init__(self, monkeypatch: Any) -> None:
        self.count = 0
        start, store = models.ModelCache.start, models.ModelCache._start_and_store
        stored = threading.local()

        def noted(*arguments: Any) -> Any:
            stored.anew = False
            result = start(*arguments)
            self.count += not stored.anew
            return result

        def anew(*arguments: Any) -> Any:
            stored.anew = True
            return store(*arguments)

        monkeypatch.setattr(models.ModelCache, "start", noted)
        monkeypatch.setattr(models.ModelCache, "_start_and_store", anew)


def context_with(cache: Path | None) -> MLContext:
    return ML(revision="2026-06+browsers", cache=cache).createContextSync()


def build(make: Make, cache: Path | None) -> tuple[MLContext, MLGraph]:
    context = context_with(cache)
    builder = MLGraphBuilder(context)
    return context, builder.buildSync({"y": make(builder)})


def run(make: Make, cache: Path | None) -> bytes:
    """Build and compute a graph; return the bits of its output."""
    context, graph = build(make, cache)
    return result(context, graph)


def result(context: MLContext, graph: MLGraph) -> bytes:
    """Compute a graph; return the bits of its output."""
    [(name, descriptor)] = graph._inputDescriptors.items()
    found = compute(context, graph, {name: numbers(*SHAPE, dtype=descriptor.dataType, seed=99)})["y"]
    assert np.isfinite(found.astype(np.float64)).all()
    assert np.ptp(found.astype(np.float64)) > 0
    return found.tobytes()


def stored(cache: Path) -> list[Path]:
    return sorted(cache.glob("*.model"))
