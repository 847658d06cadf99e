"""Additional members of `MLGraph` and `MLContext`: a graph whose shapes are not known becomes one graph for each set of shapes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from webnn.builder.describe import describe_graph
from webnn.builder.graph import ComputationalGraph
from webnn.builder.operand import MLOperand
from webnn.context.graph import MLGraph
from webnn.context.placement import Placement
from webnn.context.placement.assign import resize, simulate, uniform
from webnn.context.runs import choose_inputs
from webnn.context.state import ContextState
from webnn.context.tensor import MLTensor
from webnn.proposals.dynamic_shapes.recording import Recording, compile_facts
from webnn.proposals.dynamic_shapes.sizes import Size, Terms
from webnn.proposals.dynamic_shapes.static import record, specialize
from webnn.validation import webidl
from webnn.validation.caller import Caller
from webnn.validation.descriptor import DataType, OperandDescriptor, Shape
from webnn.validation.errors import InvalidStateError, NotSupportedError
from webnn.validation.member import class_of_draft
from webnn.validation.named_descriptor import has_names
from webnn.validation.operation import Call

if TYPE_CHECKING:
    from webnn.context.engine.remote.graph import RemoteGraph
    from webnn.context.engine.session import CompiledGraph

    _Shared = CompiledGraph | RemoteGraph

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


class _Variant:
    """A graph for all sizes about which the same facts hold.

    Attributes:
        sizes: The sizes with which it was made, in the order of the names.
        graph: The graph, whose descriptors have a `Size` where a dimension has a name.
        implementation: The session that all these sizes share; ``None`` until it is made, or if the engine refuses names.
        placed: The measured placement, with the sizes of `graph`; ``None`` on the default CPU provider.
        refused: The engine refuses names.
    """

    def __init__(self, sizes: tuple[int, ...], graph: ComputationalGraph, recording: Recording) -> None:
        self.sizes = sizes
        self.graph = graph
        self.implementation: _Shared | None = None
        self.placed: Placement | None = None
        self.refused = False
        self._recording = recording
        #: The polynomials that are sizes of the outputs, each once, and the outputs' types and dimensions: in place of the first polynomial
        #: -1, of the second -2.
        self._sums: list[Terms] = []
        self._outputs: list[tuple[DataType, list[int]]] = []
        places: dict[Any, int] = {}
        for each in graph.outputs.values():
            dimensions: list[Any] = list(each.descriptor.dimensions)
            for axis, size in enumerate(dimensions):
                if isinstance(size, Size):
                    dimensions[axis] = places.setdefault(size.key, ~len(self._sums))
                    if len(places) > len(self._sums):
                        self._sums.append(size.terms)
            self._outputs.append((each.descriptor.dataType, dimensions))
        self._apply = compile_facts(recording.facts(), self._sums, [*recording.sizes])

    def outputs(self, sizes: tuple[int, ...]) -> list[OperandDescriptor] | None:
        """Return the descriptors of the outputs for some sizes; ``None`` if the graph is not that of these sizes."""
        try:
            sums = self._apply(sizes)
        except ZeroDivisionError:
            return None
        if sums is None:
            return None
        return [
            OperandDescriptor(dataType, tuple([size if size >= 0 else sums[~size] for size in dimensions]))
            for dataType, dimensions in self._outputs
        ]

    def compiled(self, implementation: _Shared, placed: Placement | None) -> None:
        """Keep the session and its placement. The translation may have asked for more facts."""
        self._apply = compile_facts(self._recording.facts(), self._sums, [*self._recording.sizes])
        self.placed, self.implementation = placed, implementation


class Specializations:
    """A graph for each set of shapes of its inputs, in the place of the `Implementation` of an `MLGraph`; `last` was used last.

    The graphs share a session if they differ only in sizes that the engine need not know (`_Variant`).

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
        self._resolved: OrderedDict[_Key, tuple[OperandDescriptor, ...]] = OrderedDict()
        #: By the sizes of the names.
        self._compiled: OrderedDict[tuple[int, ...], MLGraph] = OrderedDict()
        #: The variants, that which was used last first.
        self._variants: list[_Variant] = []
        #: An input and an axis of it, for each name.
        self._places = {
            str(size): (position, axis)
            for position, slot in reversed([*enumerate(self.inputs.values())])
            for axis, size in enumerate(cast("tuple[Any, ...]", slot.descriptor.dimensions))
            if isinstance(size, str)
        }

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
            wanted, found = slot.descriptor, given[name]
            pairs: list[tuple[Any, int]] = list(zip(wanted.dimensions, found.dimensions, strict=False))
            fits = len(wanted.dimensions) == len(found.dimensions) and all(isinstance(size, str) or size == each for size, each in pairs)
            if not fits or wanted.dataType != found.dataType:
                raise call.error(_place(argument, name), f"must be {wanted}", str(found))
            for size, each in pairs:
                known, where = sizes.setdefault(size, (each, name)) if isinstance(size, str) else (each, name)
                if known != each:
                    reason = f"must have the size {known} for {webidl.describe(size)}, as {_place(argument, where)} has"
                    raise call.error(_place(argument, name), reason, list(found.dimensions))
        return tuple([given[name] for name in slots])

    def resolve(self, key: _Key) -> tuple[OperandDescriptor, ...]:
        """Return the descriptors of the outputs for a set of shapes.

        Raises:
            WebNNTypeError: The draft refuses a shape that follows.
        """
        with self._lock:
            outputs = self._resolved.get(key)
            if outputs is None:
                found = self._find_variant(self._sizes(key))
                if found is None:
                    outputs = tuple([operand.descriptor for operand in self.specialize(key).outputs.values()])
                else:
                    outputs = tuple(found[1])
                self._resolved[key] = outputs
                if len(self._resolved) > MOST_RESOLVED:
                    self._resolved.popitem(last=False)
            self._resolved.move_to_end(key)
            return outputs

    def specialize(self, key: Sequence[OperandDescriptor]) -> ComputationalGraph:
        """Return the graph for a set of shapes, with sizes in place of names.

        Raises:
            WebNNTypeError: The draft refuses a shape that follows.
        """
        return specialize(self._state.revision, describe_graph(self._source), dict(zip(self.inputs, key, strict=True)))

    def recall(self, inputs: Any) -> MLGraph | None:
        """Return the compiled graph for the shapes of tensors by their names, if there is a session: what most calls need."""
        try:
            given = [inputs[name]._descriptor for name in self.inputs]
            sizes = tuple([given[position].dimensions[axis] for position, axis in self._places.values()])
            named = dict(zip(self._places, sizes, strict=True))
            if len(inputs) != len(given) or not all(map(partial(_fits, named), self.inputs.values(), given)):
                return None
            graph = self._compiled.get(sizes) or self._share(given, sizes)
        except Exception:  # something has another class, or a name is missing: the checks say what
            return None
        return None if graph is None else self._use(sizes, graph)

    def find(self, key: _Key, run: Callable[[Callable[[], MLGraph]], MLGraph]) -> MLGraph:
        """Return the compiled graph for a set of shapes; ``run`` does the work if there is none yet."""
        sizes = self._sizes(key)
        graph = self._compiled.get(sizes) or self._share(key, sizes)
        if graph is None:
            # Without the lock: on the timeline, another job may lose the context, which destroys this graph.
            graph = run(lambda: self._compile(key, sizes))
        return self._use(sizes, graph)

    def _use(self, sizes: tuple[int, ...], graph: MLGraph) -> MLGraph:
        """Keep a graph as the one that was used last."""
        with self._lock:
            graph = self._compiled.setdefault(sizes, graph)
            self._compiled.move_to_end(sizes)
            if len(self._compiled) > MOST_COMPILED:
                # Not destroyed: another thread may dispatch it just now.
                self._compiled.popitem(last=False)
            self.last = graph
            return graph

    def destroy(self) -> None:
        """Destroy all compiled graphs."""
        with self._lock:
            self._variants.clear()
            while self._compiled:
                _, graph = self._compiled.popitem()
                self._state.loss.remove(graph)
                graph._destroy()

    def _sizes(self, key: _Key) -> tuple[int, ...]:
        return tuple([key[position].dimensions[axis] for position, axis in self._places.values()])

    def _find_variant(self, sizes: tuple[int, ...]) -> tuple[_Variant, list[OperandDescriptor]] | None:
        """Return the variant of some sizes, and the outputs; ``None`` if the draft refuses these, or something needs numbers."""
        for variant in self._variants:
            if (outputs := variant.outputs(sizes)) is not None:
                return variant, outputs
        return self._make_variant(sizes)

    def _make_variant(self, sizes: tuple[int, ...]) -> tuple[_Variant, list[OperandDescriptor]] | None:
        recording = Recording(dict(zip(self._places, sizes, strict=True)))
        named = {name: slot.descriptor for name, slot in self.inputs.items()}
        try:
            # A profile is asked about operations of the draft alone.
            in_run = self._state.profile is None
            graph = record(self._state.revision, describe_graph(self._source), named, recording, in_run=in_run)
            variant = _Variant(sizes, graph, recording)
        except Exception:  # the numbers say what is wrong
            return None
        self._variants.insert(0, variant)
        del self._variants[MOST_COMPILED:]
        outputs = variant.outputs(sizes)
        return None if outputs is None else (variant, outputs)

    def _share(self, key: Sequence[OperandDescriptor], sizes: tuple[int, ...]) -> MLGraph | None:
        """Return the graph for a set of shapes, if there is a session for it."""
        with self._lock:
            for position, variant in enumerate(self._variants):
                if variant.implementation is not None and (outputs := variant.outputs(sizes)) is not None:
                    if position:
                        self._variants.insert(0, self._variants.pop(position))
                    break
            else:
                return None
        return self._with_sizes(variant, key, outputs)

    def _with_sizes(self, variant: _Variant, key: Sequence[OperandDescriptor], outputs: Sequence[OperandDescriptor]) -> MLGraph:
        """Return the graph for a set of shapes by the session of a variant, which has one."""
        # Imported lazily because these load onnx and the engine, and there is a session.
        from webnn.context.build import register  # noqa: PLC0415
        from webnn.context.engine.sized import SizedGraph  # noqa: PLC0415

        state = self._state
        # Most graphs are only dispatched; `complete` makes the source of others.
        source = self.specialize(key) if state.on_build is not None or state.on_compute is not None else self._source
        placed = partial(_find_placement, state, partial(self.specialize, key), variant.placed)
        return register(state, source, SizedGraph(cast("_Shared", variant.implementation), key, outputs), placed)

    def complete(self, graph: MLGraph, key: _Key) -> MLGraph:
        """Give a graph that `find` returned its source."""
        if graph._source is self._source:
            graph._source = self.specialize(key)
        return graph

    def _compile(self, key: _Key, sizes: tuple[int, ...]) -> MLGraph:
        """Compile the graph for a set of shapes, for as many others as that allows."""
        # Imported lazily because it loads onnx.
        from webnn.context.build import compile_graph, implement  # noqa: PLC0415
        from webnn.context.engine_backend import EngineBackend  # noqa: PLC0415

        state, found = self._state, None
        state.loss.check("build")
        backend = state.load_backend()
        if sizes and isinstance(backend, EngineBackend) and backend.takes_names(state.selection):
            with self._lock:
                found = self._find_variant(sizes)
                if found is not None and found[0].implementation is not None:
                    # Another thread was faster.
                    return self._with_sizes(found[0], key, found[1])
                if found is not None and found[0].sizes != sizes and not found[0].refused:
                    # The translation asks about the sizes of the variant.
                    found = self._make_variant(sizes)
        if found is not None and not found[0].refused:
            variant, outputs = found
            try:
                implementation, placed = implement(state, variant.graph, self._caller)
            except InvalidStateError:
                raise
            except Exception:  # with numbers it may be right; otherwise they say what is wrong
                variant.refused = True
            else:
                measured = placed if isinstance(placed, Placement) and state.profile is None else None
                # A device that refuses names may take numbers.
                if state.selection.is_default or measured is not None:
                    variant.compiled(cast("_Shared", implementation), measured)
                    return self._with_sizes(variant, key, outputs)
                variant.refused = True
        return compile_graph(state, self.specialize(key), self._caller)


