"""The results of the methods of `MLGraph` that look inside: objects that programs read and people print.

`webnn.inspect` makes them, and prints them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from webnn.context import above

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = [
    "Accuracy",
    "CallAccuracy",
    "FirstNaN",
    "GraphProfile",
    "Inspection",
    "Offender",
    "OperatorAccuracy",
    "OperatorTime",
    "OutputAccuracy",
    "Statistics",
    "Trace",
    "TracedValue",
]


class Inspection:
    """The base of the results: ``print`` and notebooks show a table."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain data: dictionaries, lists, numbers and strings. Arrays are lists, and numbers that are not finite are strings."""
        return {each.name: _plain(getattr(self, each.name)) for each in fields(self)}  # type: ignore[arg-type]  # all are dataclasses

    def to_json(self) -> str:
        """Return the data as JSON."""
        return json.dumps(self.to_dict(), allow_nan=False)

    def __str__(self) -> str:
        return above.inspect().as_text(self)

    def _repr_html_(self) -> str:
        return above.inspect().as_html(self)

    def __rich__(self) -> RenderableType:
        return above.inspect().as_renderable(self)


# Times


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorTime:
    """The time of one operator.

    Attributes:
        index: The number of the operator in its builder, as `OperatorPlacement.index`.
        operation: The operation's name.
        label: The operator's label, empty if it has none.
        seconds: The median over the runs of the time of its nodes; 0 if it has none.
        nodes: How many nodes ran for it.
        kernels: The engine's operators that ran for it, each once: ``("Conv",)``.
        merged: The numbers of other operators that its nodes compute too.
        note: Why it has no nodes, or what its nodes compute beside it; empty for an ordinary operator.
    """

    index: int
    operation: str
    label: str
    seconds: float
    nodes: int
    kernels: tuple[str, ...] = ()
    merged: tuple[int, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphProfile(Inspection):
    """The times of a graph's operators: what `MLGraph.profile` returns.

    All times are in seconds, medians over the runs. The engine measures whole microseconds. On a device that works asynchronously, such as
    a GPU, the time of an operator is that until its kernels are queued.

    Attributes:
        operators: The operators, in order.
        runs: How many runs were measured, after the warm-up.
        plain: The time of a run without profiling.
        profiled: The time of a run with profiling.
        engine: The time of nodes that belong to no operator: the engine put them in, to change a layout or a device.
        outside: The rest of the profiled run: between the nodes, before the first and after the last one.
        building: The time to build the graph again, once.
    """

    operators: tuple[OperatorTime, ...]
    runs: int
    plain: float
    profiled: float
    engine: float
    outside: float
    building: float

    @property
    def overhead(self) -> float:
        """How many times as long as a plain run a profiled run takes."""
        return self.profiled / self.plain if self.plain else math.inf


# Values


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """Statistics of the elements of a value.

    Attributes:
        count: The number of elements.
        minimum: The smallest finite element; ``None`` if there is none.
        maximum: The largest one.
        mean: The mean of the finite elements.
        deviation: Their standard deviation.
        zeros: How many elements are zero, of either sign.
        nans: How many are NaN.
        infinities: How many are infinite, of either sign.
    """

    count: int
    minimum: float | int | None
    maximum: float | int | None
    mean: float | None
    deviation: float | None
    zeros: int
    nans: int
    infinities: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedValue:
    """A value of a graph in one run: an input, or a result of an operator.

    Attributes:
        name: The name of the value in `MLGraph.description`.
        index: The number of the operator in its builder; 0 for an input.
        operation: The operation's name; ``"input"`` for an input.
        label: The operator's label, empty if it has none.
        dataType: The data type.
        shape: The shape.
        statistics: Statistics of its elements.
        value: The elements, if they were asked for. Each element of int4 and uint4 has a byte.
    """

    name: str
    index: int
    operation: str
    label: str
    dataType: str
    shape: tuple[int, ...]
    statistics: Statistics
    value: np.ndarray[Any, np.dtype[Any]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace(Inspection):
    """The values of a graph in one run: what `MLGraph.trace` returns. ``trace["name"]`` is the value of that name.

    Attributes:
        values: The inputs, then the results of the operators in order.
        groups: In how many parts the graph was run, so that not too many values are in memory at once.
        seconds: How long it took, building included.
        plain: How long an ordinary run of the graph took.
    """

    values: tuple[TracedValue, ...]
    groups: int
    seconds: float
    plain: float

    @property
    def overhead(self) -> float:
        """How many times as long as a plain run the trace took."""
        return self.seconds / self.plain if self.plain else math.inf

    def __getitem__(self, name: str) -> TracedValue:
        for value in self.values:
            if value.name == name:
                return value
        raise KeyError(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offender:
    """An element that is NaN or infinite.

    Attributes:
        position: Its position in the value.
        value: The element.
        operands: The elements at the same position of those operands that have the value's shape, by the operands' names in the IDL.
    """

    position: tuple[int, ...]
    value: float
    operands: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstNaN(Inspection):
    """Where NaN, or infinity, first appears: what `MLGraph.firstNaN` returns.

    Attributes:
        kind: ``"NaN"`` or ``"infinity"``: what the operator makes that its operands do not have.
        index: The number of the operator in its builder; 0 for an input or a constant that holds NaN.
        operation: The operation's name; ``"input"`` or ``"constant"``.
        label: The operator's label, empty if it has none.
        value: The result.
        operands: The operands, by their names in the IDL.
        offenders: The first elements at fault, at most eight.
    """

    kind: str
    index: int
    operation: str
    label: str
    value: TracedValue
    operands: Mapping[str, TracedValue]
    offenders: tuple[Offender, ...]


# Accuracy


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorAccuracy:
    """How far a result of an operator is from the exact one.

    Attributes:
        name: The name of the value in `MLGraph.description`.
        index: The number of the operator in its builder.
        operation: The operation's name.
        label: The operator's label, empty if it has none.
        dataType: The data type.
        shape: The shape.
        relative: The largest error, divided by the largest exact value. It is infinite if one of the two is NaN or infinite where the other
            one is not.
        ulp: The largest error in units of the last place of the type, at the exact value of that element.
        accumulated: The largest difference from the whole graph in float64, divided by the largest value there: the errors of all operators
            before are in it. ``None`` if the whole graph was not computed.
        position: The position of the largest error.
        actual: The element there.
        expected: The exact element.
        explanation: The switches of the semantics with which the result is the exact one, if it is far from it otherwise:
            ``"semantics.clampNaN='ignore'"``; empty if there are none (docs/semantics.md).
    """

    name: str
    index: int
    operation: str
    label: str
    dataType: str
    shape: tuple[int, ...]
    relative: float
    ulp: float
    accumulated: float | None
    position: tuple[int, ...]
    actual: float
    expected: float
    explanation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputAccuracy:
    """How far an output of a graph is from that of the whole graph in float64.

    Attributes:
        name: The output's name.
        dataType: The data type.
        relative: The largest difference, divided by the largest value.
        ulp: The largest difference in units of the last place of the type.
        absolute: The largest difference.
    """

    name: str
    dataType: str
    relative: float
    ulp: float
    absolute: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CallAccuracy:
    """How far a result of a call of a subgraph is from that of its operators in float64, which take the operands that the device has.

    Attributes:
        name: The name of the subgraph.
        output: The name of the value in `MLGraph.description`.
        dataType: The data type.
        shape: The shape.
        relative: The largest error of the operators one by one, divided by the largest exact value.
        ulp: The same in units of the last place of the type.
        fusedRelative: The largest error in the form in which the graph computes the call, if some operators are one kernel there.
        fusedUlp: The same in units of the last place.
        kernel: That kernel; empty if there is none.
        reason: Why there is none.
    """

    name: str
    output: str
    dataType: str
    shape: tuple[int, ...]
    relative: float
    ulp: float
    fusedRelative: float | None = None
    fusedUlp: float | None = None
    kernel: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy(Inspection):
    """How accurate each operator is: what `MLGraph.accuracy` returns.

    Attributes:
        operators: The results of the operators, the one with the largest `OperatorAccuracy.relative` first.
        outputs: The outputs of the graph; none if the whole graph was not computed.
        calls: The results of calls of subgraphs, in drafts that have them. Calls inside others are left out, but where a kernel
            computes a part of the inner call only.
        missing: The operations that the reference does not have, because an addition to the draft brought them. The whole graph in float64
            takes their results from the device.
        seconds: How long it took.
        reference: How long the reference took of that.
    """

    operators: tuple[OperatorAccuracy, ...]
    outputs: tuple[OutputAccuracy, ...]
    calls: tuple[CallAccuracy, ...] = ()
    missing: tuple[str, ...] = ()
    seconds: float
    reference: float


def _plain(value: Any) -> Any:
    """Return a value as JSON can say it."""
    if isinstance(value, bool | int | str) or value is None:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
