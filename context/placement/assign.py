"""The place of each operator, and the partitions and transfers that follow from the places.

A placement is measured, simulated by a device profile, or known because there is only the CPU. It keeps no constants alive.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from webnn.builder.onnx_names import find_scopes
from webnn.context.placement.placements import OperatorPlacement, Partition, Placement, Transfer
from webnn.validation.errors import NotSupportedError

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription
    from webnn.context.devices.capabilities import Refused
    from webnn.context.devices.selection import Selection
    from webnn.context.profiles import Profile
    from webnn.validation.descriptor import OperandDescriptor

__all__ = ["Assignments", "measure", "resize", "simulate", "uniform", "unknown"]

#: Operations that engines do not compute at the build.
_LOOPS = frozenset({"gru", "lstm"})
_NOTHING: Mapping[int, Any] = MappingProxyType({})
#: The device on which a program's own data is.
HOST = "cpu"
#: The engine's report: for each piece of the graph the execution provider and the names of the nodes.
Assignments = Sequence[tuple[str, Sequence[str]]]


# Partitions and transfers


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an operator runs: the first members of `OperatorPlacement` that are not the operator's own."""

    device: str
    providers: tuple[str, ...] = ()
    reason: str = ""

    @property
    def site(self) -> tuple[str, str]:
        """The device and the provider that counts; all operators of a partition share them."""
        return self.device, self.providers[-1] if self.providers else ""


_NOWHERE = _Place("")


class _Arranger:
    """The state of one `_arrange`. Values go by their names, operators by their positions."""

    def __init__(self, graph: GraphDescription, places: Sequence[_Place]) -> None:
        self.graph = graph
        self.places = places
        self.sizes = {name: descriptor.byte_length for name, descriptor in graph.descriptors().items()}
        #: The operands of each operator, each once.
        self.operands = [tuple(dict.fromkeys([value for _, _, value in each.named_values()])) for each in graph.operators]
        #: The values that each value represents: itself, or the inputs of the omitted operators before it.
        self.origins: dict[str, tuple[str, ...]] = {name: (name,) for name in self.sizes}
        #: Values that are known before the first run.
        self.fixed = set(graph.constants)
        #: The operator that makes a value, if one makes it in each run.
        self.makers: dict[str, int] = {}
        #: The values that each operator takes from other operators or from the program.
        self.taken: list[tuple[str, ...]] = []
        #: The level and the site that make the partition of each operator.
        self.keys: list[tuple[int, tuple[str, str]] | None] = []

    def device(self, value: str) -> str:
        """Return the device on which a value is made."""
        return self.places[self.makers[value]].device if value in self.makers else HOST

    def trace(self, values: Iterable[str]) -> tuple[str, ...]:
        """Return the values that these represent, each once, without those known before the first run."""
        found = dict.fromkeys([origin for value in values for origin in self.origins[value]])
        return tuple([origin for origin in found if origin not in self.fixed])

    def walk(self) -> None:
        """Find the values that each operator takes, and its key."""
        for position, (operator, operands, place) in enumerate(zip(self.graph.operators, self.operands, self.places, strict=True)):
            taken = self.trace(operands)
            self.taken.append(taken)
            if not place.device:
                self.keys.append(None)
                for value in operator.outputs:
                    # A value made of constants alone is a constant.
                    self.origins[value] = taken or (value,)
                if not taken:
                    self.fixed.update(operator.outputs)
                continue
            level = 0
            for value in taken:
                before = self.keys[self.makers[value]] if value in self.makers else None
                if before is not None:
                    level = max(level, before[0] + (before[1] != place.site))
            self.keys.append((level, place.site))
            self.makers.update(dict.fromkeys(operator.outputs, position))

    def partitions(self) -> tuple[list[int | None], tuple[Partition, ...]]:
        """Return the partition of each operator, and the partitions."""
        # Python sorts stably: those of one level stay in the order of their first operators.
        keys = sorted(dict.fromkeys(key for key in self.keys if key is not None), key=lambda key: key[0])
        numbers = {key: number for number, key in enumerate(keys)}
        members = [None if key is None else numbers[key] for key in self.keys]
        operators: list[list[int]] = [[] for _ in keys]
        given: list[dict[str, None]] = [{} for _ in keys]
        made: list[dict[str, None]] = [{} for _ in keys]
        for member, taken, operator in zip(members, self.taken, self.graph.operators, strict=True):
            if member is None:
                continue
            operators[member].append(operator.index)
            for value in taken:
                origin = members[self.makers[value]] if value in self.makers else None
                if origin != member:
                    given[member][value] = None
                    if origin is not None:
                        made[origin][value] = None
        for value in self.trace(self.graph.outputs.values()):
            origin = members[self.makers[value]] if value in self.makers else None
            if origin is not None:
                made[origin][value] = None
        partitions = tuple(
            Partition(device=key[1][0], operators=tuple(indices), inputBytes=self.size(taken), outputBytes=self.size(results))
            for key, indices, taken, results in zip(keys, operators, given, made, strict=True)
        )
        return members, partitions

    def size(self, values: Iterable[str]) -> int:
        return sum(self.sizes[value] for value in values)

    def transfers(self) -> tuple[Transfer, ...]:
        """Return the transfers of each run: each value once for each device that uses it."""
        uses = [(taken, place.device) for taken, place in zip(self.taken, self.places, strict=True) if place.device]
        uses.append((self.trace(self.graph.outputs.values()), HOST))
        crossings = dict.fromkeys([(value, device) for taken, device in uses for value in taken if self.device(value) != device])
        return tuple(
            Transfer(value=self.title(value), source=self.device(value), destination=device, bytes=self.sizes[value])
            for value, device in crossings
        )

    def title(self, value: str) -> str:
        """Return the name of an input or a result for people."""
        if value not in self.makers:
            return f"input {value!r}"
        operator = self.graph.operators[self.makers[value]]
        scope = f"{operator.operation}#{operator.index}"
        return scope if len(operator.outputs) == 1 else f"output {operator.outputs.index(value)} of {scope}"

    def constant_bytes(self) -> int:
        """Return the bytes of constants that cross when the graph is built."""
        crossings: set[tuple[str, str]] = set()
        for operands, place, taken in zip(self.operands, self.places, self.taken, strict=True):
            # An operator that was merged into its predecessors takes its constants on their devices.
            devices = {place.device} if place.device else {self.device(value) for value in taken}
            fixed = [origin for value in operands for origin in self.origins[value] if origin in self.fixed]
            crossings.update((origin, device) for device in devices - {HOST} for origin in fixed)
        return self.size(value for value, _ in crossings)


