"""The place of each operator, and the partitions and transfers that follow from the places.

A placement is measured, simulated by a device profile, or known because there is only the CPU. It needs only the `Outline` of a graph.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from webnn.context.placement.placements import OperatorPlacement, Partition, Placement, Transfer
from webnn.validation.errors import NotSupportedError

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription
    from webnn.context.devices.selection import Selection
    from webnn.context.profiles import Profile
    from webnn.validation.descriptor import OperandDescriptor

__all__ = ["Assignments", "Outline", "measure", "outline", "simulate", "uniform", "unknown"]

#: The device on which a program's own data is.
HOST = "cpu"
#: What the engine says: for each piece of the graph the execution provider and the names of the nodes.
Assignments = Sequence[tuple[str, Sequence[str]]]

#: An operator in the name of a node, as `webnn.builder.onnx.emitter` makes them. The name of a value may follow, if the node transposes a
#: value that another operator made.
_SCOPE = re.compile(r"\w+#(\d+)(?:\.\w+#\d+\.\d+(?::\d+)?\^)?")


# The outline of a graph


@dataclass(frozen=True, slots=True)
class Value:
    """A value on an edge of the graph.

    Attributes:
        kind: Where it comes from.
        name: Its name for people: ``"input 'x'"``, ``"output 0 of split#3"``.
        size: Its size in bytes.
    """

    kind: Literal["input", "constant", "result"]
    name: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One operator. Values go by their position in `Outline.values`.

    Attributes:
        index: The number of the operator in its builder.
        operation: The operation's name.
        label: The operator's label, empty if it has none.
        operands: The argument's name, the row in tables of limits and the descriptor of each operand, options behind arguments.
        outputs: The outputs' descriptors.
        takes: The values that it takes, each once.
        makes: The values that it makes.
    """

    index: int
    operation: str
    label: str
    operands: tuple[tuple[str, str, OperandDescriptor], ...]
    outputs: tuple[OperandDescriptor, ...]
    takes: tuple[int, ...]
    makes: range


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """The structure of a graph.

    Attributes:
        steps: The operators, each after those that make what it takes.
        values: Inputs, constants and results.
        outputs: The values that are outputs of the graph, each once.
    """

    steps: tuple[Step, ...]
    values: tuple[Value, ...]
    outputs: tuple[int, ...]


def outline(graph: GraphDescription) -> Outline:
    """Draw the outline of a graph. It keeps no constants alive."""
    descriptors = graph.descriptors()
    values = [
        *(Value("input", f"input {name!r}", descriptor.byte_length) for name, descriptor in graph.inputs.items()),
        *(Value("constant", "constant", constant.descriptor.byte_length) for constant in graph.constants.values()),
    ]
    numbers = {name: number for number, name in enumerate([*graph.inputs, *graph.constants])}
    steps: list[Step] = []
    for operator in graph.operators:
        named = operator.named_values()
        makes = range(len(values), len(values) + len(operator.outputs))
        numbers.update(zip(operator.outputs, makes, strict=True))
        scope = f"{operator.operation}#{operator.index}"
        for position, descriptor in enumerate(operator.descriptors):
            values.append(Value("result", scope if len(makes) == 1 else f"output {position} of {scope}", descriptor.byte_length))
        step = Step(
            index=operator.index,
            operation=operator.operation,
            label=operator.label,
            operands=tuple([(argument, row, descriptors[value]) for argument, row, value in named]),
            outputs=operator.descriptors,
            takes=tuple(dict.fromkeys([numbers[value] for _, _, value in named])),
            makes=makes,
        )
        steps.append(step)
    outputs = tuple(dict.fromkeys([numbers[value] for value in graph.outputs.values()]))
    return Outline(steps=tuple(steps), values=tuple(values), outputs=outputs)


# Partitions and transfers


@dataclass(frozen=True, slots=True)
class Place:
    """Where an operator runs.

    Attributes:
        device: The device type, empty if nothing of it is left to run.
        providers: The execution providers that run its nodes, best first; none in a simulation.
        reason: Why it does not run where the best choice would run it; empty if it does.
    """

    device: str
    providers: tuple[str, ...] = ()
    reason: str = ""

    @property
    def site(self) -> tuple[str, str]:
        """The device and the provider that counts; all operators of a partition share them."""
        return self.device, self.providers[-1] if self.providers else ""


NOWHERE = Place("")


@dataclass(frozen=True, slots=True)
class Arrangement:
    """What follows from the places; see `Placement` for what it means."""

    operators: tuple[OperatorPlacement, ...]
    partitions: tuple[Partition, ...]
    transfers: tuple[Transfer, ...]
    constantBytes: int


