"""The differences between two drafts, or drafts with proposals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from webnn.builder.description import DescriptionError, GraphDescription
from webnn.builder.graph_builder import Sketch, make_sketch
from webnn.context.limits import operation_limits
from webnn.context.profiles.difference import compare_operands, describe
from webnn.proposals.proposal import Case, Proposal
from webnn.validation.drafts import find_addition
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
    """The differences of two drafts.

    Attributes:
        idl: The lines of the IDL that differ.
        added: The operations that only the second draft has.
        removed: The operations that only the first draft has.
        limits: The limits that differ, of operations that both have.
        compared: The number of recorded graphs.
        verdicts: The recorded graphs that one draft takes and the other refuses, or that get another error.
        cases: The number of cases of proposals that only one of the drafts has.
        proposed: The same of these cases: `Case`.
        numbers: The recorded graphs that both take and compute differently; ``None`` if nothing was computed.
    """

    idl: list[str]
    added: list[str]
    removed: list[str]
    limits: list[tuple[str, str]]
    compared: int
    verdicts: list[DraftVerdict]
    cases: int = 0
    proposed: list[DraftVerdict] = field(default_factory=list)
    numbers: list[DraftNumbers] | None = field(default=None)

    @property
    def any(self) -> bool:
        """Something differs."""
        return bool(self.idl or self.added or self.removed or self.limits or self.verdicts or self.proposed or self.numbers)


def compare(before: Revision, after: Revision, programs: Iterable[Program], compute: Compute | None = None) -> Differences:
    """Compare two drafts, each with or without additions, in any order.

    Args:
        before: The first draft.
        after: The second one.
        programs: The programs, each of a draft that is not later than the two.
        compute: Computes those that both take, to compare the numbers; by default nothing is computed.
    """
    compared, verdicts = 0, []
    numbers: list[DraftNumbers] = []
    for program in programs:
        compared += 1
        graph = program.graph
        one, other = (_judge(graph, revision) for revision in (before, after))
        if compute is not None and not one and not other:
            computed = [compute(program, _move(graph, revision), revision) for revision in (before, after)]
            numbers += _compare_numbers(graph.name, *computed)
        verdicts += _differ(graph.name, one, other)
    cases = _cases(before, after)
    proposed = [each for case in cases for each in _differ(case.name, *(_judge_case(case, revision) for revision in (before, after)))]
    return Differences(
        idl=compare_idl(before.idl(), after.idl()),
        added=sorted(set(after.operations) - set(before.operations)),
        removed=sorted(set(before.operations) - set(after.operations)),
        limits=compare_limits(before, after),
        compared=compared,
        verdicts=verdicts,
        cases=len(cases),
        proposed=proposed,
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


def _differ(name: str, one: str, other: str) -> list[DraftVerdict]:
    """Return the two verdicts of a graph if they differ in the class of the error: a message may list what only one draft has."""
    return [DraftVerdict(name, one, other)] if one.partition(":")[0] != other.partition(":")[0] else []


def _cases(before: Revision, after: Revision) -> Sequence[Case]:
    """Return the cases of the proposals that only one of two drafts has."""
    own = set(before.history) ^ set(after.history)
    additions = [find_addition(name) for name in (*before.name.split("+")[1:], *after.name.split("+")[1:]) if name in own]
    return [test for each in additions if isinstance(each, Proposal) for test in each.tests if isinstance(test, Case)]


def _judge_case(case: Case, revision: Revision) -> str:
    """Return the error with which a draft refuses the calls of a case, empty if it takes them."""
    builder = make_sketch(Sketch, revision)
    try:
        case.build(builder)
    except (DOMException, WebNNTypeError) as error:
        return f"{type(error).__name__}: {error}"
    except AttributeError as error:
        if not str(error).startswith(f"{type(builder).__name__!r} object "):
            raise
        return f"AttributeError: the builder has no method {error.name}"
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
