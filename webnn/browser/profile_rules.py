"""Finds the rules of `build()` in probes: properties that the refused calls of an operation share, and that no accepted call has.

A rule that refuses is a conjunction of atoms, such as *the input is float32* and *its rank is 7 or 8*. It grows atom by atom, by what
explains most refusals, until it covers no accepted call; then the refusals that it covers are done, and the next rule grows (sequential
covering). The vocabulary of profiles says what must hold, so the last step turns one atom round and makes conditions of the others.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from typing import Any, NamedTuple, get_args

from webnn.context.limits import TensorLimits
from webnn.context.profiles.rules import Facts, Test
from webnn.validation.descriptor import DataType

__all__ = ["Example", "Found", "find_rules"]

#: The fewest refusals that make a rule; fewer may be chance.
_SUPPORT = 3
#: The most atoms of a rule.
_LONGEST = 3
#: Above every size that is tried.
_ANY_SIZE = 100
#: The order in which atoms are tried for inverting.
_ORDER = ("constant", "value", "rankRange", "dataTypes", "size")


class Example(NamedTuple):
    """A call that the builder took: what it was, and the error and the message of `build()`, which are empty if that took it as well."""

    facts: Facts
    error: str
    message: str


class Found(NamedTuple):
    """A rule, as a profile has it, and how many refusals it explains."""

    rule: Mapping[str, Any]
    refusals: int


@dataclass(frozen=True, slots=True)
class _Atom:
    """A property: the values of a word (or ``"value"``) that an operand, an argument or an option has."""

    name: str
    word: str
    values: frozenset[Any]

    def covers(self, example: Example) -> bool:
        found = _values(example.facts, self.name, self.word)
        return bool(found) and found <= self.values


def find_rules(examples: Sequence[Example], limits: Mapping[str, TensorLimits]) -> tuple[list[Found], list[Example]]:
    """Find the rules of an operation, of whose types and ranks in ``limits`` each says which it allows; and the refusals without a rule."""
    accepted = [each for each in examples if not each.error]
    closed = _closed(accepted)
    rules: list[tuple[list[_Atom], dict[str, Any], int]] = []
    unexplained: list[Example] = []
    groups = [[each for each in examples if each.error == error] for error in sorted({each.error for each in examples if each.error})]
    while groups:
        refused = groups.pop(0)
        grown = _widen(_grow(refused, accepted, closed), accepted)
        covered = [each for each in refused if _covers(grown, each)]
        rule = _write(grown, limits, examples) if grown and len(covered) >= _SUPPORT else None
        messages = sorted({each.message for each in refused})
        if rule is not None:
            rules.append((grown, {**rule, "error": refused[0].error}, len(covered)))
            left = [each for each in refused if each not in covered]
            groups = [left, *groups] if left else groups
        elif len(messages) > 1:
            # No rule covers most of them: the calls of a message may share more.
            groups = [[each for each in refused if each.message == message] for message in messages] + groups
        else:
            unexplained += refused
    return [Found({**rule, "says": _message(grown, rules, examples)}, count) for grown, rule, count in rules], unexplained


def _covers(atoms: Sequence[_Atom], example: Example) -> bool:
    return all(atom.covers(example) for atom in atoms)


def _message(atoms: Sequence[_Atom], rules: Sequence[tuple[list[_Atom], object, object]], examples: Sequence[Example]) -> str:
    """Return the browser's message for a rule: of a call that breaks no other rule, if there is one."""
    refused = [each for each in examples if each.error and _covers(atoms, each)]
    message = min(refused, key=lambda each: sum(_covers(others, each) for others, _, _ in rules)).message.splitlines()[0]
    return message.partition(": ")[2] if message.startswith("Failed to execute") else message


def _closed(accepted: Sequence[Example]) -> set[str]:
    """Return the arguments and options that rules can be about: enumerations, and those of which one value is accepted.

    Not every number or list was seen, so nothing can be said of those that were not.
    """
    seen: dict[str, set[str]] = {}
    for example in accepted:
        for name in example.facts.values:
            seen.setdefault(name, set()).update(_values(example.facts, name, "value"))
    return {name for name, values in seen.items() if len(values) == 1 or all(isinstance(json.loads(each), str | bool) for each in values)}


def _values(facts: Facts, name: str, word: str) -> frozenset[Any]:
    """Return the values of a word: one for an option, several for the operands of a sequence, none if it is missing."""
    operands = facts.operands.get(name, ())
    if word == "constant":
        # A rule requires all operands to be constants, so one that is not breaks it.
        return frozenset([all(each.constant for each in operands)] if operands else ())
    if word == "dataTypes":
        return frozenset(each.descriptor.dataType for each in operands)
    if word == "rankRange":
        return frozenset(len(each.descriptor.dimensions) for each in operands)
    _, value = facts.values.get(name, (name, None))
    if word == "size":
        return frozenset([len(operands)] if operands else [len(value)] if isinstance(value, list) else ())
    return frozenset() if value is None else frozenset([json.dumps(value)])


