"""Quantized networks: layers of 8-bit integers between dequantizations and quantizations, and weights of 4-bit integers.

``python -m benchmarks.quantized webnn`` builds and computes the latter once, and prints the peak of the memory.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from onnx import helper

from benchmarks.measure import Array
from benchmarks.memory import peak_bytes
from benchmarks.sides import MICROSOFT, OnnxGraph, Session, TensorProgram, constant, described
from webnn import ML, MLGraphBuilder, MLOperand

__all__ = [
    "Blocks",
    "Layers",
    "make_convolutions",
    "make_matrices",
    "onnx_blocks",
    "onnx_layers",
    "run_child",
    "webnn_blocks",
    "webnn_layers",
]

ROOT = Path(__file__).parents[1]
#: The draft with int4 and uint4.
BROWSERS: Final = "2026-06+browsers"


@dataclass(frozen=True)
class Layers:
    """Layers with random weights: dequantize, multiply or convolve, `relu` behind a convolution, quantize.

    Attributes:
        x: The input, int8 or uint8: [rows, columns], or [1, channels, height, width].
        weights: For each layer int8, [columns, columns] or [channels, channels, 3, 3].
        weightScale: The scale of all weights; their zero point is 0.
        scale: The scale of the input and of the values between the layers.
        zeroPoint: Their zero point.
    """

    x: Array
    weights: list[Array]
    weightScale: np.float32
    scale: np.float32
    zeroPoint: int

    @property
    def convolves(self) -> bool:
        """The layers are convolutions."""
        return self.x.ndim == 4


def _make(dataType: str, shape: tuple[int, ...], weights: tuple[int, ...], sums: int) -> Layers:
    rng = np.random.default_rng(0)
    limits = np.iinfo(dataType)
    x = rng.integers(limits.min, limits.max, shape, dataType, endpoint=True)
    # Integers of one size from layer to layer.
    scale = np.float32(1 / (73 * sums**0.5))
    layers = [rng.integers(-127, 127, weights, np.int8, endpoint=True) for _ in range(4)]
    # No number behind `relu` is less than 0. The engine's default drops it only with this zero point.
    zeroPoint = int(limits.min) if len(shape) == 4 else int(limits.min) + 128
    return Layers(x, layers, scale, np.float32(0.05), zeroPoint)


def make_matrices(dataType: str = "uint8", rows: int = 128, columns: int = 768) -> Layers:
    """Make four products of matrices."""
    return _make(dataType, (rows, columns), (columns, columns), columns)


def make_convolutions(dataType: str = "uint8", channels: int = 64, size: int = 28) -> Layers:
    """Make four convolutions, each with a bias and `relu`."""
    return _make(dataType, (1, channels, size, size), (channels, channels, 3, 3), channels * 9)


def _bias(weight: Array) -> Array:
    return np.arange(len(weight), dtype=np.int32) * 50


def webnn_layers(layers: Layers) -> TensorProgram:
    """Build the layers."""
    context = ML(revision=BROWSERS).createContextSync()
    builder = MLGraphBuilder(context)
    rank, dataType = layers.x.ndim, layers.x.dtype.name
    one = [1] * rank

    def scalar(value: Any, name: str, shape: list[int] = one) -> MLOperand:
        return constant(builder, np.full(shape, value, name))

    value = builder.input("x", described(dataType, layers.x.shape))
    for weight in layers.weights:
        numbers = builder.dequantizeLinear(value, scalar(layers.scale, "float32"), scalar(layers.zeroPoint, dataType))
        factors = builder.dequantizeLinear(constant(builder, weight), scalar(layers.weightScale, "float32"), scalar(0, "int8"))
        if layers.convolves:
            steps = scalar(layers.scale * layers.weightScale, "float32", [1])
            bias = builder.dequantizeLinear(constant(builder, _bias(weight)), steps, scalar(0, "int32", [1]))
            numbers = builder.relu(builder.conv2d(numbers, factors, bias=bias, padding=[1, 1, 1, 1]))
        else:
            numbers = builder.matmul(numbers, factors)
        value = builder.quantizeLinear(numbers, scalar(layers.scale, "float32"), scalar(layers.zeroPoint, dataType))
    return TensorProgram(context, builder.buildSync({"y": value}), {"x": layers.x}, {"y": layers.x.shape}, dataType)


def onnx_layers(layers: Layers) -> Session:
    """Make a session of the same layers, with the engine's own optimizations."""
    graph = OnnxGraph()
    kind = helper.np_dtype_to_tensor_dtype(layers.x.dtype)
    scale, zeroPoint = graph.weight(np.asarray(layers.scale)), graph.weight(np.asarray(layers.zeroPoint, layers.x.dtype))
    weightScale, none = graph.weight(np.asarray(layers.weightScale)), graph.weight(np.asarray(0, np.int8))
    steps = graph.weight(np.asarray(layers.scale * layers.weightScale))
    value = graph.input("x", layers.x.shape, kind)
    for index, weight in enumerate(layers.weights):
        numbers = graph.node("DequantizeLinear", [value, scale, zeroPoint])
        factors = graph.node("DequantizeLinear", [graph.weight(weight), weightScale, none])
        if layers.convolves:
            bias = graph.node("DequantizeLinear", [graph.weight(_bias(weight)), steps])
            numbers = graph.node("Relu", [graph.node("Conv", [numbers, factors, bias], pads=[1, 1, 1, 1])])
        else:
            numbers = graph.node("MatMul", [numbers, factors])
        value = graph.node("QuantizeLinear", [numbers, scale, zeroPoint], "y" if index == len(layers.weights) - 1 else "")
    graph.output("y", layers.x.shape, kind)
    return Session(graph, {"x": layers.x})


