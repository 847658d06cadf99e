"""A transformer encoder block (post-norm, as in BERT) with random weights, written as MatMul and Add on both sides."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from benchmarks.measure import Array
from benchmarks.sides import CPU, LOOPS, DeviceType, OnnxGraph, Program, Providers, Session, TensorProgram, constant, float32
from webnn import ML, MLGraphBuilder, MLOperand
from webnn.validation.revision import RevisionName

__all__ = ["Block", "make_block", "onnx_side", "webnn_side"]

EPSILON = 1e-5


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """The block's weights and an input.

    Attributes:
        heads: The number of attention heads.
        value: An input, [1, sequence, hidden].
        dense: The weight and the bias of each layer: query, key, value, attention, up, down.
        norms: Scale and bias of the two layer normalizations.
    """

    heads: int
    value: Array
    dense: dict[str, tuple[Array, Array]]
    norms: tuple[tuple[Array, Array], tuple[Array, Array]]

    @property
    def split(self) -> list[int]:
        """The shape with a dimension for the heads."""
        _, sequence, hidden = self.value.shape
        return [1, sequence, self.heads, hidden // self.heads]

    @property
    def scale(self) -> float:
        """The factor of the attention scores."""
        return 1 / math.sqrt(self.split[3])


def make_block(sequence: int = 128, hidden: int = 384, heads: int = 12, inner: int = 1536, seed: int = 0) -> Block:
    """Make a block with seeded random weights."""
    rng = np.random.default_rng(seed)

    def array(*shape: int, scale: float) -> Array:
        return rng.standard_normal(shape, np.float32) * np.float32(scale)

    def dense(inputs: int, outputs: int) -> tuple[Array, Array]:
        return array(inputs, outputs, scale=inputs**-0.5), array(outputs, scale=0.1)

    def norm() -> tuple[Array, Array]:
        return 1 + array(hidden, scale=0.1), array(hidden, scale=0.1)

    return Block(
        heads=heads,
        value=array(1, sequence, hidden, scale=1),
        dense={
            **{name: dense(hidden, hidden) for name in ("query", "key", "value", "attention")},
            "up": dense(hidden, inner),
            "down": dense(inner, hidden),
        },
        norms=(norm(), norm()),
    )


def webnn_side(block: Block, revision: RevisionName = "2024-06", deviceType: DeviceType = "cpu") -> Program | TensorProgram:
    """Build the WebNN program, in a draft and on a device."""
    context = ML(revision=revision).createContextSync(deviceType=deviceType)
    builder = MLGraphBuilder(context)

    def dense(value: MLOperand, name: str) -> MLOperand:
        weight, bias = block.dense[name]
        return builder.add(builder.matmul(value, constant(builder, weight)), constant(builder, bias))

    def head(value: MLOperand, name: str, permutation: list[int]) -> MLOperand:
        return builder.transpose(builder.reshape(dense(value, name), block.split), {"permutation": permutation})

    def norm(value: MLOperand, index: int) -> MLOperand:
        scale, bias = block.norms[index]
        return builder.layerNormalization(
            value, {"scale": constant(builder, scale), "bias": constant(builder, bias), "axes": [2], "epsilon": EPSILON}
        )

    x = builder.input("x", float32(block.value.shape))
    scores = builder.matmul(head(x, "query", [0, 2, 1, 3]), head(x, "key", [0, 2, 3, 1]))
    weights = builder.softmax(builder.mul(scores, builder.constant("float32", block.scale)), 3)
    mixed = builder.transpose(builder.matmul(weights, head(x, "value", [0, 2, 1, 3])), {"permutation": [0, 2, 1, 3]})
    attention = dense(builder.reshape(mixed, block.value.shape), "attention")
    x = norm(builder.add(x, attention), 0)
    x = norm(builder.add(x, dense(builder.gelu(dense(x, "up")), "down")), 1)
    graph = builder.buildSync({"y": x})
    return LOOPS[revision](context, graph, {"x": block.value}, {"y": block.value.shape})


def onnx_side(block: Block, providers: Providers = CPU) -> Session:
    """Make the session of the ONNX model, on these execution providers."""
    graph = OnnxGraph()

    def dense(value: str, name: str) -> str:
        weight, bias = block.dense[name]
        return graph.node("Add", [graph.node("MatMul", [value, graph.weight(weight)]), graph.weight(bias)])

    split = graph.weight(np.array(block.split))

    def head(value: str, name: str, permutation: list[int]) -> str:
        return graph.node("Transpose", [graph.node("Reshape", [dense(value, name), split])], perm=permutation)

    def norm(value: str, index: int, output: str = "") -> str:
        scale, bias = block.norms[index]
        inputs = [value, graph.weight(scale), graph.weight(bias)]
        return graph.node("LayerNormalization", inputs, output, axis=2, epsilon=EPSILON)

    x = graph.input("x", block.value.shape)
    scores = graph.node("MatMul", [head(x, "query", [0, 2, 1, 3]), head(x, "key", [0, 2, 3, 1])])
    scaled = graph.node("Mul", [scores, graph.weight(np.array(block.scale, np.float32))])
    weights = graph.node("Softmax", [scaled], axis=3)
    mixed = graph.node("Transpose", [graph.node("MatMul", [weights, head(x, "value", [0, 2, 1, 3])])], perm=[0, 2, 1, 3])
    attention = dense(graph.node("Reshape", [mixed, graph.weight(np.array(block.value.shape))]), "attention")
    x = norm(graph.node("Add", [x, attention]), 0)
    norm(graph.node("Add", [x, dense(graph.node("Gelu", [dense(x, "up")]), "down")]), 1, "y")
    graph.output("y", block.value.shape)
    return Session(graph, {"x": block.value}, providers)