class _Arranger:
    """The state of one `arrange`: values go by their numbers, steps by their positions."""

    def __init__(self, outline: Outline, places: Sequence[Place]) -> None:
        self.outline = outline
        self.places = places
        values = outline.values
        #: The values that each value stands for: itself, or the inputs of the omitted steps before it.
        self.origins: list[tuple[int, ...]] = [(number,) for number in range(len(values))]
        #: Values that are known before the first run.
        self.fixed = [value.kind == "constant" for value in values]
        #: For each value the step that makes it, if one does.
        self.makers: list[int | None] = [None] * len(values)
        #: The values that each step takes from other steps or from the program.
        self.taken: list[tuple[int, ...]] = []
        self.keys: list[tuple[int, tuple[str, str]] | None] = []

    def device(self, value: int) -> str:
        """Return the device on which a value is made."""
        maker = self.makers[value]
        return HOST if maker is None else self.places[maker].device

    def trace(self, values: Iterable[int]) -> tuple[int, ...]:
        """Return the values that these stand for, each once, without those known before the first run."""
        found = [self.origins[value] for value in values]
        if len(found) != 1:
            found = [tuple(dict.fromkeys([origin for origins in found for origin in origins]))]
        return tuple([origin for origin in found[0] if not self.fixed[origin]])

    def walk(self) -> None:
        """Find what each step takes, and the level and the site that make its partition's key."""
        for position, (step, place) in enumerate(zip(self.outline.steps, self.places, strict=True)):
            taken = self.trace(step.takes)
            self.taken.append(taken)
            if not place.device:
                self.keys.append(None)
                for value in step.makes:
                    # A value made of constants alone is a constant.
                    self.origins[value] = taken or (value,)
                    self.fixed[value] = not taken
                continue
            level = 0
            for value in taken:
                maker = self.makers[value]
                before = None if maker is None else self.keys[maker]
                if before is not None:
                    level = max(level, before[0] + (before[1] != place.site))
            self.keys.append((level, place.site))
            for value in step.makes:
                self.makers[value] = position

    def partitions(self) -> tuple[list[int | None], tuple[Partition, ...]]:
        """Return the partition of each step, and the partitions."""
        # Python sorts stably: those of one level stay in the order of their first operators.
        keys = sorted(dict.fromkeys(key for key in self.keys if key is not None), key=lambda key: key[0])
        numbers = {key: number for number, key in enumerate(keys)}
        members = [None if key is None else numbers[key] for key in self.keys]
        steps: list[list[Step]] = [[] for _ in keys]
        given: list[dict[int, None]] = [{} for _ in keys]
        made: list[dict[int, None]] = [{} for _ in keys]
        for step, taken, member in zip(self.outline.steps, self.taken, members, strict=True):
            if member is None:
                continue
            steps[member].append(step)
            for value in taken:
                maker = self.makers[value]
                origin = None if maker is None else members[maker]
                if origin != member:
                    given[member][value] = None
                    if origin is not None:
                        made[origin][value] = None
        for value in self.trace(self.outline.outputs):
            maker = self.makers[value]
            origin = None if maker is None else members[maker]
            if origin is not None:
                made[origin][value] = None
        partitions = tuple(
            Partition(
                device=key[1][0],
                operators=tuple([step.index for step in steps[number]]),
                inputBytes=self.size(given[number]),
                outputBytes=self.size(made[number]),
            )
            for number, key in enumerate(keys)
        )
        return members, partitions

    def size(self, values: Iterable[int]) -> int:
        return sum(self.outline.values[value].size for value in values)

    def transfers(self) -> tuple[Transfer, ...]:
        """Return what crosses in each run: each value once for each device that uses it."""
        crossings: dict[tuple[int, str], None] = {}
        uses = [(each, place.device) for each, place in zip(self.taken, self.places, strict=True) if place.device]
        for taken, device in [*uses, (self.trace(self.outline.outputs), HOST)]:
            for value in taken:
                if self.device(value) != device:
                    crossings[value, device] = None
        values = self.outline.values
        return tuple(
            Transfer(value=values[value].name, source=self.device(value), destination=device, bytes=values[value].size)
            for value, device in crossings
        )

    def constant_bytes(self) -> int:
        """Return the bytes of constants that cross when the graph is built."""
        crossings: dict[tuple[int, str], int] = {}
        for step, place, given in zip(self.outline.steps, self.places, self.taken, strict=True):
            # An operator that was merged into its predecessors takes its constants on their devices.
            for device in {place.device} if place.device else {self.device(value) for value in given}:
                if device == HOST:
                    continue
                for taken in step.takes:
                    for value in self.origins[taken]:
                        if self.fixed[value]:
                            crossings[value, device] = self.outline.values[value].size
        return sum(crossings.values())


def arrange(outline: Outline, places: Sequence[Place]) -> Arrangement:
    """Find the partitions and the transfers.

    Args:
        outline: The graph.
        places: The place of each of its operators.
    """
    arranger = _Arranger(outline, places)
    arranger.walk()
    members, partitions = arranger.partitions()
    operators = tuple(
        OperatorPlacement(
            index=step.index,
            operation=step.operation,
            label=step.label,
            device=place.device,
            providers=place.providers,
            partition=member,
            reason=place.reason,
        )
        for step, place, member in zip(outline.steps, places, members, strict=True)
    )
    return Arrangement(operators, partitions, arranger.transfers(), arranger.constant_bytes())


# Places


