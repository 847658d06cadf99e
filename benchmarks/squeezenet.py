"""SqueezeNet 1.0: the WebNN program in "nhwc", as a page has it, and the same network as an ONNX model in NCHW."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from benchmarks.measure import Array
from benchmarks.sides import CPU, LOOPS, DeviceType, OnnxGraph, Program, Providers, Session, TensorProgram, constant, float32
from webnn import ML, MLGraphBuilder, MLOperand
from webnn.validation.revision import RevisionName

__all__ = ["CLASSES", "load_input", "load_weights", "onnx_side", "random_weights", "webnn_side"]

CLASSES = 1001

#: The layers after the first convolution: a fire block with its channels (squeezed, expanded by each of the two), or a pooling.
_BODY = (
    "pool",
    ("fire2", 16, 64),
    ("fire3", 16, 64),
    ("fire4", 32, 128),
    "pool",
    ("fire5", 32, 128),
    ("fire6", 48, 192),
    ("fire7", 48, 192),
    ("fire8", 64, 256),
    "pool",
    ("fire9", 64, 256),
)


def load_weights(directory: Path) -> dict[str, Array]:
    """Load the real weights: ``<layer>_kernel`` in "ohwi", ``<layer>_Conv2D_bias``."""
    with np.load(directory / "weights.npz") as archive:
        return {name: archive[name] for name in archive.files}


def load_input(directory: Path) -> Array:
    """Load the photo as the network's input, [1, 224, 224, 3] from -1 to 1."""
    pixels = np.load(directory / "photo_rgb_224.npy")
    image: Array = (pixels.astype(np.float32) - 127.5) / 127.5
    return image[None]


def random_weights(seed: int = 0) -> dict[str, Array]:
    """Make weights of the real ones' names and shapes."""
    rng = np.random.default_rng(seed)
    weights: dict[str, Array] = {}

    def layer(name: str, filters: int, size: int, channels: int) -> None:
        deviation = (2 / (size * size * channels)) ** 0.5
        weights[f"{name}_kernel"] = rng.standard_normal((filters, size, size, channels), np.float32) * np.float32(deviation)
        weights[f"{name}_Conv2D_bias"] = rng.standard_normal(filters, np.float32) * np.float32(0.1)

    layer("conv1", 96, 7, 3)
    channels = 96
    for step in _BODY:
        if isinstance(step, tuple):
            name, squeezed, expanded = step
            layer(f"{name}_squeeze", squeezed, 1, channels)
            layer(f"{name}_e1x1", expanded, 1, squeezed)
            layer(f"{name}_e3x3", expanded, 3, squeezed)
            channels = 2 * expanded
    layer("conv10", CLASSES, 1, channels)
    return weights


def webnn_side(
    weights: Mapping[str, Array], image: Array, revision: RevisionName = "2024-06", deviceType: DeviceType = "cpu"
) -> Program | TensorProgram:
    """Build the WebNN program.

    Args:
        weights: The weights, filters in "ohwi".
        image: The input, [1, size, size, 3].
        revision: The draft.
        deviceType: The device of the context.
    """
    context = ML(revision=revision).createContextSync(deviceType=deviceType)
    builder = MLGraphBuilder(context)

    def conv(value: MLOperand, name: str, stride: int = 1, padding: tuple[int, int] = (0, 0)) -> MLOperand:
        return builder.relu(
            builder.conv2d(
                value,
                constant(builder, weights[f"{name}_kernel"]),
                {
                    "bias": constant(builder, weights[f"{name}_Conv2D_bias"]),
                    "strides": [stride, stride],
                    "padding": [*padding, *padding],
                    "inputLayout": "nhwc",
                    "filterLayout": "ohwi",
                },
            )
        )

    value = builder.input("image", float32(image.shape))
    value = conv(value, "conv1", 2, (2, 3))
    for step in _BODY:
        if isinstance(step, tuple):
            name = step[0]
            squeezed = conv(value, f"{name}_squeeze")
            value = builder.concat([conv(squeezed, f"{name}_e1x1"), conv(squeezed, f"{name}_e3x3", padding=(1, 1))], 3)
        else:
            value = builder.maxPool2d(value, {"windowDimensions": [3, 3], "strides": [2, 2], "layout": "nhwc"})
    value = conv(value, "conv10")
    value = builder.averagePool2d(value, {"layout": "nhwc"})
    value = builder.softmax(builder.reshape(value, [1, CLASSES]), 1)
    graph = builder.buildSync({"probabilities": value})
    return LOOPS[revision](context, graph, {"image": image}, {"probabilities": [1, CLASSES]})


def onnx_side(weights: Mapping[str, Array], image: Array, providers: Providers = CPU) -> Session:
    """Make the session of the ONNX model.

    Args:
        weights: As for `webnn_side`.
        image: As for `webnn_side`; the session takes it transposed.
        providers: As for `make_session`.
    """
    planes = np.ascontiguousarray(image.transpose(0, 3, 1, 2))
    graph = OnnxGraph()

    def conv(value: str, name: str, stride: int = 1, padding: tuple[int, int] = (0, 0)) -> str:
        filter = graph.weight(np.ascontiguousarray(weights[f"{name}_kernel"].transpose(0, 3, 1, 2)))
        bias = graph.weight(weights[f"{name}_Conv2D_bias"])
        pads = [padding[0], padding[0], padding[1], padding[1]]
        return graph.node("Relu", [graph.node("Conv", [value, filter, bias], strides=[stride, stride], pads=pads)])

    value = conv(graph.input("image", planes.shape), "conv1", 2, (2, 3))
    for step in _BODY:
        if isinstance(step, tuple):
            name = step[0]
            squeezed = conv(value, f"{name}_squeeze")
            value = graph.node("Concat", [conv(squeezed, f"{name}_e1x1"), conv(squeezed, f"{name}_e3x3", padding=(1, 1))], axis=1)
        else:
            value = graph.node("MaxPool", [value], kernel_shape=[3, 3], strides=[2, 2])
    value = graph.node("GlobalAveragePool", [conv(value, "conv10")])
    value = graph.node("Reshape", [value, graph.weight(np.array([1, CLASSES]))])
    graph.node("Softmax", [value], "probabilities", axis=1)
    graph.output("probabilities", [1, CLASSES])
    return Session(graph, {"image": planes}, providers)
