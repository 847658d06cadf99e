"""The differences between two device profiles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from webnn.builder.semantics import SWITCHES, merge_semantics
from webnn.context.limits import TensorLimits
from webnn.context.profiles.profile import Profile
from webnn.context.profiles.rules import Rule

__all__ = ["Difference", "Members", "compare", "compare_members", "compare_operands", "describe"]

#: The kind of a difference: a single value; or a list, with entries added or removed.
Kind = Literal["value", "dataTypes", "ranks", "operations", "native", "rules", "members"]
#: The members of ``"interfaces"`` and ``"dictionaries"``, by their names.
Members = Mapping[str, Mapping[str, Sequence[str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One place in which two profiles differ.

    Attributes:
        path: The place: ``"gather.indices"``, ``"MLContextOptions"``; empty for what belongs to the whole profile.
        kind: The kind of the difference.
        removed: Entries of a list, or the value, that only the first profile has.
        added: Entries, or the value, that only the second profile has.
    """

    path: str
    kind: Kind
    removed: Sequence[Any] = ()
    added: Sequence[Any] = ()


def compare(first: Profile, second: Profile) -> list[Difference]:
    """Compare two profiles. Their names, sources and observers do not count, nor the messages and the advice of rules."""
    return [each for each in _compare(first, second) if each.removed or each.added]


def compare_operands(operation: str, one: Mapping[str, TensorLimits], other: Mapping[str, TensorLimits]) -> Iterator[Difference]:
    """Compare the limits of the operands of an operation."""
    for row in dict.fromkeys([*one, *other]):
        yield from _limits(f"{operation}.{row}", one.get(row), other.get(row))


def _compare(first: Profile, second: Profile) -> Iterator[Difference]:
    for name, of in (
        ("maxTensorByteLength", "max_byte_length"),
        ("preferredInputLayout", "preferred_layout"),
        ("numerics", "numerics"),
        ("cpuFallback", "cpu_fallback"),
        ("constantTensors", "constant_tensors"),
    ):
        yield _value(name, "value", getattr(first, of), getattr(second, of))
    for device in first.devices:
        yield _value(f"devices.{device}", "value", first.devices[device], second.devices[device])
    yield _lists("", "operations", first.operations, second.operations)
    yield _lists("", "native", _names(first.native), _names(second.native))
    for name in ("input", "constant", "output"):
        yield from _limits(name, getattr(first, name), getattr(second, name))
    for prefix, one, other in (("", first.operations, second.operations), ("native.", first.native or {}, second.native or {})):
        for operation in filter(other.__contains__, one):
            yield from compare_operands(f"{prefix}{operation}", one[operation], other[operation])
    before, after = (dict(merge_semantics(each.semantics)) for each in (first, second))
    for name, switch in SWITCHES.items():
        yield _value(f"semantics.{name}", "value", before.get(name, switch.default), after.get(name, switch.default))
    for operation in dict.fromkeys([*first.rules, *second.rules]):
        sentences = ([f"{rule.sentence} ({_where(rule)})" for rule in each.rules.get(operation, ())] for each in (first, second))
        yield _lists(operation, "rules", *sentences)
    # A profile that was not recorded does not say its members.
    if first.members and second.members:
        yield from _members(first.members, second.members)


def compare_members(first: Members, second: Members) -> list[Difference]:
    """Compare the members of interfaces and dictionaries, as `_members` of a profile has them."""
    return [each for each in _members(first, second) if each.removed or each.added]


def _members(first: Members, second: Members) -> Iterator[Difference]:
    for part in dict.fromkeys([*first, *second]):
        ones, others = first.get(part, {}), second.get(part, {})
        for name in dict.fromkeys([*ones, *others]):
            yield _lists(name, "members", ones.get(name, ()), others.get(name, ()))


def _where(rule: Rule) -> str:
    """Say what a broken rule fails with."""
    return rule.error if rule.at == "build" else f"{rule.error} at the call"


def _names(native: Mapping[str, object] | None) -> Iterable[str]:
    return ["everything"] if native is None else native


def _value(path: str, kind: Kind, one: Any, other: Any) -> Difference:
    return Difference(path=path, kind=kind) if one == other else Difference(path=path, kind=kind, removed=(one,), added=(other,))


def _lists(path: str, kind: Kind, ones: Iterable[Any], others: Iterable[Any]) -> Difference:
    ones, others = list(ones), list(others)
    removed, added = [each for each in ones if each not in others], [each for each in others if each not in ones]
    return Difference(path=path, kind=kind, removed=removed, added=added)


def _limits(path: str, one: TensorLimits | None, other: TensorLimits | None) -> Iterator[Difference]:
    if one is None or other is None:
        # Only native operations leave out rows.
        yield _value(path, "value", one and one.dictionary(), other and other.dictionary())
        return
    yield _lists(path, "dataTypes", one.data_types, other.data_types)
    yield _value(path, "ranks", list(one.ranks), list(other.ranks))


def describe(differences: Iterable[Difference]) -> Iterator[tuple[str, str]]:
    """Describe differences for people, each with its place. Operands of an operation with the same difference are joined."""
    joined: dict[tuple[str, str], list[str]] = {}
    for each in differences:
        place, _, row = each.path.rpartition(".") if each.kind in ("dataTypes", "ranks") else (each.path, "", "")
        joined.setdefault((place, _describe(each)), []).append(row)
    for (place, text), rows in joined.items():
        yield ".".join(filter(None, (place, ", ".join(filter(None, rows))))), text


def _describe(difference: Difference) -> str:
    if difference.kind in ("ranks", "value"):
        [before], [after] = difference.removed, difference.added
        if difference.kind == "ranks":
            return f"{before[0]} to {before[1]} dimensions, now {after[0]} to {after[1]}"
        return f"{before}, now {after}"
    text = " ".join([*(f"-{each}" for each in difference.removed), *(f"+{each}" for each in difference.added)])
    if difference.kind == "rules":
        text = "; ".join([*(f"- {each}" for each in difference.removed), *(f"+ {each}" for each in difference.added)])
    return f"{difference.kind}: {text}" if difference.kind in ("operations", "native", "members") else text
