"""Dynamically quantized networks: an ONNX model whose ranges are measured in each run, imported, beside a session of the same model."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Literal

import numpy as np
from onnx import TensorProto, helper

import webnn.onnx
from benchmarks.measure import Array, Effort, Result, compete, summarize
from benchmarks.sides import CURRENT, OnnxGraph, Session, TensorProgram
from webnn import ML, MLGraphBuilder
from webnn.builder.numerics import Numerics

__all__ = ["DYNAMIC_CASES"]

_Kind = Literal["matmul", "conv"]
_LAYERS = 4
#: Of what the layers are made: the shape of the values and of the weights.
_SHAPES: Mapping[_Kind, tuple[tuple[int, ...], tuple[int, ...]]] = MappingProxyType(
    {"matmul": ((128, 768), (768, 768)), "conv": ((1, 64, 28, 28), (64, 64, 3, 3))}
)


def _make(kind: _Kind) -> OnnxGraph:
    """Make layers as ONNX Runtime's quantizer writes them: the integers' products become numbers by two scales; bias and `Relu` follow."""
    shape, size = _SHAPES[kind]
    rng, graph = np.random.default_rng(0), OnnxGraph()
    # Numbers keep their magnitude from layer to layer.
    scale = graph.weight(np.asarray(1 / (50 * math.sqrt(math.prod(size[1:]))), np.float32))
    zero = graph.weight(np.asarray(128, np.uint8))
    bias = graph.weight(
        np.linspace(-0.1, 0.1, size[-1] if kind == "matmul" else size[0], dtype=np.float32).reshape(-1, *[1] * (len(size) - 2))
    )
    value = graph.input("x", shape)
    for index in range(_LAYERS):
        quantized, own, ownZero = outputs = [f"{name}{index}" for name in ("quantized", "scale", "zero")]
        graph.nodes.append(helper.make_node("DynamicQuantizeLinear", [value], outputs))
        factors = [quantized, graph.weight(rng.integers(0, 255, size, np.uint8, endpoint=True)), ownZero, zero]
        sums = graph.node("MatMulInteger", factors) if kind == "matmul" else graph.node("ConvInteger", factors, pads=[1, 1, 1, 1])
        numbers = graph.node("Mul", [graph.node("Cast", [sums], to=TensorProto.FLOAT), graph.node("Mul", [own, scale])])
        value = graph.node("Relu", [graph.node("Add", [numbers, bias])], "y" if index == _LAYERS - 1 else "")
    graph.output("y", shape)
    return graph


def _import(graph: OnnxGraph, feeds: Mapping[str, Array], numerics: Numerics) -> TensorProgram:
    context = ML(revision=CURRENT, numerics=numerics).createContextSync()
    builder = MLGraphBuilder(context)
    outputs = webnn.onnx.load(graph.model(), builder).outputs
    return TensorProgram(context, builder.buildSync(outputs), feeds, {name: each.shape for name, each in outputs.items()})


def _case(effort: Effort, kind: _Kind, numerics: Numerics) -> Result:
    graph, shape = _make(kind), _SHAPES[kind][0]
    feeds = {"x": np.random.default_rng(1).standard_normal(shape, np.float32)}
    times = compete(_import(graph, feeds, numerics), Session(graph, feeds), effort, 40)
    name, fast = f"dynamic-{kind}", numerics == "fast"
    title = f"{_LAYERS} layers, dynamically quantized, of float32 {list(shape)}: one inference{', fast numerics' * fast}"
    return summarize(name + "-fast" * fast, title, times, unit="ms", bar=1.1)


#: The benchmarks by their names on the command line.
DYNAMIC_CASES: Mapping[str, Callable[[Effort], Result]] = MappingProxyType(
    {
        "dynamic-matmul": partial(_case, kind="matmul", numerics="exact"),
        "dynamic-matmul-fast": partial(_case, kind="matmul", numerics="fast"),
        "dynamic-conv": partial(_case, kind="conv", numerics="exact"),
        "dynamic-conv-fast": partial(_case, kind="conv", numerics="fast"),
    }
)