@dataclass(frozen=True)
class Blocks:
    """Products of one row with square matrices of uint4, whose scales and zero points belong to blocks of 32 along the sums.

    Attributes:
        size: The number of rows and columns.
        count: How many matrices.
        block: The size of the blocks.
    """

    size: int = 2048
    count: int = 8
    block: int = 32

    def fetch(self, index: int) -> tuple[Array, Array, Array]:
        """Make the integers of a matrix, column by column, two in a byte; the scales; the zero points, two in a byte."""
        rng = np.random.default_rng(index)
        blocks = self.size // self.block
        integers = rng.integers(0, 255, (self.size, blocks, self.block // 2), np.uint8, endpoint=True)
        scales = np.asarray(rng.uniform(0.5, 1.5, (self.size, blocks)) * 0.2 / self.size**0.5, np.float32)
        return integers, scales, rng.integers(0, 255, (self.size, blocks // 2), np.uint8, endpoint=True)

    @property
    def row(self) -> Array:
        """The input: [1, size]."""
        return np.linspace(-1, 1, self.size, dtype=np.float32)[None]


def webnn_blocks(blocks: Blocks) -> TensorProgram:
    """Build the products; the program drops each matrix once the builder has it."""
    context = ML(revision=BROWSERS).createContextSync()
    builder = MLGraphBuilder(context)
    size, wide = blocks.size, blocks.size // blocks.block
    value = builder.input("x", described("float32", [1, size]))
    for index in range(blocks.count):
        integers, scales, zeros = blocks.fetch(index)
        weight = builder.constant(described("uint4", [size, size]), integers)
        zeroPoint = builder.constant(described("uint4", [size, wide]), zeros)
        numbers = builder.dequantizeLinear(weight, constant(builder, scales), zeroPoint)
        value = builder.matmul(value, builder.transpose(numbers))
    return TensorProgram(context, builder.buildSync({"y": value}), {"x": blocks.row}, {"y": [1, size]})


def onnx_blocks(blocks: Blocks) -> Session:
    """Make a session of ``MatMulNBits``, which computes in float32; it uses the weights in place."""
    graph = OnnxGraph(external=True)
    size = blocks.size
    attributes = {"K": size, "N": size, "bits": 4, "block_size": blocks.block, "accuracy_level": 0}
    value = graph.input("x", [1, size])
    for index in range(blocks.count):
        integers, scales, zeros = (graph.weight(np.ascontiguousarray(each)) for each in _flat(*blocks.fetch(index)))
        name = "y" if index == blocks.count - 1 else ""
        value = graph.node("MatMulNBits", [value, integers, scales, zeros], name, domain=MICROSOFT, **attributes)
    graph.output("y", [1, size])
    return Session(graph, {"x": blocks.row})


def _flat(integers: Array, scales: Array, zeros: Array) -> tuple[Array, Array, Array]:
    return integers, scales.reshape(-1), zeros.reshape(-1)


def run_child(side: str) -> dict[str, Any]:
    """Build and compute the products of blocks once in a fresh process.

    Returns:
        ``before`` and ``peak`` in bytes, and the ``output``.
    """
    command = [sys.executable, "-m", "benchmarks.quantized", side]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def _main() -> None:
    sides: dict[str, Callable[[Blocks], TensorProgram | Session]] = {"webnn": webnn_blocks, "onnxruntime": onnx_blocks}
    side = sides[sys.argv[1]]
    # A small graph first, so that the memory of the modules is not counted.
    side(Blocks(size=64, count=1))()
    before = peak_bytes()
    loop = side(Blocks())
    output = loop()
    print(json.dumps({"before": before, "peak": peak_bytes(), "output": output.tolist()}))


if __name__ == "__main__":
    _main()
