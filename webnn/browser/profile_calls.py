"""Random calls of every operation, for probing what a browser and a profile accept.

A call is data that a page and Python can both carry out: ``{"operation": "gather", "arguments": [...]}``. Among the arguments, and among
the members of options, ``{"$": [dataType, shape, isConstant]}`` is an operand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from webnn.calls.dice import Dice, Scalar, Style
from webnn.calls.maker import CallMaker, DrawnValue, places, write_arguments
from webnn.calls.operations import CALLS
from webnn.context.profiles import Profile
from webnn.validation.descriptor import DATA_TYPES, DataType
from webnn.validation.drafts import for_devices

__all__ = ["Call", "Draws", "operand"]

Call = dict[str, Any]

#: How many of the calls have operands of any rank; the others have the usual ones.
_ANY_RANK = 0.2
_PLACEHOLDER = "$"


def operand(dataType: str, shape: Sequence[int], *, constant: bool = False) -> dict[str, Any]:
    """Write an operand."""
    return {_PLACEHOLDER: [dataType, list(shape), constant]}


class _Shapes(Dice):
    """Choices for operands whose elements do not matter."""

    def values(self, dataType: DataType, shape: Sequence[int], style: Style = "small") -> list[Scalar]:
        """Choose no elements."""
        return []


class _Placeholders(CallMaker):
    """Makes operands as a call has them."""

    def make(self, dataType: DataType, shape: Sequence[int], elements: Sequence[Scalar], *, isConstant: bool) -> DrawnValue:
        """Write an operand."""
        return DrawnValue(operand(dataType, shape, constant=isConstant), dataType, tuple(shape))


class Draws:
    """Draws the calls that a profile's limits allow, and some that they just do not allow. The same seed makes the same calls."""

    def __init__(self, profile: Profile, seed: str) -> None:
        self.dice = _Shapes(seed)
        self._limits = profile.limits()
        #: The operations that can be drawn.
        self.operations = tuple(name for name in profile.operations if name in CALLS)

    def draw(self, operation: str, *, near: float = 0) -> Call:
        """Draw a call: one that should be accepted, or with the probability ``near`` one that differs from such a call in one place."""
        rank = max(each["rankRange"]["max"] for each in self._limits[operation].values())
        self.dice.max_rank = rank if self.dice.chance(_ANY_RANK) else Dice.max_rank
        arguments, options = CALLS[operation](_Placeholders(self.dice, for_devices(), self._limits))
        call = {"operation": operation, "arguments": write_arguments([*arguments, options])}
        return self._mutate(call) if self.dice.chance(near) else call

    def _mutate(self, call: Call) -> Call:
        """Change one place of a call: a data type, a dimension, the rank, a number."""
        dice = self.dice
        found = [
            (within, key) for within, key in places(call["arguments"]) if not isinstance(within[key], dict) or _PLACEHOLDER in within[key]
        ]
        within, key = dice.pick(found)
        value = within[key]
        if isinstance(value, dict):
            dataType, shape, constant = value[_PLACEHOLDER]
            changed = dice.pick((shape[1:], [*shape, 2], [3, *shape], [*shape, *dice.integers(6, 1, 2)], [*shape[:-1], 5]))
            others = ((dice.pick(DATA_TYPES), shape, constant), (dataType, changed, constant), (dataType, shape, not constant))
            within[key] = {_PLACEHOLDER: list(dice.pick(others))}
        elif isinstance(value, bool):
            within[key] = not value
        elif isinstance(value, int | float):
            within[key] = value + dice.pick((1, -1, 2, 100))
        elif isinstance(value, list):
            within[key] = dice.pick((value[1:], [*value, *value[:1]], value[::-1]))
        elif isinstance(value, str):
            within[key] = dice.pick((*DATA_TYPES, "edge", "reflection", "linear", "nhwc", "ceil"))
        return call
