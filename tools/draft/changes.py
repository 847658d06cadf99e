"""The differences between two drafts: interfaces, limits, and the steps that can throw."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from tools.draft.source import Source
from tools.steps import cited, reach
from webnn.validation.drafts import DRAFTS_WITH_TEXT
from webnn.validation.drafts.idl import Idl, IdlMember, IdlOperation
from webnn.validation.steps import load_steps

__all__ = ["BUILDER", "StepChange", "What", "compare_limits", "compare_steps", "members_of", "methods_of"]

What = Literal["new", "changed", "moved", "gone"]

BUILDER = "MLGraphBuilder"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepChange:
    """A step that one of two drafts lacks, or has in another form.

    Attributes:
        algorithm: The algorithm's name, in the later draft if that has it.
        what: Whether the step is new, gone, changed in its text, or moved to another number.
        before: Its number in the earlier draft; empty for a new one.
        after: Its number in the later draft; empty for one that is gone.
        throws: The error.
        places: The functions of this package that cite the earlier step, as ``"file:line function"``.
        test: The test that reaches the earlier step; empty if none is known.
    """

    algorithm: str
    what: What
    before: str
    after: str
    throws: str
    places: tuple[str, ...] = ()
    test: str = ""


def methods_of(idl: Idl) -> dict[str, list[IdlOperation]]:
    """Return the methods of ``MLGraphBuilder``: the overloads by their name."""
    found: defaultdict[str, list[IdlOperation]] = defaultdict(list)
    for operation in idl["interfaces"][BUILDER].get("operations", ()):
        found[operation["name"]].append(operation)
    return dict(found)


def members_of(idl: Idl, dictionary: str) -> dict[str, IdlMember]:
    """Return the members of a dictionary by name, those that it inherits among them; none if there is no such dictionary."""
    found: dict[str, IdlMember] = {}
    name: str | None = dictionary
    while name is not None and name in idl["dictionaries"]:
        found = {**{each["name"]: each for each in idl["dictionaries"][name]["members"]}, **found}
        name = idl["dictionaries"][name].get("inherits")
    return found


# Limits


def compare_limits(old: Source, new: Source) -> list[str]:
    """Return what differs between the tables of limits, a line for each operand."""
    before, after = map(_rows, (old, new))
    lines = []
    for key in sorted(before.keys() | after.keys()):
        one, other = before.get(key), after.get(key)
        if one == other:
            continue
        place = ".".join(key)
        if one is None or other is None:
            lines.append(f"{'-' if other is None else '+'} {place}: {_write_row((one if other is None else other) or {})}")
            continue
        changes = [f"{name}: {_write(one.get(name))} -> {_write(other.get(name))}" for name in _ordered(one, other)]
        lines.append(f"  {place}: {'; '.join(changes)}")
    return lines


def _rows(source: Source) -> dict[tuple[str, str], Mapping[str, Any]]:
    tables = {} if source.limits is None else source.limits["tables"]
    return {
        (operation, operand): row
        for table in tables.values()
        for operation in table["operations"]
        for operand, row in table["operands"].items()
    }


def _ordered(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    return [name for name in dict.fromkeys([*one, *other]) if one.get(name) != other.get(name)]


def _write_row(row: Mapping[str, Any]) -> str:
    return "; ".join([f"{name}: {_write(value)}" for name, value in row.items()])


def _write(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, dict):
        return f"that of {value['sameAs']}"
    if isinstance(value, list):
        return ", ".join("N" if each is None else str(each) for each in value)
    return str(value) if isinstance(value, str) else json.dumps(value)


# Steps


def compare_steps(old: Source, new: Source) -> list[StepChange]:
    """Return the steps that differ, in the order of the later draft; those of algorithms that are gone come last."""
    pairs = _pair(old.algorithms, new.algorithms)
    found: list[StepChange] = []
    for name, entry in new.algorithms.items():
        before = pairs.get(name)
        known = {} if before is None else old.algorithms[before]["steps"]
        found += _compare_algorithm(name, before or name, known, entry["steps"])
    kept = set(pairs.values())
    for name, entry in old.algorithms.items():
        if name not in kept:
            found += _compare_algorithm(name, name, entry["steps"], {})
    return found


def _pair(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, str]:
    """Return the earlier name of each algorithm: the same; the same method with other arguments; or one with the same anchor."""
    pairs = {name: name for name in new if name in old}
    for key in (_method, _anchor):
        rest = [name for name in old if name not in pairs.values()]
        for name in [each for each in new if each not in pairs]:
            wanted = key(name, new[name])
            same = [each for each in rest if wanted and key(each, old[each]) == wanted]
            if len(same) == 1:
                pairs[name] = same[0]
                rest.remove(same[0])
    return pairs


def _method(name: str, algorithm: Mapping[str, Any]) -> str:
    return "" if "anchor" in algorithm else name.partition("(")[0]


def _anchor(_: str, algorithm: Mapping[str, Any]) -> str:
    return str(algorithm.get("anchor", ""))


def _compare_algorithm(name: str, former: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[StepChange]:
    """Yield the changes between the steps of an algorithm. Steps that throw another algorithm's error again are left out."""
    rest, come = ({number: entry for number, entry in steps.items() if entry[0] != "again"} for steps in (old, new))
    matched: dict[str, str] = {}

    def match(test: Callable[[str, str], bool]) -> None:
        for number in [each for each in come if each not in matched]:
            if same := [each for each in rest if each not in matched.values() and test(each, number)]:
                matched[number] = same[0]

    # The same text at the same number, the same text elsewhere, another text at the same number.
    match(lambda one, other: one == other and rest[one][1] == come[other][1])
    match(lambda one, other: bool(rest[one][1] == come[other][1]))
    match(lambda one, other: one == other)
    for number, (throws, digest, *_) in come.items():
        before = matched.get(number, "")
        if not before:
            yield StepChange(algorithm=name, what="new", before="", after=number, throws=throws)
        elif (rest[before][1], before) != (digest, number):
            what: What = "moved" if rest[before][1] == digest else "changed"
            places, test = _known(former, before, rest[before][1])
            yield StepChange(algorithm=name, what=what, before=before, after=number, throws=throws, places=places, test=test)
    for number, (throws, digest, *_) in rest.items():
        if number not in matched.values():
            places, test = _known(former, number, digest)
            yield StepChange(algorithm=name, what="gone", before=number, after="", throws=throws, places=places, test=test)


def _known(algorithm: str, number: str, digest: str) -> tuple[tuple[str, ...], str]:
    """Return where the code cites a step with some text, and the test that reaches it: the step of this number, if there are several."""
    found = _index().get((algorithm.partition("(")[0], digest), {})
    return found.get(number) or next(iter(found.values()), ((), ""))


@cache
def _index() -> dict[tuple[str, str], dict[str, tuple[tuple[str, ...], str]]]:
    """Return the places and the test of each step of the chain's drafts: by the algorithm and the text, and by the number."""
    found: defaultdict[tuple[str, str], dict[str, tuple[tuple[str, ...], str]]] = defaultdict(dict)
    tests = reach.load()
    for draft in DRAFTS_WITH_TEXT:
        for algorithm in load_steps(draft).values():
            for number, step in algorithm.steps.items():
                key = draft, algorithm.name, number
                citations = cited.citations().get(key, ())
                places = dict.fromkeys([f"{each.function.path}:{each.tag.line} {each.function.name}" for each in citations])
                found[algorithm.name.partition("(")[0], step.digest][number] = tuple(places), tests.get(key, "")
    return dict(found)
