"""Loops: steps of a graph that repeat, such as those of an unrolled recurrent network, become one node with a single step inside.

The engine's work for a session grows with the number of nodes, and it packs a matrix of weights once for each product with it. The node, a
`Scan`, computes a step by the same kernels, and takes no longer than the steps one by one.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from webnn.builder.graph import ComputationalGraph
from webnn.builder.onnx.emitter import Emitter
from webnn.builder.onnx.together import Together
from webnn.builder.onnx_names import find_scopes, scope
from webnn.builder.operand import MLOperand, Operator

__all__ = ["Loop", "emit_loop", "find_loops"]

#: The fewest steps and operators of a loop: fewer are not worth its node.
_FEWEST_STEPS, _FEWEST_OPERATORS = 8, 64
#: A loop has such an operator in each step, with the same weights.
_PRODUCTS = frozenset({"gemm", "matmul"})
#: The engine brings these into a layout of its own, but not inside a loop.
_APART = frozenset({"averagePool2d", "conv2d", "convTranspose2d", "l2Pool2d", "maxPool2d"})

#: A result: the position of its operator, in the graph or in a step, and its own.
_Place = tuple[int, int]
#: The most bytes of a constant that differs from step to step.
_SMALL_BYTES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """Operators in equal steps, of which the second one is translated.

    Attributes:
        steps: The operators of each step.
        carried: The results of a step that the next one takes, by their places in a step; with those that the first step takes.
        scanned: The parts of split operands, one for each step, by the split operators and the position that the second step takes; with 1
            if the next step takes the next part, or -1 if it takes the part before.
        listed: Constants that differ from step to step, by the ids that the second step has.
        kept: The results that operators behind the loop take, by their places in a step, without carried ones of the last step.
        fixed: The operands from outside that all steps take, by their ids.
    """

    steps: Sequence[Sequence[Operator]]
    carried: dict[_Place, MLOperand] = field(default_factory=dict)
    scanned: dict[tuple[Operator, int], int] = field(default_factory=dict)
    listed: dict[int, list[MLOperand]] = field(default_factory=dict)
    kept: dict[_Place, None] = field(default_factory=dict)
    fixed: dict[int, MLOperand] = field(default_factory=dict)


def find_loops(graph: ComputationalGraph, together: Mapping[int, Together], needed: set[int] | None) -> dict[int, Loop]:
    """Return the loops of a graph, each by the number of its first operator.

    Args:
        graph: The graph.
        together: The operators that are computed together.
        needed: The numbers of the operators that are translated; ``None`` for all.
    """
    groups = _find_products(graph.operators)
    return _Search(graph, together, needed).run(groups) if groups else {}


def _find_products(operators: Sequence[Operator]) -> list[list[int]]:
    """Return the positions of products that have the same weights."""
    products: dict[int, list[int]] = {}
    for place, operator in enumerate(operators):
        if operator.operation.name in _PRODUCTS:
            products.setdefault(id(operator.inputs[1]), []).append(place)
    return sorted(found for found in products.values() if len(found) >= _FEWEST_STEPS)


class _Search:
    """The state of one search."""

    def __init__(self, graph: ComputationalGraph, together: Mapping[int, Together], needed: set[int] | None) -> None:
        self._graph = graph
        self._operators = graph.operators
        self._together = together
        self._needed = needed
        self._places = {operator.index: place for place, operator in enumerate(graph.operators)}

    def run(self, groups: Sequence[Sequence[int]]) -> dict[int, Loop]:
        """Return the loops that have some products in their steps."""
        found = [(start, loop) for start, period, count in self._find_runs(groups) if (loop := self._connect(start, period, count))]
        while True:
            #: The loop of each operator in one, with the position of its first operator.
            owners = {place: each for each in found for place in range(each[0], each[0] + len(each[1].steps) * len(each[1].steps[0]))}
            right = [each for each in found if all(self._places[maker.index] not in owners for maker, _ in each[1].scanned)]
            if len(right) == len(found) and self._find_kept(found, owners):
                return {self._operators[start].index: loop for start, loop in found}
            # The operators of a loop that is refused are outside the others.
            found = right if len(right) < len(found) else []

    def _find_runs(self, groups: Sequence[Sequence[int]]) -> Iterator[tuple[int, int, int]]:
        """Yield the position of the first operator, the number of operators in a step, and the number of steps."""
        end = 0
        for group in groups:
            first = 0
            while first + _FEWEST_STEPS <= len(group):
                period, last = group[first + 1] - group[first], first + 1
                while last + 1 < len(group) and group[last + 1] - group[last] == period:
                    last += 1
                # The first steps may take other operands.
                middle = group[(first + last + 1) // 2]
                if last - first + 1 >= _FEWEST_STEPS and middle - period >= end:
                    low = high = middle
                    while low - period > end and self._is_alike(low - 1, period):
                        low -= 1
                    while high < len(self._operators) and self._is_alike(high, period):
                        high += 1
                    start = low - period + (self._find_cut(low, period) if high - low >= period else 0)
                    count = (high - start) // period
                    if count >= _FEWEST_STEPS and count * period >= _FEWEST_OPERATORS:
                        yield start, period, count
                        end = start + count * period
                first = last

    def _is_alike(self, place: int, period: int) -> bool:
        """Tell whether an operator does in its step what another one does in the step before."""
        one, before = self._operators[place], self._operators[place - period]
        return (
            type(one) is type(before) is Operator
            and one.does_same(before)
            and len(one.inputs) == len(before.inputs)
            and self._are_alike(one.inputs, before.inputs, period)
            and len(one.members) == len(before.members)
            and (not one.members or self._are_alike(_members(one), _members(before), period))
        )

    def _are_alike(self, operands: Iterable[MLOperand], others: Iterable[MLOperand], period: int) -> bool:
        """Tell whether operands of one step are what others are in the step before."""
        places = self._places
        for one, before in zip(operands, others, strict=True):
            if one is before:
                continue
            maker, first = one._operator, before._operator
            if one.descriptor is not before.descriptor and one.descriptor != before.descriptor:
                return False
            if maker is None or first is None:
                if one._value is None or before._value is None or not _is_small(one):
                    return False
            elif maker is first:
                if abs(one._position - before._position) != 1 or not _splits_rows(maker):
                    return False
            elif places[maker.index] - places[first.index] != period or one._position != before._position:
                return False
        return True

    def _find_cut(self, low: int, period: int) -> int:
        """Return at which of its operators a step begins, so that the fewest results go from step to step."""
        last: dict[_Place, int] = {}
        for place in range(low, low + period):
            for operand in self._take(self._operators[place]):
                maker = operand._operator
                if maker is not None and (made := self._places[maker.index]) >= low - period:
                    # By the place in the step after.
                    key = (made - low) % period, operand._position
                    last[key] = max(last.get(key, 0), place - made)
        crossing = [0] * period
        for (made, _), distance in last.items():
            for place in range(made + 1, made + distance + 1):
                crossing[place % period] += 1
        return crossing.index(min(crossing))

    def _take(self, operator: Operator) -> Sequence[MLOperand]:
        """Return the operands that the nodes of an operator take."""
        if self._needed is not None and operator.index not in self._needed:
            return ()
        one = self._together.get(operator.index)
        if one is not None:
            return one.operands
        return [*operator.inputs, *_members(operator)] if operator.members else operator.inputs

    def _is_regular(self, steps: Sequence[Sequence[Operator]]) -> bool:
        """Tell whether each step is translated as the second one is."""
        together, period = self._together, len(steps[0])
        for place, operator in enumerate(steps[1]):
            if operator.operation.name in _APART:
                return False
            model = together.get(operator.index)
            for before, step in itertools.pairwise(steps) if together else ():
                one, moved = together.get(step[place].index), step[place].index - operator.index
                if type(one) is not type(model):
                    return False
                if one is None or model is None:
                    continue
                if [*one.members] != [number + moved for number in model.members] or max(one.members) > step[-1].index:
                    return False
                if step is not steps[1] and not self._are_alike(one.operands, self._take(before[place]), period):
                    return False
        # Nodes for several operators belong to one step.
        first, last = steps[0][0].index, steps[-1][-1].index
        return all(number >= first for one in together.values() if first <= max(one.members) <= last for number in one.members)

    def _connect(self, start: int, period: int, count: int) -> Loop | None:
        """Find what the steps of a loop take; return ``None`` if it cannot be a loop."""
        operators = self._operators
        loop = Loop(steps=[operators[start + number * period : start + (number + 1) * period] for number in range(count)])
        if not self._is_regular(loop.steps):
            return None
        for place in range(period):
            # The operands of the steps between follow from these.
            taken = [self._take(loop.steps[number][place]) for number in (0, 1, -1)]
            if len({*map(len, taken)}) != 1:
                return None
            for index, operands in enumerate(zip(*taken, strict=True)):
                if not self._note(loop, start, place, index, operands):
                    return None
        pieces, listed = {*loop.scanned}, loop.listed.keys()
        # An operand that is one of these in one place, and the same in all steps in another, would have two values.
        if any(key in listed or (each._operator, each._position) in pieces for key, each in loop.fixed.items()):
            return None
        return loop if pieces or listed else None

    def _note(self, loop: Loop, start: int, place: int, index: int, operands: Sequence[MLOperand]) -> bool:
        """Note an operand, given for the first, the second and the last step; tell whether a loop can have it."""
        first, operand, last = operands
        maker = operand._operator
        if operand is first is last:
            loop.fixed[id(operand)] = operand
            return maker is None or self._places[maker.index] < start
        if maker is None:
            if loop.steps[1][place].index in self._together:
                return False
            column = [self._take(step[place])[index] for step in loop.steps]
            return [*map(id, loop.listed.setdefault(id(operand), column))] == [*map(id, column)]
        if maker is first._operator:
            direction = operand._position - first._position
            isSteady = maker is last._operator and last._position - first._position == direction * (len(loop.steps) - 1)
            return isSteady and loop.scanned.setdefault((maker, operand._position), direction) == direction
        made = self._places[maker.index]
        if made < start + len(loop.steps[0]):
            loop.carried[made - start, operand._position] = first
        return made >= start

    def _find_kept(self, loops: Sequence[tuple[int, Loop]], owners: Mapping[int, tuple[int, Loop]]) -> bool:
        """Find the results of loops that are needed behind them; tell whether the loops can give them."""
        users = [*self._graph.outputs.values()]
        for place, operator in enumerate(self._operators):
            if place not in owners:
                users += self._take(operator)
        for _, loop in loops:
            loop.kept.clear()
            users += [*loop.carried.values(), *loop.fixed.values(), *(maker.inputs[0] for maker, _ in loop.scanned)]
        for operand in users:
            maker = operand._operator
            owner = None if maker is None else owners.get(self._places[maker.index])
            if maker is None or owner is None:
                continue
            start, loop = owner
            step, offset = divmod(self._places[maker.index] - start, len(loop.steps[0]))
            if step < len(loop.steps) - 1 or (offset, operand._position) not in loop.carried:
                loop.kept[offset, operand._position] = None
            if not operand.descriptor.dimensions or not self._is_made(loop.steps[1], offset):
                return False
        return True

    def _is_made(self, step: Sequence[Operator], offset: int) -> bool:
        """Tell whether the nodes of a step make an operator's results."""
        number, needed = step[offset].index, self._needed
        if needed is None or number in needed:
            return True
        return any(number in one.members for each in step if each.index in needed and (one := self._together.get(each.index)))


