"""The reference of every operation, by the draft: a chain, as in `webnn.validation.drafts`.

Call a function with arrays:

- positional arguments are the specification's, in its order, with an array for an `MLOperand` (a list of them for a sequence) and a string
  for a data type;
- options are keyword arguments under the IDL's names, with its defaults; ``None`` for a member without one;
- an activation is a pair, ``("elu", {"alpha": 0.5})``; or its name, in drafts that have names;
- the result is an array, or a list of arrays where the method returns a sequence, of the descriptor's type and shape.

Floating-point operations compute in float64 and round once, at the end. Arguments are taken as valid. `docs/numerics.md` fixes what the
specification leaves open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType

import numpy as np

from webnn.builder.semantics import DEFAULT_SEMANTICS, Semantics
from webnn.reference import draft_2026_06
from webnn.reference.numbers import Operation
from webnn.reference.variants import vary
from webnn.validation.drafts import DRAFTS, DRAFTS_OF_GRAPHS, find_revision
from webnn.validation.families import FAMILIES

__all__ = ["REFERENCE", "REFERENCE_NEWEST", "operations_of"]

#: Every operation as the first draft that has it defines it.
_FIRST: Mapping[str, Operation] = {
    name: each for family in FAMILIES for name, each in import_module(f"webnn.reference.{family}").OPERATIONS.items()
}
#: Returns the operations that a draft changes: a module for each draft but the first that changes more than contexts.
_CHANGES: Mapping[str, Callable[[Mapping[str, Operation]], Mapping[str, Operation]]] = MappingProxyType(
    dict(zip(DRAFTS_OF_GRAPHS[1:], (draft_2026_06.change,), strict=True))
)


@cache
def operations_of(draft: str, semantics: Semantics = DEFAULT_SEMANTICS) -> Mapping[str, Operation]:
    """Return the operations of a draft by the names of the methods of `MLGraphBuilder`.

    Args:
        draft: The draft, as `webnn.GraphDescription.draft`. Additions of modules count that are imported already.
        semantics: The values of switches that are not defaults.

    Raises:
        ValueError: There is no such draft.
    """
    name = draft.partition("+")[0]
    if name not in DRAFTS:
        raise ValueError(f"draft must be one of {', '.join(DRAFTS)}, got {draft!r}")
    known = dict(_FIRST)
    for each in DRAFTS[: DRAFTS.index(name) + 1]:
        known |= _CHANGES[each](known) if each in _CHANGES else {}
    operations = {operation: known[operation] for operation in find_revision(name).operations if operation in known}
    for load in find_revision(draft, imports=False).references:
        operations |= load()
    operations = {operation: _quiet(function) for operation, function in operations.items()}
    changed = {operation: _quiet(function) for operation, function in vary(operations, semantics).items()}
    return MappingProxyType(operations | changed)


def _quiet(operation: Operation) -> Operation:
    """Let an operation divide by zero and overflow without NumPy's warnings: the result says enough."""
    quiet: Operation = np.errstate(all="ignore")(operation)
    return quiet


#: The operations of the first draft.
REFERENCE = operations_of(DRAFTS[0])
#: The operations of the newest draft.
REFERENCE_NEWEST = operations_of(DRAFTS[-1])
