"""Valid calls of the operations of drafts with tensors: the calls of `webnn.fuzz`, chosen by Hypothesis, which can make them smaller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from hypothesis import strategies as st

from tests.property.calls import Call
from tests.property.draws import NUMBERS, TAME, Draw, floats, make
from tests.property.networks import RECURRENT
from tests.support import Array, shared_context
from webnn.fuzz.dice import Dice, Scalar, Style
from webnn.fuzz.maker import Limits, Maker, Value
from webnn.fuzz.operations import CALLS
from webnn.fuzz.programs import array_of
from webnn.fuzz.tolerances import PARTIAL
from webnn.validation.descriptor import MAX_RANK, DataType, is_float
from webnn.validation.drafts import find_revision

__all__ = ["MADE", "ChosenDice", "call_of", "calls", "limits_of_context"]

#: The operations for which there are calls.
MADE = frozenset(CALLS)
#: How floating-point values of the style "special" look, where not any value has a specified result: numbers on the way may overflow in one
#: order of the additions and not in another one, and a quotient that is NaN may become any integer.
_STYLES: Mapping[str, Sequence[Style]] = {**dict.fromkeys(PARTIAL, TAME), "quantizeLinear": NUMBERS}


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
def limits_of_context(draft: str) -> Limits:
    """Return the data types and ranks of a draft's operands, as a context tells them."""
    return shared_context(draft).opSupportLimits()


def call_of(dice: Dice, draft: str, name: str) -> Call:
    """Make a valid call of an operation by choices."""
    m = Maker(dice, shared_context(draft), limits_of_context(draft))
    arguments, options = CALLS[name](m)
    operation = find_revision(draft).operations[name]
    names = [*operation.operands, *(argument.name for argument in operation.arguments)]
    made: dict[int, Array] = {}
    constants: list[bool] = []

    def fill(value: Any) -> Any:
        if isinstance(value, Value):
            number = value.reference["$step"]
            if number not in made:
                step = m.steps[number]
                constants.append(step["call"] == "constant")
                view = step["args"][1] if constants[-1] else m.feeds[step["args"][0]][1]
                made[number] = array_of(view).reshape(value.shape)
            return made[number]
        return [fill(each) for each in value] if isinstance(value, list) else value

    # In the order in which `connect` makes the operands.
    given = {each: fill(value) for each, value in zip(names, arguments, strict=True)}
    members = {member: fill(value) for member, value in options.items()}
    return Call(name=name, arguments=given, options=members, constants=tuple(constants), revision=draft)


@st.composite
def calls(draw: Draw, draft: str, name: str) -> Call:
    """Draw a valid call of an operation."""
    # Activations without bounds make states grow with each step.
    sizes = (3, 4) if name in RECURRENT else (3, 5, 40)
    dice = ChosenDice(draw, _STYLES.get(name, ("special", "wide")), sizes)
    return call_of(dice, draft, name)
