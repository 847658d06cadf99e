"""`Repetition`: the steps of an unrolled network, most of which are made like an earlier one, without checking their operators again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from webnn.builder.graph_builder import LabellingBuilder
from webnn.builder.operand import MLOperand, Operator
from webnn.builder.transform import repeat_operator

__all__ = ["Repetition"]

#: The first step may differ from the others, because it takes the initial states. The third one shows whether the second repeats.
_COMPARED = 3


@dataclass(frozen=True, slots=True)
class _Step:
    """A step: the operand of its own that it takes, the states before it and after it, and how many operators there are before it."""

    taken: MLOperand
    before: Sequence[MLOperand]
    after: Sequence[MLOperand]
    begin: int


@dataclass(frozen=True, slots=True)
class _Pattern:
    """The operators of a step. The values are its own operand, the states, the fixed operands, and the results of its operators, in order.

    Attributes:
        size: How many operators the step has, those whose results no state needs among them.
        operators: The others, each with its position in the step, and the positions of its operands among the values.
        fixed: The operands that are the same in all steps.
        after: The positions of the states after it.
    """

    size: int
    operators: Sequence[tuple[Operator, int, Sequence[int]]]
    fixed: Sequence[MLOperand]
    after: Sequence[int]

    def is_like(self, other: _Pattern) -> bool:
        """Tell whether another step does the same."""
        return (
            (self.size, self.after) == (other.size, other.after)
            and [*map(id, self.fixed)] == [*map(id, other.fixed)]
            and [each[1:] for each in self.operators] == [each[1:] for each in other.operators]
            and all(_is_alike(one[0], before[0]) for one, before in zip(self.operators, other.operators, strict=True))
        )


class Repetition:
    """The steps of a network. A step takes an operand of its own, and the states that the step before it made.

    A rule makes the first steps. If the third one does what the second one does, the others are made of copies of its operators, which are
    those that the rule would make: it sees operands of the same types and shapes that were made in the same way.

    Args:
        builder: The builder of the import.
        states: The states before the first step.
    """

    def __init__(self, builder: LabellingBuilder, states: Sequence[MLOperand]) -> None:
        self.states = states
        self._builder = builder
        self._steps: list[_Step] = []
        self._pattern: _Pattern | None = None

    def run(self, taken: MLOperand, make: Callable[[MLOperand, Sequence[MLOperand]], Sequence[MLOperand]]) -> MLOperand:
        """Make the operators of the next step, and return its first state.

        Args:
            taken: The operand that it takes.
            make: Makes a step, and returns the states after it.
        """
        builder, pattern = self._builder, self._pattern
        if pattern is not None and _is_taken_likewise(taken, self._steps[-1].taken):
            values = [taken, *self.states, *pattern.fixed]
            begin = builder._count
            for operator, place, operands in pattern.operators:
                # No operator gets the number of one that no state needs.
                builder._count = begin + place
                inputs = tuple([values[each] for each in operands])
                values += repeat_operator(builder, operator, operator.operation, operator.label, inputs, ())
            builder._count = begin + pattern.size
            self.states = [values[each] for each in pattern.after]
            return self.states[0]
        before, begin = self.states, builder._count
        self.states = make(taken, before)
        if len(self._steps) < _COMPARED:
            self._steps.append(_Step(taken, before, self.states, begin))
            if len(self._steps) == _COMPARED:
                self._pattern = self._learn()
        return self.states[0]

    def _learn(self) -> _Pattern | None:
        """Return what all steps do; None if the last two that were made differ."""
        first, second, third = self._steps
        if not _is_taken_likewise(third.taken, second.taken):
            return None
        one, other = _read(third, self._builder._count), _read(second, third.begin)
        if one is None or other is None or not one.is_like(other):
            return None
        # A step that takes a result of the first one may remember more than its states.
        return None if any(each._operator is not None and each._operator.index > first.begin for each in one.fixed) else one


def _is_taken_likewise(one: MLOperand, other: MLOperand) -> bool:
    """Tell whether a rule that looks at two operands sees the same: they are results of one operator, of one type and shape."""
    return one._operator is not None and one._operator is other._operator and one.descriptor == other.descriptor


def _read(step: _Step, end: int) -> _Pattern | None:
    """Return what a step does, before which operator it ends; None if other steps cannot do the same."""
    operators: dict[int, Operator] = {}
    left = [*step.after]
    while left:
        operator = left.pop()._operator
        if operator is not None and operator.index > step.begin and operator.index not in operators:
            operators[operator.index] = operator
            left += operator.inputs
    if any(each.members or type(each) is not Operator for each in operators.values()):
        return None
    made = [operators[index] for index in sorted(operators)]
    known = {id(operand): place for place, operand in enumerate((step.taken, *step.before))}
    fixed: dict[int, MLOperand] = {}
    for each in made:
        for operand in each.inputs:
            if id(operand) not in known and (operand._operator is None or operand._operator.index <= step.begin):
                fixed[id(operand)] = operand
    known |= {key: len(known) + place for place, key in enumerate(fixed)}
    #: The position of the first result of each operator.
    places: dict[int, int] = {}
    count = len(known)
    for each in made:
        places[each.index] = count
        count += len(each.outputs)

    def find(operand: MLOperand) -> int:
        place = known.get(id(operand))
        maker = operand._operator
        if place is not None:
            return place
        assert maker is not None  # other operands are fixed
        return places[maker.index] + operand._position

    if any(state._operator is None or state._operator.index not in places for state in step.after):
        return None
    return _Pattern(
        size=end - step.begin,
        operators=[(each, each.index - step.begin - 1, [*map(find, each.inputs)]) for each in made],
        fixed=[*fixed.values()],
        after=[*map(find, step.after)],
    )


def _is_alike(one: Operator, other: Operator) -> bool:
    """Tell whether operators are calls that differ in their operands only."""
    return one.does_same(other) and one.label == other.label and one.given == other.given
