"""The engine: ONNX Runtime. The only module that imports onnxruntime.

The import happens at the first use: ``import webnn`` stays light, and any flavour of the package serves (``onnxruntime``,
``onnxruntime-gpu``, ``onnxruntime-directml``, ``onnxruntime-openvino``).
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import sys
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from webnn.context import requirement
from webnn.context.buffers import BufferSlot, Checked, copy_bytes
from webnn.context.devices import Device, SessionSettings, session_settings
from webnn.context.requirement import one_line
from webnn.validation.descriptor import NUMPY_DTYPES, SMALL_TYPES, OperandDescriptor
from webnn.validation.errors import NotSupportedError, OperationError, label_prefix

if TYPE_CHECKING:
    from webnn.builder.onnx.translate import OnnxModel
    from webnn.context.devices import Options, Selection

__all__ = [
    "CompiledGraph",
    "TensorMemory",
    "available_providers",
    "find_failure",
    "list_devices",
    "refuses_options",
    "register_library",
    "version",
]

Array = np.ndarray[Any, np.dtype[Any]]

#: ONNX's element types of the data types, by NumPy's name. The engine accepts NumPy's types too, but slower.
_ELEMENT_TYPES: Mapping[str, int] = MappingProxyType(
    {
        "float32": 1,
        "uint8": 2,
        "int8": 3,
        "int32": 6,
        "int64": 7,
        "float16": 10,
        "uint32": 12,
        "uint64": 13,
        "uint4": 21,
        "int4": 22,
    }
)
#: Severities of the engine's log: it has no way to ask for the one that is set, which is this one unless a program changes it.
_WARNINGS, _NOTHING = 2, 4
#: What the optimizer must not do: put kernels of integers in the place of operations between a dequantization and a quantization, whose
#: values are far off or which fail where a scale is unusual; and make one pair of quantizations of two.
_EXACT_QUANTIZATION = ("session.disable_quant_qdq", "session.disable_double_qdq_remover")
#: What it must not do either: put one node in the place of several where that changes values. What an operation gives would depend on
#: whether the values before it are outputs, which the optimizer leaves alone (docs/numerics.md).
_VALUE_CHANGING = (
    "AttentionFusion",
    "BiasGeluFusion",
    "BiasSkipLayerNormFusion",
    "DivMulFusion",
    "EmbedLayerNormFusion",
    "FastGeluFusion",
    "GeluFusionL1",
    "GeluFusionL2",
    "LayerNormFusionL1",
    "LayerNormFusionL2",
    "MatMulAddFusion",
    "MatMulScaleFusion",
    "MatmulTransposeFusion",
    "NoopElimination",
    "QuickGeluFusion",
    "SimplifiedLayerNormFusion",
    "SkipLayerNormFusion",
)
#: A model of one Identity, to try a provider with: making it with onnx would load that before the first build.
_SMALLEST_MODEL = (
    b'\x08\n::\n\x13\n\x01x\x12\x01y\x1a\x01n"\x08Identity\x12\x01g'
    b"Z\x0f\n\x01x\x12\n\n\x08\x08\x01\x12\x04\n\x02\x08\x01b\x0f\n\x01y\x12\n\n\x08\x08\x01\x12\x04\n\x02\x08\x01B\x04\n\x00\x10\x15"
)
_LIBRARIES = {"win32": "onnxruntime_providers_{}.dll", "darwin": "libonnxruntime_providers_{}.dylib"}
_DEVICE_TYPES: Mapping[str, str] = MappingProxyType({"CPU": "cpu", "GPU": "gpu", "NPU": "npu"})


@functools.cache
def _runtime() -> ModuleType:
    try:
        import onnxruntime  # noqa: PLC0415 (loaded at the first use)

        # Removing one of two flavours leaves an empty folder, which imports without an error.
        _ = onnxruntime.InferenceSession
        module: ModuleType = onnxruntime
        old = requirement.too_old(str(module.__version__))
    except Exception as error:  # whatever the import of an extension module raises
        absent = isinstance(error, ModuleNotFoundError) and error.name == "onnxruntime"
        raise NotSupportedError(requirement.missing() if absent else requirement.broken(one_line(error))) from error
    if old:
        raise NotSupportedError(old)
    return module


def version() -> str:
    """Return the engine's version."""
    return str(_runtime().__version__)


def available_providers() -> list[str]:
    """Return the names of the execution providers that the installed engine offers, in its own order."""
    return list(_runtime().get_available_providers())


