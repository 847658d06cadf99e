"""A program that grows: operands, calls of operations, and steps that compute them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import webnn
from webnn.calls.dice import Dice, Scalar
from webnn.calls.maker import CallMaker, DrawnValue, Limits, types_of, write_arguments
from webnn.fuzz.programs import SHARED, FuzzProgram, Step, array_of, make_view
from webnn.validation.descriptor import SMALL_TYPES, DataType
from webnn.validation.revision import Revision

__all__ = ["Maker", "held_types"]


@dataclass(frozen=True, slots=True)
class _Operand(DrawnValue):
    """A value of the program, and the operand of the emulator."""

    operand: webnn.MLOperand = field(compare=False, repr=False)


def held_types(limits: Limits, name: str, operand: str) -> tuple[DataType, ...]:
    """Return the data types that an operation takes for an operand, and that the view of a tensor can have."""
    return tuple(each for each in types_of(limits, name, operand) if each not in SMALL_TYPES)


class Maker(CallMaker):
    """A program with one builder, and the same graph in the emulator, which says the types and shapes of results."""

    def __init__(self, dice: Dice, context: webnn.MLContext, revision: Revision, limits: Limits, *, chained: bool = False) -> None:
        super().__init__(dice, revision, limits, chained=chained)
        self.steps: list[Step] = []
        #: The inputs by name: the values, and the views that are written to their tensors.
        self.feeds: dict[str, tuple[DrawnValue, Any]] = {}
        self._numbers = itertools.count()
        self._builder = webnn.MLGraphBuilder(context)
        self.builder = self.step("MLGraphBuilder", SHARED)

    def step(self, call: str, *args: Any, on: Any = None) -> dict[str, Any]:
        """Add a step, and return the reference to its result."""
        self.steps.append({"call": call, **({} if on is None else {"on": on}), "args": list(args)})
        return {"$step": len(self.steps) - 1}

    def types(self, name: str, operand: str) -> tuple[DataType, ...]:
        """Return the data types that an operation takes for an operand, and that a view can have."""
        return tuple(each for each in super().types(name, operand) if each not in SMALL_TYPES)

    def make(self, dataType: DataType, shape: Sequence[int], elements: Sequence[Scalar], *, isConstant: bool) -> DrawnValue:
        """Add an input or a constant."""
        view = make_view(dataType, elements)
        descriptor: Any = {"dataType": dataType, "shape": list(shape)}
        if isConstant:
            made = self._builder.constant(descriptor, array_of(view))
            return _value(self.step("constant", descriptor, view, on=self.builder), made)
        name = f"x{next(self._numbers)}"
        value = _value(self.step("input", name, descriptor, on=self.builder), self._builder.input(name, descriptor))
        self.feeds[name] = value, view
        return value

    # Calls.

    def call(self, name: str, arguments: Sequence[Any], options: Mapping[str, Any], *, label: str = "") -> list[DrawnValue]:
        """Add a call of an operation; return its results, which are none if the emulator refuses it."""
        chosen = {**options, **({"label": label} if label else {})}
        given = [*arguments, chosen] if chosen else list(arguments)
        reference = self.step(name, *write_arguments(given), on=self.builder)
        try:
            returned = getattr(self._builder, name)(*_real(arguments), _real(dict(chosen)))
        except TypeError:
            return []
        if not isinstance(returned, list):
            return [self.keep(_value(reference, returned))]
        return [self.keep(_value({**reference, "item": item}, each)) for item, each in enumerate(returned)]

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

    def finish(self, name: str) -> FuzzProgram:
        """Return the program."""
        return FuzzProgram(name, self.steps)


def _value(reference: Mapping[str, Any], made: webnn.MLOperand) -> DrawnValue:
    return _Operand(reference, made.dataType, tuple(made.shape), made)  # type: ignore[arg-type]  # attributes in this draft


def _real(value: Any) -> Any:
    """Return values as the emulator takes them in Python."""
    if isinstance(value, _Operand):
        return value.operand
    if isinstance(value, dict):
        if "$number" in value:
            return float(value["$number"])
        return {key: _real(each) for key, each in value.items()}
    return [_real(each) for each in value] if isinstance(value, list) else value
