"""Runs of a graph over new arrays: `MLGraph.run`, and those of `webnn.inspect`. Inputs are read, not transferred."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from webnn.context import buffers
from webnn.validation import webidl
from webnn.validation.buffers import as_array, elements_mismatch
from webnn.validation.descriptor import NUMPY_DTYPES
from webnn.validation.errors import Requirement, argument_error

if TYPE_CHECKING:
    from webnn.context.backend import Implementation
    from webnn.validation.descriptor import OperandDescriptor

__all__ = ["Array", "Bound", "check_inputs", "choose_inputs"]

Array = np.ndarray[Any, np.dtype[Any]]


class Bound:
    """A session, its inputs, and new arrays for its outputs. Only the timeline may run it.

    Args:
        implementation: The session.
        arrays: At least its inputs, as `check_inputs` returns them.
    """

    def __init__(self, implementation: Implementation, arrays: Mapping[str, Array]) -> None:
        self._implementation = implementation
        self.outputs = {name: np.empty(slot.descriptor.array_shape, slot.dtype) for name, slot in implementation.outputs.items()}
        self._bound = [*map(arrays.__getitem__, implementation.inputs), *self.outputs.values()]
        # In the order of the slots.
        self._addresses = [array.ctypes.data for array in self._bound]

    def run(self) -> dict[str, Array]:
        """Run the session; return the outputs, the same arrays each time."""
        self._implementation.run(self._addresses)
        return self.outputs

    def release(self) -> None:
        """Unbind the arrays: the inputs are the caller's."""
        self._implementation.forget()


def choose_inputs(inputs: Mapping[str, Any] | None, named: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the inputs of `MLGraph.run`, which come as a mapping or as keyword arguments."""
    if inputs is None:
        return named
    if named:
        raise argument_error("run", "inputs", "must be given as a mapping or as keyword arguments, not as both", rule="once")
    return inputs


def check_inputs(
    operation: str, descriptors: Mapping[str, OperandDescriptor], inputs: Mapping[str, Any], *, shaped: bool = False
) -> dict[str, Array]:
    """Check the inputs of a graph; return arrays over the same memory where they are C-contiguous, and copies of the others.

    Nothing is transferred, so read-only arrays are accepted.

    Args:
        operation: The method that takes them.
        descriptors: The descriptors of the graph's inputs.
        inputs: The inputs by name.
        shaped: An array must have the shape of its input, too, unless it is flat.

    Raises:
        WebNNTypeError: An input is missing, unknown, or no array of its type and byte length; or an earlier `compute` transferred it.
    """
    convert = partial(webidl.record, inputs, lambda value: value, wanted="a mapping from names to arrays")
    given = webidl.convert_argument(convert, operation, "inputs")
    for name in given:
        if name not in descriptors:
            raise argument_error(
                operation, "inputs", f"must name inputs of the graph, {list(descriptors)}, got {webidl.describe(name)}", rule="name"
            )
    missing = [name for name in descriptors if name not in given]
    if missing:
        raise argument_error(
            operation, "inputs", f"must have every input of the graph, {list(descriptors)}, but lacks {missing}", rule="name"
        )
    arrays: dict[str, Array] = {}
    for name, descriptor in descriptors.items():
        reason, view = as_array(given[name])
        if view is not None:
            reason = elements_mismatch(view, descriptor) or buffers.detached_reason(view)
            if shaped and not reason and view.ndim != 1 and view.shape != descriptor.array_shape:
                reason = Requirement("shape", f"must have the shape {list(descriptor.array_shape)}, or be flat, got {list(view.shape)}")
        if view is None or reason:
            raise argument_error(operation, f"inputs[{webidl.describe(name)}]", reason)
        arrays[name] = np.ascontiguousarray(view, NUMPY_DTYPES[descriptor.dataType]).reshape(descriptor.array_shape)
    return arrays
