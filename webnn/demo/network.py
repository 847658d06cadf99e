"""The demo's network and data. It uses WebNN as any program would."""

from __future__ import annotations

import statistics
import time
import warnings
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webnn import ML, DeviceFallbackWarning, MLContext, MLGraph, MLGraphBuilder, MLOperand
from webnn.validation.device_type import DeviceType

__all__ = ["Digits", "Report", "build", "load_digits", "recognise"]

Floats = NDArray[np.float32]
_RUNS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Digits:
    """The content of ``digits.npz``.

    Attributes:
        weights: The network's weights by name.
        images: Images that the training has not seen, [image, row, column]: ink from 0 to 16.
        labels: The digit that each shows, [image].
    """

    weights: dict[str, Floats]
    images: NDArray[np.uint8]
    labels: NDArray[np.uint8]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The result of a run, and its time.

    Attributes:
        answers: The digit that the network reads in each image, [image].
        confidence: The probability that it gives to its answer, [image].
        labels: The digit that each image shows, [image].
        load_seconds: The time to get a context and build a first graph, which loads the engine and the translation.
        build_seconds: The time to describe the network and compile it.
        compute_seconds: The median time of one ``compute()`` of all images.
        providers: The execution providers that the graph runs on, best first.
        note: Why the graph does not run on the device that was asked for; empty if it does.
    """

    answers: NDArray[np.int64]
    confidence: Floats
    labels: NDArray[np.uint8]
    load_seconds: float
    build_seconds: float
    compute_seconds: float
    providers: list[str]
    note: str

    @property
    def wrong(self) -> list[int]:
        """The images that were misread, in their order."""
        return [int(index) for index in np.flatnonzero(self.answers != self.labels)]

    @property
    def accuracy(self) -> float:
        """The share of the images that were read correctly, from 0 to 1."""
        return float(np.mean(self.answers == self.labels))


def load_digits() -> Digits:
    """Read the weights and the images that come with the package."""
    with resources.files("webnn.demo").joinpath("digits.npz").open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        content: dict[str, Any] = dict(arrays)
    images, labels = content.pop("images"), content.pop("labels")
    return Digits(weights=content, images=images, labels=labels)


def build(context: MLContext, digits: Digits) -> MLGraph:
    """Build the network for all the images at once.

    The input ``pixels`` is float32 [image, 8, 8, 1] from 0 to 1, the output ``probabilities`` is float32 [image, 10].
    """
    builder = MLGraphBuilder(context)

    def constant(name: str) -> MLOperand:
        weights = digits.weights[name]
        return builder.constant({"dataType": "float32", "shape": weights.shape}, weights)

    def convolve(input: MLOperand, name: str) -> MLOperand:
        """A 3x3 convolution that keeps height and width, and a ReLU."""
        sums = builder.conv2d(
            input,
            constant(f"{name}_filter"),
            bias=constant(f"{name}_bias"),
            padding=[1, 1, 1, 1],
            inputLayout="nhwc",
            filterLayout="ohwi",
            label=name,
        )
        return builder.relu(sums)

    count = len(digits.images)
    pixels = builder.input("pixels", dataType="float32", shape=[count, 8, 8, 1])
    features = convolve(convolve(pixels, "conv1"), "conv2")
    features = builder.maxPool2d(features, windowDimensions=[2, 2], strides=[2, 2], layout="nhwc")
    features = builder.reshape(convolve(features, "conv3"), [count, 512])
    scores = builder.add(builder.matmul(features, constant("dense_weight")), constant("dense_bias"))
    return builder.buildSync({"probabilities": builder.softmax(scores, 1)})


def recognise(digits: Digits, deviceType: DeviceType) -> Report:
    """Build the network on a device and let it read all the images."""
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DeviceFallbackWarning)
        context = ML().createContextSync(deviceType=deviceType)
    # The first build of a process also loads the translation.
    builder = MLGraphBuilder(context)
    builder.buildSync({"output": builder.relu(builder.input("input", dataType="float32", shape=[]))})
    loaded = time.perf_counter()
    graph = build(context, digits)
    built = time.perf_counter()

    inputs: dict[str, Any] = {"pixels": (digits.images / np.float32(16)).astype(np.float32)}
    outputs: dict[str, Any] = {"probabilities": np.empty((len(digits.images), 10), np.float32)}
    seconds = []
    # The first call also prepares the engine's memory, so it is not timed.
    for _ in range(1 + _RUNS):
        before = time.perf_counter()
        result = context.computeSync(graph, inputs, outputs)
        seconds.append(time.perf_counter() - before)
        # compute() transferred the arrays and returned new ones over the same memory.
        inputs, outputs = result["inputs"], result["outputs"]

    assert graph._implementation is not None  # nobody destroyed it
    probabilities = outputs["probabilities"]
    return Report(
        answers=probabilities.argmax(axis=1),
        confidence=probabilities.max(axis=1),
        labels=digits.labels,
        load_seconds=loaded - start,
        build_seconds=built - loaded,
        compute_seconds=statistics.median(seconds[1:]),
        providers=graph._implementation.providers,
        note="; ".join(str(warning.message) for warning in caught),
    )