def register_library(name: str, path: str) -> None:
    """Register the library of a plug-in, for this process.

    Args:
        name: A name for it.
        path: The file.

    Raises:
        Exception: The engine does not take it. That it is registered already is no failure.
    """
    try:
        _runtime().register_execution_provider_library(name, path)
    except Exception as error:  # the engine's exceptions have no common class
        if "already registered" not in str(error):
            raise


def list_devices() -> list[Device]:
    """Return the devices that the engine lists: of plug-ins, and of some of its own providers. One that knows no plug-ins lists none."""
    read = getattr(_runtime(), "get_ep_devices", None)
    return [] if read is None else [_device(each) for each in read() if each.device.type.name in _DEVICE_TYPES]


def _device(listed: Any) -> Device:
    deviceType = _DEVICE_TYPES[listed.device.type.name]
    discrete = dict(listed.device.metadata).get("Discrete") if deviceType == "gpu" else None
    return Device(
        provider=listed.ep_name,
        type=deviceType,
        discrete=None if discrete is None else discrete == "1",
        vendor=listed.device.vendor or listed.ep_vendor,
        plugin=True,
        handle=listed,
    )


def find_failure(device: Device, settings: Options | None = None) -> str:
    """Try whether a session with a device starts.

    Args:
        device: The device.
        settings: The provider's options; by default those alone that choose the device.

    Returns:
        Why it does not, to be read behind the provider's name; an empty string if it does.
    """
    ort = _runtime()
    settings = device.options if settings is None else settings
    if not device.plugin:
        _preload()
    # The engine writes to standard error, by a log of the process, why a provider of its own does not start, and goes on without it.
    ort.set_default_logger_severity(_NOTHING)
    try:
        options = _session_options(session_settings([device], "default"))
        session = _start(_SMALLEST_MODEL, options, [device], [(device.provider, settings)])
        if device.provider in session.get_providers():
            return ""
    except Exception as error:  # the engine's exceptions have no common class
        return f"does not start: {one_line(error)}"
    finally:
        ort.set_default_logger_severity(_WARNINGS)
    told = ", ".join(f"{name} {value}" for name, value in settings.items())
    return _loading_failure(device.provider) or ("does not start" + (f" with {told}" if told else ""))


def refuses_options(device: Device, settings: Options) -> bool:
    """Tell whether a device starts, but not with these provider options."""
    return bool(find_failure(device, settings)) and not find_failure(device)


@functools.cache
def _preload() -> None:
    """Load the CUDA libraries of Python packages, where the engine is built for CUDA."""
    preload = getattr(_runtime(), "preload_dlls", None)
    if preload is None:
        return
    # It prints what it does not find. Its own `print` is replaced: sys.stdout is every thread's.
    preload.__globals__["print"] = lambda *_, **__: None
    try:
        preload()
    except Exception:
        # What is missing shows when the provider is tried.
        pass
    finally:
        del preload.__globals__["print"]


def _loading_failure(provider: str) -> str:
    """Return why the library of a provider does not load: the engine only logs that.

    To be called after the engine tried it: a library that it did load must not be loaded by another before.
    """
    stem = provider.removesuffix("ExecutionProvider").lower()
    library = Path(str(_runtime().__file__)).parent / "capi" / _LIBRARIES.get(sys.platform, "libonnxruntime_providers_{}.so").format(stem)
    if library.exists():
        try:
            ctypes.CDLL(str(library))
        except OSError as error:
            return f"does not load: {one_line(error)}"
    return ""


def _session_options(settings: SessionSettings) -> Any:
    ort = _runtime()
    options = ort.SessionOptions()
    options.log_severity_level = _NOTHING
    if settings.threads:
        options.intra_op_num_threads = settings.threads
    if not settings.spinning:
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if settings.sequential:
        options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    if not settings.memory_pattern:
        options.enable_mem_pattern = False
    return options


def _start(model: bytes, options: Any, devices: Sequence[Device], providers: Sequence[tuple[str, Options]]) -> Any:
    """Start a session. The engine puts its CPU provider last; it does not fall back by itself."""
    session = _runtime().InferenceSession
    if devices[0].plugin:
        for device, (_, settings) in zip(devices, providers, strict=True):
            if device.plugin:
                options.add_provider_for_devices([device.handle], dict(settings))
        return session(model, options, enable_fallback=0)
    names = [name for name, _ in providers]
    return session(model, options, providers=names, provider_options=[dict(each) for _, each in providers], enable_fallback=0)


