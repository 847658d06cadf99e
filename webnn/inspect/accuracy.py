"""Each operator against the reference: `MLGraph.accuracy`."""

from __future__ import annotations

import time
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from webnn.builder.semantics import Semantics, explain
from webnn.context.inspections import Accuracy, OperatorAccuracy, OutputAccuracy
from webnn.context.runs import Array, check_inputs
from webnn.inspect.calls import judge_calls
from webnn.inspect.distance import find_distance, relative_distance
from webnn.inspect.statistics import unpack
from webnn.inspect.subject import LIMIT, Subject, group
from webnn.reference.computation import Prepared, last_uses
from webnn.reference.operations import operations_of
from webnn.validation import webidl
from webnn.validation.descriptor import FLOAT_FORMATS

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription, OperatorDescription

__all__ = ["judge"]

#: Where a result is farther away, relative to its largest value, a switch may explain it. Integers must be equal.
_FAR = 1e-2
#: Operations that are a rounding: their exact result is the rounded one.
_ROUNDINGS = frozenset({"cast"})


def judge(subject: Subject, inputs: Mapping[str, Any], *, whole: bool, limit: int = LIMIT) -> Accuracy:
    """Compare the operators of a graph with the reference; see `MLGraph.accuracy`."""
    if type(whole) is not bool:
        raise TypeError(f"accuracy: whole must be a bool, got {webidl.describe(whole)}")
    description = subject.description
    arrays = check_inputs("accuracy", description.inputs, inputs)
    begin = time.perf_counter()
    leaves = {**{name: each.value for name, each in description.constants.items()}, **arrays}
    semantics = subject.state.semantics
    exact = _Whole(description, leaves) if whole else None
    judgement = _Judgement(description, exact, semantics)
    groups = group(description, limit, operands=True)
    for (positions, _), computed in zip(groups, subject.walk([names for _, names in groups], arrays), strict=True):
        values = leaves | computed
        for position in positions:
            judgement.add(position, values)
    outputs: list[OutputAccuracy] = []
    if exact is not None:
        computed, _ = subject.state.timeline.run(lambda: subject.run(arrays))
        outputs = [_compare_output(description, name, array, exact.values) for name, array in computed.items()]
    return Accuracy(
        operators=tuple(sorted(judgement.found, key=lambda each: (-each.relative, -each.ulp, each.index))),
        outputs=tuple(outputs),
        calls=judge_calls(subject, arrays, limit),
        missing=tuple(sorted(judgement.missing)),
        seconds=time.perf_counter() - begin,
        reference=judgement.seconds,
    )


class _Whole:
    """The whole graph in float64, operator by operator."""

    def __init__(self, description: GraphDescription, leaves: dict[str, Array]) -> None:
        #: The results of operators, each until its last use.
        self.values: dict[str, Array] = {}
        self._all = ChainMap(self.values, leaves)
        self._last = last_uses(description)
        self._kept = {*description.outputs.values()}

    def evaluate(self, operator: Prepared, alone: tuple[Array, ...], *, rounded: bool) -> tuple[Array, ...]:
        """Compute an operator; its results for the device's operands are known, and perhaps rounded."""
        if rounded or any(value in self.values for _, _, value in operator.operands):
            return operator.evaluate(self._all, exact=True)
        # Its operands are inputs and constants.
        return alone

    def keep(self, position: int, operator: OperatorDescription, results: tuple[Array, ...]) -> None:
        """Keep the results of an operator, and drop values without further use."""
        self.values.update(zip(operator.outputs, results, strict=True))
        for name in (*operator.outputs, *[value for _, _, value in operator.named_values()]):
            if self._last.get(name, position) == position and name not in self._kept:
                self.values.pop(name, None)


class _Judgement:
    """The state of one `judge`."""

    def __init__(self, description: GraphDescription, whole: _Whole | None, semantics: Semantics) -> None:
        self._description = description
        self._semantics = semantics
        self._known = description.descriptors()
        self._operations = operations_of(description.draft)
        self._whole = whole
        self.found: list[OperatorAccuracy] = []
        self.missing: set[str] = set()
        #: How long the reference took.
        self.seconds = 0.0

    def add(self, position: int, values: Mapping[str, Array]) -> None:
        """Judge an operator, from the values that the device has computed."""
        operator = self._description.operators[position]
        actual = tuple([values[name] for name in operator.outputs])
        if operator.operation in self._operations:
            prepared = Prepared(operator, self._description.draft, self._known, self._semantics)
            rounded = operator.operation in _ROUNDINGS
            begin = time.perf_counter()
            alone = prepared.evaluate(values, exact=not rounded)
            exact = alone if self._whole is None else self._whole.evaluate(prepared, alone, rounded=rounded)
            self.seconds += time.perf_counter() - begin
            for each in zip(operator.outputs, actual, alone, exact, strict=True):
                judged = self._compare(operator, *each)
                if _is_far(judged.relative, judged.dataType):
                    judged = replace(judged, explanation=self._explain(operator, values, actual[0], exact=not rounded))
                self.found.append(judged)
        else:
            self.missing.add(operator.operation)
            exact = actual
        if self._whole is not None:
            self._whole.keep(position, operator, exact)

    def _explain(self, operator: OperatorDescription, values: Mapping[str, Array], array: Array, *, exact: bool) -> str:
        """Name the switches with which the only result of an operator is right; empty if there are none."""
        descriptor = self._known[operator.outputs[0]]
        actual = unpack(array, descriptor)

        def agrees(semantics: Semantics) -> bool:
            prepared = Prepared(operator, self._description.draft, self._known, semantics)
            [expected] = prepared.evaluate(values, exact=exact)
            return not _is_far(relative_distance(actual, unpack(expected, descriptor)), descriptor.dataType)

        return explain([operator.operation], self._semantics, agrees)

    def _compare(self, operator: OperatorDescription, name: str, array: Array, expected: Array, exact: Array) -> OperatorAccuracy:
        descriptor = self._known[name]
        actual = unpack(array, descriptor)
        distance = find_distance(actual, unpack(expected, descriptor), descriptor.dataType)
        accumulated = distance.relative if exact is expected else relative_distance(actual, unpack(exact, descriptor))
        return OperatorAccuracy(
            name=name,
            index=operator.index,
            operation=operator.operation,
            label=operator.label,
            dataType=descriptor.dataType,
            shape=descriptor.dimensions,
            relative=distance.relative,
            ulp=distance.ulp,
            accumulated=None if self._whole is None else accumulated,
            position=distance.position,
            actual=distance.actual,
            expected=distance.expected,
        )


def _is_far(relative: float, dataType: str) -> bool:
    return relative > (_FAR if dataType in FLOAT_FORMATS else 0)


def _compare_output(description: GraphDescription, name: str, array: Array, exact: Mapping[str, Array]) -> OutputAccuracy:
    value = description.outputs[name]
    descriptor = description.descriptors()[value]
    distance = find_distance(unpack(array, descriptor), unpack(exact[value], descriptor), descriptor.dataType)
    return OutputAccuracy(name=name, dataType=descriptor.dataType, relative=distance.relative, ulp=distance.ulp, absolute=distance.absolute)
