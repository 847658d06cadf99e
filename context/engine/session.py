"""Sessions: the compiled form of a graph."""

from __future__ import annotations

import functools
import itertools
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from webnn.builder.onnx_names import ELEMENT_TYPES, session_entries
from webnn.context.buffers import BufferSlot
from webnn.context.devices.selection import may_pin, usable_cores
from webnn.context.engine import runtime
from webnn.validation.descriptor import ML_DTYPES, SMALL_TYPES
from webnn.validation.errors import OperationError, label_prefix
from webnn.validation.named_descriptor import has_sizes

if TYPE_CHECKING:
    from webnn.builder.numerics import Numerics
    from webnn.builder.onnx.values import Weight
    from webnn.context.devices.selection import Device, Options, Selection, SessionSettings
    from webnn.context.engine.cache.models import ModelCache
    from webnn.context.engine.memory import Dispatch, TensorMemory
    from webnn.validation.descriptor import OperandDescriptor

__all__ = ["QUICK", "SILENT", "CompiledGraph", "Model", "engine_failure", "looks_quick", "session_options", "start"]

#: NumPy itself has no such elements.
_UNKNOWN_TO_NUMPY = frozenset((*SMALL_TYPES, *ML_DTYPES))
#: The severity of the engine's log at which it writes nothing.
SILENT = 4
#: A graph is small if no value has more elements: the operators are too short to be divided among threads, and starting the threads takes
#: as long as the rest of the session.
_SMALL = 4096
#: The longest run, in seconds, after which a graph counts as quick.
QUICK = 1e-4
#: A graph that has not run yet counts as quick if it is small, and has no more nodes and none of these, which can take long all the same.
_FEW = 32
_LONG = frozenset({"Conv", "ConvTranspose", "Einsum", "GRU", "Gemm", "If", "LSTM", "Loop", "MatMul", "MatMulInteger", "RNN", "Scan"})
#: The binding of a slot is unknown: an interrupt can come just before or just after the engine binds something.
_UNKNOWN = -1
#: A graph of fewer nodes is not put into the cache: it starts as fast without.
_FEW_NODES = 8


class Model(Protocol):
    """A translated graph, for a session: `webnn.builder.onnx.translate.OnnxModel`, or one that another process sent."""

    @property
    def weights(self) -> Sequence[Weight]:
        """The large constants."""

    @property
    def inputs(self) -> Mapping[str, tuple[str, OperandDescriptor]]:
        """The ONNX name and the descriptor of each graph input."""

    @property
    def outputs(self) -> Mapping[str, tuple[str, OperandDescriptor]]:
        """The same for each output."""

    @property
    def largest(self) -> int:
        """The number of elements of the largest value."""

    @property
    def numerics(self) -> Numerics:
        """The policy whose entries its session has."""

    def serialize(self) -> bytes:
        """Return the model without the large constants, as bytes."""

    def node_types(self) -> list[tuple[str, str]]:
        """Return the domain and the ONNX operator of each node."""

    def op_types(self) -> Mapping[str, str]:
        """Return the ONNX operator of each node by the node's name."""

    def find_operator(self, message: str) -> tuple[str, str]:
        """Find the operation and the label that a message of the engine is about; empty if it names none."""


def session_options(settings: SessionSettings) -> Any:
    """Make the options of a session."""
    ort = runtime.load()
    options = ort.SessionOptions()
    options.log_severity_level = SILENT
    # Without a number, the engine pins each thread to a core, and complains if the system forbids that.
    threads = settings.threads or (0 if may_pin() else usable_cores())
    if threads:
        options.intra_op_num_threads = threads
    if settings.spin is not None:
        options.add_session_config_entry("session.intra_op.spin_duration_us", str(settings.spin))
    if settings.sequential:
        options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    if not settings.memory_pattern:
        options.enable_mem_pattern = False
    if not settings.optimize:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return options


def looks_quick(model: Model) -> bool:
    """Tell whether a graph will surely run in a millisecond or so."""
    if model.largest > _SMALL:
        return False
    nodes = model.node_types()
    return len(nodes) <= _FEW and not any(domain or op_type in _LONG for domain, op_type in nodes)