def _runner(session: Any, binding: Any) -> Callable[[], None]:
    """Return what runs a session with what is bound, at the least cost for each call.

    `InferenceSession.run_with_iobinding` prepares a capture of the graph by WebGPU, which is never asked for here. Without options for the
    run the engine makes some each time. Together that takes as long as a small graph, so the session's own core is called, with options
    that stay. An engine without such a core is called in the documented way.
    """
    core, bound = getattr(session, "_sess", None), getattr(binding, "_iobinding", None)
    if core is None or bound is None:
        return functools.partial(session.run_with_iobinding, binding)
    return functools.partial(core.run_with_iobinding, bound, _runtime().RunOptions())


class TensorMemory:
    """The memory of an `MLTensor`: a value of the engine, and an array over it.

    Not thread-safe: the context's timeline runs one job at a time.

    Args:
        array: The memory, C-contiguous, of the tensor's type and shape; for the small types, the bytes that hold two elements each.

    Attributes:
        array: The memory, which lives as long as the array.
        users: References to the graphs that it was bound to.
    """

    __slots__ = ("_value", "array", "users")

    def __init__(self, array: Array) -> None:
        self.array = array
        #: Made at the first dispatch: a constant needs none.
        self._value: Any = None
        self.users: set[weakref.ref[CompiledGraph]] = set()

    @classmethod
    def zeros(cls, descriptor: OperandDescriptor) -> TensorMemory:
        """Make memory that is all zeros; the operating system gives a large one its pages when they are used.

        Raises:
            MemoryError: There is none.
        """
        return cls(np.zeros(descriptor.array_shape, NUMPY_DTYPES[descriptor.dataType]))

    @property
    def value(self) -> Any:
        """The engine's value: its memory is the array's."""
        if self._value is None:
            self._value = _runtime().OrtValue.ortvalue_from_numpy(self.array)
        return self._value

    def write(self, source: Array) -> None:
        """Copy the bytes of an array of the same byte length, in row-major order."""
        array = self.array
        if source.dtype is array.dtype and source.shape == array.shape:
            array[...] = source
        else:
            copy_bytes(source, array)

    def read(self) -> Array:
        """Return a copy."""
        return self.array.copy()

    def release(self) -> None:
        """Take the memory from the graphs that it is bound to, which keep it otherwise."""
        for reference in self.users:
            graph = reference()
            if graph is not None:
                graph.forget()
        self.users.clear()


