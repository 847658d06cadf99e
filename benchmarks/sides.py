"""The two sides' machinery: a WebNN program in a loop, in both drafts, and ONNX models written by hand."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np
import onnxruntime
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

from benchmarks.measure import Array
from webnn import MLContext, MLGraph, MLGraphBuilder, MLOperand
from webnn.context.devices.selection import SessionSettings
from webnn.context.engine.session import session_options

__all__ = [
    "CPU",
    "CURRENT",
    "LOOPS",
    "MICROSOFT",
    "DeviceType",
    "OnnxGraph",
    "Program",
    "Providers",
    "Session",
    "TensorProgram",
    "constant",
    "described",
    "float32",
    "make_session",
]

#: The newest draft: graphs are dispatched over tensors.
CURRENT: Final = "2026-06"

DeviceType = Literal["cpu", "gpu", "npu"]
#: Execution providers, best first, each with its options.
Providers = Sequence[tuple[str, Mapping[str, str]]]
CPU: Providers = (("CPUExecutionProvider", {}),)

#: The versions that `webnn` writes, for the same kernels on both sides.
OPSET = 21
#: The domain of ONNX Runtime's own operators.
MICROSOFT = "com.microsoft"
IR_VERSION = 10

#: Smaller initializers stay inside a model with external ones, because shape inference reads them.
INLINE_BYTES = 128


def described(dataType: str, shape: Sequence[int]) -> Any:
    """Describe an operand, in both drafts: each ignores the member that the other one reads."""
    return {"dataType": dataType, "dimensions": shape, "shape": shape}


def float32(shape: Sequence[int]) -> Any:
    """Describe an operand of numbers."""
    return described("float32", shape)


def constant(builder: MLGraphBuilder, value: Array) -> MLOperand:
    """Make a constant of an array."""
    return builder.constant(described(value.dtype.name, value.shape), value)


class Program:
    """A built graph in a loop: each call passes on the arrays that the last one returned, as a program must.

    Args:
        context: The context that built the graph.
        graph: The graph.
        inputs: Its inputs; they are transferred at the first call.
        outputs: The shapes of its outputs, all float32.
    """

    def __init__(self, context: MLContext, graph: MLGraph, inputs: Mapping[str, Array], outputs: Mapping[str, Sequence[int]]) -> None:
        self._context = context
        self._graph = graph
        self._inputs = {name: array.copy() for name, array in inputs.items()}
        self._outputs: dict[str, Array] = {name: np.zeros(shape, np.float32) for name, shape in outputs.items()}

    def __call__(self, repeats: int = 1) -> Array:
        """Compute a number of times; return the first output, which the next call transfers."""
        context, graph, inputs, outputs = self._context, self._graph, self._inputs, self._outputs
        for _ in range(repeats):
            result = context.computeSync(graph, inputs, outputs)
            inputs, outputs = result["inputs"], result["outputs"]
        self._inputs, self._outputs = inputs, outputs
        return next(iter(outputs.values()))

    def awaited(self, repeats: int = 1) -> Array:
        """Do the same on an event loop, awaiting each call."""

        async def loop() -> None:
            context, graph, inputs, outputs = self._context, self._graph, self._inputs, self._outputs
            for _ in range(repeats):
                result = await context.compute(graph, inputs, outputs)
                inputs, outputs = result["inputs"], result["outputs"]
            self._inputs, self._outputs = inputs, outputs

        asyncio.run(loop())
        return next(iter(self._outputs.values()))

    def threaded(self, repeats: int = 1) -> Array:
        """Do the same in four threads that share the calls; each one has arrays of its own."""
        programs = [Program(self._context, self._graph, self._inputs, {n: o.shape for n, o in self._outputs.items()}) for _ in range(4)]
        threads = [threading.Thread(target=program, args=(repeats // 4,)) for program in programs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return self()


class TensorProgram:
    """A built graph of the newest draft in a loop: each call writes the inputs, dispatches, and reads the first output.

    Args:
        context: As for `Program`.
        graph: As for `Program`.
        inputs: Its inputs.
        outputs: As for `Program`.
        dataType: The type of the outputs.
    """

    def __init__(
        self,
        context: MLContext,
        graph: MLGraph,
        inputs: Mapping[str, Array],
        outputs: Mapping[str, Sequence[int]],
        dataType: str = "float32",
    ) -> None:
        self._context = context
        self._graph = graph
        self._data = list(inputs.values())
        self._inputs = {
            name: context.createTensorSync(described(array.dtype.name, array.shape) | {"writable": True}) for name, array in inputs.items()
        }
        self._outputs = {name: context.createTensorSync(described(dataType, shape) | {"readable": True}) for name, shape in outputs.items()}

    def __call__(self, repeats: int = 1) -> Array:
        """Write, dispatch and read a number of times; return what was read last."""
        context, graph, inputs, outputs = self._context, self._graph, self._inputs, self._outputs
        written, read = list(zip(inputs.values(), self._data, strict=True)), next(iter(outputs.values()))
        for _ in range(repeats):
            for tensor, data in written:
                context.writeTensor(tensor, data)
            context.dispatch(graph, inputs, outputs)
            result = context.readTensorSync(read)
        return result

    def queue(self, repeats: int = 1) -> Array:
        """Dispatch a number of times, and read once."""
        context, graph, inputs, outputs = self._context, self._graph, self._inputs, self._outputs
        for _ in range(repeats):
            context.dispatch(graph, inputs, outputs)
        return context.readTensorSync(next(iter(outputs.values())))


#: Functions that run a graph in a loop, by the draft.
LOOPS: Mapping[str, type[Program | TensorProgram]] = {"2024-06": Program, CURRENT: TensorProgram}


@dataclass
class OnnxGraph:
    """An ONNX model under construction, written with `onnx.helper`.

    Attributes:
        external: Large initializers refer to memory, which `weights` keeps.
    """

    external: bool = False
    weights: dict[str, Array] = field(default_factory=dict)
    nodes: list[NodeProto] = field(default_factory=list)
    initializers: list[TensorProto] = field(default_factory=list)
    inputs: list[ValueInfoProto] = field(default_factory=list)
    outputs: list[ValueInfoProto] = field(default_factory=list)

    def input(self, name: str, shape: Sequence[int | str], dataType: int = TensorProto.FLOAT) -> str:
        """Declare an input."""
        self.inputs.append(helper.make_tensor_value_info(name, dataType, list(shape)))
        return name

    def output(self, name: str, shape: Sequence[int | str], dataType: int = TensorProto.FLOAT) -> None:
        """Declare an output."""
        self.outputs.append(helper.make_tensor_value_info(name, dataType, list(shape)))

    def weight(self, value: Array) -> str:
        """Add an initializer, C-contiguous."""
        name = f"w{len(self.initializers)}"
        if not self.external or value.nbytes < INLINE_BYTES:
            self.initializers.append(numpy_helper.from_array(value, name))
            return name
        tensor = TensorProto(
            name=name,
            data_type=helper.np_dtype_to_tensor_dtype(value.dtype),
            dims=value.shape,
            data_location=TensorProto.EXTERNAL,
        )
        for key, text in (("location", name), ("offset", "0"), ("length", str(value.nbytes))):
            tensor.external_data.add(key=key, value=text)
        self.initializers.append(tensor)
        self.weights[name] = value
        return name

    def node(self, op_type: str, inputs: Sequence[str], output: str = "", **attributes: Any) -> str:
        """Add a node with one output; return the output's name."""
        output = output or f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, list(inputs), [output], **attributes))
        return output

    def model(self) -> ModelProto:
        """Make the model."""
        graph = helper.make_graph(self.nodes, "graph", self.inputs, self.outputs, self.initializers)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)