def start(model: bytes, options: Any, devices: Sequence[Device], providers: Sequence[tuple[str, Options]]) -> Any:
    """Start a session. The engine puts its CPU provider last; it does not fall back by itself."""
    session = runtime.load().InferenceSession
    if devices[0].plugin:
        for device, (_, settings) in zip(devices, providers, strict=True):
            if device.plugin:
                options.add_provider_for_devices([device.handle], dict(settings))
        return session(model, options, enable_fallback=0)
    names = [name for name, _ in providers]
    return session(model, options, providers=names, provider_options=[dict(each) for _, each in providers], enable_fallback=0)


def _use_in_place(options: Any, weights: Sequence[Weight]) -> None:
    """Give weights to a session, which uses their bytes in place."""
    options.add_external_initializers_from_files_in_memory(
        [weight.location for weight in weights],
        [weight.data.reshape(-1).view("uint8") for weight in weights],
        [weight.data.nbytes for weight in weights],
    )
    options.add_session_config_entry("session.use_external_initializer_file_buffers_directly", "1")


def _is_cached(model: Model, selection: Selection) -> bool:
    """Tell whether the cache takes a graph. Other providers than the CPU's compile it in ways of their own."""
    return selection.is_default and len(model.node_types()) >= _FEW_NODES


def engine_failure(model: Model, what: str, message: str) -> OperationError:
    """Make the error for a failure of the engine. It names the operator if the engine does.

    Args:
        model: The graph.
        what: The method: ``"build"``, ``"compute"`` or ``"dispatch"``.
        message: The engine's message.
    """
    operation, label = model.find_operator(message)
    where = f" at {operation}" if operation else ""
    verb = "refused" if what == "build" else "failed in"
    text = f"{label_prefix(label)}{what}: the engine {verb} the graph{where}: {message}"
    return OperationError(text, operation=operation, label=label, rule="engine")


def _runner(session: Any, binding: Any) -> Callable[[], None]:
    """Return the cheapest function that runs a session with the bound memory.

    `InferenceSession.run_with_iobinding` prepares a graph capture for WebGPU, which is never used here. Without run options the engine
    makes new ones for each call. Together this takes as long as a small graph. So the session's internal object is called, always with the
    same options. If an engine has no such object, the documented method is called.
    """
    core, bound = getattr(session, "_sess", None), getattr(binding, "_iobinding", None)
    if core is None or bound is None:
        return functools.partial(session.run_with_iobinding, binding)
    return functools.partial(core.run_with_iobinding, bound, runtime.load().RunOptions())


def _copy_and_run(again: Mapping[int, Callable[[], None]], copied: set[int], run: Callable[[], None]) -> None:
    """Bind the inputs again, but for those that have just been bound, and run."""
    for index, bind in again.items():
        if index not in copied:
            bind()
    copied.clear()
    run()


