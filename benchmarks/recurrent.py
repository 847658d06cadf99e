"""A long short-term memory over a sequence, beside the engine's own operator."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.measure import Array
from benchmarks.sides import OnnxGraph, Program, Session, constant, float32
from webnn import ML, MLGraphBuilder
from webnn.builder.numerics import Numerics

__all__ = ["Memory", "make_memory", "onnx_side", "webnn_side"]


@dataclass(frozen=True)
class Memory:
    """A network with random weights.

    Attributes:
        input: [steps, 1, hiddenSize].
        weight: [1, 4 * hiddenSize, hiddenSize], in ONNX's order of the gates.
        recurrentWeight: The same shape.
    """

    input: Array
    weight: Array
    recurrentWeight: Array


def make_memory(steps: int = 100, hiddenSize: int = 64) -> Memory:
    """Make the network and its input."""
    rng = np.random.default_rng(0)

    def uniform(*shape: int) -> Array:
        return rng.uniform(-1, 1, shape).astype(np.float32)

    size = 1, 4 * hiddenSize, hiddenSize
    return Memory(uniform(steps, 1, hiddenSize), uniform(*size) / np.float32(8), uniform(*size) / np.float32(8))


def webnn_side(memory: Memory, numerics: Numerics = "exact") -> Program:
    """Build ``lstm``, under a numerics policy."""
    context = ML(revision="2024-06", numerics=numerics).createContextSync()
    builder = MLGraphBuilder(context)
    steps, _, hiddenSize = memory.input.shape
    weight, recurrentWeight = (constant(builder, value) for value in (memory.weight, memory.recurrentWeight))
    x = builder.input("x", float32(memory.input.shape))
    outputs = builder.lstm(x, weight, recurrentWeight, steps, hiddenSize, {"returnSequence": True})
    return Program(context, builder.buildSync({"y": outputs[2]}), {"x": memory.input}, {"y": [steps, 1, 1, hiddenSize]})


def onnx_side(memory: Memory) -> Session:
    """Make a session of one ``LSTM``."""
    graph = OnnxGraph()
    steps, _, hiddenSize = memory.input.shape
    weights = [graph.weight(value) for value in (memory.weight, memory.recurrentWeight)]
    graph.node("LSTM", [graph.input("x", memory.input.shape), *weights], "y", hidden_size=hiddenSize)
    graph.output("y", [steps, 1, 1, hiddenSize])
    return Session(graph, {"x": memory.input})
