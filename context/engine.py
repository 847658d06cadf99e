"""The engine: ONNX Runtime. The only module that imports onnxruntime.

The import happens at the first use: ``import webnn`` stays light, and any flavour of the package serves (``onnxruntime``,
``onnxruntime-gpu``, ``onnxruntime-directml``).
"""

from __future__ import annotations

import functools
import itertools
import warnings
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any

from webnn.context.buffers import BufferSlot, Checked
from webnn.validation.errors import NotSupportedError, OperationError

if TYPE_CHECKING:
    from webnn.builder.onnx.translate import OnnxModel

__all__ = ["CompiledGraph", "available_providers", "version"]

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
    }
)
_ERRORS_ONLY = 3


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


class CompiledGraph:
    """An inference session and the buffers bound to it: the implementation of an `MLGraph`.

    Not thread-safe: the context's timeline runs one call at a time.

    Args:
        model: The translated graph.
        providers: Execution providers with their options, best first.

    Raises:
        OperationError: The engine refuses the model; the error names the operator where the engine does.
    """

    __slots__ = ("_binding", "_bound", "_model", "_session", "_wanted", "_weights", "inputs", "outputs")

    def __init__(self, model: OnnxModel, providers: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        ort = _runtime()
        options = ort.SessionOptions()
        options.log_severity_level = _ERRORS_ONLY + 1
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
        #: The address bound to each slot, 0 if there is none.
        self._bound = [0] * next(numbers)
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
        prefix = f"[{label}] " if label else ""
        where = f" at {operation}" if operation else ""
        verb = "refused" if what == "build" else "failed in"
        return OperationError(f"{prefix}{what}: the engine {verb} the graph{where}: {error}", operation=operation, label=label)
