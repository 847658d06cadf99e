"""The differences between two drafts, or drafts with proposals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from webnn.builder.description import DescriptionError, GraphDescription
from webnn.builder.graph_builder import Sketch, make_sketch
from webnn.context.limits import operation_limits
from webnn.context.profiles.difference import compare_operands, describe
from webnn.validation.drafts.idl_text import compare_idl
from webnn.validation.errors import DOMException, WebNNTypeError
from webnn.validation.revision import Revision

__all__ = ["Differences", "DraftVerdict", "compare", "compare_limits"]


@dataclass(frozen=True, slots=True)
class DraftVerdict:
    """A graph that two drafts judge differently, with the error of each, empty if it takes the graph."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences:
    """The differences of two drafts. Limits are those of operations that both have; the verdicts those of compared graphs that changed."""

    idl: list[str]
    added: list[str]
    removed: list[str]
    limits: list[tuple[str, str]]
    compared: int
    verdicts: list[DraftVerdict]

    @property
    def any(self) -> bool:
        """Something differs."""
        return bool(self.idl or self.added or self.removed or self.limits or self.verdicts)


def compare(before: Revision, after: Revision, graphs: Iterable[GraphDescription]) -> Differences:
    """Compare two drafts, the second one of the same or of a later year and month; both judge graphs of the first one's draft.

    Raises:
        ValueError: The second one is earlier.
    """
    if before.draft not in after.history:
        raise ValueError(f"the draft {after.name} must not be earlier than {before.name}")
    compared, verdicts = 0, []
    for graph in graphs:
        compared += 1
        one, other = (_judge(graph, revision) for revision in (before, after))
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
        moved = graph if graph.draft == revision.draft else graph.lift(revision.draft)
        replace(moved, draft=revision.name).build(make_sketch(Sketch, revision))
    except (DescriptionError, DOMException, WebNNTypeError) as error:
        return f"{type(error).__name__}: {error}"
    return ""
