"""SqueezeNet 1.0 with real weights: what is on a photo?

The network in NHWC layout, as web-platform-tests use it, written as one would write it for a web page. The answer of a real browser
comes with the data, and the program compares.

Run it: ``python examples/squeezenet.py [--models DIR]``, where ``DIR/squeezenet1.0_nhwc`` holds ``weights.npz``, ``labels.txt``,
``photo_rgb_224.npy`` and ``expected_probabilities.npy``.
"""

import argparse
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from webnn import MLContext, MLConv2dOptions, MLGraph, MLGraphBuilder, MLOperand, navigator

DEFAULT_MODELS = Path(__file__).resolve().parents[2] / "shared" / "models"
TOLERANCE = 1e-5


class SqueezeNet:
    """Builds the network.

    Args:
        context: The context that compiles and computes it.
        weights: For each layer ``<layer>_kernel``, [output channels, height, width, input channels], and ``<layer>_Conv2D_bias``.
    """

    def __init__(self, context: MLContext, weights: Mapping[str, NDArray[np.float32]]) -> None:
        self.builder = MLGraphBuilder(context)
        self.weights = weights

    def constant(self, name: str) -> MLOperand:
        """A constant with the weights of this name."""
        values = self.weights[name]
        return self.builder.constant({"dataType": "float32", "shape": values.shape}, values)

    def conv(self, input: MLOperand, name: str, padding: list[int] | None = None, strides: list[int] | None = None) -> MLOperand:
        """A convolution with a bias, and a ReLU."""
        options: MLConv2dOptions = {
            "bias": self.constant(f"{name}_Conv2D_bias"),
            "inputLayout": "nhwc",
            "filterLayout": "ohwi",
            "padding": padding or [0, 0, 0, 0],
            "strides": strides or [1, 1],
            "label": name,
        }
        return self.builder.relu(self.builder.conv2d(input, self.constant(f"{name}_kernel"), options))

    def fire(self, input: MLOperand, name: str) -> MLOperand:
        """A fire block: squeeze the channels, expand them with 1x1 and 3x3 filters, put both side by side."""
        squeezed = self.conv(input, f"{name}_squeeze")
        expanded1x1 = self.conv(squeezed, f"{name}_e1x1")
        expanded3x3 = self.conv(squeezed, f"{name}_e3x3", padding=[1, 1, 1, 1])
        return self.builder.concat([expanded1x1, expanded3x3], 3)

    def maxPool(self, input: MLOperand) -> MLOperand:
        """The maximum of each window of 3x3, every second row and column."""
        return self.builder.maxPool2d(input, windowDimensions=[3, 3], strides=[2, 2], layout="nhwc")

    def build(self) -> MLGraph:
        """Build and compile: ``input`` is float32 [1, 224, 224, 3] from -1 to 1, ``output`` float32 [1, 1001]."""
        x = self.builder.input("input", dataType="float32", shape=[1, 224, 224, 3])
        # Padding "same" for a stride of 2: the odd row and column stand at the end.
        x = self.maxPool(self.conv(x, "conv1", padding=[2, 3, 2, 3], strides=[2, 2]))
        for name in ("fire2", "fire3", "fire4"):
            x = self.fire(x, name)
        x = self.maxPool(x)
        for name in ("fire5", "fire6", "fire7", "fire8"):
            x = self.fire(x, name)
        x = self.conv(self.fire(self.maxPool(x), "fire9"), "conv10")
        x = self.builder.averagePool2d(x, windowDimensions=[13, 13], layout="nhwc")
        return self.builder.buildSync({"output": self.builder.softmax(self.builder.reshape(x, [1, 1001]), 1)})


def main() -> None:
    parser = argparse.ArgumentParser(description="Recognise a photo with SqueezeNet 1.0.")
    parser.add_argument("--models", type=Path, default=DEFAULT_MODELS, help="the folder with squeezenet1.0_nhwc")
    folder = parser.parse_args().models / "squeezenet1.0_nhwc"
    if not (folder / "weights.npz").exists():
        print(f"nothing to do: no weights.npz in {folder}; name the folder of the models with --models")
        return

    with np.load(folder / "weights.npz", allow_pickle=False) as arrays:
        weights = dict(arrays)
    context = navigator.ml.createContextSync()
    start = time.perf_counter()
    graph = SqueezeNet(context, weights).build()
    built = time.perf_counter()

    photo = np.load(folder / "photo_rgb_224.npy")
    pixels = ((photo.astype(np.float32) - 127.5) / 127.5)[np.newaxis]
    result = context.computeSync(graph, {"input": pixels}, {"output": np.empty((1, 1001), np.float32)})
    computed = time.perf_counter()

    probabilities = result["outputs"]["output"][0]
    labels = (folder / "labels.txt").read_text(encoding="utf-8").splitlines()
    for index in np.argsort(-probabilities)[:3]:
        print(f"{probabilities[index]:.3f}  {labels[index]}")
    difference = float(np.abs(probabilities - np.load(folder / "expected_probabilities.npy")).max())
    print(f"largest difference from a browser's answer: {difference:.1e} (at most {TOLERANCE:.0e})")
    print(f"build {(built - start) * 1e3:.0f} ms, compute {(computed - built) * 1e3:.0f} ms")
    if difference > TOLERANCE:
        parser.exit(1, "the answer differs too much\n")


if __name__ == "__main__":
    main()