def measure(outline: Outline, assignments: Assignments, selection: Selection, op_types: Mapping[str, str]) -> Placement:
    """Tell where the engine runs each operator.

    A node belongs to every operator in its name. A node that the engine made of several operators may name all of them. If it names only
    one, nothing of the others is left to run.

    Args:
        outline: The graph.
        assignments: What the engine says.
        selection: The devices of the context. A provider that is not among them is taken to be the CPU's.
        op_types: The ONNX operator of each node of the model, for the reasons.
    """
    devices: dict[str, str] = {}
    for device in selection.devices:
        devices.setdefault(device.provider, device.type)
    ranks = {provider: rank for rank, provider in enumerate(devices)}
    # By operator and provider.
    nodes: dict[int, dict[str, list[str]]] = {}
    for provider, names in assignments:
        for name in names:
            for index in {int(each) for each in _SCOPE.findall(name)}:
                nodes.setdefault(index, {}).setdefault(provider, []).append(name)
    reason = "; ".join(selection.reasons) if selection.device != selection.requested else ""
    best = selection.devices[0].provider
    places: list[Place] = []
    for step in outline.steps:
        found = nodes.get(step.index)
        if found is None:
            places.append(NOWHERE)
            continue
        providers = tuple(sorted(found, key=lambda provider: ranks.get(provider, len(ranks))))
        left = [f"{_describe(step, found[provider], op_types)} to {provider}" for provider in providers if provider != best]
        why = f"{best} left {' and '.join(left)}" if left else reason
        places.append(Place(devices.get(providers[-1], HOST), providers, why))
    return _placement(outline, places, selection.requested, selection.device, reason)


def _describe(step: Step, names: Iterable[str], op_types: Mapping[str, str]) -> str:
    """Describe the part of an operator that a provider runs: the ONNX operators, and the data types that the operator takes."""
    # A node that the engine made of others has the name of one of them and a suffix.
    found = dict.fromkeys(op_types.get(name.partition("/")[0], "") for name in names)
    types = dict.fromkeys(descriptor.dataType for _, _, descriptor in step.operands)
    return f"{', '.join(filter(None, found)) or step.operation} ({', '.join(types)})"


def simulate(outline: Outline, profile: Profile, device: str) -> Placement:
    """Tell where a device profile would run each operator: those that its device runs natively there, the others on the CPU.

    Args:
        outline: The graph.
        profile: The profile. If it has no list of what runs natively, everything does.
        device: The device type that was requested.
    """
    target, reason = profile.device_for(device)
    places: list[Place] = []
    for step in outline.steps:
        why = profile.fallback_reason(step.operation, step.operands, step.outputs)
        places.append(Place(HOST, reason=why) if why and target != HOST else Place(target, reason=reason))
    return _placement(outline, places, device, target, reason, profile.name)


def _placement(outline: Outline, places: Sequence[Place], requested: str, device: str, reason: str, profile: str = "") -> Placement:
    arrangement = arrange(outline, places)
    return Placement(
        requested=requested,
        device=device,
        reason=reason,
        profile=profile,
        operators=arrangement.operators,
        partitions=arrangement.partitions,
        transfers=arrangement.transfers,
        constantBytes=arrangement.constantBytes,
    )


def uniform(
    operators: Sequence[tuple[str, int, str]],
    inputs: Mapping[str, tuple[str, OperandDescriptor]],
    outputs: Mapping[str, tuple[str, OperandDescriptor]],
    *,
    provider: str,
    requested: str = HOST,
    device: str = HOST,
    reason: str = "",
) -> Placement:
    """Place all operators in one partition, for a session with only the default CPU provider. It ignores what the engine removes.

    Args:
        operators: `OnnxModel.operators`: the operation, the number and the label of each.
        inputs: `OnnxModel.inputs`.
        outputs: `OnnxModel.outputs`.
        provider: The execution provider of the CPU.
        requested: The device type that was asked for.
        device: The device type that the context got.
        reason: Why the graph does not run there.
    """
    partition = Partition(
        device=HOST,
        operators=tuple([index for _, index, _ in operators]),
        inputBytes=_byte_length(inputs),
        outputBytes=_byte_length(outputs),
    )
    return Placement(
        requested=requested,
        device=device,
        reason=reason,
        operators=tuple(
            OperatorPlacement(
                index=index,
                operation=operation,
                label=label,
                device=HOST,
                providers=(provider,),
                partition=0,
                reason=reason,
            )
            for operation, index, label in operators
        ),
        partitions=(partition,) if operators else (),
    )


def unknown(caller: str = "placement") -> Placement:
    """Replace `uniform` if the engine cannot report where nodes run.

    Args:
        caller: What asked, for the error.

    Raises:
        NotSupportedError: Always.
    """
    raise NotSupportedError(f"{caller}: this version of ONNX Runtime does not tell where it runs operators; 1.24 and newer ones do")


def _byte_length(values: Mapping[str, tuple[str, OperandDescriptor]]) -> int:
    return sum(descriptor.byte_length for _, descriptor in values.values())
