"""The reference as a device: `webnn.reference` computes the graphs of a context. Loaded at the first build of such a context."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from webnn.builder.describe import describe_graph
from webnn.context import above
from webnn.context.buffers import BufferSlot, copy_bytes
from webnn.context.devices.selection import REFERENCE
from webnn.context.placement.assign import uniform
from webnn.validation.errors import NotSupportedError, OperationError

if TYPE_CHECKING:
    from webnn.builder.graph import ComputationalGraph
    from webnn.builder.semantics import Semantics
    from webnn.context.backend import Placed
    from webnn.context.devices.selection import FallbackPolicy, Selection
    from webnn.context.engine.memory import Dispatch

__all__ = ["ReferenceBackend", "ReferenceGraph"]

#: An input or an output, and the array over its memory.
_Bound = tuple[BufferSlot, np.ndarray[Any, np.dtype[Any]]]


class ReferenceBackend:
    """Compiles graphs for the reference.

    Args:
        semantics: The values of switches that differ from the defaults.
    """

    __slots__ = ("_semantics",)

    takes_times: ClassVar[bool] = False

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def compile(self, graph: ComputationalGraph, selection: Selection) -> ReferenceGraph:
        """Compile a graph without finding out where its operators run."""
        del selection  # there is one device
        return ReferenceGraph(graph, self._semantics)

    def compile_and_place(self, graph: ComputationalGraph, selection: Selection, fallback: FallbackPolicy) -> Placed:
        """Compile a graph, and place all its operators on the CPU."""
        del fallback  # the reference computes every operator, or refuses the graph
        implementation = ReferenceGraph(graph, self._semantics)
        operators = [(operator.operation.name, operator.index, operator.label) for operator in graph.operators]
        inputs, outputs = (
            {slot.name: (slot.value, slot.descriptor) for slot in slots.values()}
            for slots in (implementation.inputs, implementation.outputs)
        )
        return implementation, partial(uniform, operators, inputs, outputs, selection, selection.reason)


class ReferenceGraph:
    """A graph that the reference computes: the implementation of an `MLGraph`.

    Raises:
        OperationError: The reference has not got an operation.
    """

    __slots__ = ("_program", "inputs", "outputs")

    #: It computes slowly, and remembers no call.
    quick: ClassVar[bool] = False
    in_place: ClassVar[bool] = False
    last: ClassVar[None] = None
    repeat: ClassVar[Callable[[], object]] = staticmethod(lambda: None)

    def __init__(self, graph: ComputationalGraph, semantics: Semantics) -> None:
        try:
            self._program = above.reference().Program(describe_graph(graph), semantics)
        except NotSupportedError as error:
            raise OperationError(f"build: {error}", operation=error.operation, rule="engine") from None
        numbers = count()
        self.inputs, self.outputs = (
            {name: BufferSlot.of(name, name, next(numbers), operand.descriptor) for name, operand in operands.items()}
            for operands in (graph.inputs, graph.outputs)
        )

    @property
    def providers(self) -> list[str]:
        """The reference alone."""
        return [REFERENCE]

    def run(self, addresses: list[int]) -> None:
        """Compute the outputs that are wanted from all inputs.

        Args:
            addresses: As for `Implementation.run`.

        Raises:
            OperationError: An operator fails.
        """
        given, wanted = (
            [(slot, slot.over(addresses[slot.index])) for slot in slots.values() if addresses[slot.index]]
            for slots in (self.inputs, self.outputs)
        )
        self._compute(given, wanted)

    def took(self, seconds: float) -> None:
        """Do nothing: it never counts as quick."""

    def dispatch(self, call: Dispatch) -> None:
        """Compute outputs from inputs, all in the memory of tensors.

        Raises:
            OperationError: An operator fails.
        """
        arrays = [(slot, memory.array) for slot, memory in zip(call.slots, call.memories, strict=True)]
        split = len(self.inputs)
        self._compute([each for each in arrays if each[0].index < split], [each for each in arrays if each[0].index >= split])

    def forget(self) -> None:
        """Do nothing: no memory is kept."""

    def _compute(self, given: list[_Bound], wanted: list[_Bound]) -> None:
        arrays = {slot.name: array.reshape(slot.descriptor.array_shape) for slot, array in given}
        results = self._program.run(arrays, [slot.name for slot, _ in wanted])
        for slot, array in wanted:
            copy_bytes(results[slot.name], array)
