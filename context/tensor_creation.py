"""The steps of `MLContext.createTensor` and `MLContext.createConstantTensor`.

The specification creates the data on the timeline. A program can notice the difference only if the context is lost. So the data is created
at the call, and a new tensor does not wait for queued work.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from webnn.context import buffers
from webnn.context.engine.memory import TensorMemory
from webnn.context.tensor import MLTensor
from webnn.validation import tensors, webidl
from webnn.validation.buffers import as_array
from webnn.validation.descriptor import NUMPY_DTYPES
from webnn.validation.errors import UnknownError, WebNNTypeError
from webnn.validation.operand_descriptor import convertDescriptor, convertTensorDescriptor
from webnn.validation.operation import Call

if TYPE_CHECKING:
    from webnn.context.state import ContextState

__all__ = ["constant_tensor", "source", "tensor"]

Array = np.ndarray[Any, np.dtype[Any]]


def tensor(state: ContextState, descriptor: object, members: Mapping[str, Any]) -> MLTensor:
    """Run the steps of `MLContext.createTensor`.

    Args:
        state: The context's state.
        descriptor: The descriptor as a dictionary, or ``None``.
        members: The descriptor's members as keyword arguments.

    Raises:
        WebNNTypeError: The descriptor is not valid or not supported.
        InvalidStateError: The context is lost.
        UnknownError: There is no memory.
    """
    call = Call("createTensor", "#api-mlcontext-createtensor", state.revision)
    if members and descriptor is not None:
        raise call.error("descriptor", "must be given as a dictionary or as keyword arguments, not as both")
    given: Any = members or descriptor
    try:
        operand, readable, writable = convertTensorDescriptor(call, given)
    except webidl.ConversionError as error:
        raise call.error(f"descriptor{error.path}", error.reason) from error.__cause__
    # [3] The context is not lost.
    state.loss.check("createTensor")
    # The dimensions are valid and supported: docs/spec-issues.md.
    call.check_dimensions("descriptor", operand)
    if call.revision.acceptance is not None:
        call.revision.acceptance.accept_tensor(call, "input", "descriptor", operand)
    # 4. Create the tensor.
    created = MLTensor._create(state, operand, readable=readable, writable=writable)
    # 6. Create its data, all zeros.
    return _finish(call, created, lambda: TensorMemory.zeros(operand))


def constant_tensor(state: ContextState, descriptor: object, inputData: object) -> MLTensor:
    """Run the steps of `MLContext.createConstantTensor`.

    Raises:
        WebNNTypeError: The descriptor is not valid or not supported, or the data does not fit.
        InvalidStateError: The context is lost.
        UnknownError: There is no memory.
    """
    call = Call("createConstantTensor", "#api-mlcontext-createconstanttensor", state.revision)
    try:
        operand = convertDescriptor(call, descriptor)
    except webidl.ConversionError as error:
        raise call.error(f"descriptor{error.path}", error.reason) from error.__cause__
    view = source(call.operation, call.anchor, inputData)
    # [3] The context is not lost.
    state.loss.check("createConstantTensor")
    # [4] The dimensions are valid and supported.
    call.check_dimensions("descriptor", operand)
    # [5] Type and length of the buffer match, and it is not detached.
    reason = tensors.mismatch(view, operand) or buffers.detached_reason(view)
    if reason:
        raise call.error("inputData", reason)
    if call.revision.acceptance is not None:
        call.revision.acceptance.accept_tensor(call, "constant", "descriptor", operand)

    def data() -> TensorMemory:
        memory = np.empty(operand.array_shape, NUMPY_DTYPES[operand.dataType])
        buffers.copy_bytes(view, memory)
        return TensorMemory(memory)

    # 8. Create the tensor.
    created = MLTensor._create(state, operand, isConstant=True)
    # 6.-7., 10. Create its data, a copy of the bytes.
    return _finish(call, created, data)


def source(operation: str, anchor: str, value: object) -> Array:
    """Convert to ``AllowSharedBufferSource``: an array over the bytes to be read.

    Raises:
        WebNNTypeError: The value has no buffer.
    """
    if type(value) is np.ndarray:
        return value
    reason, view = as_array(value)
    if view is None:
        raise WebNNTypeError(f"{operation}: inputData {reason}", operation=operation, argument="inputData", anchor=anchor)
    return view


def _finish(call: Call, created: MLTensor, data: Callable[[], TensorMemory]) -> MLTensor:
    """Give a tensor its data, and register it to be destroyed with its context."""
    # [#api-mlcontext-createtensor 6.1.2, #api-mlcontext-createconstanttensor 10.1.2] There is memory.
    try:
        created._memory = data()
    except MemoryError as error:
        raise UnknownError(
            f"{call.operation}: there must be memory for {created._descriptor}: {error}",
            operation=call.operation,
        ) from error
    # [#api-mlcontext-createtensor 6.2, #api-mlcontext-createconstanttensor 10.2] The context is not lost meanwhile.
    created._state.loss.add(created, call.operation)
    return created