def _arrange(
    graph: GraphDescription, places: Sequence[_Place], *, requested: str, device: str, reason: str, profile: str = ""
) -> Placement:
    """Find the partitions and the transfers, from the place of each operator."""
    arranger = _Arranger(graph, places)
    arranger.walk()
    members, partitions = arranger.partitions()
    operators = tuple(
        OperatorPlacement(
            index=operator.index,
            operation=operator.operation,
            label=operator.label,
            device=place.device,
            providers=place.providers,
            partition=member,
            reason=place.reason,
        )
        for operator, place, member in zip(graph.operators, places, members, strict=True)
    )
    return Placement(
        requested=requested,
        device=device,
        reason=reason,
        profile=profile,
        operators=operators,
        partitions=partitions,
        transfers=arranger.transfers(),
        constantBytes=arranger.constant_bytes(),
    )


# Places


def measure(
    graph: GraphDescription,
    assignments: Assignments,
    selection: Selection,
    kernels: Mapping[str, str],
    refused: Mapping[int, Refused] = _NOTHING,
) -> Placement:
    """Tell where the engine runs each operator.

    A node belongs to every operator in its name. A node that the engine made of several operators may name all of them. If it names only
    one, nothing of the others is left to run.

    Args:
        graph: The graph.
        assignments: The engine's report.
        selection: The devices of the context. A provider that is not among them is taken to be the CPU's.
        kernels: The ONNX operator of each node of the model with its types, for the reasons; not read if no node left the best device.
        refused: The operators that the device was not given, because it does not compute them.
    """
    devices: dict[str, str] = {}
    for device in selection.devices:
        devices.setdefault(device.provider, device.type)
    ranks = {provider: rank for rank, provider in enumerate(devices)}
    # By operator and provider.
    nodes: dict[int, dict[str, list[str]]] = {}
    for provider, names in assignments:
        for name in names:
            for index in {index for _, index in find_scopes(name)}:
                nodes.setdefault(index, {}).setdefault(provider, []).append(name)
    best = selection.devices[0].provider
    known = graph.descriptors()
    places: list[_Place] = []
    for operator in graph.operators:
        found = nodes.get(operator.index)
        if found is None:
            places.append(_NOWHERE)
            continue
        providers = tuple(sorted(found, key=lambda provider: ranks.get(provider, len(ranks))))
        why = selection.reason
        if operator.index in refused:
            why = refused[operator.index].reason
        elif providers != (best,):
            types = ", ".join(dict.fromkeys(known[value].dataType for _, _, value in operator.named_values()))
            whole = f"{operator.operation} ({types})"
            left = [f"{_name_nodes(found[provider], kernels) or whole} to {provider}" for provider in providers if provider != best]
            why = f"{best} left {' and '.join(left)}"
        places.append(_Place(devices.get(providers[-1], HOST), providers, why))
    return _arrange(graph, places, requested=selection.requested, device=selection.device, reason=selection.reason)


