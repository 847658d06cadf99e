"""Small graphs, where the fixed costs show: ``relu(x + y)``, and a chain of additions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import onnxruntime

from benchmarks.measure import Array
from benchmarks.sides import CURRENT, DeviceType, OnnxGraph, Program, Session, TensorProgram, float32, make_session
from webnn import ML, MLContext, MLGraph, MLGraphBuilder, MLOperand
from webnn.builder.onnx.translate import translate
from webnn.validation.revision import RevisionName

__all__ = [
    "BoundSession",
    "chain_inputs",
    "onnx_chain",
    "onnx_nodes",
    "onnx_tiny",
    "onnx_tiny_bound",
    "tiny_inputs",
    "webnn_chain",
    "webnn_operators",
    "webnn_tiny",
    "webnn_tiny_isolated",
    "webnn_tiny_tensors",
    "webnn_translation",
]

_LENGTH = 16


def tiny_inputs() -> dict[str, Array]:
    """Return the inputs of the tiny graph."""
    return {"x": np.arange(-3, 3, dtype=np.float32).reshape(2, 3), "y": np.ones((2, 3), np.float32)}


def webnn_tiny() -> Program:
    """Build ``relu(x + y)``."""
    return Program(*_webnn_tiny("2024-06"))


def webnn_tiny_tensors() -> TensorProgram:
    """Build the same graph in the newest draft."""
    return TensorProgram(*_webnn_tiny(CURRENT))


def webnn_tiny_isolated(deviceType: DeviceType, *, isolate: bool) -> TensorProgram:
    """Build the same graph on a device, simulators included, in a process of its own or in this one."""
    simulators = deviceType != "cpu"
    context = ML(revision=CURRENT, isolate=isolate, simulators=simulators, fallback="silent").createContextSync(deviceType=deviceType)
    return TensorProgram(*_webnn_tiny(CURRENT, context))


def _webnn_tiny(
    revision: RevisionName, context: MLContext | None = None
) -> tuple[MLContext, MLGraph, dict[str, Array], dict[str, list[int]]]:
    inputs = tiny_inputs()
    context = context or ML(revision=revision).createContextSync()
    builder = MLGraphBuilder(context)
    x, y = (builder.input(name, float32([2, 3])) for name in inputs)
    return context, builder.buildSync({"z": builder.relu(builder.add(x, y))}), inputs, {"z": [2, 3]}


def onnx_tiny() -> Session:
    """Make the session of the same graph."""
    return Session(_onnx_tiny(), tiny_inputs())


def onnx_tiny_bound() -> BoundSession:
    """Make a session of the same graph whose inputs and output are bound."""
    return BoundSession(_onnx_tiny(), tiny_inputs(), "z", [2, 3])


def _onnx_tiny() -> OnnxGraph:
    graph = OnnxGraph()
    x, y = (graph.input(name, [2, 3]) for name in tiny_inputs())
    graph.node("Relu", [graph.node("Add", [x, y])], "z")
    graph.output("z", [2, 3])
    return graph


class BoundSession:
    """A hand-written model in a loop over values of the engine: each call writes the inputs, runs, and reads the output.

    Args:
        graph: The model.
        feeds: Its inputs.
        output: The name of its output.
        shape: The output's shape.
    """

    def __init__(self, graph: OnnxGraph, feeds: Mapping[str, Array], output: str, shape: Sequence[int]) -> None:
        self._session = make_session(graph)
        self._binding = self._session.io_binding()
        self._written = []
        for name, data in feeds.items():
            value = onnxruntime.OrtValue.ortvalue_from_numpy(data.copy())
            self._binding.bind_ortvalue_input(name, value)
            self._written.append((value, data))
        self._read = onnxruntime.OrtValue.ortvalue_from_numpy(np.zeros(shape, np.float32))
        self._binding.bind_ortvalue_output(output, self._read)

    def __call__(self, repeats: int = 1) -> Array:
        """Run a number of times; return what was read last."""
        run, binding, read = self._session.run_with_iobinding, self._binding, self._read
        for _ in range(repeats):
            for value, data in self._written:
                value.update_inplace(data)
            run(binding)
            result: Array = read.numpy()
        return result

    def queue(self, repeats: int = 1) -> Array:
        """Run a number of times without writing, and read once."""
        run, binding = self._session.run_with_iobinding, self._binding
        for _ in range(repeats):
            run(binding)
        result: Array = self._read.numpy()
        return result


def chain_inputs() -> dict[str, Array]:
    """Return the inputs of the chain."""
    return {"x": np.linspace(-1, 1, _LENGTH, dtype=np.float32), "y": np.linspace(0, 1, _LENGTH, dtype=np.float32)}


def webnn_operators(context: MLContext, count: int) -> tuple[MLGraphBuilder, MLOperand]:
    """Call the builder only: ``x + y + y ...``."""
    builder = MLGraphBuilder(context)
    value, y = (builder.input(name, float32([_LENGTH])) for name in ("x", "y"))
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


def webnn_translation(context: MLContext, count: int) -> bytes:
    """Call the builder and translate: all of webnn's own work for the chain."""
    builder, value = webnn_operators(context, count)
    return translate(builder._collect({"z": value})).proto.SerializeToString()


def webnn_chain(context: MLContext, count: int) -> Program:
    """Build the chain."""
    builder, value = webnn_operators(context, count)
    return Program(context, builder.buildSync({"z": value}), chain_inputs(), {"z": [_LENGTH]})


def onnx_chain(count: int) -> Session:
    """Make the session of the chain."""
    return Session(onnx_nodes(count), chain_inputs())
