"""Dictionary members that a call ignores, explained for bindings to other languages, which convert dictionaries by themselves."""

from __future__ import annotations

from collections.abc import Collection

from webnn.validation.ignored import RENAMED, explain
from webnn.validation.operation import Call
from webnn.validation.revision import Revision

__all__ = ["explain_ignored"]


def explain_ignored(revision: str | Revision, where: str, given: Collection[str], known: Collection[str]) -> list[str]:
    """Say why members of a dictionary are ignored: the texts of `WebNNWarning`, for a binding to another language.

    Args:
        revision: The draft.
        where: The operation and the argument that is the dictionary, for example ``"conv2d: options"``.
        given: The names of the members that were given.
        known: The names of the members that the dictionary has.

    Returns:
        A text for each given member that the dictionary does not have, unless its replacement is given too.

    Raises:
        ValueError: There is no such draft.
    """
    # Imported lazily because it loads pydantic.
    from webnn.validation.drafts import find_revision  # noqa: PLC0415

    operation, _, argument = where.partition(": ")
    found = revision if isinstance(revision, Revision) else find_revision(revision)
    call, row = Call(operation, "", found), found.operations.get(operation)
    if row is None:
        return list(explain(call, argument, given, frozenset(known), RENAMED))
    # In Python every operation takes a label. A draft without labels ignores a page's label, but no result depends on it.
    return list(explain(call, argument, given, frozenset([*known, "label"]), row.elsewhere))
