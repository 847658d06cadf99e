"""Small graphs, where the fixed costs show: ``relu(x + y)``, and a chain of additions."""

from __future__ import annotations

import numpy as np

from benchmarks.measure import Array
from benchmarks.sides import OnnxGraph, Program, Session
from webnn import ML, MLContext, MLGraphBuilder, MLOperand

__all__ = ["chain_inputs", "onnx_chain", "onnx_nodes", "onnx_tiny", "tiny_inputs", "webnn_chain", "webnn_operators", "webnn_tiny"]

_LENGTH = 16


def tiny_inputs() -> dict[str, Array]:
    """Return the inputs of the tiny graph."""
    return {"x": np.arange(-3, 3, dtype=np.float32).reshape(2, 3), "y": np.ones((2, 3), np.float32)}


def webnn_tiny() -> Program:
    """Build ``relu(x + y)``."""
    inputs = tiny_inputs()
    context = ML().createContextSync()
    builder = MLGraphBuilder(context)
    x, y = (builder.input(name, {"dataType": "float32", "dimensions": [2, 3]}) for name in inputs)
    return Program(context, builder.buildSync({"z": builder.relu(builder.add(x, y))}), inputs, {"z": [2, 3]})


def onnx_tiny() -> Session:
    """Make the session of the same graph."""
    inputs = tiny_inputs()
    graph = OnnxGraph()
    x, y = (graph.input(name, [2, 3]) for name in inputs)
    graph.node("Relu", [graph.node("Add", [x, y])], "z")
    graph.output("z", [2, 3])
    return Session(graph, inputs)


def chain_inputs() -> dict[str, Array]:
    """Return the inputs of the chain."""
    return {"x": np.linspace(-1, 1, _LENGTH, dtype=np.float32), "y": np.linspace(0, 1, _LENGTH, dtype=np.float32)}


def webnn_operators(context: MLContext, count: int) -> tuple[MLGraphBuilder, MLOperand]:
    """Call the builder only: ``x + y + y ...``."""
    builder = MLGraphBuilder(context)
    value, y = (builder.input(name, {"dataType": "float32", "dimensions": [_LENGTH]}) for name in ("x", "y"))
    add = builder.add
    for _ in range(count):
        value = add(value, y)
    return builder, value


def onnx_nodes(count: int) -> OnnxGraph:
    """Make the nodes of the same chain."""
    graph = OnnxGraph()
    value, y = (graph.input(name, [_LENGTH]) for name in ("x", "y"))
    for index in range(count):
        value = graph.node("Add", [value, y], "z" if index == count - 1 else "")
    graph.output("z", [_LENGTH])
    return graph


def webnn_chain(context: MLContext, count: int) -> Program:
    """Build the chain."""
    builder, value = webnn_operators(context, count)
    return Program(context, builder.buildSync({"z": value}), chain_inputs(), {"z": [_LENGTH]})


def onnx_chain(count: int) -> Session:
    """Make the session of the chain."""
    return Session(onnx_nodes(count), chain_inputs())
