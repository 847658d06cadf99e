"""The operators of a graph that stay in float32 when it becomes float16, and why: `find_staying`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from webnn.validation.descriptor import FLOAT_FORMATS, FLOAT_TYPES

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription, OperatorDescription

__all__ = ["ASKED", "LARGEST", "LEAST", "MOVING", "OVERFLOWS", "Rounding", "Staying", "find_staying", "round_constant"]

#: The largest number of float16, its smallest normal one, and its smallest one above 0.
LARGEST: Final = FLOAT_FORMATS["float16"].largest
_NORMAL: Final = 2.0 ** FLOAT_FORMATS["float16"].smallest
LEAST: Final = 2.0**-24

#: Why an operator stays in float32.
ASKED = "kept"
OVERFLOWS = "it multiplies with a number that is too large for float16"
_SUBNORMAL = "it multiplies with numbers that are subnormal in float16"
_POSITIONS = "it computes with integers, such as positions, that float16 does not have"
_SQUARES = "squares are too large for float16 above 256"
_SUMS = "sums of integers are too large for float16"
#: It only moves or reads a value that is in float32: a cast to float16 would be undone or would lose bits.
_FOLLOWS = ""

#: Operations whose results are elements of their operands.
MOVING = frozenset(
    {
        *("concat", "expand", "gather", "gatherElements", "gatherND", "identity", "pad", "reshape", "reverse", "scatterElements"),
        *("scatterND", "slice", "split", "tile", "transpose", "triangular"),
    }
)
#: Operations that give nearly the same result if a number beyond the range of float16 is the largest one of float16.
_SATURATING = MOVING | {
    *("add", "clamp", "max", "min", "sub", "where", "equal", "notEqual", "greater", "greaterOrEqual", "lesser", "lesserOrEqual"),
}
_PRODUCTS = frozenset({"conv2d", "convTranspose2d", "gemm", "matmul", "reduceSum"})
_REDUCTIONS = frozenset({"reduceMean", "reduceSum"})
#: Operations whose results depend on many elements, so that they are data, and not positions.
_HEAVY = _PRODUCTS | {"batchNormalization", "gru", "gruCell", "instanceNormalization", "layerNormalization", "lstm", "lstmCell"}
#: Operations that bring a sum of integers back to the size of numbers.
_SCALING = frozenset({"cast", "dequantizeLinear", "div", "mul", "quantizeLinear"})
#: Options and arguments that are factors.
_FACTORS = ("alpha", "beta")
#: Integers of these types are exact in float16.
_SMALL = frozenset({"int4", "uint4", "int8", "uint8"})


class Rounding(NamedTuple):
    """A constant in float16.

    Attributes:
        array: Its elements. Numbers beyond the range are the largest or the smallest one.
        overflows: How many elements are beyond the range.
        vanishes: How many elements other than 0 are rounded to 0.
        subnormal: Whether no element but 0 is in the normal range.
    """

    array: np.ndarray[tuple[int, ...], np.dtype[np.float16]]
    overflows: int
    vanishes: int
    subnormal: bool


def round_constant(value: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> Rounding:
    """Round a constant to float16, and count what does not fit."""
    with np.errstate(all="ignore"):
        array = value.astype(np.float16, order="C")
    largest, overflows = max(-float(value.min(initial=0)), float(value.max(initial=0))), 0
    if not largest <= LARGEST:  # or it is infinite, or NaN
        finite = np.isfinite(value)
        overflow = finite & np.isinf(array)
        overflows, largest = int(overflow.sum()), float(np.abs(value[finite]).max(initial=0))
        array[overflow] = np.copysign(np.float16(LARGEST), value[overflow])
    vanishes = int(np.count_nonzero(value) - np.count_nonzero(array))
    if vanishes and value.size == 1:
        # Such a number keeps a divisor away from 0.
        array = np.asarray(np.copysign(np.full_like(array, LEAST), value), np.float16)
    return Rounding(array, overflows, vanishes, 0 < largest < _NORMAL)


@dataclass(frozen=True, slots=True)
class Staying:
    """The result of `find_staying`.

    Attributes:
        reasons: Why operators stay, by their positions; empty where the reason is another operator.
        saturating: Values in float32 that become float16 by way of the largest number.
    """

    reasons: Mapping[int, str]
    saturating: frozenset[str]


def find_staying(description: GraphDescription, roundings: Mapping[str, Rounding], keep: Collection[str], *, inputs: bool) -> Staying:
    """Find the operators that stay in float32. All operators have descriptors.

    Args:
        description: The graph.
        roundings: The constants that do not fit, or are all subnormal.
        keep: Operations, labels and names of results.
        inputs: Whether inputs and outputs stay float32.
    """
    return _Analysis(description, roundings, keep, inputs=inputs).run()


class _Analysis:
    """The state of one `find_staying`."""

    def __init__(self, description: GraphDescription, roundings: Mapping[str, Rounding], keep: Collection[str], *, inputs: bool) -> None:
        self._description = description
        self._known = description.descriptors()
        self._roundings = roundings
        self._keep = {each.lower() for each in keep}
        self._inputs = inputs
        self._reasons: dict[int, str] = {}
        #: Values in float32 that an operator made or the caller gives.
        self._wide = {name for name in description.inputs if inputs and self._is_float(name)}
        #: The positions and the results of moves of such values.
        self._moves: set[int] = set()
        self._moved: set[str] = set()
        #: Values whose elements are integers that float16 has, such that it may lack their products.
        self._integers: set[str] = set()
        #: Values that are computed of integers and constants alone.
        self._positions: set[str] = set()
        self._sums: set[str] = set()
        #: Sums of squares, and values that are computed of them and of constants alone.
        self._squares: set[str] = set()
        self._takers: dict[str, set[str]] = {}
        for operator in description.operators:
            for _, _, value in operator.named_values():
                self._takers.setdefault(value, set()).add(operator.operation)
        self._saturating: set[str] = set()

    def _is_float(self, name: str) -> bool:
        return self._known[name].dataType == "float32"

    def run(self) -> Staying:
        operators = self._description.operators
        for position, operator in enumerate(operators):
            values = [value for _, _, value in operator.named_values()]
            reason = self._judge(operator, values)
            if reason is not None:
                self._reasons[position] = reason
                self._wide.update(operator.outputs)
            elif operator.operation in MOVING and self._comes_wide([value for value in values if self._is_float(value)], self._moved):
                self._moves.add(position)
                self._moved.update(operator.outputs)
        # Moves between two operators that stay, from the back.
        taken: dict[str, bool] = dict.fromkeys(self._description.outputs.values(), self._inputs)
        for position in reversed(range(len(operators))):
            operator = operators[position]
            values = [value for _, _, value in operator.named_values()]
            if position not in self._reasons and position in self._moves and all(taken.get(name, False) for name in operator.outputs):
                self._reasons[position] = _FOLLOWS
            for value in values:
                taken[value] = taken.get(value, True) and position in self._reasons
        return Staying(self._reasons, frozenset(self._saturating))

    def _judge(self, operator: OperatorDescription, values: list[str]) -> str | None:
        """Return why an operator stays; None if it does not. Note what its results are."""
        operation, outputs = operator.operation, operator.outputs
        floats = [value for value in values if self._is_float(value)]
        results = any(map(self._is_float, outputs))
        if not floats and not results:
            return None
        self._note_integers(operator, values, floats)
        if not self._keep.isdisjoint({operation.lower(), operator.label.lower(), *(name.lower() for name in outputs)}):
            return ASKED
        if not self._sums.isdisjoint(values) or (operation in _PRODUCTS and self._are_integers(floats)):
            if operation not in _SCALING:
                self._sums.update(outputs)
            return _SUMS
        if not self._positions.isdisjoint(outputs):
            return _POSITIONS
        if not self._squares.isdisjoint(outputs):
            return _SQUARES
        if operation == "dequantizeLinear" and outputs[0] in self._integers:
            return _FOLLOWS
        if not results and self._comes_wide(floats):
            return _FOLLOWS
        if operation in _SATURATING or (operation == "cast" and not results):
            return None
        found = [self._roundings[value] for value in floats if value in self._roundings]
        factors = [value for value in self._numbers(operator) if value]
        if any(each.overflows for each in found) or any(abs(each) > LARGEST for each in factors):
            self._saturating.update(outputs)
            return OVERFLOWS
        return _SUBNORMAL if any(each.subnormal for each in found) or any(abs(each) < _NORMAL for each in factors) else None

    def _numbers(self, operator: OperatorDescription) -> list[float]:
        given = {**operator.arguments, **operator.options}
        return [float(given[name]) for name in _FACTORS if isinstance(given.get(name), int | float)]

    def _comes_wide(self, floats: list[str], moved: Collection[str] = ()) -> bool:
        """Tell whether all operands are there in float32, or are moves of such ones; not all of them as constants."""
        constants = self._description.constants
        wide = [value for value in floats if value in self._wide or value in moved]
        return bool(wide) and all(value in constants for value in floats if value not in wide)

    def _are_integers(self, floats: list[str]) -> bool:
        return bool(floats) and all(value in self._integers for value in floats[:2])

    def _note_integers(self, operator: OperatorDescription, values: list[str], floats: list[str]) -> None:
        """Note results that are integers."""
        operation, outputs = operator.operation, operator.outputs
        source = self._known[values[0]].dataType if values else ""
        if operation in ("cast", "dequantizeLinear") and source not in FLOAT_TYPES and self._is_float(outputs[0]):
            if operation == "dequantizeLinear" and not self._is_one(values[1]):
                return
            self._integers.update(outputs)
            if source not in _SMALL:
                self._positions.update(outputs)
        elif operation in MOVING and floats and all(value in self._integers for value in floats):
            self._integers.update(outputs)
        results = [name for name in outputs if self._is_float(name)]
        if (operation not in _HEAVY or self._is_outer(operator, values)) and self._spreads(self._positions, floats):
            self._positions.update(results)
        if self._is_square(operator, values) or (
            (operation not in _HEAVY or operation in _REDUCTIONS) and self._spreads(self._squares, floats)
        ):
            self._squares.update(results)

    def _spreads(self, kind: set[str], floats: list[str]) -> bool:
        """Tell whether all operands are values of a kind, or constants beside such values."""
        constants = self._description.constants
        return not kind.isdisjoint(floats) and all(value in kind or value in constants for value in floats)

    def _is_square(self, operator: OperatorDescription, values: list[str]) -> bool:
        """Tell whether an operator makes squares that are only added up, or the sum of squares."""
        if operator.operation == "reduceSumSquare":
            return True
        exponent = self._description.constants.get(values[-1])
        squares = (operator.operation == "pow" and exponent is not None and bool((exponent.value == 2).all())) or (
            operator.operation == "mul" and values[0] == values[1]
        )
        return squares and self._takers.get(operator.outputs[0], set()) - _REDUCTIONS == set() and operator.outputs[0] in self._takers

    def _is_one(self, name: str) -> bool:
        constant = self._description.constants.get(name)
        return constant is not None and bool((constant.value == 1).all())

    def _is_outer(self, operator: OperatorDescription, values: list[str]) -> bool:
        return operator.operation == "matmul" and self._known[values[0]].dimensions[-1] == 1