def _fits(sizes: Mapping[str, int], slot: _Slot, given: OperandDescriptor) -> bool:
    """Tell whether a tensor has the type and the shape of an input, once its names have sizes."""
    dimensions: Any = slot.descriptor.dimensions
    return given.dataType == slot.descriptor.dataType and given.dimensions == tuple([sizes.get(each, each) for each in dimensions])


def _place(argument: str, name: str) -> str:
    return f"{argument}[{webidl.describe(name)}]"


def _find_placement(state: ContextState, specialized: Callable[[], ComputationalGraph], measured: Placement | None) -> Placement:
    """Return the placement of a graph: by that with other sizes, by a profile, or on the default CPU provider."""
    graph = specialized()
    if measured is not None:
        return resize(measured, describe_graph(graph))
    if state.profile is not None:
        return simulate(describe_graph(graph), state.profile, state.selection.requested)
    operators = [(each.operation.name, each.index, each.label) for each in graph.operators]
    inputs, outputs = ({name: ("", operand.descriptor) for name, operand in each.items()} for each in (graph.inputs, graph.outputs))
    return uniform(operators, inputs, outputs, state.selection, state.selection.reason)


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
        return {name: list(descriptor.dimensions) for name, descriptor in zip(implementation.outputs, resolved, strict=True)}

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
        state.on_build(graph if state.briefHooks else describe_graph(graph), built)
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
    key = implementation.match(call, "inputs", given)
    return implementation.complete(implementation.find(key, graph._state.timeline.run), key)
