"""The operands of a random call: within the limits of a draft or of a device."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from webnn.calls.dice import Dice, Scalar, Style
from webnn.validation.descriptor import DATA_TYPES, DataType
from webnn.validation.revision import Revision

__all__ = ["Arguments", "Call", "CallMaker", "DrawnValue", "Limits", "options_of", "places", "types_of", "write_arguments"]

#: The dictionary that `MLContext.opSupportLimits` returns: for each operation, the types and ranks of its operands.
Limits: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DrawnValue:
    """An operand: how calls refer to it, its type and its shape."""

    reference: Mapping[str, Any]
    dataType: DataType
    shape: tuple[int, ...]

    @property
    def rank(self) -> int:
        """The rank."""
        return len(self.shape)


def types_of(limits: Limits, name: str, operand: str) -> tuple[DataType, ...]:
    """Return the data types that an operation takes for an operand, and that inputs and constants can have."""
    given = [limits[row]["dataTypes"] for row in ("input", "constant")]
    return tuple(each for each in limits[name][operand]["dataTypes"] if all(each in types for types in given))


def options_of(idl: Mapping[str, Any], operation: str) -> dict[str, Any]:
    """Return the types of an operation's options by name."""
    row = next(each for each in idl["interfaces"]["MLGraphBuilder"]["operations"] if each["name"] == operation)
    name, found = row["arguments"][-1]["type"], {}
    while name:
        dictionary = idl["dictionaries"][name]
        found.update({member["name"]: member["type"] for member in dictionary["members"]})
        name = dictionary.get("inherits")
    return found


def write_arguments(value: Any) -> Any:
    """Write arguments as data."""
    if isinstance(value, DrawnValue):
        return dict(value.reference)
    if isinstance(value, dict):
        return {key: write_arguments(each) for key, each in value.items()}
    return [write_arguments(each) for each in value] if isinstance(value, list) else value


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the places within arguments that are written as data: the container of each value, and its key or index.

    An operand is one value: an object whose members begin with ``$``.
    """
    pairs: Any = value.items() if isinstance(value, dict) else enumerate(value)
    for key, each in pairs:
        yield value, key
        if isinstance(each, dict | list) and not (isinstance(each, dict) and any(name.startswith("$") for name in each)):
            yield from places(each)


class CallMaker(ABC):
    """Makes the operands of calls, as `webnn.calls.operations` asks for them. Subclasses say what an operand is.

    With ``chained``, operations take results of earlier ones where they can; otherwise each operand is a new input or constant.
    """

    def __init__(self, dice: Dice, revision: Revision, limits: Limits, *, chained: bool = False) -> None:
        self.dice = dice
        self.revision = revision
        self.limits = limits
        self.chained = chained
        self.values: list[DrawnValue] = []
        self._constants = dice.pick(("none", "all", "some", "rest"))
        self._hasInput = False

    # The draft and the limits.

    def takes(self, name: str, option: str) -> bool:
        """Tell whether an operation has an option in this draft."""
        options = self.revision.operations[name].options
        return options is not None and option in options.model_fields

    def enumeration(self, name: str) -> list[str]:
        """Return the values of an enumeration in this draft."""
        return list(self.revision.idl()["enumerations"][name])

    def options(self, **members: Callable[[], Any]) -> dict[str, Any]:
        """Choose which options are given."""
        return {name: make() for name, make in members.items() if self.dice.chance()}

    def activation(self) -> Any:
        """Choose an activation of a recurrent network."""
        return self.dice.pick(("relu", "sigmoid", "tanh"))

    def types(self, name: str, operand: str) -> tuple[DataType, ...]:
        """Return the data types that an operation takes for an operand, and for those operands that must have the same type."""
        types = types_of(self.limits, name, operand)
        tables = self.revision.limits.operations.get(name, {}) if self.revision.limits is not None else {}
        leader = tables[operand].same_type_as or operand if operand in tables else operand
        tied = [each for each, row in tables.items() if leader in (each, row.same_type_as) and each in self.limits[name]]
        shared = tuple(each for each in types if all(each in self.limits[name][row]["dataTypes"] for row in tied))
        return shared or types or DATA_TYPES

    def ranks(self, name: str, operand: str) -> tuple[int, int]:
        """Return the smallest and the largest rank that an operation takes for an operand."""
        known = self.limits[name][operand]["rankRange"]
        return known["min"], min(known["max"], self.dice.max_rank)

    # Operands.

    def operand(
        self, dataType: DataType, shape: Sequence[int], style: Style = "small", elements: Sequence[Scalar] | None = None
    ) -> DrawnValue:
        """Make an input or a constant, of certain elements or of any in a style."""
        chosen = self.dice.values(dataType, shape, style) if elements is None else elements
        isConstant = {"none": False, "all": True, "some": self.dice.chance(), "rest": self._hasInput}[self._constants]
        self._hasInput |= not isConstant
        return self.keep(self.make(dataType, shape, chosen, isConstant=isConstant))

    @abstractmethod
    def make(self, dataType: DataType, shape: Sequence[int], elements: Sequence[Scalar], *, isConstant: bool) -> DrawnValue:
        """Make an operand."""

    def keep(self, value: DrawnValue) -> DrawnValue:
        """Let later calls take a value."""
        self.values.append(value)
        return value

    def style(self) -> Style:
        """Choose how values look, where an operation takes any."""
        return self.dice.pick(("small", "small", "uniform", "uniform", "special" if not self.chained else "unit"))

    def first(
        self, name: str, operand: str = "input", *, ranks: tuple[int, int] | None = None, most: int = 60, style: Style = ""
    ) -> DrawnValue:
        """Take an operand from which an operation begins: one that is there, or a new one."""
        types, (low, high) = self.types(name, operand), ranks or self.ranks(name, operand)
        if self.chained:
            fits = [each for each in self.values if each.dataType in types and low <= each.rank <= high and math.prod(each.shape) <= most]
            if fits and self.dice.chance(0.85):
                return self.dice.pick(fits[-4:])
        dataType = self.dice.pick(types)
        return self.operand(dataType, self.dice.shape(low, high, most), style or self.style())

    def other(self, dataType: DataType, shape: Sequence[int], style: Style = "") -> DrawnValue:
        """Take another operand, of a type and shape."""
        if self.chained and self.dice.chance(0.3):
            fits = [each for each in self.values if each.dataType == dataType and each.shape == tuple(shape)]
            if fits:
                return self.dice.pick(fits)
        return self.operand(dataType, shape, style or self.style())

    # Shapes.

    def stretched(self, shape: Sequence[int]) -> list[int]:
        """Choose a shape that broadcasts to another one."""
        kept = list(shape[self.dice.integer(0, len(shape)) :]) if self.dice.chance(0.3) else list(shape)
        return [1 if self.dice.chance(0.25) else size for size in kept]

    def beside(self, shape: Sequence[int], high: int) -> list[int]:
        """Choose a shape that broadcasts together with another one: either may be stretched."""
        grown = [*[1] * (len(shape) < high and self.dice.chance(0.2)), *shape]
        ones = [axis for axis, size in enumerate(grown) if size == 1]
        if ones and self.dice.chance():
            grown[self.dice.pick(ones)] = self.dice.integer(1, 3)
        return self.stretched(grown)


#: The arguments and options of a call.
Arguments: TypeAlias = tuple[list[Any], dict[str, Any]]
#: Makes the operands of a call, and returns its arguments.
Call: TypeAlias = Callable[[CallMaker], Arguments]