def _members(operator: Operator) -> list[MLOperand]:
    return [each for _, each in operator.members]


def _is_small(operand: MLOperand) -> bool:
    """Tell whether an operand is a constant that steps may have one of each."""
    value = operand._value
    return value is not None and value.nbytes <= _SMALL_BYTES and value.shape == operand.descriptor.dimensions


def _splits_rows(operator: Operator) -> bool:
    """Tell whether an operator splits the first dimension into equal parts."""
    options: Any = operator.options
    return operator.operation.name == "split" and options.axis == 0 and len({*operator.outputs}) == 1


def emit_loop(
    e: Emitter,
    loop: Loop,
    results: dict[int, Sequence[str]],
    leaves: dict[int, str],
    find: Callable[[MLOperand], str],
    translate: Callable[[Operator], None],
) -> None:
    """Emit a loop.

    Args:
        e: The emitter.
        loop: The loop.
        results: The values of each operator's results, by the operator's number. It gets those that are needed behind the loop.
        leaves: The values of inputs and constants, by the ids of their operands.
        find: Returns the value of an operand, by these values.
        translate: Emits the nodes of an operator.
    """
    steps, count = loop.steps, len(loop.steps)
    first, second = steps[:2]
    name = scope(second[0].operation.name, second[0].index)
    e.scope(f"{name}.inputs")
    given = [find(operand) for operand in loop.carried.values()]
    for (split, position), direction in loop.scanned.items():
        rows, *rest = split.outputs[0].dimensions
        value = find(split.inputs[0])
        if count < len(split.outputs):
            least = min(position - direction, position + (count - 2) * direction)
            value = e.node("Slice", [value, *(e.ints([number]) for number in (least * rows, (least + count) * rows, 0))])
        given.append(e.reshape(value, [count, rows, *rest]))
    for number, column in enumerate(loop.listed.values()):
        given.append(e.weight(f"{name}.list.{number}", np.stack([operand._value for operand in column if operand._value is not None])))
    for operand in loop.fixed.values():
        if not e.is_constant(value := find(operand)):
            e.require(value)
    outside = {split.index: results[split.index] for split, _ in loop.scanned}
    made: list[str] = []
    with e.subgraph("step") as body:
        taken = [*[(first[place], position) for place, position in loop.carried], *loop.scanned]
        for number, (maker, position) in enumerate(taken):
            names = [*results.get(maker.index, [""] * len(maker.outputs))]
            names[position] = e.declare_input(f"{name}.input.{number}", maker.outputs[position])
            results[maker.index] = names
        stand_ins: dict[int, MLOperand] = {}
        for number, (key, column) in enumerate(loop.listed.items(), len(taken)):
            stand_in = stand_ins[key] = MLOperand._create(column[0]._builder, column[0].descriptor)
            leaves[id(stand_in)] = e.declare_input(f"{name}.input.{number}", stand_in.descriptor)
        for operator in second:
            translate(_exchange(operator, stand_ins) if stand_ins else operator)
        for stand_in in stand_ins.values():
            del leaves[id(stand_in)]
        e.scope(f"{name}.outputs")
        own = {operator.index for operator in second}
        for place, position in (*loop.carried, *loop.kept):
            value = results[second[place].index][position]
            if value in made or next(find_scopes(value), ("", 0))[1] not in own:
                # The step hands on what it takes, or one value twice.
                value = e.node("Identity", [value])
            made.append(value)
            e.declare_output(value, second[place].outputs[position])
    for operator in (*first, *second):
        results.pop(operator.index, None)
    results |= outside
    e.scope(f"{name}.loop")
    directions = [int(direction < 0) for direction in loop.scanned.values()] + [0] * len(loop.listed)
    outputs = e.nodes("Scan", given, [True] * len(made), num_scan_inputs=len(directions), scan_input_directions=directions, body=body)
    for (place, position), value in zip(loop.carried, outputs, strict=False):
        _give(results, steps[-1][place], position, value)
    for (place, position), value in zip(loop.kept, outputs[len(loop.carried) :], strict=True):
        rows, *rest = second[place].outputs[position].dimensions
        parts = e.nodes("Split", [e.reshape(value, [count * rows, *rest]), e.ints([rows] * count)], count, axis=0)
        for step, part in zip(steps, parts, strict=True):
            if step is not steps[-1] or (place, position) not in loop.carried:
                _give(results, step[place], position, part)


def _exchange(operator: Operator, stand_ins: Mapping[int, MLOperand]) -> Operator:
    """Return an operator with other operands in place of some of its own."""
    if stand_ins.keys().isdisjoint(map(id, operator.inputs)) and stand_ins.keys().isdisjoint(map(id, _members(operator))):
        return operator
    inputs = tuple([stand_ins.get(id(each), each) for each in operator.inputs])
    return replace(operator, inputs=inputs, members=tuple([(name, stand_ins.get(id(each), each)) for name, each in operator.members]))


def _give(results: dict[int, Sequence[str]], operator: Operator, position: int, value: str) -> None:
    """Note the value of one of an operator's results."""
    names = [*results.get(operator.index, [""] * len(operator.outputs))]
    names[position] = value
    results[operator.index] = names
