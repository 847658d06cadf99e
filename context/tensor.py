"""`MLTensor`: `#api-mltensor`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Required, Self, TypedDict

import numpy as np

from webnn.builder.options import Numbers
from webnn.context.engine.memory import TensorMemory
from webnn.context.timeline import BUSY
from webnn.validation.descriptor import DataType, OperandDescriptor
from webnn.validation.errors import InvalidStateError

if TYPE_CHECKING:
    from webnn.context.promise import Pending
    from webnn.context.state import ContextState

__all__ = ["MLTensor", "MLTensorDescriptor"]


class MLTensorDescriptor(TypedDict, total=False):
    """Type and shape of a tensor, and what the program does with its data. `#dictdef-mltensordescriptor`."""

    dataType: Required[DataType]
    shape: Required[Numbers]
    readable: bool
    writable: bool


class MLTensor:
    """A tensor in the engine's memory: an input or output of `MLContext.dispatch`, or a constant of a graph. `#api-mltensor`.

    Tensors are made by `MLContext.createTensor` and `MLContext.createConstantTensor`. They may be used from several threads.
    """

    __slots__ = ("__weakref__", "_descriptor", "_isConstant", "_memory", "_pending", "_readable", "_state", "_token", "_writable")

    _endsFirst: ClassVar[bool] = False
    _descriptor: OperandDescriptor
    _isConstant: bool
    #: ``None`` once the tensor is destroyed. Work that was queued before has its own reference.
    _memory: TensorMemory | None
    #: The pending promises of `MLContext.readTensor`.
    _pending: dict[Pending[Any], None]
    _readable: bool
    #: Of the context that made it.
    _state: ContextState
    #: Identifies the tensor where a reference would keep its memory alive.
    _token: object
    _writable: bool

    def __init__(self, *_: object, **__: object) -> None:
        raise TypeError("MLTensor: illegal constructor; tensors are made by MLContext.createTensor() and createConstantTensor()")

    @classmethod
    def _create(
        cls, state: ContextState, descriptor: OperandDescriptor, *, readable: bool = False, writable: bool = False, isConstant: bool = False
    ) -> Self:
        """*Create an MLTensor*, `#create-an-mltensor`, or a constant one, `#create-a-constant-mltensor`; the memory comes later."""
        tensor = object.__new__(cls)
        tensor._descriptor = descriptor
        tensor._isConstant = isConstant
        tensor._memory = None
        tensor._pending = {}
        tensor._readable = readable
        tensor._state = state
        tensor._token = object()
        tensor._writable = writable
        return tensor

    def __reduce__(self) -> NoReturn:
        raise TypeError("MLTensor cannot be pickled: it is memory of this process; read it, and pickle the array")

    def __repr__(self) -> str:
        flags = {
            "readable": self._readable,
            "writable": self._writable,
            "constant": self._isConstant,
            "destroyed": self._isDestroyed,
        }
        return f"<MLTensor {self._descriptor}{''.join(f', {name}' for name, holds in flags.items() if holds)}>"

    def _repr_html_(self) -> str:
        from webnn.display.table import facts  # noqa: PLC0415 (only notebooks need it)

        # The data is not read: that would wait for the work before it.
        flags = {"readable": self._readable, "writable": self._writable, "constant": self._isConstant, "destroyed": self._isDestroyed}
        values = {
            "type": self._descriptor.dataType,
            "shape": str(list(self._descriptor.dimensions)),
            "bytes": f"{self._descriptor.byte_length:,}",
            "flags": ", ".join([name for name, holds in flags.items() if holds]),
        }
        return facts("MLTensor", values)

    @property
    def dataType(self) -> DataType:
        """The data type, for example ``"float32"``. `#mltensor-datatype`."""
        return self._descriptor.dataType

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape, empty for a scalar. `#mltensor-shape`."""
        return self._descriptor.dimensions

    @property
    def readable(self) -> bool:
        """`MLContext.readTensor` may read the data. `#mltensor-readable`."""
        return self._readable

    @property
    def writable(self) -> bool:
        """`MLContext.writeTensor` may write the data. `#mltensor-writable`."""
        return self._writable

    @property
    def constant(self) -> bool:
        """The tensor was made by `MLContext.createConstantTensor`. `#mltensor-constant`."""
        return self._isConstant

    def destroy(self) -> None:
        """Release the tensor's data, once the work that is queued is done. `#api-mltensor-destroy`.

        Reads that are pending fail with `InvalidStateError`. A graph that was built with a constant tensor keeps the data. A second call
        does nothing.
        """
        self._state.loss.remove(self)
        self._destroy()

    def _destroy(self) -> None:
        """Run the steps of `destroy`."""
        # 1. The tensor is destroyed.
        memory, self._memory = self._memory, None
        # 2. Reads that are pending fail.
        loss = self._state.loss
        for pending in list(self._pending):
            # [#api-mlcontext-readtensor 8.2, #api-mlcontext-readtensor-byob 9.2] The promise is rejected. A lost context says why.
            why = InvalidStateError("readTensor: the tensor was destroyed before it was read", operation="readTensor", rule="destroyed")
            pending.reject(why if loss.info is None else loss.error("readTensor"))
        # 3. On the timeline: release the data. Work that was queued before has its own reference to it.
        timeline = self._state.timeline
        if memory is not None:
            memory.withdraw()
            if timeline.attempt(memory.release) is BUSY:
                timeline.post(memory.release)

    @property
    def _isDestroyed(self) -> bool:
        return self._memory is None

    def _constantArray(self) -> np.ndarray[Any, np.dtype[Any]] | None:
        # Another thread may destroy the tensor meanwhile.
        memory = self._memory
        return None if memory is None else memory.array