class CompiledGraph:
    """An inference session and the buffers bound to it: the implementation of an `MLGraph`.

    Not thread-safe: the context's timeline runs one call at a time.

    Args:
        model: The translated graph.
        selection: The devices of the session and their providers.

    Raises:
        OperationError: The engine refuses the model; the error names the operator where the engine does. Or a provider does not start.
    """

    __slots__ = (
        "__weakref__",
        "_binding",
        "_bound",
        "_model",
        "_recorded",
        "_reference",
        "_run",
        "_session",
        "_wanted",
        "_weights",
        "inputs",
        "outputs",
    )

    def __init__(self, model: OnnxModel, selection: Selection) -> None:
        options = _session_options(selection.settings)
        for entry in _EXACT_QUANTIZATION:
            options.add_session_config_entry(entry, "1")
        options.add_session_config_entry("optimization.disable_specified_optimizers", ";".join(_VALUE_CHANGING))
        # The session uses the bytes in place and holds no reference: they live as long as this object.
        self._weights = model.weights
        if model.weights:
            options.add_external_initializers_from_files_in_memory(
                [weight.location for weight in model.weights],
                [weight.data.reshape(-1).view("uint8") for weight in model.weights],
                [weight.data.nbytes for weight in model.weights],
            )
            options.add_session_config_entry("session.use_external_initializer_file_buffers_directly", "1")
        self._model = model
        #: On the CPU provider alone there is nothing to record.
        self._recorded = len(selection.providers) > 1 and hasattr(_runtime().InferenceSession, "get_provider_graph_assignment_info")
        if self._recorded:
            options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
        try:
            self._session = _start(model.proto.SerializeToString(), options, selection.devices, selection.providers)
        except Exception as error:  # the engine's exceptions have no common class
            raise self._failure("build", error) from error
        if len(selection.providers) > 1:
            self._check_started(selection)
        self._binding = self._session.io_binding()
        self._run = _runner(self._session, self._binding)
        numbers = itertools.count()
        self.inputs = {name: BufferSlot.of(name, value, next(numbers), each) for name, (value, each) in model.inputs.items()}
        self.outputs = {name: BufferSlot.of(name, value, next(numbers), each) for name, (value, each) in model.outputs.items()}
        #: What is bound to each slot: an address, or the memory of a tensor; 0 if nothing is.
        self._bound: list[Any] = [0] * next(numbers)
        self._reference = weakref.ref(self)
        #: How many outputs are bound.
        self._wanted = 0

    @property
    def providers(self) -> list[str]:
        """The execution providers that the session uses, best first."""
        return list(self._session.get_providers())

    def assignments(self) -> list[tuple[str, list[str]]] | None:
        """Return which provider runs which nodes of the model, as the engine grouped them.

        Returns:
            For each group the provider and the names of the nodes; ``None`` if only the CPU provider is in use, or if the engine is too
            old to tell.
        """
        if not self._recorded:
            return None
        groups = self._session.get_provider_graph_assignment_info()
        return [(group.ep_name, [node.name for node in group.get_nodes()]) for group in groups]

    def run(self, given: list[Checked], wanted: list[Checked]) -> None:
        """Compute outputs from inputs, all in place.

        Args:
            given: The memory of every input.
            wanted: The memory of the outputs that are wanted.

        Raises:
            OperationError: The engine fails.
        """
        bound = self._bound
        try:
            if len(wanted) != self._wanted or len(wanted) != len(self.outputs):
                self._forget_outputs(len(wanted))
            # Binding costs more than a small run: memory that is still bound stays.
            for slot, _, _, _, address in given:
                if bound[slot.index] != address:
                    self._bind(self._binding.bind_input, slot, address)
            for slot, _, _, _, address in wanted:
                if bound[slot.index] != address:
                    self._bind(self._binding.bind_output, slot, address)
            self._run()
        except Exception as error:  # the engine's exceptions have no common class
            raise self._failure("compute", error) from error

    def dispatch(self, slots: Sequence[BufferSlot], memories: Sequence[TensorMemory]) -> None:
        """Compute outputs from inputs, all in the memory of tensors.

        Args:
            slots: Every input and output, in any order.
            memories: The memory of each.

        Raises:
            OperationError: The engine fails.
        """
        bound = self._bound
        try:
            for slot, memory in zip(slots, memories, strict=True):
                # As above: what is bound stays.
                if bound[slot.index] is not memory:
                    self._bind_tensor(slot, memory)
            self._run()
        except Exception as error:  # the engine's exceptions have no common class
            raise self._failure("dispatch", error) from error

    def forget(self) -> None:
        """Bind everything anew the next time."""
        self._binding.clear_binding_inputs()
        self._binding.clear_binding_outputs()
        self._bound = [0] * len(self._bound)

    def _bind_tensor(self, slot: BufferSlot, memory: TensorMemory) -> None:
        """Bind a tensor to an input or an output."""
        binding, isInput = self._binding, slot.index < len(self.inputs)
        # If binding fails, nothing is bound.
        self._bound[slot.index] = 0
        if slot.descriptor.dataType in SMALL_TYPES:
            # The engine makes no value of them over NumPy's memory.
            self._bind(binding.bind_input if isInput else binding.bind_output, slot, memory.array.ctypes.data)
        else:
            bind = binding.bind_ortvalue_input if isInput else binding.bind_ortvalue_output
            bind(slot.value, memory.value)
        self._bound[slot.index] = memory
        memory.users.add(self._reference)

    def _forget_outputs(self, wanted: int) -> None:
        """Bind the outputs anew: others may be wanted than last time."""
        self._binding.clear_binding_outputs()
        for slot in self.outputs.values():
            self._bound[slot.index] = 0
        self._wanted = wanted

    def _bind(self, bind: Callable[..., None], slot: BufferSlot, address: int) -> None:
        """Bind memory to an input or an output."""
        descriptor = slot.descriptor
        # If binding fails, nothing is bound.
        self._bound[slot.index] = 0
        bind(slot.value, "cpu", 0, _ELEMENT_TYPES[descriptor.dataType], list(descriptor.dimensions), address)
        self._bound[slot.index] = address

    def _check_started(self, selection: Selection) -> None:
        """Check that every provider is there: the engine goes on without one of its own that does not start."""
        started = self._session.get_providers()
        for name, settings in selection.providers[:-1]:
            if name not in started:
                raise OperationError(f"build: {name} did not start with the options {dict(settings)}", operation="build")

    def _failure(self, what: str, error: Exception) -> OperationError:
        """Put an exception of the engine into our words, with the operator it is about."""
        operation, label = self._model.find_operator(str(error))
        prefix = label_prefix(label)
        where = f" at {operation}" if operation else ""
        verb = "refused" if what == "build" else "failed in"
        return OperationError(f"{prefix}{what}: the engine {verb} the graph{where}: {error}", operation=operation, label=label)
