"""Dictionary members that a dictionary does not have. Web IDL ignores them, and so does the emulator, but it warns."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from webnn.validation.caller import find_program
from webnn.validation.errors import WebNNWarning, label_prefix

if TYPE_CHECKING:
    from webnn.validation.operation import Call
    from webnn.validation.revision import Revision

__all__ = ["RENAMED", "explain", "explain_member", "warn_ignored"]

#: Members that are options of no operation and that one draft lacks: what that draft has in their place.
RENAMED: Mapping[str, str] = MappingProxyType(
    {"accelerated": "deviceType", "deviceType": "accelerated", "dimensions": "shape", "shape": "dimensions"}
)
#: How near a member's name must be to be suggested, from 0 to 1; or how many of its first letters must agree.
_NEAR, _PREFIX = 0.65, 3


def warn_ignored(call: Call, argument: str, given: Collection[str], known: frozenset[str], elsewhere: Mapping[str, str] = RENAMED) -> None:
    """Warn of members that a dictionary does not have, in the program's own line.

    Args:
        call: The call.
        argument: The argument that is the dictionary, for example ``"options"``.
        given: The names of the members that were given.
        known: The names of the members that the dictionary has.
        elsewhere: For members of another draft what this one has in their place, as `Operation.elsewhere`.
    """
    if not known.issuperset(given):
        for message in explain(call, argument, given, known, elsewhere):
            find_program().warn(message, WebNNWarning)


def explain(call: Call, argument: str, given: Collection[str], known: frozenset[str], elsewhere: Mapping[str, str]) -> Iterator[str]:
    """Say why members are ignored; nothing for one of another draft whose replacement is given, too. The arguments are `warn_ignored`'s.

    Yields:
        A message for each such member.
    """
    for member in given:
        if member not in known and elsewhere.get(member) not in given:
            reason = explain_member(call, argument, member, known, elsewhere.get(member, ""))
            place = f"{argument}.{member}" if member.isidentifier() else f"{argument}[{member!r}]"
            yield f"{label_prefix(call.label)}{call.operation}: {place} is ignored: {reason}"


def explain_member(call: Call, argument: str, member: str, known: frozenset[str], instead: str = "") -> str:
    """Say why a dictionary does not have a member: which draft has it, or what it may be meant to be.

    Args:
        call: The call.
        argument: The argument that is the dictionary.
        member: The member's name.
        known: The names of the members that the dictionary has.
        instead: What the draft has instead, empty for nothing.
    """
    return _explain(call.revision, call.operation, argument, member, known, instead)


# A call in a loop is warned of once, but explained each time.
@functools.lru_cache(maxsize=256)
def _explain(revision: Revision, operation: str, argument: str, member: str, known: frozenset[str], instead: str) -> str:
    # Imported lazily: the drafts are made of the validators, which import this module.
    from webnn.validation.drafts import DRAFTS, find_revision  # noqa: PLC0415

    here = f"; here {instead!r}" if instead in known else f"; here {instead}" if instead else ""
    others = [name for name in DRAFTS if name != revision.draft and member in _members(find_revision(name), operation, argument)]
    until = [name for name in others if name in revision.history]
    if others:
        return f"{member!r} {f'was a member until {until[-1]}' if until else f'is a member since {others[0]}'}{here}"
    nearest = _nearest(member, known)
    return f"it is not a member; {f'did you mean {nearest!r}?' if nearest else f'the members are {sorted(known)}'}"


def _nearest(member: str, known: Collection[str]) -> str:
    # Imported lazily: most programs have no such member.
    from difflib import get_close_matches  # noqa: PLC0415

    names = {name.lower(): name for name in sorted(known)}
    written = member.lower()
    found = get_close_matches(written, names, n=1, cutoff=_NEAR) or [name for name in names if name[:_PREFIX] == written[:_PREFIX]]
    return names[found[0]] if found else ""


@functools.cache
def _members(draft: Revision, operation: str, argument: str) -> frozenset[str]:
    """Return the members of the dictionary that an operation takes in a draft; none if it takes none there."""
    idl = draft.idl()
    found: set[str] = set()
    for interface in idl["interfaces"].values():
        for overload in interface.get("operations", []):
            names = [each["type"] for each in overload["arguments"] if overload["name"] == operation and each["name"] == argument]
            for name in names:
                level = idl["dictionaries"].get(name) if isinstance(name, str) else None
                while level is not None:
                    found.update(member["name"] for member in level["members"])
                    level = idl["dictionaries"].get(level.get("inherits", ""))
    return frozenset(found)
