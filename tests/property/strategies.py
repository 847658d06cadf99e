"""Valid calls of all operations of all drafts, by family."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from operator import or_

from hypothesis import strategies as st

from tests.property import elementwise, makers, movement, networks, windows
from tests.property.calls import Call
from tests.property.draws import PATTERNS
from webnn.validation.drafts import DRAFTS, find_revision

__all__ = ["CALLS", "FAMILIES", "OPERATIONS", "family_of"]

Calls = Mapping[str, st.SearchStrategy[Call]]

#: The drafts and their operations: from the drafts themselves, so that a missing strategy fails.
OPERATIONS = [(draft, name) for draft in DRAFTS for name in find_revision(draft).operations]


def _held(strategy: st.SearchStrategy[Call]) -> st.SearchStrategy[Call]:
    """Add which operands are constants."""
    return st.builds(lambda call, constants: replace(call, constants=constants), strategy, PATTERNS)


def _family(calls: Calls) -> dict[str, st.SearchStrategy[Call]]:
    return {name: _held(strategy) for name, strategy in calls.items()}


#: The strategies of the first draft, by the families of the specification.
_FIRST: Mapping[str, Calls] = {
    "activation": _family(elementwise.ACTIVATIONS),
    "binary": _family(elementwise.BINARY),
    "conv": _family(windows.CONV),
    "gather_scatter": _family(movement.GATHER),
    "logical": _family(elementwise.LOGICAL),
    "matmul": _family(networks.MATMUL),
    "movement": _family(movement.MOVEMENT),
    "normalization": _family(networks.NORMALIZATION),
    "pooling": _family(windows.POOLING),
    "recurrent": _family(networks.RECURRENT),
    "reduction": _family(movement.REDUCTION),
    "resample": _family(windows.RESAMPLING),
    "unary": _family(elementwise.UNARY),
}


def _later(draft: str) -> Mapping[str, Calls]:
    """Return the strategies of a later draft: the families of the first one, and one for each draft that adds operations."""
    families: dict[str, dict[str, st.SearchStrategy[Call]]] = {}
    known = {name: family for family, calls in _FIRST.items() for name in calls}
    for earlier in DRAFTS[1 : DRAFTS.index(draft) + 1]:
        known = dict.fromkeys(find_revision(earlier).operations, f"since {earlier}") | known
    for name in find_revision(draft).operations:
        if name in makers.MADE:
            families.setdefault(known[name], {})[name] = makers.calls(draft, name)
    return families


#: The strategy of each operation, by the draft and the family.
FAMILIES: Mapping[str, Mapping[str, Calls]] = {DRAFTS[0]: _FIRST, **{draft: _later(draft) for draft in DRAFTS[1:]}}

#: The strategy of each operation, by the draft.
CALLS: Mapping[str, Calls] = {draft: reduce(or_, map(dict, families.values())) for draft, families in FAMILIES.items()}


def family_of(draft: str, name: str) -> Calls:
    """Return the family of an operation."""
    return next(family for family in FAMILIES[draft].values() if name in family)
