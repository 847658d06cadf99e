"""`Placement`: where each operator of a graph runs, as an object that programs read and people print."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["OperatorPlacement", "Partition", "Placement", "Transfer"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorPlacement:
    """Where one operator runs.

    Attributes:
        index: The number of the operator in its builder, from 1.
        operation: The operation's name.
        label: The operator's label, empty if it has none.
        device: The device type that runs it: ``"cpu"``, ``"gpu"`` or ``"npu"``. Empty if nothing of it is left to run: it was computed at
            the build, merged into another operator, or only says how to interpret existing data.
        providers: The execution providers that run its nodes, best first; none in a simulation. The last one determines ``device``.
        partition: Its partition, a position in `Placement.partitions`; ``None`` if nothing of it is left to run.
        reason: Why it does not run where the best choice would run it; empty if it does.
    """

    index: int
    operation: str
    label: str
    device: str
    providers: tuple[str, ...] = ()
    partition: int | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """Operators on one device (in a measurement: of one execution provider) that can run as one piece.

    Attributes:
        device: The device type.
        operators: The numbers of its operators, `OperatorPlacement.index`.
        inputBytes: The bytes of the values that it takes from outside in one run: from the program or from other partitions.
        outputBytes: The bytes of the values that it makes for the outside.
    """

    device: str
    operators: tuple[int, ...]
    inputBytes: int
    outputBytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """A value that crosses from one device to another in each run.

    Attributes:
        value: Its name: ``"input 'x'"``, ``"relu#3"`` for the result of that operator, ``"output 1 of split#4"``.
        source: The device type that it comes from.
        destination: The device type that it goes to.
        bytes: Its size.
    """

    value: str
    source: str
    destination: str
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Where each operator runs. Immutable; valid after the graph is destroyed.

    The meaning of the numbers:

    - An operator has *fallen back* if it, or any node of it, runs on another device than the one that was requested.
    - A *partition* is a part of the graph that one device can run in one piece. An operator without a predecessor is on level 0. Any
      other operator is at least on the level of each predecessor, and one level higher if that predecessor runs elsewhere. The operators
      of one device on one level are a partition. Partitions are numbered from 0, in an order in which they can run. Operators of which
      nothing is left are skipped: their successors follow their predecessors directly.
    - A *transfer* is a value that is made on one device and used on another, once for each device that uses it. The program's side is the
      CPU: inputs start there and outputs end there. Constants cross once, when the graph is built, and do not count as transfers.

    ``print(placement)`` shows a table. In a notebook it is the value of a cell, and `rich` prints it in colours.

    Attributes:
        requested: The device type that was asked for.
        device: The device type that the context got.
        reason: Why it differs from the requested one; empty if it does not.
        profile: The name of the device profile that it was simulated by; empty if it was measured.
        operators: The operators, in order.
        partitions: The partitions, in order.
        transfers: The values that cross in each run, in order.
        constantBytes: The bytes of constants that cross to other devices, once.
    """

    requested: str
    device: str
    reason: str = ""
    profile: str = ""
    operators: tuple[OperatorPlacement, ...] = ()
    partitions: tuple[Partition, ...] = ()
    transfers: tuple[Transfer, ...] = ()
    constantBytes: int = 0

    @property
    def simulated(self) -> bool:
        """A device profile says where the operators would run; in truth the CPU runs them all."""
        return bool(self.profile)

    @property
    def devices(self) -> list[str]:
        """The device types in use, in the order of the partitions: a new list each time, empty if nothing is left to run."""
        return list(dict.fromkeys(partition.device for partition in self.partitions))

    @property
    def fallbacks(self) -> tuple[OperatorPlacement, ...]:
        """The operators that do not run on the requested device; all of them if the context itself did not get it."""
        return tuple(each for each in self.operators if each.device not in {"", self.requested})

    @property
    def strays(self) -> tuple[OperatorPlacement, ...]:
        """The operators that do not run on the device that the context got: `fallbacks` that the graph itself causes."""
        return tuple(each for each in self.operators if each.device not in {"", self.device})

    @property
    def transferredBytes(self) -> int:
        """The bytes that cross between devices in each run, in both directions."""
        return sum(transfer.bytes for transfer in self.transfers)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data for JSON: the attributes by their names, with `devices`, `transferredBytes` and `simulated`."""
        return {**asdict(self), "devices": self.devices, "transferredBytes": self.transferredBytes, "simulated": self.simulated}

    def __repr__(self) -> str:
        counts = Counter(f"on {each.device}" if each.device else "nowhere" for each in self.operators)
        where = ", ".join(f"{count} {place}" for place, count in counts.items()) or "no operators"
        simulated = f', simulated by "{self.profile}"' if self.profile else ""
        cost = f"{len(self.partitions)} partition(s), {self.transferredBytes} bytes in {len(self.transfers)} transfer(s)"
        return f"<Placement {self.requested} requested: {where}; {cost}{simulated}>"

    def __str__(self) -> str:
        from webnn.context.placement.show import as_text  # noqa: PLC0415 (loads rich)

        return as_text(self)

    def __rich__(self) -> RenderableType:
        from webnn.context.placement.show import as_renderable  # noqa: PLC0415 (loads rich)

        return as_renderable(self)

    def _repr_html_(self) -> str:
        from webnn.context.placement.show import as_html  # noqa: PLC0415 (only notebooks need it)

        return as_html(self)
