"""Between which numbers the integers of a graph lie: the proof that a type of fewer bits holds them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from webnn.validation.descriptor import FLOAT_TYPES, DataType, OperandDescriptor, integer_range

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription, OperatorDescription

__all__ = ["Interval", "find_operators", "find_ranges"]

#: Constants of more elements are not searched for their limits.
_MOST_ELEMENTS = 1 << 24


@dataclass(frozen=True, slots=True)
class Interval:
    """The numbers between two limits, both included, and the reasons, each once."""

    low: int
    high: int
    why: tuple[str, ...]

    def __str__(self) -> str:
        return f"from {self.low} to {self.high}: {' and '.join(self.why)}"

    def fits(self, dataType: DataType) -> bool:
        """Tell whether an integer type holds all of them."""
        low, high = integer_range(dataType)
        return low <= self.low and self.high <= high


def find_ranges(description: GraphDescription) -> dict[str, Interval]:
    """Return the interval of each integer value for which one narrower than its type is proven. Operators have descriptors."""
    known = description.descriptors()
    found: dict[str, Interval] = {}
    for name, constant in description.constants.items():
        array = constant.value
        if array.dtype.kind in "iu" and 0 < array.size <= _MOST_ELEMENTS and constant.descriptor.dataType not in ("int4", "uint4"):
            found[name] = Interval(int(array.min()), int(array.max()), ("the elements of a constant",))
    for operator in description.operators:
        rule = _RULES.get(operator.operation)
        if rule is None:
            continue
        operands = [_find(found, known, value) for _, _, value in operator.named_values()]
        interval = rule(operator, operands, [known[value] for _, _, value in operator.named_values()])
        for name in operator.outputs:
            dataType = known[name].dataType
            if interval is not None and dataType not in FLOAT_TYPES and interval.fits(dataType):
                found[name] = interval
    return found


def _find(found: Mapping[str, Interval], known: Mapping[str, OperandDescriptor], name: str) -> Interval | None:
    """Return the interval of a value; that of its type if nothing else is proven, and none for floating-point numbers."""
    dataType = known[name].dataType
    if dataType in FLOAT_TYPES:
        return None
    interval = found.get(name)
    return Interval(*integer_range(dataType), (f"the range of {dataType}",)) if interval is None else interval


_Rule: TypeAlias = "Callable[[OperatorDescription, list[Interval | None], list[OperandDescriptor]], Interval | None]"


def _same(operator: OperatorDescription, operands: list[Interval | None], _: list[OperandDescriptor]) -> Interval | None:
    """The elements are those of the first operand."""
    return operands[0]


def _all(operator: OperatorDescription, operands: list[Interval | None], _: list[OperandDescriptor]) -> Interval | None:
    """The elements are those of all operands."""
    return _join(operands)


def _chosen(operator: OperatorDescription, operands: list[Interval | None], types: list[OperandDescriptor]) -> Interval | None:
    """The elements are those of the operands behind the condition."""
    return _all(operator, operands[1:], types[1:])


def _padded(operator: OperatorDescription, operands: list[Interval | None], _: list[OperandDescriptor]) -> Interval | None:
    """The elements are those of the operand and the padding."""
    first, value = operands[0], operator.options.get("value", 0)
    if first is None or not isinstance(value, int):
        return None
    return Interval(min(first.low, value), max(first.high, value), first.why)


def _position(operator: OperatorDescription, operands: list[Interval | None], types: list[OperandDescriptor]) -> Interval | None:
    """The elements are positions in a dimension."""
    axis = operator.arguments["axis"]
    size = types[0].dimensions[axis]
    return Interval(0, size - 1, (f"the positions in a dimension of {size} elements",))


def _logical(operator: OperatorDescription, operands: list[Interval | None], _: list[OperandDescriptor]) -> Interval | None:
    """The elements are truth values."""
    return Interval(0, 1, ("truth values",))


def _binary(compute: Callable[[int, int], int]) -> _Rule:
    """The elements lie between the results of the operands' limits."""

    def rule(operator: OperatorDescription, operands: list[Interval | None], _: list[OperandDescriptor]) -> Interval | None:
        a, b = operands
        if a is None or b is None:
            return None
        limits = [compute(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
        return Interval(min(limits), max(limits), _reasons(a, b))

    return rule


def _quotient(operator: OperatorDescription, operands: list[Interval | None], types: list[OperandDescriptor]) -> Interval | None:
    """The elements are at most those of the dividend, if the divisor is positive."""
    a, b = operands
    if a is None or b is None or b.low < 1:
        return None
    return Interval(min(a.low, 0), max(a.high, 0), _reasons(a, b))


def _clamped(operator: OperatorDescription, operands: list[Interval | None], _: list[OperandDescriptor]) -> Interval | None:
    """The elements are those of the operand between two limits."""
    first = operands[0]
    limits = [operator.options.get(name) for name in ("minValue", "maxValue")]
    if first is None or any(each is not None and each != int(each) for each in limits):
        return None
    low, high = limits
    return Interval(
        first.low if low is None else max(first.low, int(low)), first.high if high is None else min(first.high, int(high)), first.why
    )


def _summed(operator: OperatorDescription, operands: list[Interval | None], types: list[OperandDescriptor]) -> Interval | None:
    """Each element is a sum of as many numbers as the reduced dimensions have elements."""
    first = operands[0]
    if first is None:
        return None
    sizes = types[0].dimensions
    count = 1
    for axis in operator.options.get("axes", range(len(sizes))):
        count *= sizes[axis]
    return Interval(min(first.low, first.low * count), max(first.high, first.high * count), (f"sums of {count} elements", *first.why))


#: The interval of an operation's results, from those of its operands.
_RULES: Mapping[str, _Rule] = {
    **dict.fromkeys(
        (
            *("identity", "cast", "reshape", "transpose", "slice", "split", "expand", "tile", "reverse"),
            *("gather", "gatherElements", "gatherND", "reduceMax", "reduceMin"),
        ),
        _same,
    ),
    **dict.fromkeys(("concat", "max", "min"), _all),
    **dict.fromkeys(("argMax", "argMin"), _position),
    **dict.fromkeys(
        (
            *("equal", "notEqual", "greater", "greaterOrEqual", "lesser", "lesserOrEqual"),
            *("logicalAnd", "logicalOr", "logicalXor", "logicalNot", "isNaN", "isInfinite"),
        ),
        _logical,
    ),
    "where": _chosen,
    "clamp": _clamped,
    "div": _quotient,
    "pad": _padded,
    "add": _binary(lambda x, y: x + y),
    "sub": _binary(lambda x, y: x - y),
    "mul": _binary(lambda x, y: x * y),
    "reduceSum": _summed,
}


def find_operators(description: GraphDescription) -> dict[tuple[str, str], Interval]:
    """Return an interval that holds all 64-bit integers that an operator takes and returns, by operation and label.

    Operators with the same label and operation share one; there is none if it is not proven for each of them.
    """
    known, found = description.descriptors(), find_ranges(description)
    places: dict[tuple[str, str], list[Interval | None]] = {}
    for operator in description.operators:
        values = [*(value for _, _, value in operator.named_values()), *operator.outputs]
        intervals = [found.get(value) for value in values if known[value].dataType in ("int64", "uint64")]
        places.setdefault((operator.operation, operator.label), []).extend(intervals)
    joined = {place: _join(intervals) for place, intervals in places.items() if intervals}
    return {place: interval for place, interval in joined.items() if interval is not None}


def _join(intervals: Sequence[Interval | None]) -> Interval | None:
    """Return an interval that holds all others."""
    proven = [each for each in intervals if each is not None]
    if len(proven) < len(intervals):
        return None
    low, high = min(proven, key=lambda each: each.low), max(proven, key=lambda each: each.high)
    return Interval(low.low, high.high, _reasons(*proven))


def _reasons(*intervals: Interval) -> tuple[str, ...]:
    return tuple(dict.fromkeys(reason for interval in intervals for reason in interval.why))
