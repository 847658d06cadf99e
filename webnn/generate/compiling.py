"""Graphs of a language model's parts, each compiled once: for exact lengths, for lengths that are filled up, or for lengths with names."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

import webnn.onnx
from webnn.context.context import MLContext
from webnn.context.graph import MLGraph
from webnn.context.graph_builder import MLGraphBuilder
from webnn.context.state import Compilations
from webnn.context.tensor import MLTensor
from webnn.generate.layout import CacheEntry, Part
from webnn.validation.descriptor import DataType

__all__ = ["COUNT", "Compiled", "Compiler", "Work", "make_tensor"]

Array = np.ndarray[Any, np.dtype[Any]]

#: An input that graphs of several rows have beside those of the model: how many rows are valid, int32 [1].
COUNT = "webnn.count"
#: The most graphs that are kept: each has the weights in the order of its kernels.
_MOST = 32
#: Adds operators to a graph, given its builder and the outputs of the model; it returns the outputs of the graph, and the data types of
#: further inputs.
Finish = Callable[[Any, Mapping[str, Any]], tuple[dict[str, Any], dict[str, DataType]]]


@dataclass(slots=True)
class Work:
    """The sessions of a side, and the time until they could compute.

    Attributes:
        sessions: How many were compiled.
        seconds: How long that took, with the import of the models.
    """

    sessions: int = 0
    seconds: float = 0.0


@dataclass(slots=True, eq=False)
class Compiled:
    """A graph.

    Attributes:
        graph: The graph.
        inputs: The data types of its inputs.
        outputs: The data type and the last size of each output of the model.
    """

    graph: MLGraph
    inputs: Mapping[str, DataType]
    outputs: Mapping[str, tuple[DataType, int]]


@dataclass(slots=True, eq=False)
class Compiler:
    """Compiles the graphs of a part of a language model, and keeps them. Several threads may use it.

    Attributes:
        context: The context.
        part: The model.
        named: Lengths have names.
        work: The sessions so far, which several parts share.
    """

    context: MLContext
    part: Part
    named: bool
    work: Work
    _graphs: dict[Hashable, Compiled] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def get(
        self,
        key: Hashable,
        shapes: Mapping[str, Sequence[int | str]],
        finish: Finish | None = None,
    ) -> Compiled:
        """Return the graph for some shapes; it is compiled the first time.

        Args:
            key: Tells the graph from the others.
            shapes: The shapes of inputs; names in them are those of the graph.
            finish: Adds operators behind the model; without it the outputs are those of the model.

        Raises:
            RefusedModelError: The model cannot be imported.
            OperationError: The engine refuses the graph.
        """

        def build(builder: MLGraphBuilder) -> Compiled:
            # Tokens, positions and masks fit into int32, which every device takes.
            narrow = self.context.accelerated or "int64" not in self.context.opSupportLimits()["input"]["dataTypes"]
            # Drafts with names take them in shapes.
            given = cast("Mapping[str, Sequence[int]]", shapes)
            imported = webnn.onnx.load(self.part.model, builder, shapes=given, int32=narrow)
            types = {name: each.dataType for name, each in imported.inputs.items()}
            outputs = dict(imported.outputs)
            sizes = {name: (each.descriptor.dataType, each.descriptor.dimensions[-1]) for name, each in outputs.items()}
            if finish is not None:
                outputs, more = finish(builder, outputs)
                types |= more
            return Compiled(builder.buildSync(outputs), types, sizes)

        return self.keep(key, build)

    def grow(self, cache: Sequence[CacheEntry], before: int, after: int) -> Compiled:
        """Return the graph that puts rows of zeros before those of a cache: inputs and outputs have the names of the cache's inputs."""

        def build(builder: MLGraphBuilder) -> Compiled:
            outputs, inputs = {}, {}
            for each in cache:
                inputs[each.past] = cast(DataType, each.dtype)
                old = builder.input(each.past, dataType=inputs[each.past], shape=[1, each.heads, before, each.size])
                outputs[each.past] = builder.pad(old, [0, 0, after - before, 0], [0, 0, 0, 0])
            return Compiled(builder.buildSync(outputs), inputs, {})

        return self.keep(("grow", before, after), build)

    def keep(self, key: Hashable, build: Callable[[MLGraphBuilder], Compiled]) -> Compiled:
        """Return the graph of a key; one that is new is built. The last 32 that were used are kept."""
        with self._lock:
            found = self._graphs.pop(key, None)
            if found is None:
                began, sessions = time.perf_counter(), self._compilations.count
                found = build(MLGraphBuilder(self.context))
                self.work.seconds += time.perf_counter() - began
                self.work.sessions += self._compilations.count - sessions
            # The one that was used last is the last one.
            self._graphs[key] = found
            if len(self._graphs) > _MOST:
                # Not destroyed: another thread may dispatch it just now.
                del self._graphs[next(iter(self._graphs))]
            return found

    def compute(
        self, compiled: Compiled, inputs: Mapping[str, MLTensor], outputs: Mapping[str, MLTensor], wanted: str = ""
    ) -> Array | None:
        """Dispatch a graph; read one of its outputs, if one is wanted."""
        compilations = self._compilations
        sessions, seconds = compilations.count, compilations.seconds
        self.context.dispatch(compiled.graph, inputs, outputs)
        result = self.context.readTensorSync(outputs[wanted]) if wanted else None
        # With lengths that have names, a dispatch compiles.
        self.work.sessions += compilations.count - sessions
        self.work.seconds += compilations.seconds - seconds
        return result

    @property
    def _compilations(self) -> Compilations:
        return self.context._state.compilations

    @property
    def graphs(self) -> list[MLGraph]:
        """The graphs, the one that was used last last."""
        with self._lock:
            return [each.graph for each in self._graphs.values()]

    def destroy(self) -> None:
        """Destroy the graphs."""
        with self._lock:
            while self._graphs:
                _, compiled = self._graphs.popitem()
                compiled.graph.destroy()


def make_tensor(context: MLContext, dataType: DataType, shape: Sequence[int]) -> MLTensor:
    """Make a tensor that can be read and written, all zeros."""
    return context.createTensorSync(dataType=dataType, shape=list(shape), readable=True, writable=True)
