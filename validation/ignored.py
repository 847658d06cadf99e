"""Unknown members of dictionaries. Web IDL ignores them; the emulator ignores them and warns."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from webnn.validation.caller import find_program
from webnn.validation.errors import WebNNWarning, label_prefix
from webnn.validation.suggestions import nearest

if TYPE_CHECKING:
    from webnn.validation.operation import Call
    from webnn.validation.revision import Revision

__all__ = ["RENAMED", "explain", "explain_member", "warn_ignored"]

#: Members other than options of operations that one draft lacks, with their replacements in that draft.
RENAMED: Mapping[str, str] = MappingProxyType(
    {"accelerated": "deviceType", "deviceType": "accelerated", "dimensions": "shape", "shape": "dimensions"}
)


def warn_ignored(call: Call, argument: str, given: Collection[str], known: frozenset[str], elsewhere: Mapping[str, str] = RENAMED) -> None:
    """Warn of members that a dictionary does not have, in the program's own line.

    ``argument`` is the dictionary, for example ``"options"``. ``elsewhere`` has members of other drafts, as `Operation.elsewhere`.
    """
    if not known.issuperset(given):
        for message in explain(call, argument, given, known, elsewhere):
            find_program().warn(message, WebNNWarning)


def explain(call: Call, argument: str, given: Collection[str], known: frozenset[str], elsewhere: Mapping[str, str]) -> Iterator[str]:
    """Yield why members are ignored, but a member of another draft whose replacement is given too. For the arguments see `warn_ignored`."""
    for member in given:
        if member not in known and elsewhere.get(member) not in given:
            reason = explain_member(call, argument, member, known, elsewhere.get(member, ""))
            place = f"{argument}.{member}" if member.isidentifier() else f"{argument}[{member!r}]"
            yield f"{label_prefix(call.label)}{call.operation}: {place} is ignored: {reason}"


def explain_member(call: Call, argument: str, member: str, known: frozenset[str], instead: str = "") -> str:
    """Say why a dictionary, an argument of a call, does not have a member: which draft has it, or which member may be meant."""
    return _explain(call.revision, call.operation, argument, member, known, instead)


# Cached: a call in a loop is explained each time, although Python shows the warning once.
@functools.lru_cache(maxsize=256)
def _explain(revision: Revision, operation: str, argument: str, member: str, known: frozenset[str], instead: str) -> str:
    # Imported lazily: the drafts are made of the validators, which import this module.
    from webnn.validation.drafts import DRAFTS, find_revision  # noqa: PLC0415

    here = f"; here {instead!r}" if instead in known else f"; here {instead}" if instead else ""
    others = [name for name in DRAFTS if name != revision.draft and member in _members(find_revision(name), operation, argument)]
    until = [name for name in others if name in revision.history]
    if others:
        return f"{member!r} {f'was a member until {until[-1]}' if until else f'is a member since {others[0]}'}{here}"
    near = nearest(member, known)
    return f"it is not a member; {f'did you mean {near!r}?' if near else f'the members are {sorted(known)}'}"


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
