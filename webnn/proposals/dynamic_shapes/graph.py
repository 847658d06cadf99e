"""Additional members of `MLGraph` and `MLContext`: a graph whose shapes are not known becomes one graph for each set of shapes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from webnn.builder.describe import describe_graph
from webnn.builder.graph import ComputationalGraph
from webnn.builder.operand import MLOperand
from webnn.context.graph import MLGraph
from webnn.context.placement import Placement
from webnn.context.runs import choose_inputs
from webnn.context.state import ContextState
from webnn.context.tensor import MLTensor
from webnn.proposals.dynamic_shapes.static import specialize
from webnn.validation import webidl
from webnn.validation.caller import Caller
from webnn.validation.descriptor import OperandDescriptor, Shape
from webnn.validation.errors import InvalidStateError, NotSupportedError
from webnn.validation.member import class_of_draft
from webnn.validation.named_descriptor import has_names
from webnn.validation.operation import Call

__all__ = ["DynamicContext", "DynamicGraph", "Specializations", "compile_dynamic"]

#: How many sets of shapes a graph remembers, and how many of them have a compiled graph.
MOST_RESOLVED, MOST_COMPILED = 256, 32

_STRING = frozenset({str})
_Key = tuple[OperandDescriptor, ...]


class _Slot:
    """An input or an output of a graph, as `MLGraph` reads it."""

    __slots__ = ("descriptor",)

    def __init__(self, operand: MLOperand) -> None:
        self.descriptor = operand.descriptor


class Specializations:
    """A graph for each set of shapes of its inputs, in the place of the `Implementation` of an `MLGraph`; `last` was used last.

    Any thread may call any method.
    """

    def __init__(self, state: ContextState, source: ComputationalGraph, caller: Caller) -> None:
        self.inputs = {name: _Slot(operand) for name, operand in source.inputs.items()}
        self.outputs = {name: _Slot(operand) for name, operand in source.outputs.items()}
        self.last: MLGraph | None = None
        self._state = state
        self._source = source
        self._caller = caller
        self._lock = threading.RLock()
        self._resolved: OrderedDict[_Key, ComputationalGraph] = OrderedDict()
        self._compiled: OrderedDict[_Key, MLGraph] = OrderedDict()

    @property
    def providers(self) -> list[str]:
        """The providers that are to compute."""
        return [name for name, _ in self._state.selection.providers]

    def match(self, call: Call, argument: str, given: Mapping[str, OperandDescriptor]) -> _Key:
        """Check the shapes of the inputs, and return them in order.

        Raises:
            WebNNTypeError: A name or a shape does not fit.
        """
        slots = self.inputs
        if set(given) != set(slots):
            raise call.error(argument, f"must be the inputs of the graph, {list(slots)}", list(given))
        sizes: dict[str, tuple[int, str]] = {}
        for name, slot in slots.items():
            wanted, found, place = slot.descriptor, given[name], f"{argument}[{webidl.describe(name)}]"
            pairs: list[tuple[Any, int]] = list(zip(wanted.dimensions, found.dimensions, strict=False))
            fits = len(wanted.dimensions) == len(found.dimensions) and all(isinstance(size, str) or size == each for size, each in pairs)
            if not fits or wanted.dataType != found.dataType:
                raise call.error(place, f"must be {wanted}", str(found))
            for size, each in pairs:
                known, where = sizes.setdefault(size, (each, place)) if isinstance(size, str) else (each, place)
                if known != each:
                    reason = f"must have the size {known} for {webidl.describe(size)}, as {where} has"
                    raise call.error(place, reason, list(found.dimensions))
        return tuple([given[name] for name in slots])

    def resolve(self, key: _Key) -> ComputationalGraph:
        """Return the graph for a set of shapes, in which all shapes are known.

        Raises:
            WebNNTypeError: The draft refuses a shape that follows.
        """
        with self._lock:
            graph = self._resolved.get(key)
            if graph is None:
                inputs = dict(zip(self.inputs, key, strict=True))
                graph = self._resolved[key] = specialize(self._state.revision, describe_graph(self._source), inputs)
                if len(self._resolved) > MOST_RESOLVED:
                    self._resolved.popitem(last=False)
            self._resolved.move_to_end(key)
            return graph

    def recall(self, inputs: Any) -> MLGraph | None:
        """Return the compiled graph for the shapes of tensors by their names, if there is one: what most calls need."""
        try:
            key = tuple([inputs[name]._descriptor for name in self.inputs])
            known = len(inputs) == len(key) and key in self._compiled
        except Exception:  # something has another class, or a name is missing: the checks say what
            return None
        if not known:
            return None
        with self._lock:
            graph = self._compiled.get(key)
            if graph is not None:
                self._compiled.move_to_end(key)
                self.last = graph
            return graph

    def find(self, key: _Key, run: Callable[[Callable[[], MLGraph]], MLGraph]) -> MLGraph:
        """Return the compiled graph for a set of shapes; ``run`` does the work if there is none yet."""
        # Imported lazily because it loads onnx.
        from webnn.context.build import compile_graph  # noqa: PLC0415

        with self._lock:
            graph = self._compiled.get(key)
        if graph is None:
            resolved = self.resolve(key)
            # Without the lock: on the timeline, another job may lose the context, which destroys this graph.
            graph = run(lambda: compile_graph(self._state, resolved, self._caller))
        with self._lock:
            graph = self._compiled.setdefault(key, graph)
            self._compiled.move_to_end(key)
            if len(self._compiled) > MOST_COMPILED:
                # Not destroyed: another thread may dispatch it just now.
                self._compiled.popitem(last=False)
            self.last = graph
            return graph

    def destroy(self) -> None:
        """Destroy all compiled graphs."""
        with self._lock:
            while self._compiled:
                _, graph = self._compiled.popitem()
                self._state.loss.remove(graph)
                graph._destroy()


class DynamicGraph:
    """The members of ``MLGraph``."""

    __slots__ = ()

    def computeShapes(self, inputShapes: Mapping[str, Any]) -> dict[str, list[int]]:
        """Return the shapes of the outputs for shapes of the inputs, without computing anything.

        Args:
            inputShapes: For each input of the graph its shape.

        Raises:
            WebNNTypeError: A shape does not fit the graph, or leads to one that the draft refuses.
            InvalidStateError: The graph was destroyed.
        """
        graph = cast(MLGraph, self)
        call = Call("computeShapes", "#api-mlgraph", graph._revision)
        shapes: Mapping[str, Shape] = call.convert("inputShapes", _convert_shapes, inputShapes)
        implementation = _implementation(graph, "computeShapes")
        types = {name: slot.descriptor.dataType for name, slot in implementation.inputs.items()}
        given = {name: OperandDescriptor(types.get(name, "float32"), shape) for name, shape in shapes.items()}
        resolved = implementation.resolve(implementation.match(call, "inputShapes", given))
        return {name: list(operand.descriptor.dimensions) for name, operand in resolved.outputs.items()}

    @property
    def placement(self) -> Placement:
        """Where each operator of the graph of the last shapes runs."""
        implementation = cast(MLGraph, self)._implementation
        last = implementation.last if isinstance(implementation, Specializations) else None
        if last is None:
            raise NotSupportedError(
                "placement: the graph has no shapes yet: dispatch it, because each set of shapes is placed for itself",
                operation="placement",
            )
        return last.placement

    def run(self, inputs: Mapping[str, Any] | None = None, /, **named: Any) -> Any:
        """Compute the graph, for the shapes of these inputs."""
        given = choose_inputs(inputs, named)
        return _with_shapes_of(cast(MLGraph, self), "run", given).run(given)

    def profile(self, inputs: Mapping[str, Any], runs: int = 10) -> Any:
        """Take the time of each operator, for the shapes of these inputs."""
        return _with_shapes_of(cast(MLGraph, self), "profile", inputs).profile(inputs, runs)

    def trace(self, inputs: Mapping[str, Any], labels: Any = ()) -> Any:
        """Compute the result of every operator, for the shapes of these inputs."""
        return _with_shapes_of(cast(MLGraph, self), "trace", inputs).trace(inputs, labels)

    def firstNaN(self, inputs: Mapping[str, Any]) -> Any:
        """Find the first operator whose result has a NaN or an infinity, for the shapes of these inputs."""
        return _with_shapes_of(cast(MLGraph, self), "firstNaN", inputs).firstNaN(inputs)

    def accuracy(self, inputs: Mapping[str, Any], whole: bool = False) -> Any:
        """Compare each operator with the reference, for the shapes of these inputs."""
        return _with_shapes_of(cast(MLGraph, self), "accuracy", inputs).accuracy(inputs, whole)

    def _destroy(self) -> None:
        implementation = cast(MLGraph, self)._implementation
        if isinstance(implementation, Specializations):
            implementation.destroy()
        base: Any = super()
        base._destroy()


class DynamicContext:
    """The members of ``MLContext``."""

    __slots__ = ()

    def dispatch(self, graph: MLGraph, inputs: Mapping[str, MLTensor], outputs: Mapping[str, MLTensor]) -> None:
        """Queue the computation of a graph, as in the draft. The shapes of the tensors are those of the graph's inputs and outputs.

        Raises:
            WebNNTypeError: The shapes do not fit the graph, or lead to one that the draft refuses.
            OperationError: The engine refuses the graph with these shapes.
        """
        base: Any = super()
        implementation = getattr(graph, "_implementation", None)
        state = cast(Any, self)._state
        if isinstance(implementation, Specializations) and graph._state is state:
            known = implementation.recall(inputs) if type(inputs) is dict else None
            if known is not None:
                base.dispatch(known, inputs, outputs)
                return
            named = inputs if type(inputs) is dict and _STRING.issuperset(map(type, inputs)) else _convert_tensors(inputs)
            given = {name: tensor._descriptor for name, tensor in named.items() if webidl.isInstance(tensor, MLTensor)}
            if len(given) == len(named):
                call = Call("dispatch", "#api-mlcontext-dispatch", state.revision)
                graph = implementation.find(implementation.match(call, "inputs", given), state.timeline.run)
                inputs = named
        # That call refuses an object that is not a graph of this context, or not a tensor.
        base.dispatch(graph, inputs, outputs)


def _convert_tensors(named: Any) -> dict[str, Any]:
    """Convert to ``record<USVString, any>``; a value that cannot be converted has a member that is not a tensor."""
    try:
        return webidl.record(named, lambda tensor: tensor, webidl.usvString)
    except webidl.ConversionError:
        return {"": None}


def compile_dynamic(state: ContextState, graph: ComputationalGraph, caller: Caller) -> MLGraph:
    """Build a graph: compile it if its shapes are known.

    Raises:
        InvalidStateError: The context is lost.
        DOMException: As for `compile_graph`.
    """
    state.loss.check("build")
    implementation: Any = Specializations(state, graph, caller)
    built = class_of_draft(MLGraph, "MLGraph", state.revision)._create(state, graph, implementation, cast(Any, None))
    if not any(has_names(operand.descriptor) for operand in graph.inputs.values()):
        implementation.find(tuple([operand.descriptor for operand in graph.inputs.values()]), lambda work: work())
    state.loss.add(built, "build")
    if implementation.last is None and state.on_build is not None:
        state.on_build(describe_graph(graph), built)
    return built


def _convert_shapes(value: object) -> Mapping[str, Shape]:
    """Convert to ``MLNamedShapes``."""
    return webidl.record(value, webidl.unsignedLongs, webidl.usvString, "a mapping from names to shapes")


def _implementation(graph: MLGraph, operation: str) -> Specializations:
    implementation = graph._implementation
    if not isinstance(implementation, Specializations):
        loss = graph._state.loss
        if loss.info is not None:
            raise loss.error(operation)
        raise InvalidStateError(f"{operation}: the graph must not be destroyed", operation=operation, draft=graph._revision.draft)
    return implementation


def _with_shapes_of(graph: MLGraph, operation: str, inputs: Mapping[str, Any]) -> MLGraph:
    """Return the graph for the shapes of arrays. An array of a shape that is known may be flat."""
    implementation = _implementation(graph, operation)
    call = Call(operation, "#api-mlgraph", graph._revision)
    given: dict[str, OperandDescriptor] = {}
    for name, value in inputs.items():
        slot = implementation.inputs.get(name)
        if slot is None or has_names(slot.descriptor):
            given[name] = OperandDescriptor("float32" if slot is None else slot.descriptor.dataType, np.shape(value))
        else:
            given[name] = slot.descriptor
    return implementation.find(implementation.match(call, "inputs", given), graph._state.timeline.run)
