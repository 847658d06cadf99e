"""x * sigmoid(x) alone, and a network in the shape of YOLO's with one behind each convolution, with random weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.measure import Array
from benchmarks.sides import OnnxGraph, Program, Session, constant, float32
from webnn import MLContext, MLGraphBuilder, MLOperand

__all__ = ["Detector", "make_detector", "onnx_detector", "onnx_silu", "silu_input", "webnn_detector", "webnn_silu"]

#: The stages: channels, and how many residual blocks of two convolutions follow the one that halves the size.
_STAGES = ((32, 4), (64, 8), (128, 8), (256, 6))


def silu_input() -> Array:
    """Return an input of the function alone: what a middle layer of a detector has."""
    return np.random.default_rng(0).normal(0, 3, (1, 64, 40, 40)).astype(np.float32)


def webnn_silu(context: MLContext, x: Array) -> Program:
    """Build the function alone."""
    builder = MLGraphBuilder(context)
    value = builder.input("x", float32(x.shape))
    return Program(context, builder.buildSync({"y": builder.mul(value, builder.sigmoid(value))}), {"x": x}, {"y": x.shape})


def onnx_silu(x: Array) -> Session:
    """Make a session of the function alone, which the engine fuses."""
    graph = OnnxGraph()
    value = graph.input("x", x.shape)
    graph.node("Mul", [value, graph.node("Sigmoid", [value])], "y")
    graph.output("y", x.shape)
    return Session(graph, {"x": x})


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """A convolution, which SiLU follows.

    Attributes:
        filter: In OIHW.
        bias: The bias.
        stride: The stride in both directions.
    """

    filter: Array
    bias: Array
    stride: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Detector:
    """The network.

    Attributes:
        image: An input, [1, 3, size, size].
        blocks: All convolutions, a block each; the input of a block is added to its output where the flag is set.
    """

    image: Array
    blocks: tuple[tuple[tuple[Layer, ...], bool], ...]

    @property
    def shape(self) -> list[int]:
        """The output's shape."""
        size = self.image.shape[2]
        for layers, _ in self.blocks:
            for layer in layers:
                size //= layer.stride
        return [1, self.blocks[-1][0][-1].bias.size, size, size]


def make_detector(size: int = 320, divisor: int = 1, seed: int = 0) -> Detector:
    """Make a network with seeded random weights, and 58 convolutions.

    Args:
        size: Height and width of the input.
        divisor: The divisor of the numbers of channels.
        seed: The seed.
    """
    rng = np.random.default_rng(seed)

    def layer(inputs: int, outputs: int, kernel: int, stride: int = 1, gain: float = 1) -> Layer:
        deviation = np.float32(gain * (2 / (inputs * kernel * kernel)) ** 0.5)
        return Layer(
            filter=rng.standard_normal((outputs, inputs, kernel, kernel), np.float32) * deviation,
            bias=rng.standard_normal(outputs, np.float32) * np.float32(0.1),
            stride=stride,
        )

    channels = 16 // divisor
    blocks: list[tuple[tuple[Layer, ...], bool]] = [((layer(3, channels, 3, 2),), False)]
    for wide, count in _STAGES:
        blocks.append(((layer(channels, wide // divisor, 3, 2),), False))
        channels = wide // divisor
        # A small second half keeps the sums small, as training does: sigmoid(-90) is denormal, which makes every convolution slow.
        blocks += [((layer(channels, channels // 2, 1), layer(channels // 2, channels, 3, gain=0.3)), True) for _ in range(count)]
    blocks.append(((layer(channels, channels, 1),), False))
    return Detector(image=rng.uniform(-1, 1, (1, 3, size, size)).astype(np.float32), blocks=tuple(blocks))


def webnn_detector(context: MLContext, detector: Detector) -> Program:
    """Build the network."""
    builder = MLGraphBuilder(context)

    def conv(value: MLOperand, layer: Layer) -> MLOperand:
        padding, strides = [layer.filter.shape[2] // 2] * 4, [layer.stride] * 2
        bias = constant(builder, layer.bias)
        value = builder.conv2d(value, constant(builder, layer.filter), bias=bias, strides=strides, padding=padding)
        return builder.mul(value, builder.sigmoid(value))

    value = builder.input("image", float32(detector.image.shape))
    for layers, residual in detector.blocks:
        before = value
        for layer in layers:
            value = conv(value, layer)
        if residual:
            value = builder.add(before, value)
    return Program(context, builder.buildSync({"features": value}), {"image": detector.image}, {"features": detector.shape})


def onnx_detector(detector: Detector) -> Session:
    """Make the session of the network."""
    graph = OnnxGraph()

    def conv(value: str, layer: Layer) -> str:
        inputs = [value, graph.weight(layer.filter), graph.weight(layer.bias)]
        value = graph.node("Conv", inputs, strides=[layer.stride] * 2, pads=[layer.filter.shape[2] // 2] * 4)
        return graph.node("Mul", [value, graph.node("Sigmoid", [value])])

    value = graph.input("image", detector.image.shape)
    for layers, residual in detector.blocks:
        before = value
        for layer in layers:
            value = conv(value, layer)
        if residual:
            value = graph.node("Add", [before, value])
    graph.node("Identity", [value], "features")
    graph.output("features", detector.shape)
    return Session(graph, {"image": detector.image})
