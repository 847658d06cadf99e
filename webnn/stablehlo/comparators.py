"""Comparators of `sort`: what is computed of one element comes first, once for each element; then keys are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from webnn.hlo.attributes import Attribute
from webnn.hlo.ir import Operation, Region
from webnn.hlo.ir import Value as HloValue
from webnn.importing.steps import normalize_axis
from webnn.importing.values import Refused
from webnn.stablehlo.node import Node

__all__ = ["Comparator", "Comparison", "find_axis", "split_comparator", "uses"]

_DESCENDING: Mapping[str, bool] = {"LT": False, "LE": False, "GT": True, "GE": True}


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparator that compares one key of two elements: the greater one comes first, or in the total order of floating-point numbers."""

    is_descending: bool
    is_total: bool


@dataclass(frozen=True, slots=True)
class Comparator:
    """A comparator in two parts.

    The first one takes all arguments of the region, of which each pair is the same, and returns the keys of an element. The rest takes some
    of these of the first and of the second element, and tells whether the first comes before the second. It may be one comparison.
    """

    keys: Region
    first: tuple[int, ...]
    second: tuple[int, ...]
    rest: Region
    comparison: Comparison | None


def find_axis(node: Node) -> int | None:
    """Return the dimension that `sort` orders, whose operands fit; None if there is nothing to do."""
    values = node.values()
    if not values or len(values) != len(node.types) or any(value.shape != values[0].shape for value in values):
        raise Refused(f"the operands must have one shape, and a result each, got {[list(value.shape) for value in values]}")
    shape = values[0].shape
    for index in range(len(values)):
        node.fit(shape, index)
    axis = normalize_axis("dimension", node.integer("dimension", -1), len(shape)) if shape else 0
    return axis if shape and shape[axis] >= 2 and 0 not in shape else None


def split_comparator(regions: Sequence[Region], count: int) -> Comparator:
    """Split the comparator of ``count`` operands; refuse anything but one region with two arguments for each operand and one result."""
    if len(regions) != 1 or len(regions[0].arguments) != 2 * count or len(regions[0].results) != 1:
        raise Refused(f"there must be a region of {2 * count} arguments and one result")
    return _Split(regions[0]).run()


class _Split:
    def __init__(self, region: Region) -> None:
        self._region = region
        #: Which elements a value depends on: a set of 0 for the first one and 1 for the second one.
        self._sides: dict[HloValue, frozenset[int]] = {}
        #: The computation of a value; equal if it is the same for the first element and for the second one.
        self._meanings: dict[HloValue, Any] = {}
        self._makers: dict[HloValue, Operation] = {}
        numbers: dict[object, int] = {}
        for index, argument in enumerate(region.arguments):
            self._sides[argument] = frozenset({index % 2})
            self._meanings[argument] = numbers.setdefault(("argument", index // 2), len(numbers))
        for operation in region.operations:
            sides = frozenset[int]().union(*(self._sides.get(value, frozenset()) for value in uses(operation)))
            if operation.regions:
                # It may compare anything.
                meaning: object = operation
            else:
                attributes = tuple([(name, _freeze(value)) for name, value in sorted(operation.attributes.items())])
                meaning = (operation.name, attributes, tuple([self._meanings.get(value, value) for value in operation.operands]))
            for index, result in enumerate(operation.results):
                self._sides[result] = sides
                # Numbers, because the meanings of a chain would grow.
                self._meanings[result] = numbers.setdefault((meaning, index), len(numbers))
                self._makers[result] = operation

    def run(self) -> Comparator:
        (result,) = self._region.results
        both = self._needed([result], lambda sides: len(sides) == 2)
        taken = [result, *(value for operation in both for value in uses(operation))]
        borders = [list(dict.fromkeys(value for value in taken if self._sides.get(value, frozenset()) == {side})) for side in (0, 1)]
        # A key that is taken of both elements is computed once.
        keys: dict[object, HloValue] = {}
        for value in (*borders[0], *borders[1]):
            keys.setdefault(self._meanings[value], value)
        meanings = list(keys)
        first, second = (tuple([meanings.index(self._meanings[value]) for value in border]) for border in borders)
        constants = self._needed(taken, lambda sides: not sides)
        chosen = list(keys.values())
        return Comparator(
            keys=_make(self._region.arguments, self._needed(chosen, lambda sides: len(sides) < 2), chosen),
            first=first,
            second=second,
            rest=_make([*borders[0], *borders[1]], [*constants, *both], [result]),
            comparison=self._find_comparison(result, both),
        )

    def _needed(self, values: Sequence[HloValue], wanted: Any) -> list[Operation]:
        """Return the operations that compute values, in their order, if their results depend on the wanted elements."""
        found: set[int] = set()
        waiting = list(values)
        while waiting:
            value = waiting.pop()
            maker = self._makers.get(value)
            if maker is not None and id(maker) not in found and wanted(self._sides[value]):
                found.add(id(maker))
                waiting += uses(maker)
        return [operation for operation in self._region.operations if id(operation) in found]

    def _find_comparison(self, result: HloValue, both: Sequence[Operation]) -> Comparison | None:
        if len(both) != 1 or both[0].name != "stablehlo.compare" or both[0].results != (result,) or len(both[0].operands) != 2:
            return None
        one, other = both[0].operands
        sides = [self._sides.get(value, frozenset()) for value in (one, other)]
        is_descending = _DESCENDING.get(str(both[0].attributes.get("comparison_direction")))
        if is_descending is None or self._meanings.get(one) != self._meanings.get(other) or {*sides[0], *sides[1]} != {0, 1}:
            return None
        is_turned = sides[0] == {1}
        return Comparison(is_descending != is_turned, both[0].attributes.get("compare_type") == "TOTALORDER")


def _make(arguments: Sequence[HloValue], operations: Sequence[Operation], results: Sequence[HloValue]) -> Region:
    end = Operation(name="stablehlo.return", operands=tuple(results))
    return Region(arguments=tuple(arguments), operations=(*operations, end))


def uses(operation: Operation) -> list[HloValue]:
    """Return what an operation takes, and what its regions take."""
    return [*operation.operands, *(value for region in operation.regions for inner in region.walk() for value in inner.operands)]


def _freeze(value: Attribute) -> object:
    """Return an attribute that can be compared: numbers by their digits, because -0.0 equals 0.0."""
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tobytes()
    if isinstance(value, Mapping):
        return tuple([(name, _freeze(each)) for name, each in sorted(value.items())])
    return tuple(map(_freeze, value)) if isinstance(value, tuple) else (type(value), repr(value))
