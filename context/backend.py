"""A backend computes the graphs of a context: the engine, or the reference. It is chosen when the context is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from webnn.builder.graph import ComputationalGraph
    from webnn.context.buffers import BufferSlot
    from webnn.context.devices.selection import FallbackPolicy, Selection
    from webnn.context.engine.memory import Dispatch
    from webnn.context.placement import Placement

__all__ = ["Backend", "Implementation", "Placed"]


class Implementation(Protocol):
    """The compiled form of a graph: what an `MLGraph` computes with.

    Not thread-safe: the context's timeline runs one call at a time.
    """

    @property
    def inputs(self) -> Mapping[str, BufferSlot]:
        """The inputs of the graph by their names."""

    @property
    def outputs(self) -> Mapping[str, BufferSlot]:
        """The outputs, likewise."""

    @property
    def providers(self) -> list[str]:
        """The providers that compute, best first."""

    @property
    def quick(self) -> bool:
        """A run is so short that a thread can do it that does not wait for its result."""

    @property
    def in_place(self) -> bool:
        """`dispatch` reads and writes the memory of the tensors, without copies."""

    @property
    def last(self) -> Dispatch | None:
        """The last dispatch, as long as its tensors are bound and none of them is destroyed."""

    @property
    def repeat(self) -> Callable[[], object]:
        """Computes `last` again. An exception of the engine is as it is: `dispatch` gives the right one."""

    def run(self, addresses: list[int]) -> None:
        """Compute the outputs that are wanted from all inputs, in place; raise `OperationError` if that fails.

        Args:
            addresses: Of the inputs and the outputs, by the index of their slots; 0 for an output that is not wanted.
        """

    def took(self, seconds: float) -> None:
        """Learn how long a run took."""

    def dispatch(self, call: Dispatch) -> None:
        """Compute outputs from inputs, all in the memory of tensors; raise `OperationError` if that fails."""

    def forget(self) -> None:
        """Keep no memory of earlier runs."""


#: A compiled graph, and its placement or a function that makes it on first use.
Placed = tuple[Implementation, "Placement | Callable[[], Placement]"]


class Backend(Protocol):
    """Compiles graphs. Its methods raise `OperationError` if it does not take a graph."""

    @property
    def takes_times(self) -> bool:
        """`compile` has the argument ``profile``, with which the implementation takes times of operators."""

    def compile(self, graph: ComputationalGraph, selection: Selection) -> Implementation:
        """Compile a graph without finding out where its operators run."""

    def compile_and_place(self, graph: ComputationalGraph, selection: Selection, fallback: FallbackPolicy) -> Placed:
        """Compile a graph, and find out where its operators run."""
