"""The differences between two drafts, or drafts with proposals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from webnn.builder.description import DescriptionError, GraphDescription
from webnn.builder.graph_builder import Sketch, make_sketch
from webnn.context.limits import operation_limits
from webnn.context.profiles.difference import compare_operands, describe
from webnn.validation.drafts.idl_text import compare_idl
from webnn.validation.errors import DOMException, WebNNTypeError
from webnn.validation.revision import Revision

__all__ = ["Differences", "DraftNumbers", "DraftVerdict", "Program", "compare", "compare_limits"]

Array = np.ndarray[Any, np.dtype[Any]]


class Program(Protocol):
    """A graph to compare, as `compute` takes it."""

    @property
    def graph(self) -> GraphDescription:
        """The graph."""


#: Builds and computes a graph of a program in a draft; returns the outputs by name.
Compute = Callable[[Program, GraphDescription, Revision], Mapping[str, Array]]


@dataclass(frozen=True, slots=True)
class DraftVerdict:
    """A graph that two drafts judge differently, with the error of each, empty if it takes the graph."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class DraftNumbers:
    """A graph that two drafts compute differently: an output, and its largest difference, NaN if only one of the two has a NaN."""

    name: str
    output: str
    difference: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences:
    """The differences of two drafts. Limits are those of operations that both have; the verdicts those of compared graphs that changed.

    ``numbers`` are the graphs that both take and compute differently; ``None`` if nothing was computed.
    """

    idl: list[str]
    added: list[str]
    removed: list[str]
    limits: list[tuple[str, str]]
    compared: int
    verdicts: list[DraftVerdict]
    numbers: list[DraftNumbers] | None = field(default=None)

    @property
    def any(self) -> bool:
        """Something differs."""
        return bool(self.idl or self.added or self.removed or self.limits or self.verdicts or self.numbers)


def compare(before: Revision, after: Revision, programs: Iterable[Program], compute: Compute | None = None) -> Differences:
    """Compare two drafts, the second one of the same or of a later year and month; both judge graphs of the first one's draft.

    Args:
        before: The first draft.
        after: The second one.
        programs: The programs.
        compute: Computes those that both take, to compare the numbers; by default nothing is computed.

    Raises:
        ValueError: The second one is earlier.
    """
    if before.draft not in after.history:
        raise ValueError(f"the draft {after.name} must not be earlier than {before.name}")
    compared, verdicts = 0, []
    numbers: list[DraftNumbers] = []
    for program in programs:
        compared += 1
        graph = program.graph
        one, other = (_judge(graph, revision) for revision in (before, after))
        if compute is not None and not one and not other:
            computed = [compute(program, _move(graph, revision), revision) for revision in (before, after)]
            numbers += _compare_numbers(graph.name, *computed)
        # The class of the error: a message may list what only one of them has.
        if one.partition(":")[0] != other.partition(":")[0]:
            verdicts.append(DraftVerdict(graph.name, one, other))
    return Differences(
        idl=compare_idl(before.idl(), after.idl()),
        added=sorted(set(after.operations) - set(before.operations)),
        removed=sorted(set(before.operations) - set(after.operations)),
        limits=compare_limits(before, after),
        compared=compared,
        verdicts=verdicts,
        numbers=None if compute is None else numbers,
    )


def compare_limits(before: Revision, after: Revision) -> list[tuple[str, str]]:
    """Return what differs between the limits of two drafts: places and texts, those of operations that both have."""
    if before.limits is None or after.limits is None:
        return []
    old, new = operation_limits(before), operation_limits(after)
    found = (each for name in old if name in new for each in compare_operands(name, old[name], new[name]))
    return list(describe(each for each in found if each.removed or each.added))


def _judge(graph: GraphDescription, revision: Revision) -> str:
    """Return the error with which a draft refuses a graph, empty if it takes it."""
    try:
        _move(graph, revision).build(make_sketch(Sketch, revision))
    except (DescriptionError, DOMException, WebNNTypeError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _move(graph: GraphDescription, revision: Revision) -> GraphDescription:
    """Return a graph in another draft."""
    return replace(graph if graph.draft == revision.draft else graph.lift(revision.draft), draft=revision.of_graphs)


def _compare_numbers(name: str, before: Mapping[str, Array], after: Mapping[str, Array]) -> Iterable[DraftNumbers]:
    for output, one in before.items():
        other = after[output]
        if one.tobytes() == other.tobytes():
            continue
        # Zeros of both signs are equal, and so are NaNs of any bits; infinities have no difference.
        same = (one == other) | (np.isnan(one) & np.isnan(other))
        if not same.all():
            with np.errstate(invalid="ignore"):
                differences = np.abs(one.astype(np.float64) - other.astype(np.float64))[~same]
            yield DraftNumbers(name, output, float(differences.max()))
