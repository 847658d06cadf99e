"""An int8 graph: the edges in a small picture, found with a quantized convolution.

Pixels are uint8, the filters int8, and the pooling sees int8: between them the numbers are dequantized, computed with, and quantized again,
as quantized models do it. The program draws the edges and compares them with those of the same network in float32.

Run it: ``python examples/int8_graph.py``; see what devices say about it: ``webnn check examples/int8_graph.py``
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from webnn import ML, MLContext, MLGraph, MLGraphBuilder, MLOperand

HEIGHT, WIDTH = 20, 40
#: Sobel's filters: the change from left to right, and that from top to bottom.
FILTERS = np.array([[[[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]], [[[-1, -2, -1], [0, 0, 0], [1, 2, 1]]]], np.int8)
#: One step of the quantized pixels, filters and edges.
PIXEL, FILTER, EDGE = 1 / 255, 1 / 4, 1 / 64


def picture() -> NDArray[np.uint8]:
    """Return a white disc on black, [1, 1, height, width] from 0 to 255; a character of the terminal is twice as high as it is wide."""
    rows, columns = np.ogrid[:HEIGHT, :WIDTH]
    inside = (rows - (HEIGHT - 1) / 2) ** 2 + ((columns - (WIDTH - 1) / 2) / 2) ** 2 < 64
    return np.where(inside, 255, 0).astype(np.uint8).reshape(1, 1, HEIGHT, WIDTH)


class Edges:
    """Builds the network.

    Args:
        context: The context that compiles and computes it.
        quantized: Quantize the edges before they are pooled.
    """

    def __init__(self, context: MLContext, *, quantized: bool) -> None:
        self.builder = MLGraphBuilder(context)
        self.quantized = quantized

    def scale(self, step: float) -> MLOperand:
        """One scale for a whole tensor: of its rank, with one element."""
        return self.builder.constant({"dataType": "float32", "shape": [1, 1, 1, 1]}, np.full((1, 1, 1, 1), step, np.float32))

    def zero(self, dataType: Literal["int8", "uint8"]) -> MLOperand:
        """The zero point of a whole tensor."""
        return self.builder.constant({"dataType": dataType, "shape": [1, 1, 1, 1]}, np.zeros((1, 1, 1, 1), dataType))

    def build(self) -> MLGraph:
        """Build and compile: ``pixels`` is uint8 [1, 1, height, width], ``edges`` float32 [1, 2, height / 2, width / 2]."""
        b = self.builder
        given = b.input("pixels", dataType="uint8", shape=[1, 1, HEIGHT, WIDTH])
        x = b.dequantizeLinear(given, self.scale(PIXEL), self.zero("uint8"), label="pixels")
        filters = b.constant({"dataType": "int8", "shape": list(FILTERS.shape)}, FILTERS)
        filters = b.dequantizeLinear(filters, self.scale(FILTER), self.zero("int8"), label="filters")
        x = b.abs(b.conv2d(x, filters, padding=[1, 1, 1, 1], label="sobel"))
        if self.quantized:
            x = b.quantizeLinear(x, self.scale(EDGE), self.zero("int8"), label="edges")
        x = b.maxPool2d(x, windowDimensions=[2, 2], strides=[2, 2], label="pool")
        if self.quantized:
            x = b.dequantizeLinear(x, self.scale(EDGE), self.zero("int8"), label="result")
        return b.buildSync({"edges": x})


def compute(context: MLContext, graph: MLGraph) -> NDArray[np.float32]:
    given = context.createTensorSync(dataType="uint8", shape=[1, 1, HEIGHT, WIDTH], writable=True)
    result = context.createTensorSync(dataType="float32", shape=[1, 2, HEIGHT // 2, WIDTH // 2], readable=True)
    context.writeTensor(given, picture())
    context.dispatch(graph, {"pixels": given}, {"edges": result})
    return np.asarray(context.readTensorSync(result))


def main() -> None:
    context = ML(revision="2026-06").createContextSync()
    edges = compute(context, Edges(context, quantized=True).build())
    for row in edges.max(axis=(0, 1)):
        print("".join(" .:*#"[min(4, int(4 * value))] for value in row).rstrip())
    exact = compute(context, Edges(context, quantized=False).build())
    print(f"at most one step from float32: {bool(np.abs(edges - exact).max() <= EDGE)}")


if __name__ == "__main__":
    main()
