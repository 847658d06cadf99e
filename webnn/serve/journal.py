"""The calls of a test: a record that also counts them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from webnn.serve.record import Record, read_member

__all__ = ["Counts", "Journal", "count"]

#: How many calls of each document and worker are kept.
_MOST_CALLS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How often pages did what.

    Attributes:
        calls: The calls of each member, such as ``"MLGraphBuilder.relu"``, those that failed included.
        contexts: The contexts that were made.
        builds: The graphs that were built.
        computes: The calls of ``dispatch()`` and ``compute()`` that succeeded.
        refused: The calls that failed.
    """

    calls: Mapping[str, int]
    contexts: int
    builds: int
    computes: int
    refused: int


class Journal(Record):
    """A record that keeps the last 10,000 calls and counts all."""

    def __init__(self, on_warning: Callable[[str], None] | None = None) -> None:
        super().__init__(_MOST_CALLS, on_warning)
        self.called_members = Counter[str]()
        self.done = Counter[str]()

    def called(self, text: str, answer: str, seconds: float, received: int, sent: int) -> None:
        """Remember a call."""
        super().called(text, answer, seconds, received, sent)
        if member := read_member(text):
            self.called_members[member] += 1
            self.done[member] += not answer.startswith('{"error"')


def count(journals: Collection[Journal]) -> Counts:
    """Return how often what was done in all of them."""
    done = sum((journal.done for journal in journals), Counter[str]())
    return Counts(
        calls=sum((journal.called_members for journal in journals), Counter[str]()),
        contexts=done["ML.createContext"],
        builds=done["MLGraphBuilder.build"],
        computes=done["MLContext.compute"] + done["MLContext.dispatch"],
        refused=sum(journal.refused for journal in journals),
    )
