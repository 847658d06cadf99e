"""Sizes that are known, and yet stay names: a run with them notes which facts about them it used, so that others can share its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from webnn.proposals.dynamic_shapes.sizes import Atom, Path, Size, Terms

__all__ = ["Apply", "Facts", "Recording", "answer_question", "compile_facts", "evaluate"]

_Key = frozenset[tuple[tuple[Atom, ...], int]]
_Question = tuple[str, _Key]
#: Questions, the polynomials that they are about, and the answers.
Facts = list[tuple[str, Terms, int]]
#: Takes sizes; returns values, or nothing.
Apply = Callable[[Sequence[int]], "tuple[int, ...] | None"]
#: The comparison for a question and the number of its answer.
_TESTS = {("== 0", 0): "== 0", ("== 0", 1): "!= 0", ("< 0", 0): "< 0", ("< 0", 1): ">= 0"}


class Recording(Path):
    """A run with one set of sizes. It notes the answer to each question that it asks; other sizes with the same answers have its result.

    A size that has to be a number asks whether it is that number. So the result is that of this size alone.

    Args:
        sizes: The size of each name.
    """

    def __init__(self, sizes: Mapping[str, int]) -> None:
        super().__init__([])
        self.sizes = dict(sizes)
        self._values: dict[Atom, int] = dict(sizes.items())

    def choose_once(self, key: object, count: int) -> int:
        """Return the answer that the sizes give, the number 0 if it is yes."""
        if key not in self._answers:
            question, terms = cast(_Question, key)
            self._answers[key] = answer_question(question, dict(terms), self._values)
        return self._answers[key]

    def index(self, size: Size) -> int:
        """Return the number that a size is, and note that the result depends on it."""
        value = evaluate(size.terms, self._values)
        # This question is the note. An assertion would not be asked with `python -O`.
        if size != value:
            raise ValueError(f"{size!r} is not {value}")
        return value

    def text(self, size: Size) -> str:
        """Return the number that a size is, as text."""
        return str(self.index(size))

    def facts(self) -> Facts:
        """Return what was noted, the last facts first: the engine's translation asks for the narrowest ones."""
        noted = cast("list[tuple[_Question, int]]", [*self._answers.items()])
        return [(question, dict(terms), answer) for (question, terms), answer in reversed(noted)]


def compile_facts(facts: Facts, sums: Sequence[Terms], names: Sequence[str]) -> Apply:
    """Return a function of the sizes of some names, in their order: the values of polynomials if the facts hold, otherwise nothing.

    It is Python code, which takes a fraction of the time of reading the facts each time. No name is a part of the code.
    """
    places: dict[Atom, str] = {name: f"n[{index}]" for index, name in enumerate(names)}
    tests = [f"({_write(terms, places)} {_TESTS[question, answer]})" for question, terms, answer in facts]
    values = "".join([f"{_write(terms, places)}, " for terms in sums])
    apply: Apply = eval(f"lambda n: ({values}) if {' and '.join(tests) or 'True'} else None")
    return apply


def _write(terms: Terms, places: Mapping[Atom, str]) -> str:
    return " + ".join([" * ".join([str(factor), *[_write_atom(atom, places) for atom in atoms]]) for atoms, factor in terms.items()]) or "0"


def _write_atom(atom: Atom, places: Mapping[Atom, str]) -> str:
    if atom in places:
        return places[atom]
    _, dividend, divisor = cast("tuple[str, _Key, _Key]", atom)
    return f"(({_write(dict(dividend), places)}) // ({_write(dict(divisor), places)}))"


def answer_question(question: str, terms: Terms, values: dict[Atom, int]) -> int:
    """Return the answer to a question about a polynomial, the number 0 if it is yes."""
    value = evaluate(terms, values)
    return int(value != 0 if question == "== 0" else value >= 0)


def evaluate(terms: Terms, values: dict[Atom, int]) -> int:
    """Return the value of a polynomial; quotients are added to the values of the atoms."""
    total = 0
    for atoms, factor in terms.items():
        product = factor
        for atom in atoms:
            if atom not in values:
                _, dividend, divisor = cast("tuple[str, _Key, _Key]", atom)
                values[atom] = evaluate(dict(dividend), values) // evaluate(dict(divisor), values)
            product *= values[atom]
        total += product
    return total
