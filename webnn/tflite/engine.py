"""LiteRT as an engine: `ML(engine="litert")`. A graph becomes a TFLite model, which LiteRT computes in the process of its context."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from time import perf_counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from webnn._extras import install_command
from webnn.builder.describe import describe_graph
from webnn.builder.semantics import DEFAULT_SEMANTICS, Semantics
from webnn.context.buffers import BufferSlot
from webnn.context.devices.selection import usable_cores
from webnn.context.engine.session import QUICK
from webnn.context.placement.assign import uniform
from webnn.validation.descriptor import CARRIERS, pack, unpack
from webnn.validation.errors import NotSupportedError, OperationError
from webnn.validation.named_descriptor import has_names

if TYPE_CHECKING:
    from webnn.builder.graph import ComputationalGraph
    from webnn.context.backend import Placed
    from webnn.context.devices.selection import FallbackPolicy, Selection
    from webnn.context.engine.memory import Dispatch
    from webnn.context.engine.remote.graph import RemoteGraph
    from webnn.context.engine.remote.host import Host
    from webnn.validation.descriptor import OperandDescriptor

__all__ = ["ENGINE", "LiteBackend", "LiteEngine", "LiteModel", "LiteSession", "TimedSession", "count_threads"]

NAME = "litert"
#: Chromium's limit on LiteRT's threads.
_MOST_THREADS = 4
#: Up to how many bytes LiteRT's own copies are faster than those by views.
_SMALL = 1 << 14
#: The values of a model, and their descriptors, by the names of inputs or outputs.
_Values = Mapping[str, tuple[str, "OperandDescriptor"]]
#: Inputs or outputs, and the arrays over their memory.
_Bound = Sequence[tuple[BufferSlot, Any]]


@cache
def _load() -> Any:
    """Return the interpreter of LiteRT. Raises `NotSupportedError` without it."""
    try:
        from ai_edge_litert.interpreter import Interpreter  # noqa: PLC0415 (an extra)
    except ModuleNotFoundError:
        text = f"the engine {NAME} needs the package ai-edge-litert: {install_command(NAME)}"
        raise NotSupportedError(f"build: {text}", operation="build", rule="device") from None
    return Interpreter


@dataclass(frozen=True, slots=True, kw_only=True)
class LiteModel:
    """A graph as a file of LiteRT, with what `RemoteGraph` asks of a model.

    Attributes:
        content: The file.
        inputs: As in `OnnxModel`.
        outputs: As in `OnnxModel`.
        operators: As in `OnnxModel`.
        weights: None: the file has them.
        largest: As in `OnnxModel`.
    """

    content: bytes
    inputs: _Values
    outputs: _Values
    operators: Sequence[tuple[str, int, str]]
    largest: int
    weights: Sequence[Any] = ()

    engine: ClassVar[str] = NAME
    numerics: ClassVar[str] = "fast"

    def serialize(self) -> bytes:
        """Return the file."""
        return self.content

    def node_types(self) -> list[tuple[str, str]]:
        """Return nothing about its nodes."""
        return [("", operation) for operation, _, _ in self.operators]

    def op_types(self) -> Mapping[str, str]:
        """Return nothing: LiteRT names no nodes."""
        return {}

    def find_operator(self, message: str) -> tuple[str, str]:
        """Find nothing: LiteRT names no nodes."""
        del message
        return "", ""


class LiteBackend:
    """Compiles graphs for LiteRT.

    Args:
        host: The process that has the sessions; ``None`` for this one.
        semantics: The values of switches of the profile; see `webnn.tflite.export.export`.
    """

    __slots__ = ("_host", "_semantics")

    takes_times: ClassVar[bool] = True

    def __init__(self, host: Host | None, semantics: Semantics = DEFAULT_SEMANTICS) -> None:
        self._host = host
        self._semantics = semantics

    def compile(self, graph: ComputationalGraph, selection: Selection, *, profile: str = "") -> RemoteGraph | LiteSession:
        """Compile a graph without finding out where its operators run.

        Args:
            graph: The graph.
            selection: The devices.
            profile: As for `LiteEngine.session`.

        Raises:
            OperationError: LiteRT has no counterpart of an operator, or refuses the model.
            InvalidStateError: The process has ended, and the context is lost.
        """
        model = _translate(graph, self._semantics, is_timed=bool(profile))
        if self._host is None:
            try:
                return ENGINE.session(model.content, model.inputs, model.outputs, selection, profile)
            except (RuntimeError, ValueError) as error:
                raise OperationError(f"build: the engine refused the graph: {error}", operation="build", rule="engine") from error
        # Imported lazily; a context without a process needs none of it.
        from webnn.context.engine.remote.graph import RemoteGraph  # noqa: PLC0415

        sent: Any = model
        return RemoteGraph(self._host, sent, selection, profile=profile)

    def compile_and_place(self, graph: ComputationalGraph, selection: Selection, fallback: FallbackPolicy) -> Placed:
        """Compile a graph, and place all its operators on the CPU. Raises what `compile` does."""
        del fallback  # LiteRT computes every operator, or refuses the graph
        implementation = self.compile(graph, selection)
        operators = [(operator.operation.name, operator.index, operator.label) for operator in graph.operators]
        inputs, outputs = (
            {slot.name: (slot.value, slot.descriptor) for slot in slots.values()}
            for slots in (implementation.inputs, implementation.outputs)
        )
        return implementation, partial(uniform, operators, inputs, outputs, selection, selection.reason)


def _translate(graph: ComputationalGraph, semantics: Semantics, *, is_timed: bool) -> LiteModel:
    """Return a graph as a model, or as a model for each operator. Raises `OperationError` if an operator has no counterpart."""
    # Imported lazily; it needs FlatBuffers.
    from webnn.tflite.export import RuleError, export  # noqa: PLC0415
    from webnn.tflite.timing import pack_steps  # noqa: PLC0415

    for name, operand in graph.inputs.items():
        if has_names(operand.descriptor):
            raise OperationError(f"build: the input {name!r} must have sizes: {NAME} takes no names", operation="build", rule="device")
    description = describe_graph(graph)
    method = "profile" if is_timed else "build"
    try:
        if is_timed:
            content = pack_steps(description, semantics, [each.index for each in graph.operators])
        else:
            content = bytes(export(description, semantics, carries=True).to_bytes())
    except RuleError as error:
        raise OperationError(f"{method}: {error}", operation=method, rule="device") from None
    # In the order of the file.
    inputs = {name: (name, graph.inputs[name].descriptor) for name in description.inputs}
    outputs = {name: (value, graph.outputs[name].descriptor) for name, value in description.outputs.items()}
    sizes = [descriptor.byte_length for operator in graph.operators for descriptor in operator.outputs]
    return LiteModel(
        content=content,
        inputs=inputs,
        outputs=outputs,
        operators=[(operator.operation.name, operator.index, operator.label) for operator in graph.operators],
        largest=max(sizes, default=0),
    )


class LiteSession:
    """A model that LiteRT computes in this process: the implementation of an `MLGraph`.

    Its interface in Python copies inputs into its own memory, and outputs back.

    Args:
        content: The file.
        inputs: As for `LiteModel`.
        outputs: As for `LiteModel`.
        selection: The devices, with the number of threads.

    Raises:
        NotSupportedError: LiteRT is not installed.
        RuntimeError: It refuses the model.
        ValueError: Likewise.
    """

    __slots__ = ("__weakref__", "_addresses", "_bound", "_interpreter", "_places", "_reference", "inputs", "last", "outputs", "quick")

    #: It copies.
    in_place: ClassVar[bool] = False
    op_types: ClassVar[Mapping[str, str]] = MappingProxyType({})

    def __init__(self, content: bytes, inputs: _Values, outputs: _Values, selection: Selection) -> None:
        numbers = itertools.count()
        self.inputs, self.outputs = (
            {name: BufferSlot.of(name, value, next(numbers), each) for name, (value, each) in values.items()}
            for values in (inputs, outputs)
        )
        self._load(content, selection)
        #: The last run was short.
        self.quick = False
        #: The dispatch whose tensors are bound, as in `CompiledGraph`.
        self.last: Dispatch | None = None
        #: The addresses of the memory that is bound; none if it is that of tensors, or if nothing is bound.
        self._addresses: list[int] = []
        #: Computes with the memory that is bound.
        self._bound: Callable[[], None] | None = None
        self._reference = weakref.ref(self)

    def _load(self, content: bytes, selection: Selection) -> None:
        self._interpreter = _start(content, selection)
        details = (self._interpreter.get_input_details(), self._interpreter.get_output_details())
        #: The numbers of tensors by the names of the slots.
        self._places = [
            dict(zip(slots, [each["index"] for each in found], strict=True))
            for slots, found in zip((self.inputs, self.outputs), details, strict=True)
        ]

    @property
    def providers(self) -> list[str]:
        """LiteRT alone."""
        return [NAME]

    def assignments(self) -> list[tuple[str, list[str]]] | None:
        """Return ``None``: LiteRT does not say where its nodes run."""
        return None

    def end_profile(self) -> str:
        """Raise `OperationError`: this session takes no times."""
        raise OperationError("profile: this session takes no times of operators", operation="profile", rule="engine")

    def run(self, addresses: list[int]) -> None:
        """Compute the outputs that are wanted from all inputs.

        Args:
            addresses: As for `Implementation.run`.

        Raises:
            OperationError: LiteRT fails.
        """
        # A loop passes on its arrays: memory that is still bound is not bound again.
        if addresses != self._addresses or self._bound is None:
            self.forget()
            self._bound = self._bind(
                [(slot, slot.over(addresses[slot.index])) for slot in self.inputs.values() if addresses[slot.index]],
                [(slot, slot.over(addresses[slot.index])) for slot in self.outputs.values() if addresses[slot.index]],
            )
            self._addresses = list(addresses)
        self.repeat()

    def repeat(self) -> None:
        """Compute the last run again. Raises `OperationError` if LiteRT fails, or nothing is bound."""
        bound = self._bound
        if bound is None:
            raise OperationError("compute: the graph has not run with this memory", operation="", rule="engine")
        try:
            bound()
        except (RuntimeError, ValueError) as error:
            raise OperationError(f"compute: the engine failed in the graph: {error}", operation="", rule="engine") from error

    def took(self, seconds: float) -> None:
        """Learn how long a run took."""
        self.quick = seconds < QUICK

    def dispatch(self, call: Dispatch) -> None:
        """Compute outputs from inputs, all in the memory of tensors.

        Raises:
            OperationError: LiteRT fails.
        """
        self.forget()
        memories = call.memories
        arrays = [(slot, memory.array) for slot, memory in zip(call.slots, memories, strict=True)]
        split = len(self.inputs)
        for memory in memories:
            memory.users.add(self._reference)
        self._bound = self._bind(arrays[:split], arrays[split:])
        begin = perf_counter()
        self.repeat()
        self.took(perf_counter() - begin)
        self.last = call
        # A tensor that is destroyed from now on ends this itself.
        if not self.quick or any(memory.withdrawn for memory in memories):
            self.last = None

    def forget(self) -> None:
        """Keep no memory of earlier runs."""
        self.last = self._bound = None
        self._addresses = []

    def _bind(self, given: _Bound, wanted: _Bound) -> Callable[[], None]:
        """Return what copies inputs into LiteRT's memory, computes, and copies the outputs that are wanted back."""
        interpreter, (inputs, outputs) = self._interpreter, self._places
        puts = [self._put(inputs[slot.name], slot, array) for slot, array in given]
        gets = [(array.reshape(slot.descriptor.array_shape), self._get(outputs[slot.name], slot)) for slot, array in wanted]
        invoke, copy = interpreter.invoke, np.copyto

        def compute() -> None:
            for put in puts:
                put()
            invoke()
            for array, found in gets:
                copy(array, found())

        return compute

    def _get(self, place: int, slot: BufferSlot) -> Callable[[], Any]:
        """Return what returns an output: a small one as a copy, which is made faster than a view."""
        interpreter = self._interpreter
        if slot.descriptor.dataType in CARRIERS:
            return lambda: pack(interpreter.get_tensor(place))
        if slot.nbytes <= _SMALL:
            return partial(interpreter.get_tensor, place)
        tensor: Callable[[], Any] = interpreter.tensor(place)
        return tensor

    def _put(self, place: int, slot: BufferSlot, array: Any) -> Callable[[], None]:
        """Return what copies an array into an input."""
        interpreter = self._interpreter
        if slot.descriptor.dataType in CARRIERS:
            return lambda: interpreter.set_tensor(place, _elements(slot, array))
        elements = _elements(slot, array)
        if slot.nbytes <= _SMALL:
            return partial(interpreter.set_tensor, place, elements)
        tensor = interpreter.tensor(place)
        # Several times as fast as set_tensor. The view must end before the run.
        return lambda: np.copyto(tensor(), elements)


