"""The specification's steps that can throw, and the step at which an error was raised.

The data, one file for each draft, is made by ``tools/extract_steps.py``. ``algorithms`` has each algorithm with such steps by its name: a
method with its interface and arguments, or the term that the draft defines.

section: The anchor of the section.
anchor: The anchor of the term, if it is not a method.
runs: The anchor of the algorithm that a method runs, if the method passes its errors on.
steps: By number: what the step throws (an error; ``"failure"`` or ``"false"`` for what it returns; ``"again"`` for an error of another
    algorithm), a hash of its text, and, for a step that most operations have, its kind and the operands that it is about.

The code cites steps in comments that begin with a tag: docs/spec-coverage.md has the grammar, `webnn.validation.steps.tags` reads them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import pairwise

from webnn.validation.drafts.limits import read_limits
from webnn.validation.steps.tags import tags_of

__all__ = ["Algorithm", "Step", "algorithms_of", "find_step", "load_steps"]

_SUFFIX = ".steps.json"


@dataclass(frozen=True, slots=True)
class Step:
    """A step that can throw.

    Attributes:
        number: Its number, for example ``"5.2"``.
        throws: An error's name; ``"failure"``, ``"false"``, ``"error"`` or ``"again"``.
        digest: A hash of its text.
        kind: One of `webnn.validation.steps.tags.KINDS` for a step that most operations have; otherwise empty.
        operands: The operands that a step with a kind is about.
    """

    number: str
    throws: str
    digest: str
    kind: str = ""
    operands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Algorithm:
    """An algorithm with steps that can throw; see the module."""

    name: str
    section: str
    anchor: str
    runs: str
    steps: Mapping[str, Step]

    @property
    def method(self) -> str:
        """The method's name; empty for an algorithm that is not a method."""
        return "" if self.anchor else self.name.partition("(")[0].removeprefix("new ").rpartition(".")[2]


@cache
def load_steps(draft: str) -> Mapping[str, Algorithm]:
    """Return the algorithms of a draft by name. A draft whose text is not known has those of the draft before it.

    Raises `ValueError` if there are no steps of this draft.
    """
    folder = resources.files("webnn.validation.drafts")
    file = folder / f"{draft}.steps.json"
    if not file.is_file():
        known = sorted(each.name.removesuffix(_SUFFIX) for each in folder.iterdir() if each.name.endswith(_SUFFIX))
        earlier = [each for each in known if each < draft]
        if not earlier or not (folder / f"{draft}.idl.json").is_file():
            raise ValueError(f"there are no steps of a draft {draft!r}")
        return load_steps(earlier[-1])
    return {
        name: Algorithm(
            name,
            entry["section"],
            entry.get("anchor", ""),
            entry.get("runs", ""),
            {
                number: Step(number, throws, digest, kind[0] if kind else "", tuple(kind[1:]))
                for number, (throws, digest, *kind) in entry["steps"].items()
            },
        )
        for name, entry in json.loads(file.read_text(encoding="utf-8"))["algorithms"].items()
    }


def algorithms_of(operation: str, draft: str) -> list[Algorithm]:
    """Return the algorithms of an operation: each of its methods, or the algorithm to which the method delegates."""
    known = load_steps(draft)
    methods = _methods(operation, known)
    if not methods:
        # An operation that the draft's text does not have yet runs the algorithm of those in the same table of limits.
        methods = [each for other in _alike(operation, draft) for each in _methods(other, known) if each.runs][:1]
    by_anchor = {each.anchor: each for each in known.values() if each.anchor}
    return [by_anchor[each.runs] if each.runs else each for each in methods]


def _methods(operation: str, known: Mapping[str, Algorithm]) -> list[Algorithm]:
    return [each for each in known.values() if each.name.startswith(f"MLGraphBuilder.{operation}(")]


@cache
def _alike(operation: str, draft: str) -> tuple[str, ...]:
    """Return the other operations in an operation's table of limits; none if the draft has no such table."""
    if not (resources.files("webnn.validation.drafts") / f"{draft}.limits.json").is_file():
        return ()
    operations = read_limits(draft).operations
    return tuple([name for name, rows in operations.items() if rows is operations.get(operation) and name != operation])


def find_step(frames: tuple[tuple[str, int], ...], draft: str, operation: str, argument: str) -> str:
    """Return the number of the step at which an error was made; empty if none is known.

    ``frames`` are the modules and lines that were running, the innermost first; ``argument`` is the one at fault.
    """
    tags = [tag for module, line in reversed(frames) if (tag := tags_of(module).get(line)) is not None]
    for outer, inner in pairwise([*tags, None]):
        cites = outer.cites(draft) if outer is not None else ()
        if not cites:
            continue
        if cites[0].is_kind:
            return _of_kind(cites[0].number, draft, operation, argument)
        if len(cites) > 1 and inner is not None:
            letters = inner.cites(draft)
            if letters and letters[0].is_letter:
                return cites[letters[0].position].number
        return cites[0].number
    return ""


def _of_kind(kind: str, draft: str, operation: str, argument: str) -> str:
    """Return the number of an operation's step of a kind, for the operand at fault."""
    try:
        steps = [step for each in algorithms_of(operation, draft) for step in each.steps.values() if step.kind == kind]
    except ValueError:  # a draft without data
        return ""
    name = re.sub(r"\[.*", "", argument.rpartition(".")[2])
    return next((step.number for step in steps if not step.operands or name in step.operands), "")