def _grow(refused: Sequence[Example], accepted: Sequence[Example], closed: set[str]) -> list[_Atom]:
    """Return the atoms of a rule that covers refused calls and no accepted one; none if there is no such rule."""
    grown: list[_Atom] = []
    while accepted and len(grown) < _LONGEST:
        best = max(_atoms(refused, accepted, closed), key=lambda atom: _gain(atom, refused, accepted), default=None)
        if best is None or _gain(best, refused, accepted) <= 0:
            return []
        grown.append(best)
        refused, accepted = ([each for each in examples if best.covers(each)] for examples in (refused, accepted))
    return [] if accepted else grown


def _gain(atom: _Atom, refused: Sequence[Example], accepted: Sequence[Example]) -> float:
    """Measure how much an atom separates refused calls from accepted ones: the gain of FOIL."""
    good, bad = (sum(atom.covers(each) for each in examples) for examples in (refused, accepted))
    if not good:
        return 0.0
    return good * (log2(good / (good + bad)) - log2(len(refused) / (len(refused) + len(accepted))))


def _widen(atoms: Sequence[_Atom], accepted: Sequence[Example]) -> list[_Atom]:
    """Open a range of sizes on the side where no accepted call has any: other sizes may not have been tried together with the rest."""
    widened = list(atoms)
    for index, atom in enumerate(atoms):
        if atom.word == "size":
            others = [each for each in widened if each is not atom]
            sizes = {size for each in accepted if _covers(others, each) for size in _values(each.facts, atom.name, "size")}
            low, high = min(atom.values), max(atom.values)
            # An empty sequence is often a case of its own.
            low = low if any(size < low for size in sizes) else min(low, 1)
            high = high if any(size > high for size in sizes) else _ANY_SIZE - 1
            widened[index] = _Atom(atom.name, "size", frozenset(range(low, high + 1)))
    return widened


def _atoms(refused: Sequence[Example], accepted: Sequence[Example], closed: set[str]) -> Iterator[_Atom]:
    """Yield the atoms of refused calls: for each word the values that some of them have, those that only they have, and parts of these."""
    facts = refused[0].facts
    # The first of the best atoms is taken. Not every size can be written as what must hold; derived values, the last ones, say most.
    names = [(name, word) for name in facts.operands for word in ("constant", "dataTypes", "rankRange", "size")]
    names += [(name, "value") for name in reversed(list(facts.values)) if name in closed]
    names += [(name, "size") for name in facts.values]
    for name, word in names:
        some, others = (frozenset().union(*(_values(each.facts, name, word) for each in examples)) for examples in (refused, accepted))
        parts = {some, some - others}
        if word in ("rankRange", "size"):
            # At most, and at least, each of them.
            parts |= {frozenset(other for other in some if sign * other <= sign * each) for each in some for sign in (1, -1)}
            parts = {frozenset(range(min(values), max(values) + 1)) for values in parts if values}
        else:
            parts |= {frozenset([each]) for each in some}
        yield from (_Atom(name, word, values) for values in sorted(filter(None, parts), key=lambda values: (-len(values), sorted(values))))


def _write(atoms: Sequence[_Atom], limits: Mapping[str, TensorLimits], examples: Sequence[Example]) -> dict[str, Any] | None:
    """Write a rule: what must hold in place of one of the atoms, when the others hold."""
    for atom in sorted(atoms, key=lambda each: _ORDER.index(each.word)):
        test = _invert(atom, limits, examples)
        if test is not None:
            when: dict[str, dict[str, Any]] = {}
            for other in atoms:
                if other is not atom:
                    when.setdefault(other.name, {}).update(_test(other))
            return {"must": {atom.name: test}} | ({"when": when} if when else {})
    return None


def _test(atom: _Atom) -> Test:
    """Write an atom as a test."""
    if atom.word == "constant":
        return {"constant": min(atom.values)}
    if atom.word == "dataTypes":
        return {"dataTypes": [each for each in get_args(DataType) if each in atom.values]}
    if atom.word == "value":
        return _oneOf(atom.values)
    return {atom.word: {"min": min(atom.values)} | ({"max": most} if (most := max(atom.values)) < _ANY_SIZE - 1 else {})}


def _oneOf(values: Iterable[str]) -> Test:
    found = [json.loads(each) for each in sorted(values)]
    return {"equals": found[0]} if len(found) == 1 else {"oneOf": found}


def _invert(atom: _Atom, limits: Mapping[str, TensorLimits], examples: Sequence[Example]) -> Test | None:
    """Write the test that holds where an atom does not; ``None`` if the vocabulary, or the data, does not have it."""
    if atom.word == "constant":
        return {"constant": not min(atom.values)}
    if atom.word == "dataTypes":
        return {"dataTypes": [each for each in limits[atom.name].data_types if each not in atom.values]}
    if atom.word == "value":
        seen = frozenset().union(*(_values(each.facts, atom.name, "value") for each in examples if not each.error)) - atom.values
        return _oneOf(seen) if seen else None
    if atom.word == "size" or atom.name not in limits:
        return None
    low, high = limits[atom.name].ranks
    if min(atom.values) > low:
        return {"rankRange": {"min": low, "max": min(atom.values) - 1}}
    return {"rankRange": {"min": max(atom.values) + 1, "max": high}} if max(atom.values) < high else None
