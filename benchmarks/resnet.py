"""A network in the shape of ResNet50 v2 with random weights: batch normalization stands before each convolution, and is not folded."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.measure import Array
from benchmarks.sides import OnnxGraph, Program, Session, constant, float32
from webnn import MLContext, MLGraphBuilder, MLOperand

__all__ = ["Network", "make_network", "onnx_side", "webnn_side"]

#: The stages: the channels inside a block, how many blocks, the stride of the last one. A block has four times as many channels outside.
_STAGES = ((64, 3, 2), (128, 4, 2), (256, 6, 2), (512, 3, 1))
_EPSILON = 1e-5


@dataclass(frozen=True, slots=True, kw_only=True)
class Normalization:
    """The parameters of a batch normalization, one number for each channel."""

    scale: Array
    bias: Array
    mean: Array
    variance: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A block: a normalization and three convolutions, each with the next normalization between; their sum with the input or a projection.

    Attributes:
        normalizations: One before each convolution.
        filters: In OIHW.
        bias: The bias of the last convolution.
        stride: The stride of the second convolution and of the shortcut.
        projection: The filter of the way beside; ``None`` if it is the input itself.
    """

    normalizations: tuple[Normalization, Normalization, Normalization]
    filters: tuple[Array, Array, Array]
    bias: Array
    stride: int
    projection: Array | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """The network.

    Attributes:
        image: An input, [1, 3, size, size].
        stem: The filter of the first convolution.
        blocks: The blocks.
        last: The normalization behind them.
        classifier: The filter of the convolution behind the pooling.
    """

    image: Array
    stem: Array
    blocks: tuple[Block, ...]
    last: Normalization
    classifier: Array


def make_network(size: int = 224, classes: int = 1000, divisor: int = 1, seed: int = 0) -> Network:
    """Make a network with seeded random weights.

    Args:
        size: Height and width of the input.
        classes: The number of classes.
        divisor: The divisor of the numbers of channels.
        seed: The seed.
    """
    rng = np.random.default_rng(seed)

    def filter(outputs: int, inputs: int, kernel: int) -> Array:
        return rng.standard_normal((outputs, inputs, kernel, kernel), np.float32) * np.float32((2 / (inputs * kernel * kernel)) ** 0.5)

    def normalization(channels: int) -> Normalization:
        scale, variance = (rng.uniform(0.5, 1.5, channels).astype(np.float32) for _ in range(2))
        bias, mean = (rng.standard_normal(channels, np.float32) * np.float32(0.1) for _ in range(2))
        return Normalization(scale=scale, bias=bias, mean=mean, variance=variance)

    channels = 64 // divisor
    stem = filter(channels, 3, 7)
    blocks: list[Block] = []
    for base, count, last in _STAGES:
        inner, outer = base // divisor, 4 * base // divisor
        for index in range(count):
            blocks.append(
                Block(
                    normalizations=(normalization(channels), normalization(inner), normalization(inner)),
                    filters=(filter(inner, channels, 1), filter(inner, inner, 3), filter(outer, inner, 1)),
                    bias=rng.standard_normal(outer, np.float32) * np.float32(0.1),
                    stride=last if index == count - 1 else 1,
                    projection=filter(outer, channels, 1) if index == 0 else None,
                )
            )
            channels = outer
    image = rng.uniform(-1, 1, (1, 3, size, size)).astype(np.float32)
    return Network(image=image, stem=stem, blocks=tuple(blocks), last=normalization(channels), classifier=filter(classes, channels, 1))


def webnn_side(context: MLContext, network: Network) -> Program:
    """Build the WebNN program."""
    builder = MLGraphBuilder(context)

    def conv(value: MLOperand, filter: Array, stride: int = 1, padding: int = 0, bias: Array | None = None) -> MLOperand:
        given = {} if bias is None else {"bias": constant(builder, bias)}
        return builder.conv2d(value, constant(builder, filter), strides=[stride] * 2, padding=[padding] * 4, **given)  # type: ignore[arg-type]

    def activated(value: MLOperand, normalization: Normalization) -> MLOperand:
        mean, variance, scale, bias = (
            constant(builder, each) for each in (normalization.mean, normalization.variance, normalization.scale, normalization.bias)
        )
        return builder.relu(builder.batchNormalization(value, mean, variance, scale=scale, bias=bias, epsilon=_EPSILON))

    value = conv(builder.input("image", float32(network.image.shape)), network.stem, stride=2, padding=3)
    value = builder.maxPool2d(value, windowDimensions=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1])
    for block in network.blocks:
        first = activated(value, block.normalizations[0])
        inner = activated(conv(first, block.filters[0]), block.normalizations[1])
        inner = activated(conv(inner, block.filters[1], stride=block.stride, padding=1), block.normalizations[2])
        if block.projection is not None:
            beside = conv(first, block.projection, stride=block.stride)
        else:
            beside = value if block.stride == 1 else builder.maxPool2d(value, windowDimensions=[1, 1], strides=[block.stride] * 2)
        value = builder.add(beside, conv(inner, block.filters[2], bias=block.bias))
    value = conv(builder.averagePool2d(activated(value, network.last)), network.classifier)
    classes = network.classifier.shape[0]
    graph = builder.buildSync({"scores": builder.reshape(value, [1, classes])})
    return Program(context, graph, {"image": network.image}, {"scores": [1, classes]})


def onnx_side(network: Network) -> Session:
    """Make the session."""
    graph = OnnxGraph()

    def conv(value: str, filter: Array, stride: int = 1, padding: int = 0, bias: Array | None = None) -> str:
        inputs = [value, graph.weight(filter), *([] if bias is None else [graph.weight(bias)])]
        return graph.node("Conv", inputs, strides=[stride] * 2, pads=[padding] * 4)

    def activated(value: str, normalization: Normalization) -> str:
        n = normalization
        weights = [graph.weight(each) for each in (n.scale, n.bias, n.mean, n.variance)]
        return graph.node("Relu", [graph.node("BatchNormalization", [value, *weights], epsilon=_EPSILON)])

    value = conv(graph.input("image", network.image.shape), network.stem, stride=2, padding=3)
    value = graph.node("MaxPool", [value], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    for block in network.blocks:
        first = activated(value, block.normalizations[0])
        inner = activated(conv(first, block.filters[0]), block.normalizations[1])
        inner = activated(conv(inner, block.filters[1], stride=block.stride, padding=1), block.normalizations[2])
        if block.projection is not None:
            beside = conv(first, block.projection, stride=block.stride)
        else:
            beside = value if block.stride == 1 else graph.node("MaxPool", [value], kernel_shape=[1, 1], strides=[block.stride] * 2)
        value = graph.node("Add", [beside, conv(inner, block.filters[2], bias=block.bias)])
    value = conv(graph.node("GlobalAveragePool", [activated(value, network.last)]), network.classifier)
    classes = network.classifier.shape[0]
    graph.node("Reshape", [value, graph.weight(np.array([1, classes]))], "scores")
    graph.output("scores", [1, classes])
    return Session(graph, {"image": network.image})
