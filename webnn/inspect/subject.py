"""A graph that is looked into: what was compiled, its inputs, and parts of it with other outputs."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from webnn.builder.describe import describe_graph
from webnn.builder.graph import ComputationalGraph, collect
from webnn.builder.operand import MLOperand
from webnn.context.buffers import detached_reason
from webnn.context.build import compile_again, compile_profiled
from webnn.validation import webidl
from webnn.validation.buffers import as_array, elements_mismatch
from webnn.validation.descriptor import NUMPY_DTYPES
from webnn.validation.errors import InvalidStateError, WebNNTypeError

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription
    from webnn.context.backend import Implementation
    from webnn.context.engine.session import CompiledGraph
    from webnn.context.graph import MLGraph
    from webnn.context.state import ContextState
    from webnn.validation.descriptor import OperandDescriptor

__all__ = ["LIMIT", "Array", "Bound", "Subject", "check_inputs", "group"]

Array = np.ndarray[Any, np.dtype[Any]]

#: How many bytes of results are in memory at once.
LIMIT = 256 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A graph, without the state of its object: it stays as it is when the program destroys the graph or loses the context.

    Attributes:
        state: The context.
        source: What was compiled.
        implementation: The session. Only the timeline may run it.
        description: The graph as a value. Its operators are those of the source, in the same order.
    """

    state: ContextState
    source: ComputationalGraph
    implementation: Implementation
    description: GraphDescription

    @classmethod
    def of(cls, graph: MLGraph, operation: str) -> Subject:
        """Return the subject of a graph.

        Raises:
            InvalidStateError: The graph was destroyed.
        """
        source, implementation = graph._source, graph._implementation
        if source is None or implementation is None:
            raise InvalidStateError(f"{operation}: the graph must not be destroyed", operation=operation, draft=graph._revision.draft)
        return cls(state=graph._state, source=source, implementation=implementation, description=describe_graph(source))

    def compile(self, values: Iterable[str]) -> Implementation:
        """Compile the part of the graph that some results of operators need, with these as outputs.

        Args:
            values: The names of the results in the description.
        """
        places = {
            name: (operator, position)
            for described, operator in zip(self.description.operators, self.source.operators, strict=True)
            for position, name in enumerate(described.outputs)
        }
        builder = next(iter(self.source.outputs.values()))._builder
        outputs: dict[str, MLOperand] = {}
        for name in values:
            operator, position = places[name]
            outputs[name] = MLOperand._create(builder, operator.outputs[position], operator=operator, position=position)
        return compile_again(self.state, collect(outputs), self.implementation)

    def profiled(self, prefix: str) -> CompiledGraph:
        """Compile the graph again, to take times."""
        return compile_profiled(self.state, self.source, self.implementation, prefix)

    def run(self, arrays: Mapping[str, Array]) -> tuple[dict[str, Array], float]:
        """Run the graph as it is; return its outputs and the time in seconds."""
        bound = Bound(self.implementation, arrays)
        begin = time.perf_counter()
        outputs = bound.run()
        seconds = time.perf_counter() - begin
        bound.release()
        return outputs, seconds

    def walk(self, groups: Sequence[Sequence[str]], arrays: Mapping[str, Array]) -> Iterator[dict[str, Array]]:
        """Compute groups of results of operators, one group after the other, each by a session of its own.

        Args:
            groups: The names of the values of each group.
            arrays: The inputs of the graph.

        Returns:
            An iterator over the values of each group. The timeline is free between two groups.
        """
        for names in groups:

            def job(names: Sequence[str] = names) -> dict[str, Array]:
                return Bound(self.compile(names), arrays).run()

            yield self.state.timeline.run(job)


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


def check_inputs(operation: str, descriptors: Mapping[str, OperandDescriptor], inputs: Mapping[str, Any]) -> dict[str, Array]:
    """Check the inputs of a graph; return arrays over the same memory where they are C-contiguous, and copies of the others.

    Nothing is transferred, so read-only arrays are accepted.

    Raises:
        WebNNTypeError: An input is missing, unknown, or no array of its type and byte length; or an earlier `compute` transferred it.
    """
    try:
        given = webidl.record(inputs, lambda value: value, wanted="a mapping from names to arrays")
    except webidl.ConversionError as error:
        raise _error(operation, "inputs", error.reason) from error.__cause__
    for name in given:
        if name not in descriptors:
            raise _error(operation, "inputs", f"must name inputs of the graph, {list(descriptors)}, got {webidl.describe(name)}")
    missing = [name for name in descriptors if name not in given]
    if missing:
        raise _error(operation, "inputs", f"must have every input of the graph, {list(descriptors)}, but lacks {missing}")
    arrays: dict[str, Array] = {}
    for name, descriptor in descriptors.items():
        reason, view = as_array(given[name])
        if view is not None:
            reason = elements_mismatch(view, descriptor) or detached_reason(view)
        if view is None or reason:
            raise _error(operation, f"inputs[{webidl.describe(name)}]", reason)
        arrays[name] = np.ascontiguousarray(view, NUMPY_DTYPES[descriptor.dataType]).reshape(descriptor.array_shape)
    return arrays


def group(description: GraphDescription, limit: int, *, operands: bool = False) -> list[tuple[range, tuple[str, ...]]]:
    """Divide the operators into groups whose values fit into a number of bytes; a group of one operator may be larger.

    Args:
        description: The graph.
        limit: The number of bytes.
        operands: The values of a group are not only the results of its operators, but also those that these take from others.

    Returns:
        For each group the positions of its operators, and the names of its values.
    """
    results = {name: each.byte_length for operator in description.operators for name, each in _results(operator)}
    groups: list[tuple[range, tuple[str, ...]]] = []
    values: dict[str, None] = {}
    first = size = 0
    for position, operator in enumerate(description.operators):
        taken = [value for _, _, value in operator.named_values() if value in results] if operands else []
        fresh = dict.fromkeys([name for name in (*taken, *operator.outputs) if name not in values])
        added = sum(results[name] for name in fresh)
        if values and size + added > limit:
            groups.append((range(first, position), tuple(values)))
            values, first, size = {}, position, 0
            fresh = dict.fromkeys((*taken, *operator.outputs))
            added = sum(results[name] for name in fresh)
        values |= fresh
        size += added
    if values:
        groups.append((range(first, len(description.operators)), tuple(values)))
    return groups


def _results(operator: Any) -> list[tuple[str, OperandDescriptor]]:
    return list(zip(operator.outputs, operator.descriptors, strict=True))


def _error(operation: str, argument: str, requirement: str) -> WebNNTypeError:
    return WebNNTypeError(f"{operation}: {argument} {requirement}", operation=operation, argument=argument)
