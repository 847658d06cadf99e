"""How ONNX Runtime Web would partition a model: which nodes its provider "webnn" takes, in how many subgraphs, and what splits them."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from onnx import ModelProto, NodeProto

from webnn.onnx.partition.graph import PartitionGraph, PartitionNode, read_graph
from webnn.onnx.partition.optimize import Optimized, find_inlined, optimize
from webnn.onnx.partition.table import fault, refusal
from webnn.validation.errors import OperationError

__all__ = ["Boundary", "Partition", "PlacedNode", "Subgraph", "describe", "partition", "partition_optimized"]

Place = Literal["webnn", "wasm"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedNode:
    """A node of the optimized model, and where it runs.

    The operator stands after its domain if that is not ONNX's own: ``"com.microsoft.Gelu"``. The body that it is in, for example
    ``"loop1.body"``, is empty for the model's own graph. ``subgraph`` is an index in `Partition.subgraphs`, ``None`` on wasm. ``reason``
    says why WebNN does not get it, ``fault`` why WebNN gets it and no session can be made; each is empty if that is not so.
    """

    name: str
    operator: str
    outputs: tuple[str, ...]
    graph: str
    place: Place
    subgraph: int | None
    reason: str
    fault: str = ""

    def __str__(self) -> str:
        """Return the operator, with the node's name or else that of its first output."""
        return f"{self.operator} {self.name or next(iter(self.outputs), '')!r}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subgraph:
    """Nodes that become one graph of WebNN, in topological order, and the body that they are in; empty for the model's own graph."""

    graph: str
    nodes: tuple[PlacedNode, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Boundary:
    """Why two subgraphs are not one: nodes on wasm that read results of the first one, and whose results the second one needs."""

    before: int
    after: int
    nodes: tuple[PlacedNode, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """How a model would be partitioned.

    Attributes:
        nodes: All nodes of the optimized model, those in bodies of If, Loop and Scan before the node itself.
        subgraphs: The subgraphs of WebNN.
        boundaries: The reasons for the splits.
        note: A step that the prediction left out; empty if none. For example, the model could not be optimized.
    """

    nodes: tuple[PlacedNode, ...]
    subgraphs: tuple[Subgraph, ...]
    boundaries: tuple[Boundary, ...]
    note: str = ""

    @property
    def left(self) -> tuple[PlacedNode, ...]:
        """The nodes that stay on wasm."""
        return tuple(node for node in self.nodes if node.place == "wasm")

    @property
    def faulty(self) -> tuple[PlacedNode, ...]:
        """The nodes with which no session can be made."""
        return tuple(node for node in self.nodes if node.fault)


def partition(model: ModelProto, limits: Mapping[str, Any]) -> Partition:
    """Return how ONNX Runtime Web would partition a model.

    The model is optimized first, with the installed ONNX Runtime. If that refuses it, the model is partitioned as it is, and
    `Partition.note` says so.

    It runs the code of ONNX Runtime and onnx on the model, and some models that are not valid may end that. `webnn check` calls it in a
    separate process.

    Args:
        model: The model, with its external data loaded.
        limits: The result of ``MLContext.opSupportLimits()``. Ranks count: a draft without ``rankRange`` lets ONNX Runtime Web take nearly
            nothing.

    Raises:
        OperationError: The model is not valid: its nodes form a circle, bodies stand too deep in each other, or data is missing.
    """
    return partition_optimized(optimize(model), limits)


def partition_optimized(optimized: Optimized, limits: Mapping[str, Any]) -> Partition:
    """Return how ONNX Runtime Web would partition a model that is optimized: `partition`, for one of several contexts."""
    maker = _Maker(limits, optimized.makers)
    maker.add(read_graph(optimized.model))
    return Partition(nodes=tuple(maker.nodes), subgraphs=tuple(maker.subgraphs), boundaries=tuple(maker.boundaries), note=optimized.note)


def describe(partition: Partition) -> list[str]:
    """Return a partition as lines of text: a summary, each subgraph, what splits them, what stays on wasm, what makes the session fail."""
    webnn, count = len(partition.nodes) - len(partition.left), len(partition.subgraphs)
    lines = [f"{webnn} of {len(partition.nodes)} nodes in WebNN, in {count} {'subgraph' if count == 1 else 'subgraphs'}"]
    if partition.note:
        lines.append(f"note: {partition.note}")
    for index, subgraph in enumerate(partition.subgraphs):
        where = f" in {subgraph.graph}" if subgraph.graph else ""
        first, *others = subgraph.nodes
        nodes = f"{1 + len(others)} nodes, {first} to {others[-1]}" if others else f"1 node, {first}"
        lines.append(f"subgraph {index}{where}: {nodes}")
    lines += [f"split {each.before} | {each.after}: {', '.join(map(str, each.nodes))}" for each in partition.boundaries]
    lines += [f"wasm: {node}: {node.reason}" for node in partition.left]
    lines += [f"no session: {node}: {node.fault}" for node in partition.faulty]
    return lines


# ---- How it is done


@dataclass(frozen=True, slots=True, eq=False)
class _Unit:
    """Nodes that are partitioned as one: a node, a function, or a subgraph of an earlier round."""

    nodes: tuple[PartitionNode, ...]
    inputs: frozenset[str]
    outputs: frozenset[str]


def _unit(*nodes: PartitionNode) -> _Unit:
    outputs = frozenset(name for node in nodes for name in node.outputs if name)
    inputs = frozenset(name for node in nodes for name in (*node.inputs, *node.captured) if name) - outputs
    return _Unit(nodes, inputs, outputs)


class _Maker:
    """Partitions graphs; ``makers`` are the nodes that made the values of the model before it was optimized."""

    def __init__(self, limits: Mapping[str, Any], makers: Mapping[str, NodeProto]) -> None:
        self._limits = limits
        self._makers = makers
        self.nodes: list[PlacedNode] = []
        self.subgraphs: list[Subgraph] = []
        self.boundaries: list[Boundary] = []

    def add(self, graph: PartitionGraph) -> None:
        """Partition a graph: first the bodies in it, which ONNX Runtime partitions on their own."""
        for node in graph.nodes:
            for body in node.bodies:
                self.add(body)
        plain, functions = self._split(graph)
        reasons = {node: refusal(node, self._limits) for node in (*plain, *functions)}
        taken = [node for node, reason in reasons.items() if not reason]
        refused = [node for node in functions if reasons[node]]
        # The first round has functions whole; the second one has those that neither WebNN nor the CPU provider took, inlined.
        units = [_unit(node) for node in reasons]
        first = _group(units, {unit for unit in units if unit.nodes[0] in taken})
        members = [member for node in refused for member in functions[node]]
        reasons |= {member: refusal(member, self._limits) for member in members}
        second = _Groups()
        if members:
            done = {node for group in first.groups for unit in group for node in unit.nodes}
            units = [_unit(*(node for unit in group for node in unit.nodes)) for group in first.groups]
            units += [_unit(node) for node in plain if node not in done]
            fresh = [_unit(node) for node in members]
            second = _group([*units, *fresh], {unit for unit in fresh if not reasons[unit.nodes[0]]})
        whole = [node for node in functions if not reasons[node]]
        self._note(graph, [*plain, *whole, *members], reasons, [first, second])

    def _split(self, graph: PartitionGraph) -> tuple[list[PartitionNode], dict[PartitionNode, list[PartitionNode]]]:
        """Return a graph's nodes without those of inlined functions, and the functions as nodes, with theirs."""
        found = find_inlined(graph.nodes, self._makers)
        inside = {place for each in found for place in each.nodes}
        functions = {}
        for each in found:
            node = PartitionNode(op=each.op, domain="", name="", inputs=each.inputs, outputs=each.outputs, graph=graph)
            functions[node] = [graph.nodes[place] for place in each.nodes]
        return [node for place, node in enumerate(graph.nodes) if place not in inside], functions

    def _note(
        self, graph: PartitionGraph, nodes: Iterable[PartitionNode], reasons: Mapping[PartitionNode, str], rounds: Sequence[_Groups]
    ) -> None:
        """Add the nodes of a graph, its subgraphs, and what splits them."""
        start, numbers = len(self.subgraphs), dict[PartitionNode, int]()
        for each in rounds:
            for group in each.groups:
                numbers.update(dict.fromkeys((node for unit in group for node in unit.nodes), start))
                start += 1
        placed = {node: _place(node, graph, reasons[node], numbers.get(node)) for node in nodes}
        self.nodes += placed.values()
        for each in rounds:
            offset = len(self.subgraphs)
            for group in each.groups:
                self.subgraphs.append(Subgraph(graph=graph.name, nodes=tuple(placed[node] for unit in group for node in unit.nodes)))
            for index, border in enumerate(each.borders, start=offset):
                split = tuple(placed[node] for unit in border for node in unit.nodes if node in placed)
                self.boundaries.append(Boundary(before=index, after=index + 1, nodes=split))


def _place(node: PartitionNode, graph: PartitionGraph, reason: str, number: int | None) -> PlacedNode:
    operator = f"{node.domain}.{node.op}" if node.domain else node.op
    return PlacedNode(
        name=node.name,
        operator=operator,
        outputs=node.outputs,
        graph=graph.name,
        place="wasm" if reason else "webnn",
        subgraph=number,
        reason=reason,
        fault="" if reason else fault(node),
    )


@dataclass(frozen=True, slots=True)
class _Groups:
    """Groups of units that become subgraphs, and the units between each and the next one."""

    groups: Sequence[Sequence[_Unit]] = ()
    borders: Sequence[Sequence[_Unit]] = ()


def _group(units: Sequence[_Unit], taken: Collection[_Unit]) -> _Groups:
    """Group the units that WebNN takes, into as few groups as ONNX Runtime does. Units that form a circle are an error.

    A group holds all such units that do not depend on another group through a unit that is not taken; they need not be connected. So each
    unit has a level, which rises by one where a unit that is not taken reads the result of one that is.
    """
    before = _predecessors(units)
    levels: dict[_Unit, int] = {}
    for unit in _in_order(units, before):
        levels[unit] = max((levels[each] + (each in taken and unit not in taken) for each in before[unit]), default=0)
    groups: list[list[_Unit]] = [[] for _ in range(1 + max((levels[unit] for unit in taken), default=-1))]
    for unit in levels:
        if unit in taken:
            groups[levels[unit]].append(unit)
    return _Groups(groups, [list(_border(group, levels, before, taken)) for group in groups[1:]])


def _border(
    group: Sequence[_Unit], levels: Mapping[_Unit, int], before: Mapping[_Unit, Collection[_Unit]], taken: Collection[_Unit]
) -> Iterator[_Unit]:
    """Find the units that are not taken, read a result of the group before, and are needed by this one."""
    level = levels[group[0]]
    seen, waiting = set(group), deque(group)
    while waiting:
        unit = waiting.popleft()
        if unit not in taken and any(each in taken for each in before[unit]):
            yield unit
        fresh = [each for each in before[unit] if levels[each] == level and each not in seen]
        seen.update(fresh)
        waiting.extend(fresh)


def _predecessors(units: Sequence[_Unit]) -> dict[_Unit, list[_Unit]]:
    makers = {name: unit for unit in units for name in unit.outputs}
    return {unit: list(dict.fromkeys(makers[name] for name in sorted(unit.inputs) if name in makers)) for unit in units}


def _in_order(units: Sequence[_Unit], before: Mapping[_Unit, Collection[_Unit]]) -> Iterator[_Unit]:
    """Yield units in topological order."""
    counts = {unit: len(each) for unit, each in before.items()}
    readers: dict[_Unit, list[_Unit]] = {unit: [] for unit in units}
    for unit, each in before.items():
        for other in each:
            readers[other].append(unit)
    waiting, done = deque(unit for unit in units if not counts[unit]), 0
    while waiting:
        unit = waiting.popleft()
        done += 1
        yield unit
        for reader in readers[unit]:
            counts[reader] -= 1
            if not counts[reader]:
                waiting.append(reader)
    if done != len(units):
        raise OperationError("the nodes of the model must not form a circle")
