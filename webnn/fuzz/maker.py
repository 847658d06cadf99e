"""A program that grows: operands, calls of operations, and what computes them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import webnn
from webnn.fuzz.dice import Dice, Scalar, Style
from webnn.fuzz.programs import SHARED, Program, Step, array_of, make_view
from webnn.validation.descriptor import SMALL_TYPES, DataType

__all__ = ["Limits", "Maker", "Value", "types_of"]

#: What `MLContext.opSupportLimits` returns: for each operation, the types and ranks of its operands.
Limits = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Value:
    """An operand of the program: how steps refer to it, its type and its shape."""

    reference: Mapping[str, Any]
    dataType: DataType
    shape: tuple[int, ...]
    operand: webnn.MLOperand = field(compare=False, repr=False)

    @property
    def rank(self) -> int:
        """The rank."""
        return len(self.shape)


def types_of(limits: Limits, name: str, operand: str) -> tuple[DataType, ...]:
    """Return the data types that an operation takes for an operand, and that inputs and constants can have."""
    given = [limits[row]["dataTypes"] for row in ("input", "constant")]
    return tuple(each for each in limits[name][operand]["dataTypes"] if all(each in types for types in given) and each not in SMALL_TYPES)


class Maker:
    """A program with one builder, and the same graph in the emulator, which says the types and shapes of results.

    Args:
        dice: The source of choices.
        context: A context of the emulator.
        limits: Its limits.
        chained: Operations take results of earlier ones where they can; otherwise each operand is an input or a constant of its own.
    """

    def __init__(self, dice: Dice, context: webnn.MLContext, limits: Limits, *, chained: bool = False) -> None:
        self.dice = dice
        self.limits = limits
        self.chained = chained
        self.steps: list[Step] = []
        #: The inputs by name: the values, and the views that are written to their tensors.
        self.feeds: dict[str, tuple[Value, Any]] = {}
        self.values: list[Value] = []
        self._constants = dice.pick(("none", "all", "some", "rest"))
        self._numbers = itertools.count()
        self._builder = webnn.MLGraphBuilder(context)
        self.builder = self.step("MLGraphBuilder", SHARED)

    def step(self, call: str, *args: Any, on: Any = None) -> dict[str, Any]:
        """Add a step, and return the reference to its result."""
        self.steps.append({"call": call, **({} if on is None else {"on": on}), "args": list(args)})
        return {"$step": len(self.steps) - 1}

    # Operands.

    def types(self, name: str, operand: str) -> tuple[DataType, ...]:
        """Return the data types that an operation takes for an operand."""
        return types_of(self.limits, name, operand)

    def ranks(self, name: str, operand: str) -> tuple[int, int]:
        """Return the smallest and the largest rank that an operation takes for an operand."""
        known = self.limits[name][operand]["rankRange"]
        return known["min"], min(known["max"], self.dice.max_rank)

    def operand(self, dataType: DataType, shape: Sequence[int], style: Style = "small", values: Sequence[Scalar] | None = None) -> Value:
        """Make an input or a constant, of certain elements or of any in a style."""
        view = make_view(dataType, self.dice.values(dataType, shape, style) if values is None else values)
        constant = {"none": False, "all": True, "some": self.dice.chance(), "rest": bool(self.feeds)}[self._constants]
        descriptor: Any = {"dataType": dataType, "shape": list(shape)}
        if constant:
            made = self._builder.constant(descriptor, array_of(view))
            return self._keep(self.step("constant", descriptor, view, on=self.builder), made)
        name = f"x{next(self._numbers)}"
        value = self._keep(self.step("input", name, descriptor, on=self.builder), self._builder.input(name, descriptor))
        self.feeds[name] = value, view
        return value

    def first(self, name: str, operand: str = "input", *, ranks: tuple[int, int] | None = None, most: int = 60, style: Style = "") -> Value:
        """Take an operand from which an operation begins: one that is there, or a new one."""
        types, (low, high) = self.types(name, operand), ranks or self.ranks(name, operand)
        if self.chained:
            fits = [each for each in self.values if each.dataType in types and low <= each.rank <= high and math.prod(each.shape) <= most]
            if fits and self.dice.chance(0.85):
                return self.dice.pick(fits[-4:])
        dataType = self.dice.pick(types)
        if not style:
            style = self.dice.pick(("small", "small", "uniform", "uniform", "special" if not self.chained else "unit"))
        return self.operand(dataType, self.dice.shape(low, high, most), style)

    def other(self, dataType: DataType, shape: Sequence[int], style: Style = "small") -> Value:
        """Take another operand, of a type and shape."""
        if self.chained and self.dice.chance(0.3):
            fits = [each for each in self.values if each.dataType == dataType and each.shape == tuple(shape)]
            if fits:
                return self.dice.pick(fits)
        return self.operand(dataType, shape, style)

    def stretched(self, shape: Sequence[int]) -> list[int]:
        """Choose a shape that broadcasts to another one."""
        kept = list(shape[self.dice.integer(0, len(shape)) :]) if self.dice.chance(0.3) else list(shape)
        return [1 if self.dice.chance(0.25) else size for size in kept]

    def _keep(self, reference: Mapping[str, Any], made: webnn.MLOperand) -> Value:
        value = Value(reference, made.dataType, tuple(made.shape), made)  # type: ignore[arg-type]  # attributes in this draft
        self.values.append(value)
        return value

    # Calls.

    def call(self, name: str, arguments: Sequence[Any], options: Mapping[str, Any], *, label: str = "") -> list[Value]:
        """Add a call of an operation; return its results, which are none if the emulator refuses it."""
        chosen = {**options, **({"label": label} if label else {})}
        given = [*arguments, chosen] if chosen else list(arguments)
        reference = self.step(name, *_encode(given), on=self.builder)
        try:
            returned = getattr(self._builder, name)(*_real(arguments), _real(dict(chosen)))
        except TypeError:
            return []
        if not isinstance(returned, list):
            return [self._keep(reference, returned)]
        return [self._keep({**reference, "item": item}, each) for item, each in enumerate(returned)]

    def build(self, outputs: Mapping[str, Any], *, builder: Any = None) -> dict[str, Any]:
        """Build a graph of some outputs."""
        return self.step("build", dict(outputs), on=builder or self.builder)

    def compute(self, graph: Any, outputs: Mapping[str, Any], inputs: Mapping[str, tuple[Any, Any]]) -> None:
        """Compute a graph: make its tensors, write the inputs, dispatch, read the outputs."""
        given, taken = {}, {}
        for name, (operand, view) in inputs.items():
            given[name] = self.step("createTensor", {"$like": operand, "writable": True}, on=SHARED)
            self.step("writeTensor", given[name], view, on=SHARED)
        for name, operand in outputs.items():
            taken[name] = self.step("createTensor", {"$like": operand, "readable": True}, on=SHARED)
        self.step("dispatch", graph, given, taken, on=SHARED)
        for tensor in taken.values():
            self.step("readTensor", tensor, on=SHARED)

    def finish(self, name: str) -> Program:
        """Return the program."""
        return Program(name, self.steps)


def _encode(value: Any) -> Any:
    """Write values as steps hold them."""
    if isinstance(value, Value):
        return dict(value.reference)
    if isinstance(value, dict):
        return {key: _encode(each) for key, each in value.items()}
    return [_encode(each) for each in value] if isinstance(value, list) else value


def _real(value: Any) -> Any:
    """Return values as the emulator takes them in Python."""
    if isinstance(value, Value):
        return value.operand
    if isinstance(value, dict):
        if "$number" in value:
            return float(value["$number"])
        return {key: _real(each) for key, each in value.items()}
    return [_real(each) for each in value] if isinstance(value, list) else value
