"""The steps of `MLContext.createTensor` and `MLContext.createConstantTensor`.

The specification creates the data on the timeline. Nobody can tell when that is, except by a loss of the context, so that it is done at the
call: a new tensor does not wait for the work that is queued.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from webnn.context import buffers
from webnn.context.dispatch import source
from webnn.context.engine import TensorMemory
from webnn.context.promise import Pending
from webnn.context.tensor import MLTensor
from webnn.validation import tensors, webidl
from webnn.validation.descriptor import NUMPY_DTYPES
from webnn.validation.dictionary import convertDescriptor
from webnn.validation.errors import UnknownError
from webnn.validation.operation import Call

if TYPE_CHECKING:
    import asyncio

    from webnn.context.context import MLContext

__all__ = ["constant_tensor", "resolved", "tensor"]

T = TypeVar("T")


def tensor(context: MLContext, descriptor: object, members: Mapping[str, Any]) -> MLTensor:
    """Run the steps of `MLContext.createTensor`.

    Args:
        context: The context.
        descriptor: The descriptor as a dictionary, or ``None``.
        members: The descriptor's members as keyword arguments.

    Raises:
        WebNNTypeError: The descriptor is not valid or not supported.
        InvalidStateError: The context is lost.
        UnknownError: There is no memory.
    """
    call = Call("createTensor", "#api-mlcontext-createtensor", context._revision)
    if members and descriptor is not None:
        raise call.error("descriptor", "must be given as a dictionary or as keyword arguments, not as both")
    given: Any = members or descriptor
    try:
        operand, readable, writable = tensors.convertTensorDescriptor(call, given)
    except webidl.ConversionError as error:
        raise call.error(f"descriptor{error.path}", error.reason) from error.__cause__
    # 3. The context is not lost.
    context._loss.check("createTensor")
    # The dimensions are valid and supported: docs/spec-issues.md.
    call.check_dimensions("descriptor", operand)
    if call.revision.profile is not None:
        call.revision.profile.enforce(call, call.revision.profile.check_tensor("input", call.operation, "descriptor", operand))
    # 4. Create the tensor.
    created = MLTensor._create(context, operand, readable=readable, writable=writable)
    # 6. Create its data, all zeros.
    return _finish(call, created, lambda: TensorMemory.zeros(operand))


def constant_tensor(context: MLContext, descriptor: object, inputData: object) -> MLTensor:
    """Run the steps of `MLContext.createConstantTensor`.

    Raises:
        WebNNTypeError: The descriptor is not valid or not supported, or the data does not fit.
        InvalidStateError: The context is lost.
        UnknownError: There is no memory.
    """
    call = Call("createConstantTensor", "#api-mlcontext-createconstanttensor", context._revision)
    try:
        operand = convertDescriptor(call, descriptor)
    except webidl.ConversionError as error:
        raise call.error(f"descriptor{error.path}", error.reason) from error.__cause__
    view = source(call.operation, call.anchor, inputData)
    # 3. The context is not lost.
    context._loss.check("createConstantTensor")
    # 4. The dimensions are valid and supported.
    call.check_dimensions("descriptor", operand)
    # 5. Type and length of the buffer match, and it is not detached.
    reason = tensors.mismatch(view, operand) or buffers.detached_reason(view)
    if reason:
        raise call.error("inputData", reason)
    if call.revision.profile is not None:
        call.revision.profile.enforce(call, call.revision.profile.check_tensor("constant", call.operation, "descriptor", operand))

    def data() -> TensorMemory:
        memory = np.empty(operand.array_shape, NUMPY_DTYPES[operand.dataType])
        buffers.copy_bytes(view, memory)
        return TensorMemory(memory)

    # 8. Create the tensor.
    created = MLTensor._create(context, operand, isConstant=True)
    # 6.-7., 10. Create its data, a copy of the bytes.
    return _finish(call, created, data)


def resolved(context: MLContext, create: Callable[[], T]) -> asyncio.Future[T]:
    """Return the promise of what was created. It is resolved in the next round of the event loop; a loss of the context comes before.

    Raises:
        RuntimeError: There is no running event loop.
    """
    pending: Pending[T] = Pending(context._loss.promises)
    try:
        value = create()
    except Exception as error:  # a failed step rejects the promise
        pending.reject(error)
    else:
        pending.resolve(lambda: value)
    return pending.future


def _finish(call: Call, created: MLTensor, data: Callable[[], TensorMemory]) -> MLTensor:
    """Give a tensor its data, and have it end with its context."""
    try:
        created._memory = data()
    except MemoryError as error:
        raise UnknownError(
            f"{call.operation}: there must be memory for {created._descriptor}: {error}",
            operation=call.operation,
        ) from error
    created._context._loss.add(created, call.operation)
    return created
