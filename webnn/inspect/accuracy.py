"""Each operator against the reference: `MLGraph.accuracy`."""

from __future__ import annotations

import time
from collections import ChainMap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from webnn.context.inspections import Accuracy, OperatorAccuracy, OutputAccuracy
from webnn.inspect.distance import find_distance, relative_distance
from webnn.inspect.statistics import unpack
from webnn.inspect.subject import LIMIT, Array, Subject, check_inputs, group
from webnn.reference import evaluate
from webnn.reference.computation import last_uses
from webnn.reference.operations import operations_of

if TYPE_CHECKING:
    from webnn.builder.description import OperatorDescription

__all__ = ["judge"]

#: Operations that are a rounding: their exact result is the rounded one.
_ROUNDINGS = frozenset({"cast"})


def judge(subject: Subject, inputs: Mapping[str, Any], limit: int = LIMIT) -> Accuracy:
    """Compare the operators of a graph with the reference; see `MLGraph.accuracy`."""
    description = subject.description
    arrays = check_inputs("accuracy", description.inputs, inputs)
    begin = time.perf_counter()
    outputs, _ = subject.state.timeline.run(lambda: subject.run(arrays))
    outputs = {name: array.copy() for name, array in outputs.items()}
    judgement = _Judgement(subject, arrays)
    groups = group(description, limit, operands=True)
    for (positions, _), computed in zip(groups, subject.walk([names for _, names in groups], arrays), strict=True):
        for position in positions:
            judgement.add(position, computed)
    return Accuracy(
        operators=tuple(sorted(judgement.found, key=lambda each: (-each.relative, -each.ulp, each.index))),
        outputs=tuple([judgement.output(name, array) for name, array in outputs.items()]),
        missing=tuple(sorted(judgement.missing)),
        seconds=time.perf_counter() - begin,
        reference=judgement.seconds,
    )


class _Judgement:
    """The state of one `judge`."""

    def __init__(self, subject: Subject, arrays: Mapping[str, Array]) -> None:
        self._description = subject.description
        self._known = subject.description.descriptors()
        self._leaves = {**{name: each.value for name, each in self._description.constants.items()}, **arrays}
        self._operations = operations_of(self._description.draft)
        #: The values of the whole graph in float64, each until its last use.
        self._exact: dict[str, Array] = {}
        self._last = last_uses(self._description)
        self._kept = {*self._description.outputs.values()}
        self.found: list[OperatorAccuracy] = []
        self.missing: set[str] = set()
        #: How long the reference took.
        self.seconds = 0.0

    def add(self, position: int, computed: dict[str, Array]) -> None:
        """Judge an operator, from the values that the device has computed."""
        operator = self._description.operators[position]
        values = ChainMap({}, computed, self._leaves)
        if operator.operation in self._operations:
            alone, whole = self._evaluate(operator, values)
            for name, expected, exact in zip(operator.outputs, alone, whole, strict=True):
                self.found.append(self._compare(operator, name, values[name], expected, exact))
        else:
            self.missing.add(operator.operation)
            whole = tuple([values[name] for name in operator.outputs])
        self._exact.update(zip(operator.outputs, whole, strict=True))
        for name in (*operator.outputs, *[value for _, _, value in operator.named_values()]):
            if self._last.get(name, position) == position and name not in self._kept:
                self._exact.pop(name, None)

    def _evaluate(self, operator: OperatorDescription, values: Mapping[str, Array]) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
        """Return the exact results for the device's operands, and those of the whole graph in float64."""
        draft = self._description.draft
        rounds = operator.operation in _ROUNDINGS
        begin = time.perf_counter()
        alone = evaluate(operator, draft, values, descriptors=self._known, exact=not rounds)
        if rounds or any(value in self._exact for _, _, value in operator.named_values()):
            whole = evaluate(operator, draft, ChainMap(self._exact, self._leaves), descriptors=self._known, exact=True)
        else:
            # Its operands are inputs and constants.
            whole = alone
        self.seconds += time.perf_counter() - begin
        return alone, whole

    def _compare(self, operator: OperatorDescription, name: str, array: Array, expected: Array, exact: Array) -> OperatorAccuracy:
        descriptor = self._known[name]
        actual = unpack(array, descriptor)
        distance = find_distance(actual, unpack(expected, descriptor), descriptor.dataType)
        return OperatorAccuracy(
            name=name,
            index=operator.index,
            operation=operator.operation,
            label=operator.label,
            dataType=descriptor.dataType,
            shape=descriptor.dimensions,
            relative=distance.relative,
            ulp=distance.ulp,
            accumulated=distance.relative if exact is expected else relative_distance(actual, unpack(exact, descriptor)),
            position=distance.position,
            actual=distance.actual,
            expected=distance.expected,
        )

    def output(self, name: str, array: Array) -> OutputAccuracy:
        """Judge an output of the graph."""
        value = self._description.outputs[name]
        descriptor = self._known[value]
        distance = find_distance(unpack(array, descriptor), unpack(self._exact[value], descriptor), descriptor.dataType)
        return OutputAccuracy(
            name=name, dataType=descriptor.dataType, relative=distance.relative, ulp=distance.ulp, absolute=distance.absolute
        )
