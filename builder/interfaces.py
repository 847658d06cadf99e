"""Protocols for the parts of a context's state, and of its tensors, that the builder uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from webnn.validation.descriptor import OperandDescriptor
    from webnn.validation.revision import Revision

__all__ = ["Loss", "State", "Tensor"]

Array = np.ndarray[Any, np.dtype[Any]]


class Loss(Protocol):
    """Whether a context is lost."""

    def check(self, operation: str) -> None:
        """Raise InvalidStateError if the context is lost."""


class State(Protocol):
    """The state of a context."""

    @property
    def loss(self) -> Loss:
        """Whether the context is lost."""

    @property
    def lines(self) -> bool:
        """Whether builders note the program's line of each operator."""

    @property
    def revision(self) -> Revision:
        """The draft that the context follows."""

    def detached_reason(self, view: Array) -> str:
        """Say that an array's memory was transferred; empty if it was not."""


class Tensor(Protocol):
    """An `MLTensor`."""

    _state: Any
    _descriptor: OperandDescriptor
    _isConstant: bool

    def _constantArray(self) -> Array | None:
        """Return an array over the tensor's memory, which lives as long as the array does; ``None`` if the tensor was destroyed."""
