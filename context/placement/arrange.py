"""From the place of each operator to partitions and transfers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from webnn.context.placement.outlines import Outline, Step
from webnn.context.placement.placements import OperatorPlacement, Partition, Transfer

__all__ = ["HOST", "NOWHERE", "Arrangement", "Place", "arrange"]

#: The device on which a program's own data is.
HOST = "cpu"


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
        """What a partition has one of: the device, and the provider that counts."""
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
        #: What each value stands for: itself, or what the steps that are left out before it were given.
        self.origins: list[tuple[int, ...]] = [(number,) for number in range(len(values))]
        #: Values that are known before the first run.
        self.fixed = [value.kind == "constant" for value in values]
        #: For each value the step that makes it, if one does.
        self.makers: list[int | None] = [None] * len(values)
        #: What each step takes of what others make or the program gives.
        self.taken: list[tuple[int, ...]] = []
        self.keys: list[tuple[int, tuple[str, str]] | None] = []

    def device(self, value: int) -> str:
        """Return the device on which a value is made."""
        maker = self.makers[value]
        return HOST if maker is None else self.places[maker].device

    def trace(self, values: Iterable[int]) -> tuple[int, ...]:
        """Return what values stand for, each once, without what is known before the first run."""
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
                    # What is made of constants alone is one.
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
            # What is merged into those before it takes its constants there.
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