def resize(placement: Placement, graph: GraphDescription) -> Placement:
    """Return a measured placement for other sizes.

    Args:
        placement: The placement of the graph with some sizes.
        graph: The graph with others. Operators that it lacks are left out.
    """
    known = {each.index: _Place(each.device, each.providers, each.reason) for each in placement.operators}
    places = [known[operator.index] for operator in graph.operators]
    return _arrange(graph, places, requested=placement.requested, device=placement.device, reason=placement.reason)


def _name_nodes(names: Iterable[str], kernels: Mapping[str, str]) -> str:
    """Return the kernels of nodes. A node that the engine made of others has the name of one of them and a suffix."""
    return ", ".join(filter(None, dict.fromkeys(kernels.get(name.partition("/")[0], "") for name in names)))


def simulate(graph: GraphDescription, profile: Profile, device: str) -> Placement:
    """Tell where a device profile would run each operator: those that its device runs natively there, the others on the CPU."""
    # Imported lazily: a measured placement needs no profiles.
    from webnn.context.profiles.rules import described_facts  # noqa: PLC0415

    target, reason = profile.device_for(device)
    known = graph.descriptors()
    places: list[_Place] = []
    #: Values that are known before the first run: what follows from them is computed at the build.
    fixed = set(graph.constants)
    for operator in graph.operators:
        values = operator.named_values()
        if operator.operation not in _LOOPS and fixed.issuperset([value for _, _, value in values]):
            fixed.update(operator.outputs)
            places.append(_NOWHERE)
            continue
        operands = [(argument, row, known[value]) for argument, row, value in values]
        why = profile.fallback_reason(operator.operation, operands, operator.descriptors, partial(described_facts, operator, graph, known))
        places.append(_Place(HOST, reason=why) if why and target != HOST else _Place(target, reason=reason))
    return _arrange(graph, places, requested=device, device=target, reason=reason, profile=profile.name)


def uniform(
    operators: Sequence[tuple[str, int, str]],
    inputs: Mapping[str, tuple[str, OperandDescriptor]],
    outputs: Mapping[str, tuple[str, OperandDescriptor]],
    selection: Selection,
    reason: str,
) -> Placement:
    """Place all operators in one partition, for a session with only the default CPU provider, or for the reference.

    Operators that the engine removes count, too.

    Args:
        operators: `OnnxModel.operators`: the operation, the number and the label of each.
        inputs: `OnnxModel.inputs`.
        outputs: `OnnxModel.outputs`.
        selection: The devices of the context, of which the last one is the CPU's.
        reason: Why the graph does not run on the best one.
    """
    partition = Partition(
        device=HOST,
        operators=tuple([index for _, index, _ in operators]),
        inputBytes=_byte_length(inputs),
        outputBytes=_byte_length(outputs),
    )
    providers = (selection.providers[-1][0],)
    placed = [
        OperatorPlacement(index=index, operation=operation, label=label, device=HOST, providers=providers, partition=0, reason=reason)
        for operation, index, label in operators
    ]
    return Placement(
        requested=selection.requested,
        device=selection.device,
        reason=reason,
        operators=tuple(placed),
        partitions=(partition,) if operators else (),
    )


def _byte_length(values: Mapping[str, tuple[str, OperandDescriptor]]) -> int:
    return sum(descriptor.byte_length for _, descriptor in values.values())


def unknown(caller: str = "placement") -> Placement:
    """Replace `uniform` if the engine cannot report where nodes run: raise NotSupportedError."""
    raise NotSupportedError(
        f"{caller}: this version of ONNX Runtime does not tell where it runs operators; 1.24 and newer ones do", rule="engine"
    )
