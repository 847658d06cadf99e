"""The engine: ONNX Runtime. The only module that imports onnxruntime.

The import happens at the first use: ``import webnn`` stays light, and any flavour of the package serves (``onnxruntime``,
``onnxruntime-gpu``, ``onnxruntime-directml``).
"""

from __future__ import annotations

import functools
import itertools
import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from webnn.context.buffers import BufferSlot, Checked, copy_bytes
from webnn.validation.descriptor import NUMPY_DTYPES, SMALL_TYPES, OperandDescriptor
from webnn.validation.errors import NotSupportedError, OperationError, label_prefix

if TYPE_CHECKING:
    from webnn.builder.onnx.translate import OnnxModel

__all__ = ["CompiledGraph", "TensorMemory", "available_providers", "version"]

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
_ERRORS_ONLY = 3
#: What the optimizer must not do: put kernels of integers in the place of operations between a dequantization and a quantization, whose
#: values are far off or which fail where a scale is unusual; and make one pair of quantizations of two.
_EXACT_QUANTIZATION = ("session.disable_quant_qdq", "session.disable_double_qdq_remover")


@functools.cache
def _runtime() -> ModuleType:
    try:
        import onnxruntime  # noqa: PLC0415 (loaded at the first use)

        # Removing one of two flavours leaves an empty folder, which imports without an error.
        _ = onnxruntime.InferenceSession
    except (ImportError, AttributeError) as error:
        raise NotSupportedError("webnn needs ONNX Runtime: install one of onnxruntime, onnxruntime-gpu, onnxruntime-directml") from error
    module: ModuleType = onnxruntime
    return module


def version() -> str:
    """Return the engine's version."""
    return str(_runtime().__version__)


def available_providers() -> list[str]:
    """Return the names of the execution providers that the installed engine offers, in its own order."""
    return list(_runtime().get_available_providers())


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
        providers: Execution providers with their options, best first.

    Raises:
        OperationError: The engine refuses the model; the error names the operator where the engine does.
    """

    __slots__ = ("__weakref__", "_binding", "_bound", "_model", "_reference", "_session", "_wanted", "_weights", "inputs", "outputs")

    def __init__(self, model: OnnxModel, providers: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        ort = _runtime()
        options = ort.SessionOptions()
        options.log_severity_level = _ERRORS_ONLY + 1
        for entry in _EXACT_QUANTIZATION:
            options.add_session_config_entry(entry, "1")
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
        try:
            with warnings.catch_warnings():
                # A provider that is not there is reported by the device selection, in its own words.
                warnings.simplefilter("ignore", UserWarning)
                self._session = ort.InferenceSession(
                    model.proto.SerializeToString(),
                    options,
                    providers=[name for name, _ in providers],
                    provider_options=[dict(settings) for _, settings in providers],
                )
        except Exception as error:  # the engine's exceptions have no common class
            raise self._failure("build", error) from error
        self._binding = self._session.io_binding()
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
            self._session.run_with_iobinding(self._binding)
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
            self._session.run_with_iobinding(self._binding)
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

    def _failure(self, what: str, error: Exception) -> OperationError:
        """Put an exception of the engine into our words, with the operator it is about."""
        operation, label = self._model.find_operator(str(error))
        prefix = label_prefix(label)
        where = f" at {operation}" if operation else ""
        verb = "refused" if what == "build" else "failed in"
        return OperationError(f"{prefix}{what}: the engine {verb} the graph{where}: {error}", operation=operation, label=label)
