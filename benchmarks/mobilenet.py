"""A network in the shape of MobileNetV2 with random weights: WebNN in "nhwc", ONNX in NCHW."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from benchmarks.measure import Array
from benchmarks.sides import OnnxGraph, Program, Session, constant
from webnn import MLContext, MLGraphBuilder, MLOperand

__all__ = ["Layer", "Network", "make_network", "onnx_side", "over_bytes", "webnn_side"]

#: The inverted residual blocks: expansion factor, output channels, how many, stride of the first.
_BLOCKS = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """A convolution; batch normalization is folded into it.

    Attributes:
        filter: "ohwi", or "ihwo" if `depthwise`, as TensorFlow Lite's models have them.
        planar: The same filter in OIHW.
        bias: The bias.
        stride: The stride in both directions.
        padding: Rows (and columns) of padding at the beginning and the end.
        depthwise: One group for each channel.
        clamped: ReLU6 follows.
    """

    filter: Array
    planar: Array
    bias: Array
    stride: int
    padding: tuple[int, int]
    depthwise: bool
    clamped: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """The network.

    Attributes:
        image: An input, [1, size, size, 3].
        blocks: All convolutions up to the pooling, a block each; the input of a block is added to its output where the flag is set.
        classifier: The convolution after the pooling.
    """

    image: Array
    blocks: tuple[tuple[tuple[Layer, ...], bool], ...]
    classifier: Layer


def make_network(size: int = 224, classes: int = 1001, divisor: int = 1, seed: int = 0) -> Network:
    """Make a network with seeded random weights.

    Args:
        size: Height and width of the input.
        classes: The number of classes.
        divisor: The divisor of the numbers of channels.
        seed: The seed.
    """
    rng = np.random.default_rng(seed)
    current = size

    def layer(channels: int, filters: int, kernel: int = 1, stride: int = 1, *, depthwise: bool = False, clamped: bool = True) -> Layer:
        nonlocal current
        deviation = np.float32((2 / (kernel * kernel * (1 if depthwise else channels))) ** 0.5)
        filter = rng.standard_normal((filters, kernel, kernel, 1 if depthwise else channels), np.float32) * deviation
        # "same" padding, the odd row at the end.
        output = -(-current // stride)
        total = max(0, (output - 1) * stride + kernel - current)
        current = output
        return Layer(
            filter=np.ascontiguousarray(filter.transpose(3, 1, 2, 0)) if depthwise else filter,
            planar=np.ascontiguousarray(filter.transpose(0, 3, 1, 2)),
            bias=rng.standard_normal(filters, np.float32) * np.float32(0.1),
            stride=stride,
            padding=(total // 2, total - total // 2),
            depthwise=depthwise,
            clamped=clamped,
        )

    channels = 32 // divisor
    blocks: list[tuple[tuple[Layer, ...], bool]] = [((layer(3, channels, 3, 2),), False)]
    for expansion, filters, count, first in _BLOCKS:
        for index in range(count):
            stride = first if index == 0 else 1
            wide = channels * expansion
            expand = (layer(channels, wide),) if expansion > 1 else ()
            spatial = layer(wide, wide, 3, stride, depthwise=True)
            project = layer(wide, filters // divisor, clamped=False)
            blocks.append(((*expand, spatial, project), stride == 1 and channels == filters // divisor))
            channels = filters // divisor
    blocks.append(((layer(channels, 1280 // divisor),), False))
    image = rng.uniform(-1, 1, (1, size, size, 3)).astype(np.float32)
    return Network(image=image, blocks=tuple(blocks), classifier=layer(1280 // divisor, classes, clamped=False))


def over_bytes(network: Network) -> Network:
    """Return the network with weights in objects of `bytes`, to which nobody can write."""

    def fixed(array: Array) -> Array:
        return np.frombuffer(array.tobytes(), array.dtype).reshape(array.shape)

    def layer(each: Layer) -> Layer:
        return replace(each, filter=fixed(each.filter), planar=fixed(each.planar), bias=fixed(each.bias))

    blocks = tuple([(tuple(map(layer, layers)), residual) for layers, residual in network.blocks])
    return replace(network, blocks=blocks, classifier=layer(network.classifier))


def webnn_side(context: MLContext, network: Network) -> Program:
    """Build the WebNN program, from the first call of the builder on."""
    builder = MLGraphBuilder(context)
    bounds = {"minValue": 0.0, "maxValue": 6.0}

    def conv(value: MLOperand, layer: Layer) -> MLOperand:
        value = builder.conv2d(
            value,
            constant(builder, layer.filter),
            {
                "bias": constant(builder, layer.bias),
                "strides": [layer.stride, layer.stride],
                "padding": [*layer.padding, *layer.padding],
                "groups": layer.bias.size if layer.depthwise else 1,
                "inputLayout": "nhwc",
                "filterLayout": "ihwo" if layer.depthwise else "ohwi",
            },
        )
        return builder.clamp(value, bounds) if layer.clamped else value  # type: ignore[arg-type]  # a plain dict, as programs write it

    value = builder.input("image", {"dataType": "float32", "dimensions": network.image.shape})
    for layers, residual in network.blocks:
        before = value
        for layer in layers:
            value = conv(value, layer)
        if residual:
            value = builder.add(before, value)
    value = conv(builder.averagePool2d(value, {"layout": "nhwc"}), network.classifier)
    classes = network.classifier.bias.size
    value = builder.softmax(builder.reshape(value, [1, classes]), 1)
    graph = builder.buildSync({"probabilities": value})
    return Program(context, graph, {"image": network.image}, {"probabilities": [1, classes]})


def onnx_side(network: Network, image: Array, *, external: bool = False) -> Session:
    """Make the session, from the first node on.

    Args:
        network: The network.
        image: Its input in NCHW.
        external: The weights are external initializers in memory.
    """
    return Session(onnx_graph(network, external=external), {"image": image})


def onnx_graph(network: Network, *, external: bool = False) -> OnnxGraph:
    """Make the ONNX graph, with an input "image" in NCHW; see `onnx_side`."""
    graph = OnnxGraph(external=external)
    low, high = graph.weight(np.array(0, np.float32)), graph.weight(np.array(6, np.float32))

    def conv(value: str, layer: Layer) -> str:
        begin, end = layer.padding
        value = graph.node(
            "Conv",
            [value, graph.weight(layer.planar), graph.weight(layer.bias)],
            strides=[layer.stride, layer.stride],
            pads=[begin, begin, end, end],
            group=layer.bias.size if layer.depthwise else 1,
        )
        return graph.node("Clip", [value, low, high]) if layer.clamped else value

    batches, height, width, channels = network.image.shape
    value = graph.input("image", [batches, channels, height, width])
    for layers, residual in network.blocks:
        before = value
        for layer in layers:
            value = conv(value, layer)
        if residual:
            value = graph.node("Add", [before, value])
    value = conv(graph.node("GlobalAveragePool", [value]), network.classifier)
    classes = network.classifier.bias.size
    value = graph.node("Reshape", [value, graph.weight(np.array([1, classes]))])
    graph.node("Softmax", [value], "probabilities", axis=1)
    graph.output("probabilities", [1, classes])
    return graph