def _elements(slot: BufferSlot, array: Any) -> Any:
    """Return the elements in memory as LiteRT takes them: those of int4 and uint4 a byte each, in new memory."""
    descriptor = slot.descriptor
    if descriptor.dataType in CARRIERS:
        return unpack(array, descriptor.dataType, descriptor.dimensions)
    return array.reshape(descriptor.dimensions)


class TimedSession(LiteSession):
    """A graph as a model for each operator, to take times.

    Args:
        content: The file of `webnn.tflite.timing.pack_steps`.
        inputs: As for `LiteModel`.
        outputs: As for `LiteModel`.
        selection: The devices, with the number of threads.
        profile: The beginning of the name of the file with the times.
    """

    __slots__ = ("_profile", "_steps")

    def __init__(self, content: bytes, inputs: _Values, outputs: _Values, selection: Selection, profile: str) -> None:
        super().__init__(content, inputs, outputs, selection)
        self._profile = profile

    def _load(self, content: bytes, selection: Selection) -> None:
        # Imported lazily; few programs take times.
        from webnn.tflite.timing import Steps  # noqa: PLC0415

        self._steps = Steps(content, partial(_start, selection=selection))

    def end_profile(self) -> str:
        """Return the path of the file with the times."""
        return self._steps.write(self._profile)

    def _bind(self, given: _Bound, wanted: _Bound) -> Callable[[], None]:
        def compute() -> None:
            found = self._steps.run({slot.value: _elements(slot, array) for slot, array in given})
            for slot, array in wanted:
                result = found[slot.value]
                packed = pack(result) if slot.descriptor.dataType in CARRIERS else result
                np.copyto(array.reshape(slot.descriptor.array_shape), packed)

        return compute


