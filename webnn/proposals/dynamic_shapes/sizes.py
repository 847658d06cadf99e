"""Sizes that are not known yet, as numbers with which the validators of the draft compute: `Size`.

A comparison whose answer is not known has two answers. `explore` runs a validator once for each combination of answers (`Path`) that it
asks for, and keeps the results of those that it does not refuse.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any, Generic, TypeVar, overload

import numpy as np

from webnn.validation.errors import WebNNTypeError

__all__ = ["Atom", "Explored", "Path", "Size", "Terms", "describe_terms", "explore", "order_terms"]

R = TypeVar("R")
#: An unknown number: the name of a dimension, or the key of a quotient.
Atom = object
#: A polynomial with integer coefficients: for each product of atoms its coefficient, none of them 0.
Terms = Mapping[tuple[Atom, ...], int]

#: How often a validator runs, how many questions one run may ask, and how many values an index may have.
_MOST_RUNS, _MOST_CHOICES, _MOST_VALUES = 256, 128, 16
#: The most terms of an exact quotient.
_MOST_TERMS = 64
#: Larger than every number that a validator computes.
_HUGE = 2**600


class _UndecidedError(Exception):
    """A run would need too many answers."""


class Path:
    """The answers of one run: those that are given, then the first possible ones."""

    def __init__(self, given: list[int]) -> None:
        self._given = given
        self._taken: list[tuple[int, int]] = []
        self._answers: dict[object, int] = {}
        #: The smallest and the largest value of each atom.
        self._bounds: dict[Atom, tuple[int, int]] = {}
        self._count = 0

    def choose(self, count: int) -> int:
        """Return one of several answers, a number below ``count``."""
        position = len(self._taken)
        if position >= _MOST_CHOICES:
            raise _UndecidedError
        answer = self._given[position] if position < len(self._given) else 0
        self._taken.append((answer, count))
        return answer

    def choose_once(self, key: object, count: int) -> int:
        """Return the answer to a question that may come again."""
        if key not in self._answers:
            self._answers[key] = self.choose(count)
        return self._answers[key]

    def next(self) -> list[int] | None:
        """Return the first answers of the run after this one; ``None`` if this is the last one."""
        taken = list(self._taken)
        while taken:
            answer, count = taken.pop()
            if answer + 1 < count:
                return [each for each, _ in taken] + [answer + 1]
        return None

    def named(self, atom: Atom, smallest: int, largest: int) -> Size:
        """Return the size of a dimension with a name."""
        self._bounds.setdefault(atom, (smallest, largest))
        return Size(self, {(atom,): 1})

    def known(self, atom: Atom) -> int | None:
        """Return the size of a dimension with a name, if these answers leave only one."""
        low, high = self._bounds.get(atom, (0, 1))
        return low if low == high else None

    def fresh(self, smallest: int, largest: int) -> Size:
        """Return a number of which nothing else is known."""
        self._count += 1
        return self.named(("fresh", self._count), smallest, largest)

    def quotient(self, dividend: Size, divisor: Size) -> Size:
        """Return a quotient, rounded down."""
        atom = ("//", dividend.key, divisor.key)
        if atom not in self._bounds:
            (low, high), (least, most) = dividend.bounds(), divisor.bounds()
            ends = (-_HUGE, _HUGE) if least <= 0 else [number // each for number in (low, high) for each in (least, most)]
            self._bounds[atom] = min(ends), max(ends)
        return Size(self, {(atom,): 1})

    def hash(self, size: Size) -> int:
        """Return the hash of a size, that of the number that it is: equality is a question, which may have two answers."""
        return hash(size.__index__())

    def index(self, size: Size) -> int:
        """Return the number that a size is, of a few that it can be."""
        low, high = size.bounds()
        for value in range(low, min(high, low + _MOST_VALUES) + 1):
            if size == value:
                return value
        raise _UndecidedError

    def text(self, size: Size) -> str:
        """Return a size as messages show it."""
        return repr(size)

    def bounds(self, terms: Terms) -> tuple[int, int]:
        """Return the smallest and the largest value that a polynomial can have, where that is easy to see."""
        least = most = 0
        for atoms, coefficient in terms.items():
            low = high = coefficient
            for atom in atoms:
                products = [each * end for each in (low, high) for end in self._bounds[atom]]
                low, high = min(products), max(products)
            least, most = least + low, most + high
        return least, most

    def is_zero(self, terms: Terms) -> bool:
        """Tell whether a polynomial is 0; if that is not known, the answer is one of two."""
        low, high = self.bounds(terms)
        divisor = math.gcd(*[each for atoms, each in terms.items() if atoms]) or 1
        if low > 0 or high < 0 or terms.get((), 0) % divisor:
            return False
        if low == high:
            return True
        return self._ask("== 0", terms)

    def is_negative(self, terms: Terms) -> bool:
        """Tell whether a polynomial is less than 0, likewise."""
        low, high = self.bounds(terms)
        return high < 0 or (low < 0 and self._ask("< 0", terms))

    def _ask(self, question: str, terms: Terms) -> bool:
        key = question, frozenset(terms.items())
        if key not in self._answers:
            self._learn(question, terms, holds=self.choose_once(key, 2) == 0)
        return self._answers[key] == 0

    def _learn(self, question: str, terms: Terms, *, holds: bool) -> None:
        """Narrow the bounds of an atom that alone decides the question: that of ``factor * atom + rest``."""
        others = [atoms for atoms in terms if atoms]
        if len(others) != 1 or len(others[0]) != 1:
            return
        [(atom,)] = others
        factor, rest = terms[others[0]], terms.get((), 0)
        low, high = self._bounds[atom]
        if question == "== 0":
            value = -rest // factor
            if holds:
                low = high = value
            else:
                low, high = low + (low == value), high - (high == value)
        elif (factor > 0) == holds:
            # factor * atom < -rest, or factor * atom >= -rest with a negative factor.
            high = min(high, (-rest - 1) // factor if factor > 0 else -rest // factor)
        else:
            low = max(low, -(rest // factor) if factor > 0 else (-rest) // factor + 1)
        self._bounds[atom] = low, high


class Size:
    """An integer that is not known: a polynomial in atoms; the path answers the questions that it asks.

    Code that needs a number, such as an array of integers, asks for it (`__index__`).
    """

    __slots__ = ("path", "terms")

    def __init__(self, path: Path, terms: Terms) -> None:
        self.path = path
        self.terms = terms

    @property
    def key(self) -> frozenset[tuple[tuple[Atom, ...], int]]:
        """The polynomial, as an object that can be hashed."""
        return frozenset(self.terms.items())

    @property
    def name(self) -> Atom | None:
        """The atom that it is; ``None`` if it is another polynomial."""
        if len(self.terms) != 1:
            return None
        [(atoms, factor)] = self.terms.items()
        return atoms[0] if factor == 1 and len(atoms) == 1 else None

    def bounds(self) -> tuple[int, int]:
        """Return the smallest and the largest value that it can have."""
        return self.path.bounds(self.terms)

    def _of(self, other: Integer) -> Size:
        return other if isinstance(other, Size) else Size(self.path, {(): int(other)} if other else {})

    def _sum(self, other: Integer, factor: int) -> Size:
        terms = dict(self.terms)
        for atoms, each in self._of(other).terms.items():
            terms[atoms] = terms.get(atoms, 0) + factor * each
        return Size(self.path, {atoms: each for atoms, each in terms.items() if each})

    def __add__(self, other: Integer) -> Size:
        return self._sum(other, 1) if isinstance(other, _INTEGERS) else NotImplemented

    __radd__ = __add__

    def __sub__(self, other: Integer) -> Size:
        return self._sum(other, -1) if isinstance(other, _INTEGERS) else NotImplemented

    def __rsub__(self, other: Integer) -> Size:
        return -self + other

    def __neg__(self) -> Size:
        return Size(self.path, {atoms: -each for atoms, each in self.terms.items()})

    @overload
    def __mul__(self, other: Fraction) -> _Scaled: ...
    @overload
    def __mul__(self, other: Integer) -> Size: ...
    def __mul__(self, other: Fraction | Integer) -> Size | _Scaled:
        if isinstance(other, Fraction):
            return _Scaled(self, other)
        if not isinstance(other, _INTEGERS):
            return NotImplemented
        terms: dict[tuple[Atom, ...], int] = {}
        for atoms, each in self.terms.items():
            for more, factor in self._of(other).terms.items():
                product = tuple(sorted(atoms + more, key=repr))
                terms[product] = terms.get(product, 0) + each * factor
        return Size(self.path, {atoms: each for atoms, each in terms.items() if each})

    def __rmul__(self, other: Integer) -> Size:
        return self * other if isinstance(other, _INTEGERS) else NotImplemented

    def __floordiv__(self, other: Integer) -> Size:
        if not isinstance(other, _INTEGERS):
            return NotImplemented
        if not isinstance(other, Size) and all(each % int(other) == 0 for each in self.terms.values()):
            return Size(self.path, {atoms: each // int(other) for atoms, each in self.terms.items()})
        divisor = self._of(other)
        exact = _divide(self.terms, divisor.terms) if divisor.bounds()[0] > 0 else None
        return self.path.quotient(self, divisor) if exact is None else Size(self.path, exact)

    def __rfloordiv__(self, other: Integer) -> Size:
        return self.path.quotient(self._of(other), self)

    def __mod__(self, other: Integer) -> Size:
        return self - self // other * self._of(other) if isinstance(other, _INTEGERS) else NotImplemented

    def __rmod__(self, other: Integer) -> Size:
        return -(other // self * self) + other

    def __truediv__(self, other: float) -> float:
        return self.__index__() / other

    def __rtruediv__(self, other: float) -> float:
        return other / self.__index__()

    def __eq__(self, other: object) -> bool:
        return self.path.is_zero(self._sum(other, -1).terms) if isinstance(other, _INTEGERS) else NotImplemented

    def __hash__(self) -> int:
        return self.path.hash(self)

    def __lt__(self, other: Integer) -> bool:
        return self.path.is_negative((self - other).terms)

    def __gt__(self, other: Integer) -> bool:
        return self.path.is_negative((-self + other).terms)

    def __le__(self, other: Integer) -> bool:
        return not self > other

    def __ge__(self, other: Integer) -> bool:
        return not self < other

    def __bool__(self) -> bool:
        return not self.path.is_zero(self.terms)

    def __index__(self) -> int:
        return self.path.index(self)

    __int__ = __index__

    def __float__(self) -> float:
        return float(self.__index__())

    def __str__(self) -> str:
        return self.path.text(self)

    def __repr__(self) -> str:
        name = self.name
        if isinstance(name, str):
            return repr(str(name))
        return describe_terms(self.terms)


#: A number beside a size.
Integer = int | Size | np.integer[Any]
_INTEGERS = (int, Size, np.integer)


class _Scaled:
    """A size times a fraction, of which only the integer part is asked for."""

    def __init__(self, size: Size, factor: Fraction) -> None:
        self._size = size
        self._factor = factor

    def __floor__(self) -> Size:
        return self._size * self._factor.numerator // self._factor.denominator


def _divide(dividend: Terms, divisor: Terms) -> Terms | None:
    """Return the quotient of two polynomials that leaves no remainder; ``None`` if there is none."""
    rest, quotient = dict(dividend), dict[tuple[Atom, ...], int]()
    first = max(divisor, key=_order)
    for _ in range(_MOST_TERMS):
        if not rest:
            return quotient
        atoms = max(rest, key=_order)
        left = list(atoms)
        for atom in first:
            if atom not in left:
                return None
            left.remove(atom)
        factor, remainder = divmod(rest[atoms], divisor[first])
        if remainder:
            return None
        quotient[tuple(left)] = factor
        for more, each in divisor.items():
            product = tuple(sorted((*left, *more), key=repr))
            rest[product] = rest.get(product, 0) - factor * each
            if not rest[product]:
                del rest[product]
    return None


def _order(atoms: tuple[Atom, ...]) -> tuple[int, list[str]]:
    """Return the place of a product among others, that larger products of the same atoms keep."""
    return len(atoms), sorted(map(repr, atoms))


def order_terms(terms: Iterable[tuple[tuple[Atom, ...], int]]) -> Terms:
    """Return the terms of a polynomial, which may come in any order, in one order: products first, the number last."""
    return dict(sorted(terms, key=lambda term: (-len(term[0]), " * ".join(map(_show, term[0])))))


def describe_terms(terms: Terms) -> str:
    """Write a polynomial for people."""
    text = ""
    for atoms, factor in terms.items():
        product = " * ".join([*([str(abs(factor))] if abs(factor) != 1 or not atoms else []), *map(_show, atoms)])
        sign = "-" if factor < 0 else "+" if text else ""
        text += f" {sign} {product}" if text else f"{sign}{product}"
    return text or "0"


def _show(atom: Atom) -> str:
    if isinstance(atom, str):
        return str(atom)
    if isinstance(atom, tuple) and atom[0] == "//":
        dividend, divisor = (describe_terms(order_terms(each)) for each in atom[1:])
        return f"({dividend} // {divisor})"
    return "?"


class Explored(Generic[R]):
    """The results of those runs of a validator that passed, at least one, and their answers. It is complete if there are no other runs."""

    __slots__ = ("complete", "paths", "results")

    def __init__(self, results: list[R], paths: list[Path], *, complete: bool) -> None:
        self.results = results
        self.paths = paths
        self.complete = complete


def explore(run: Callable[[Path], R]) -> Explored[R]:
    """Run a validator with all answers to the questions that it asks.

    Raises:
        WebNNTypeError: It refuses all of them: that of the run that asked most.
    """
    given: list[int] = []
    results: list[R] = []
    paths: list[Path] = []
    errors: list[tuple[int, WebNNTypeError]] = []
    complete = True
    for _ in range(_MOST_RUNS):
        path = Path(given)
        try:
            results.append(run(path))
            paths.append(path)
        except WebNNTypeError as error:
            errors.append((len(path._taken), error))
        except _UndecidedError:
            complete = False
        following = path.next()
        if following is None:
            break
        given = following
    else:
        complete = False
    if not results:
        raise max(errors, key=lambda each: each[0])[1]
    return Explored(results, paths, complete=complete)
