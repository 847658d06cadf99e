"""Valid calls of the operations of each draft: those of `webnn.calls`, chosen by Hypothesis, which can make them smaller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from hypothesis import strategies as st

from tests.property.calls import Call
from tests.property.draws import NUMBERS, TAME, Draw, floats, make
from tests.support import CURRENT, Act, Array, shared_context
from webnn.calls.dice import Dice, Scalar, Style, to_array
from webnn.calls.maker import CallMaker, DrawnValue, Limits
from webnn.calls.operations import ACTIVATIONS, CALLS, parameters
from webnn.reference.rounding import PARTIAL
from webnn.validation.descriptor import MAX_RANK, DataType, is_float
from webnn.validation.drafts import find_revision

__all__ = ["ChosenDice", "call_of", "calls", "find_limits"]

#: How floating-point values of the style "special" look, where not any value has a specified result: numbers on the way may overflow in one
#: order of the additions and not in another one, and a quotient that is NaN may become any integer.
_STYLES: Mapping[str, Sequence[Style]] = {**dict.fromkeys(PARTIAL, TAME), "quantizeLinear": NUMBERS}
_RECURRENT = ("gru", "gruCell", "lstm", "lstmCell")


#: One strategy for each pair of ends: to make and check a strategy takes longer than to draw from it.
_integers, _floats, _fractions = cache(st.integers), cache(floats), st.floats(0, 1, exclude_max=True)


class ChosenDice(Dice):
    """A source of choices that a strategy draws. The simplest choice is the first value, the smallest number, and no option.

    Args:
        draw: Draws from a strategy.
        styles: How floating-point values of the style "special" look.
        sizes: The bounds of sizes.
    """

    max_rank = MAX_RANK

    def __init__(self, draw: Draw, styles: Sequence[Style], sizes: Sequence[int]) -> None:
        super().__init__("")
        self._draw = draw
        self._styles = styles
        self.sizes = sizes

    def fraction(self) -> float:
        """Draw a number from 0 to 1, without 1."""
        return float(self._draw(_fractions))

    def integer(self, low: int, high: int) -> int:
        """Draw an integer."""
        return int(self._draw(_integers(low, high)))

    def chance(self, probability: float = 0.5) -> bool:
        """Draw a decision."""
        return self.integer(1, 100) > 100 * (1 - probability)

    def number(self, low: int, high: int) -> float | int:
        """Draw a number for an option."""
        number: float | int = self._draw(_floats(low, high))
        return number

    def values(self, dataType: DataType, shape: Sequence[int], style: Style = "small") -> list[Scalar]:
        """Draw the elements of a tensor."""
        style = self.pick(self._styles) if style == "special" and is_float(dataType) else style
        elements: list[Scalar] = make(self.integer(0, 2**32 - 1), style, dataType, shape).reshape(-1).tolist()
        return elements


@cache
def find_limits(draft: str) -> Limits:
    """Return the data types and ranks of a draft's operands: as a context tells them, or from the rows of a draft without tables.

    Such a draft has rows for some operands. The others have the ranks of the newest draft, and the types of the operand that they follow.
    """
    revision, newest = find_revision(draft), find_revision(CURRENT)
    if revision.limits is not None:
        return shared_context(draft).opSupportLimits()
    assert newest.limits is not None
    tables = newest.limits.operations

    def row(name: str, operand: str) -> dict[str, Any]:
        later, types = tables[name].get(operand), revision.data_types.get(name, {})
        leader = later.same_type_as if later is not None else ""
        # The ranks of another algorithm say nothing.
        known = later.ranks if later is not None and revision.operations[name].infer is newest.operations[name].infer else (0, None)
        low, high = revision.ranks.get(name, {}).get(operand, known)
        ranks = {"min": low, "max": revision.max_rank if high is None else high}
        return {"dataTypes": types.get(operand) or types.get(leader, revision.types), "rankRange": ranks}

    every = {"dataTypes": revision.types}
    operations = {
        name: {operand: row(name, operand) for operand in (*operation.operands, *operation.members, "output")}
        for name, operation in revision.operations.items()
    }
    return {"input": every, "constant": every, **operations}


class _Arrays(CallMaker):
    """Makes arrays, and notes which of them are constants."""

    def __init__(self, dice: Dice, draft: str) -> None:
        super().__init__(dice, find_revision(draft), find_limits(draft))
        self.arrays: list[Array] = []
        self.constants: list[bool] = []

    def make(self, dataType: DataType, shape: Sequence[int], elements: Sequence[Scalar], *, isConstant: bool) -> DrawnValue:
        """Make an array."""
        self.arrays.append(to_array(dataType, elements).reshape(shape))
        self.constants.append(isConstant)
        return DrawnValue({"array": len(self.arrays) - 1}, dataType, tuple(shape))

    def activation(self) -> Any:
        """Choose an activation function, with its numbers where the draft has them."""
        if not self.revision.activations:
            return super().activation()
        name = self.dice.pick(ACTIVATIONS)
        return Act(name, parameters(self, name) or None)


def call_of(dice: Dice, draft: str, name: str) -> Call:
    """Make a valid call of an operation by choices."""
    m = _Arrays(dice, draft)
    arguments, options = CALLS[name](m)
    operation = find_revision(draft).operations[name]
    names = [*operation.operands, *(argument.name for argument in operation.arguments)]
    used: list[int] = []

    def fill(value: Any) -> Any:
        if isinstance(value, DrawnValue):
            used.append(value.reference["array"])
            return m.arrays[used[-1]]
        return [fill(each) for each in value] if isinstance(value, list) else value

    given = {each: fill(value) for each, value in zip(names, arguments, strict=True)}
    members = {member: fill(value) for member, value in options.items()}
    # In the order in which `connect` makes the operands.
    constants = tuple(m.constants[number] for number in dict.fromkeys(used))
    return Call(name=name, arguments=given, options=members, constants=constants, revision=draft)


@st.composite
def calls(draw: Draw, draft: str, name: str) -> Call:
    """Draw a valid call of an operation."""
    # Activations without bounds make states grow with each step.
    sizes = (3, 4) if name in _RECURRENT else (3, 5, 40)
    dice = ChosenDice(draw, _STYLES.get(name, ("special", "wide")), sizes)
    return call_of(dice, draft, name)
