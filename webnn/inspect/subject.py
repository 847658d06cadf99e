"""A graph that is looked into: the compiled graph, its inputs, and parts of it with other outputs."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from webnn.builder.describe import describe_graph
from webnn.builder.graph import ComputationalGraph, collect
from webnn.builder.operand import MLOperand
from webnn.context.build import compile_again, compile_profiled
from webnn.context.runs import Array, Bound
from webnn.validation.errors import InvalidStateError

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription
    from webnn.context.backend import Implementation
    from webnn.context.engine.remote.graph import RemoteGraph
    from webnn.context.engine.session import CompiledGraph
    from webnn.context.graph import MLGraph
    from webnn.context.state import ContextState

__all__ = ["LIMIT", "Subject", "group"]

#: How many bytes of results are in memory at once.
LIMIT = 256 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A graph, without the state of its object: it stays as it is when the program destroys the graph or loses the context.

    Attributes:
        implementation: The session. Only the timeline may run it.
        description: The graph as a value. Its operators are those of the source, in the same order.
    """

    state: ContextState
    source: ComputationalGraph
    implementation: Implementation
    description: GraphDescription

    @classmethod
    def of(cls, graph: MLGraph, operation: str) -> Subject:
        """Return the subject of a graph. Raises `InvalidStateError` if the graph was destroyed."""
        source, implementation = graph._source, graph._implementation
        if source is None or implementation is None:
            raise InvalidStateError(f"{operation}: the graph must not be destroyed", operation=operation, draft=graph._revision.draft)
        return cls(state=graph._state, source=source, implementation=implementation, description=describe_graph(source))

    def compile(self, values: Iterable[str]) -> Implementation:
        """Compile the part of the graph that some results of operators need, with these as outputs."""
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

    def profiled(self, prefix: str) -> CompiledGraph | RemoteGraph:
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
        """Compute groups of results of operators, each by a session of its own; the timeline is free between two groups."""
        for names in groups:

            def job(names: Sequence[str] = names) -> dict[str, Array]:
                return Bound(self.compile(names), arrays).run()

            yield self.state.timeline.run(job)


def group(description: GraphDescription, limit: int, *, operands: bool = False) -> list[tuple[range, tuple[str, ...]]]:
    """Divide operators into groups whose values fit into a number of bytes; a group of one operator may be larger.

    With ``operands``, the values of a group are also those that its operators take from others. A group is the positions of its operators,
    and the names of its values.
    """
    results = {
        name: each.byte_length
        for operator in description.operators
        for name, each in zip(operator.outputs, operator.descriptors, strict=True)
    }
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