class Session:
    """A hand-written model in a loop.

    Args:
        graph: The model, with its weights.
        feeds: Its inputs.
        providers: As for `make_session`.
    """

    def __init__(self, graph: OnnxGraph, feeds: Mapping[str, Array], providers: Providers = CPU) -> None:
        self._session = make_session(graph, providers)
        # External initializers are used in place.
        self._weights = graph.weights
        self._feeds = dict(feeds)

    def __call__(self, repeats: int = 1) -> Array:
        """Run a number of times; return the first output."""
        run, feeds = self._session.run, self._feeds
        for _ in range(repeats):
            results = run(None, feeds)
        output: Array = results[0]
        return output


def make_session(graph: OnnxGraph, providers: Providers = CPU) -> onnxruntime.InferenceSession:
    """Make a session with the options that `webnn` uses: threads that wait in a loop for longer would take a core from the other side.

    Args:
        graph: The model.
        providers: The execution providers, best first, each with its options.
    """
    options = session_options(SessionSettings())
    if graph.weights:
        arrays = list(graph.weights.values())
        options.add_external_initializers_from_files_in_memory(
            list(graph.weights),
            [array.reshape(-1).view(np.uint8) for array in arrays],
            [array.nbytes for array in arrays],
        )
        options.add_session_config_entry("session.use_external_initializer_file_buffers_directly", "1")
    return onnxruntime.InferenceSession(
        graph.model().SerializeToString(), options, providers=[(name, dict(settings)) for name, settings in providers]
    )
