"""What the builder needs of a context."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from webnn.validation.member import DraftMembers

if TYPE_CHECKING:
    import asyncio

    from webnn.builder.graph import ComputationalGraph
    from webnn.validation.descriptor import OperandDescriptor
    from webnn.validation.revision import Revision

__all__ = ["ContextBase", "TensorBase"]


class ContextBase(DraftMembers):
    """The part of `MLContext` that `MLGraphBuilder` uses."""

    __slots__ = ()

    _revision: Revision

    def _checkAllowed(self, operation: str) -> None:
        """Raise SecurityError if the document is not allowed to use the feature ``webnn``."""
        raise TypeError("not a context")

    def _checkNotLost(self, operation: str) -> None:
        """Raise InvalidStateError if the context is lost."""
        raise TypeError("not a context")

    def _sayDetached(self, view: np.ndarray[Any, np.dtype[Any]]) -> str:
        """Say that an array's memory was transferred; empty if it was not."""
        raise TypeError("not a context")

    def _build(self, graph: ComputationalGraph) -> asyncio.Future[Any]:
        """Compile a graph on the context's timeline."""
        raise TypeError("not a context")

    def _buildSync(self, graph: ComputationalGraph) -> Any:
        """Compile a graph and wait for it."""
        raise TypeError("not a context")

    def _rejected(self, error: Exception) -> asyncio.Future[Any]:
        """Return a future that has failed."""
        raise TypeError("not a context")


class TensorBase:
    """The part of `MLTensor` that `MLGraphBuilder.constant` uses."""

    __slots__ = ()

    _context: ContextBase
    _descriptor: OperandDescriptor
    _isConstant: bool

    @property
    def _isDestroyed(self) -> bool:
        """The tensor was destroyed, by itself or with its context."""
        raise TypeError("not a tensor")

    def _constantArray(self) -> np.ndarray[Any, np.dtype[Any]] | None:
        """Return an array over the tensor's memory, which lives as long as the array does; ``None`` if the tensor was destroyed."""
        raise TypeError("not a tensor")
