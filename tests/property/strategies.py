"""Valid calls of all operations of all drafts, by family."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import strategies as st

from tests.property import makers
from tests.property.calls import Call
from webnn.validation.drafts import DRAFTS, find_revision

__all__ = ["CALLS", "FAMILIES", "OPERATIONS", "family_of"]

Calls = Mapping[str, st.SearchStrategy[Call]]

#: The drafts and their operations: from the drafts themselves, so that an operation without a call fails.
OPERATIONS = [(draft, name) for draft in DRAFTS for name in find_revision(draft).operations]

#: The strategy of each operation, by the draft.
CALLS: Mapping[str, Calls] = {draft: {name: makers.calls(draft, name) for name in find_revision(draft).operations} for draft in DRAFTS}


def _families(draft: str) -> Mapping[str, Calls]:
    """Return the operations of a draft by the modules that validate them."""
    families: dict[str, dict[str, st.SearchStrategy[Call]]] = {}
    for name, operation in find_revision(draft).operations.items():
        families.setdefault(operation.infer.__module__.rpartition(".")[2], {})[name] = CALLS[draft][name]
    return families


#: The strategy of each operation, by the draft and the family.
FAMILIES: Mapping[str, Mapping[str, Calls]] = {draft: _families(draft) for draft in DRAFTS}


def family_of(draft: str, name: str) -> Calls:
    """Return the family of an operation."""
    return next(family for family in FAMILIES[draft].values() if name in family)
