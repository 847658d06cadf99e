"""The effects of regions: reducers that are one operation, and those that look for the position of an extreme value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

import numpy as np

from webnn.builder.elementwise import FUNCTIONS
from webnn.hlo.attributes import COMPARISONS
from webnn.hlo.ir import Region
from webnn.hlo.ir import Value as HloValue
from webnn.hlo.types import QuantizedType

__all__ = ["Kind", "Position", "find_kinds", "find_position"]

#: The operation of a reducer on two elements. Booleans have "max" for or, and "min" for and.
Kind: TypeAlias = Literal["add", "max", "min", "mul"]

_KINDS: Mapping[str, Kind] = {"stablehlo.add": "add", "stablehlo.multiply": "mul", "stablehlo.maximum": "max", "stablehlo.minimum": "min"}
_BOOLEAN: Mapping[str, Kind] = {
    "stablehlo.add": "max",
    "stablehlo.or": "max",
    "stablehlo.maximum": "max",
    "stablehlo.multiply": "min",
    "stablehlo.and": "min",
    "stablehlo.minimum": "min",
}


def find_kinds(region: Region) -> list[Kind] | None:
    """Return what a reducer does to each of its operands, if it treats each one by itself, and with one operation."""
    count = len(region.results)
    arguments = region.arguments
    if len(arguments) != 2 * count or len(region.operations) != count + 1:
        return None
    made = {operation.results[0]: operation for operation in region.operations[:-1] if len(operation.results) == 1}
    kinds: list[Kind] = []
    for index, result in enumerate(region.results):
        operation = made.get(result)
        pair = {arguments[index], arguments[index + count]}
        element = getattr(result.type, "element", None)
        if operation is None or len(operation.operands) != 2 or set(operation.operands) != pair:
            return None
        if isinstance(element, QuantizedType) or any(value.type != result.type for value in pair):
            return None
        kind = (_BOOLEAN if element == "i1" else _KINDS).get(operation.name)
        if kind is None:
            return None
        kinds.append(kind)
    return kinds


@dataclass(frozen=True, slots=True)
class Position:
    """A reducer of values and positions that looks for an extreme value, the last or the first of several. NaN counts as the extreme."""

    extreme: Literal["max", "min"]
    is_last: bool


#: Pairs of values, one for each way in which floating-point numbers compare: less, equal, greater, NaN in one or both.
_PAIRS = ((0.0, 1.0), (1.0, 1.0), (1.0, 0.0), (np.nan, 1.0), (1.0, np.nan), (np.nan, np.nan))
_COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {direction: FUNCTIONS[name] for direction, name in COMPARISONS.items()}
_LOGIC: Mapping[str, Callable[..., Any]] = {
    "stablehlo.and": np.logical_and,
    "stablehlo.or": np.logical_or,
    "stablehlo.xor": np.logical_xor,
    "stablehlo.not": np.logical_not,
}
#: Operations that return one of their arguments.
_CHOICES: Mapping[str, Callable[..., Any]] = {
    "stablehlo.maximum": np.maximum,
    "stablehlo.minimum": np.minimum,
    "stablehlo.select": np.where,
}


def find_position(region: Region) -> Position | None:
    """Return what a reducer of values and positions looks for, if it does.

    The positions of the first operand must be less than those of the second one. If the region only compares and chooses, then its result
    follows from how the two values compare. So it is enough to try each way.
    """
    if len(region.arguments) != 4 or len(region.results) != 2:
        return None
    element = getattr(region.arguments[0].type, "element", "")
    if not isinstance(element, str) or element.startswith("complex"):
        return None
    has_nan = "f" in element
    values = _PAIRS if has_nan else _PAIRS[:3]
    places: list[int] = []
    for one, other in values:
        results = _evaluate(region, (one, 0.0, other, 1.0))
        if results is None:
            return None
        # Of equal values, either is the value.
        value, place = results
        wanted = (one, other)[int(place)]
        if value != wanted and not (np.isnan(value) and np.isnan(wanted)):
            return None
        places.append(int(place))
    last = places[1]
    if has_nan and places[3:] != [0, 1, last]:
        return None
    for extreme, pair in (("max", [1, 0]), ("min", [0, 1])):
        if [places[0], places[2]] == pair:
            return Position(cast("Literal['max', 'min']", extreme), bool(last))
    return None


def _evaluate(region: Region, arguments: Sequence[float]) -> tuple[float, float] | None:
    """Compute a region that only compares and chooses among its arguments; None if it does anything else."""
    found: dict[HloValue, Any] = dict(zip(region.arguments, arguments, strict=True))
    sides = {value: index % 2 for index, value in enumerate(region.arguments)}
    for operation in region.operations[:-1]:
        operands = [found[value] for value in operation.operands if value in found]
        if len(operands) != len(operation.operands) or len(operation.results) != 1:
            return None
        kinds = {sides[value] for value in operation.operands if value in sides}
        if operation.name == "stablehlo.compare":
            compare = _COMPARISONS.get(str(operation.attributes.get("comparison_direction")))
            is_total = operation.attributes.get("compare_type") == "TOTALORDER"
            if compare is None or is_total or len(operands) != 2 or len(kinds) != 1:
                return None
            result = compare(*operands)
        elif operation.name in _LOGIC:
            if kinds:
                return None
            result = _LOGIC[operation.name](*operands)
        elif operation.name in _CHOICES:
            if len(kinds) != 1 or not all(value in sides for value in operation.operands[-2:]):
                return None
            result = _CHOICES[operation.name](*operands)
            sides[operation.results[0]] = kinds.pop()
        else:
            return None
        found[operation.results[0]] = result
    value, position = region.results
    if sides.get(value) != 0 or sides.get(position) != 1:
        return None
    return float(found[value]), float(found[position])
