"""Objects that lie, raise, or never end: whatever Python lets a program pass."""

from __future__ import annotations

import decimal
import fractions
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from webnn import MLOperand

__all__ = ["Pairs", "Raising", "hostile"]


class Fault(Exception):
    """The exception that the objects raise; its own text raises, too."""

    def __str__(self) -> str:
        raise ZeroDivisionError

    __repr__ = __str__


def _raise(*_: object, **__: object) -> Any:
    raise Fault


class _RaisingType(type):
    """The class itself raises when it is hashed, or asked for its name."""

    __hash__ = __getattribute__ = _raise


#: The methods and attributes that conversion, messages and containers may ask for.
_NUMBER = ("__index__", "__int__", "__float__", "__bool__", "__eq__", "__lt__", "__hash__")
_TEXT = ("__repr__", "__str__", "__format__")
_CONTAINER = ("__iter__", "__next__", "__len__", "__getitem__", "__contains__", "items", "keys", "values", "get")
_ARRAY = ("__array__", "__buffer__", "ndim", "shape", "dtype")
_ALL: dict[str, Any] = dict.fromkeys((*_NUMBER, *_TEXT, *_CONTAINER, *_ARRAY), _raise)


class Raising:
    """Raises an exception of the program when it is used as a number, or as a sequence.

    Args:
        error: The exception.
    """

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __index__(self) -> int:
        raise self.error

    def __float__(self) -> float:
        raise self.error

    def __iter__(self) -> Iterator[object]:
        raise self.error


def _claims(kind: type) -> object:
    """Make an object that says it is of a class, and is not."""
    return type("Claims", (), {"__class__": property(lambda _: kind)})()


def _returns(**results: object) -> object:
    """Make an object whose methods return something, of the right type or not."""
    return type("Returns", (), {f"__{name}__": lambda _, result=result: result for name, result in results.items()})()


class _Halfway:
    """Yields one element, and raises then."""

    def __iter__(self) -> Iterator[int]:
        yield 1
        raise Fault


class _Growing(list[Any]):
    """A list in which each element that is converted adds one more."""

    def __init__(self) -> None:
        super().__init__([self])

    def __index__(self) -> int:
        self.append(self)
        return 1


class Pairs(Mapping[Any, Any]):
    """A mapping whose entries are anything.

    Args:
        entries: The result of its method ``items``.
    """

    def __init__(self, entries: Any) -> None:
        self.entries = entries

    def __getitem__(self, key: object) -> Any:
        raise Fault

    __iter__ = __len__ = _raise

    def items(self) -> Any:
        return self.entries


def _lying(kind: type, *arguments: object) -> object:
    """Make an object of a subclass of a built-in class, of which nearly every method raises."""
    methods = {name: value for name, value in _ALL.items() if name != "__next__"}
    return type("Lying", (kind,), methods)(*arguments)


@cache
def _deep(depth: int) -> list[Any]:
    nested: list[Any] = []
    for _ in range(depth):
        nested = [nested]
    return nested


def _circle() -> list[Any]:
    circle: list[Any] = []
    circle.append(circle)
    return circle


def _array() -> object:
    lies = {name: property(_raise) for name in ("dtype", "shape", "ndim", "nbytes", "size", "base", "flags")}
    return np.ones(2).view(type("Lying", (np.ndarray,), {**lies, "__array__": _raise, "__iter__": _raise, "__index__": _raise}))


def hostile(operand: MLOperand) -> Sequence[Callable[[], Any]]:
    """Return functions that make the objects; an iterator can be used once.

    Args:
        operand: An operand, which some of them yield.
    """
    return [
        type("Raising", (), _ALL),
        _RaisingType("Raising", (), dict(_ALL)),
        type("Class", (), {"__class__": property(_raise), "__repr__": _raise}),
        *(lambda kind=kind: _claims(kind) for kind in (int, float, str, list, dict, bool, np.ndarray, MLOperand)),  # type: ignore[misc]
        *(lambda error=error: Raising(error) for error in (Fault(), StopIteration(), RecursionError(), MemoryError(), ValueError())),  # type: ignore[misc]
        lambda: _lying(int, 1),
        lambda: _lying(float, 1.5),
        lambda: _lying(str, "float32"),
        lambda: _lying(str, "1"),
        lambda: _lying(list, [1, 2]),
        lambda: _lying(tuple, (1, 2)),
        lambda: _lying(dict, {"axes": 1}),
        lambda: _lying(bytes, b"1"),
        _array,
        lambda: _returns(index="1", float="1", repr=1, len=-1, iter=3),
        lambda: _returns(index=True, float=float("nan")),
        lambda: _returns(iter=iter([Fault, 1])),
        lambda: _returns(iter=itertools.count()),
        _Halfway,
        _Growing,
        partial(itertools.count, 1),
        partial(itertools.repeat, operand),
        partial(itertools.repeat, "tanh"),
        lambda: (1 // each for each in (1, 0)),
        lambda: map(operand.__getattribute__, ("dataType", "nothing")),
        lambda: Pairs(None),
        lambda: Pairs(itertools.repeat(("axes", 1))),
        lambda: Pairs([1]),
        lambda: Pairs([([], 1), (_lying(str, "axes"), 1), (1, 2), ("\ud800", operand)]),
        lambda: _deep(5_000),
        _circle,
        lambda: 10**5_000,
        lambda: -(10**5_000),
        lambda: "1" * 5_000,
        lambda: "0x" + "f" * 5_000,
        lambda: "\ud800\u202e\x1b[31m\n",
        lambda: "x" * 10**6,
        lambda: b"x" * 10**6,
        lambda: decimal.Decimal("sNaN"),
        lambda: decimal.Decimal("1e999999"),
        lambda: fractions.Fraction(10**400),
        lambda: fractions.Fraction(10**5_000),
        lambda: np.longdouble(2),
        lambda: np.longdouble("1e4000"),
        lambda: np.array(np.longdouble(2)),
        lambda: np.timedelta64(1),
        lambda: np.void(b"12"),
        lambda: np.array(_returns(index=1)),
        lambda: np.array([None, operand]),
    ]