def count_threads() -> int:
    """Return how many threads Chromium gives LiteRT: half of the cores, at most 4."""
    return min(_MOST_THREADS, (usable_cores() + 1) // 2)


def _start(content: bytes, selection: Selection) -> Any:
    """Return the interpreter of a model."""
    interpreter = _load()(model_content=content, num_threads=selection.settings.threads or count_threads())
    interpreter.allocate_tensors()
    return interpreter


class LiteEngine:
    """The entry point of the engine; see `webnn.context.engines.Engine`."""

    def is_installed(self) -> bool:
        """Tell whether LiteRT is installed."""
        # Imported lazily; only this needs it.
        from importlib.util import find_spec  # noqa: PLC0415

        return find_spec("ai_edge_litert") is not None and find_spec("tflite") is not None

    def backend(self, host: Host | None, semantics: Semantics) -> LiteBackend:
        """Return what compiles graphs. Raises `NotSupportedError` if LiteRT is not installed; its process loads it."""
        if not self.is_installed():
            _load()
        return LiteBackend(host, semantics)

    def session(self, content: bytes, inputs: _Values, outputs: _Values, selection: Selection, profile: str) -> LiteSession:
        """Return the session of a model; with a profile, that of a model for each operator. Raises what `LiteSession` does."""
        if profile:
            return TimedSession(content, inputs, outputs, selection, profile)
        return LiteSession(content, inputs, outputs, selection)


ENGINE = LiteEngine()