class CompiledGraph:
    """An inference session and the buffers bound to it: the implementation of an `MLGraph`.

    Not thread-safe: the context's timeline runs one call at a time.

    Args:
        model: The translated graph.
        selection: The devices.
        profile: The beginning of the name of a file for the engine's times; by default it takes none.
        cache: The cache of optimized models; by default there is none.

    Attributes:
        quick: Whether the last run was short, or the first one surely will be.
        last: The dispatch whose tensors are bound, to be repeated; ``None`` if the graph is not quick, or once a tensor is destroyed.

    Raises:
        OperationError: The engine refuses the model; the error names the operator where the engine does. Or a provider does not start.
    """

    in_place: ClassVar[bool] = True

    __slots__ = (
        "__weakref__",
        "_again",
        "_binding",
        "_bound",
        "_copied",
        "_model",
        "_recorded",
        "_reference",
        "_session",
        "_weights",
        "inputs",
        "last",
        "outputs",
        "quick",
        "repeat",
    )

    def __init__(self, model: Model, selection: Selection, *, profile: str = "", cache: ModelCache | None = None) -> None:
        settings = selection.settings
        if model.largest <= _SMALL and not settings.threads:
            settings = replace(settings, threads=1)
        if any(has_sizes(each) for _, each in model.inputs.values()):
            # The engine would keep a pattern for each set of sizes.
            settings = replace(settings, memory_pattern=False)
        entries = dict(session_entries(model.numerics))
        self._model = model
        #: On the CPU provider alone there is nothing to record.
        self._recorded = len(selection.providers) > 1 and hasattr(runtime.load().InferenceSession, "get_provider_graph_assignment_info")
        if self._recorded:
            entries["session.record_ep_graph_assignment_info"] = "1"

        def begin(content: bytes, weights: Sequence[Weight], adapt: Callable[[Any], None] | None = None) -> Any:
            options = session_options(settings)
            for name, value in entries.items():
                options.add_session_config_entry(name, value)
            if weights:
                _use_in_place(options, weights)
            if profile:
                options.enable_profiling = True
                options.profile_file_prefix = profile
            if adapt is not None:
                adapt(options)
            return start(content, options, selection.devices, selection.providers)

        content = model.serialize()
        # The session uses the bytes of the weights in place and holds no reference: they live as long as this object.
        self._weights: Sequence[Weight] = model.weights
        try:
            if cache is None or not _is_cached(model, selection):
                self._session = begin(content, model.weights)
            else:
                configured = repr((settings, sorted(entries.items()), selection.providers))
                self._session, self._weights = cache.start(content, model.weights, configured, begin)
        except Warning:
            # The cache's, which the program has made an error.
            raise
        except Exception as error:  # the engine's exceptions have no common class
            raise engine_failure(model, "build", str(error)) from error
        if len(selection.providers) > 1:
            self._check_started(selection)
        self._binding = self._session.io_binding()
        #: Runs the session with the memory that is bound.
        self.repeat = _runner(self._session, self._binding)
        numbers = itertools.count()
        self.inputs: Mapping[str, BufferSlot] = {
            name: BufferSlot.of(name, value, next(numbers), each) for name, (value, each) in model.inputs.items()
        }
        self.outputs: Mapping[str, BufferSlot] = {
            name: BufferSlot.of(name, value, next(numbers), each) for name, (value, each) in model.outputs.items()
        }
        #: Bound to each slot: an address, or the memory of a tensor; 0 for nothing, or `_UNKNOWN`.
        self._bound: list[Any] = [0] * next(numbers)
        #: Functions that bind the inputs again, by the indices of their slots, and the inputs that have just been bound. Another provider
        #: than the CPU's has memory of its own, into which an input is copied when it is bound, not when the graph runs.
        self._again: dict[int, Callable[[], None]] | None = None
        self._copied: set[int] = set()
        if len(selection.providers) > 1:
            self._again = {}
            self.repeat = functools.partial(_copy_and_run, self._again, self._copied, self.repeat)
        self._reference = weakref.ref(self)
        self.quick = len(selection.providers) == 1 and looks_quick(model)
        self.last: Dispatch | None = None

    @property
    def providers(self) -> list[str]:
        """The execution providers that the session uses, best first."""
        return list(self._session.get_providers())

    @property
    def op_types(self) -> Mapping[str, str]:
        """The ONNX operator of each node of the translation by the node's name."""
        return self._model.op_types()

    def end_profile(self) -> str:
        """Stop taking times; return the path of the file with them."""
        return str(self._session.end_profiling())

    def assignments(self) -> list[tuple[str, list[str]]] | None:
        """Return the provider and the names of the nodes of each group of nodes that the engine made.

        ``None`` if only the CPU provider is in use, or if the engine is too old to tell.
        """
        if not self._recorded:
            return None
        groups = self._session.get_provider_graph_assignment_info()
        return [(group.ep_name, [node.name for node in group.get_nodes()]) for group in groups]

    def run(self, addresses: list[int]) -> None:
        """Compute the outputs that are wanted from all inputs, in place.

        Args:
            addresses: Of the inputs and the outputs, by the index of their slots; 0 for an output that is not wanted.

        Raises:
            OperationError: The engine fails.
        """
        try:
            # Binding costs more than a small run: memory that is still bound is not bound again.
            if addresses != self._bound:
                self._bind_all(addresses)
            self.repeat()
        except Exception as error:  # the engine's exceptions have no common class
            raise engine_failure(self._model, "compute", str(error)) from error

    def dispatch(self, call: Dispatch) -> None:
        """Compute outputs from inputs, all in the memory of tensors.

        Raises:
            OperationError: The engine fails.
        """
        bound = self._bound
        try:
            for slot, memory in zip(call.slots, call.memories, strict=True):
                # As above: bound memory is not bound again.
                if bound[slot.index] is not memory:
                    self._bind_tensor(slot, memory)
            start = perf_counter()
            self.repeat()
            self.took(perf_counter() - start)
            self.last = call
            # A slow graph is queued each time. A tensor that is destroyed from now on ends this itself.
            if not self.quick or any(memory.withdrawn for memory in call.memories):
                self.last = None
        except Exception as error:  # the engine's exceptions have no common class
            raise engine_failure(self._model, "dispatch", str(error)) from error

    def took(self, seconds: float) -> None:
        """Learn how long a run took."""
        self.quick = seconds < QUICK

    def resize(self, inputs: Mapping[str, BufferSlot], outputs: Mapping[str, BufferSlot]) -> None:
        """Give dimensions with names their sizes for the next `run`. The slots have the indices of those that were there."""
        if self.inputs is not inputs:
            # An address may come again, with another size.
            self.forget()
            self.inputs, self.outputs = inputs, outputs

    def forget(self) -> None:
        """Bind everything anew the next time."""
        self.last = None
        if not any(self._bound):
            return
        self._bound[:] = [_UNKNOWN] * len(self._bound)
        if self._again is not None:
            self._again.clear()
        self._binding.clear_binding_inputs()
        self._binding.clear_binding_outputs()
        self._bound[:] = [0] * len(self._bound)

    def _bind_tensor(self, slot: BufferSlot, memory: TensorMemory) -> None:
        """Bind a tensor to an input or an output."""
        binding, isInput = self._binding, slot.index < len(self.inputs)
        self.last = None
        memory.users.add(self._reference)
        self._bound[slot.index] = _UNKNOWN
        if slot.descriptor.dataType in _UNKNOWN_TO_NUMPY:
            # The engine cannot make a value of these types over NumPy's memory.
            self._bind(binding.bind_input if isInput else binding.bind_output, slot, memory.array.ctypes.data)
        else:
            bind, value = binding.bind_ortvalue_input if isInput else binding.bind_ortvalue_output, memory.value
            bind(slot.value, value)
            self._note(slot, bind, slot.value, value)
        self._bound[slot.index] = memory

    def _bind_all(self, addresses: list[int]) -> None:
        """Bind the memory of a run that is not bound yet."""
        self.last = None
        binding, bound, first = self._binding, self._bound, len(self.inputs)
        # An output cannot be unbound alone.
        if any(old and not new for old, new in zip(bound[first:], addresses[first:], strict=True)):
            bound[first:] = [_UNKNOWN] * len(self.outputs)
            binding.clear_binding_outputs()
            bound[first:] = [0] * len(self.outputs)
        for slot in (*self.inputs.values(), *self.outputs.values()):
            address = addresses[slot.index]
            if bound[slot.index] != address:
                self._bind(binding.bind_input if slot.index < first else binding.bind_output, slot, address)

    def _bind(self, bind: Callable[..., None], slot: BufferSlot, address: int) -> None:
        """Bind memory to an input or an output."""
        descriptor = slot.descriptor
        self._bound[slot.index] = _UNKNOWN
        # The engine accepts NumPy's types too, but slower.
        place = (slot.value, "cpu", 0, ELEMENT_TYPES[descriptor.dataType], list(descriptor.dimensions), address)
        bind(*place)
        self._note(slot, bind, *place)
        self._bound[slot.index] = address

    def _note(self, slot: BufferSlot, bind: Callable[..., None], *place: object) -> None:
        """Note how an input was bound, for `_again`."""
        if self._again is not None and slot.index < len(self.inputs):
            self._again[slot.index] = functools.partial(bind, *place)
            self._copied.add(slot.index)

    def _check_started(self, selection: Selection) -> None:
        """Check that every provider started: if one of the engine's own does not, the engine goes on without it."""
        started = self._session.get_providers()
        for name, settings in selection.providers[:-1]:
            if name not in started:
                raise OperationError(f"build: {name} did not start with the options {dict(settings)}", operation="build", rule="engine")
