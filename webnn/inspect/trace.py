"""The values of a graph: `MLGraph.trace` and `MLGraph.firstNaN`."""

from __future__ import annotations

import time
from collections import ChainMap
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from webnn.context.inspections import FirstNaN, Offender, Trace, TracedValue
from webnn.context.runs import Array, check_inputs
from webnn.inspect.statistics import describe_elements, unpack
from webnn.inspect.subject import LIMIT, Subject, group
from webnn.validation import webidl
from webnn.validation.descriptor import is_float

if TYPE_CHECKING:
    from webnn.builder.description import OperatorDescription
    from webnn.context.inspections import Statistics
    from webnn.validation.descriptor import OperandDescriptor

__all__ = ["find_nan", "trace_subject"]

#: How many elements at fault are shown.
_OFFENDERS = 8
#: How many names an error lists.
_LISTED = 12


def trace_subject(subject: Subject, inputs: Mapping[str, Any], labels: str | Iterable[str], limit: int = LIMIT) -> Trace:
    """Compute the values of a graph; see `MLGraph.trace`."""
    description = subject.description
    kept = _choose(subject, labels)
    arrays = check_inputs("trace", description.inputs, inputs)
    _, plain = subject.state.timeline.run(lambda: subject.run(arrays))
    begin = time.perf_counter()
    values = [_see(name, description.inputs[name], array, keep=name in kept) for name, array in arrays.items()]
    known = description.descriptors()
    makers = {name: operator for operator in description.operators for name in operator.outputs}
    groups = group(description, limit)
    for computed in subject.walk([names for _, names in groups], arrays):
        values += [_see(name, known[name], array, makers[name], keep=name in kept) for name, array in computed.items()]
    return Trace(values=tuple(values), groups=len(groups), seconds=time.perf_counter() - begin, plain=plain)


def _choose(subject: Subject, labels: str | Iterable[str]) -> set[str]:
    """Return the names of the values to keep."""
    wanted = [labels] if isinstance(labels, str) else list(labels)
    description = subject.description
    chosen: set[str] = set()
    for each in wanted:
        if not isinstance(each, str):
            raise TypeError(f"trace: labels must be strings, got {webidl.describe(each)}")
        found = {name for operator in description.operators if operator.label == each for name in operator.outputs} if each else set()
        found |= {each} & {*description.inputs, *(name for operator in description.operators for name in operator.outputs)}
        if not found:
            names = list(dict.fromkeys([operator.label or name for operator in description.operators for name in operator.outputs]))
            more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
            raise ValueError(
                f"trace: labels must be labels of operators or names of values in graph.description, {names[:_LISTED]}{more}, "
                f"got {webidl.describe(each)}"
            )
        chosen |= found
    return chosen


def _see(
    name: str,
    descriptor: OperandDescriptor,
    array: Array,
    operator: OperatorDescription | None = None,
    *,
    keep: bool = False,
    kind: str = "input",
    statistics: Statistics | None = None,
) -> TracedValue:
    elements = unpack(array, descriptor)
    return TracedValue(
        name=name,
        index=0 if operator is None else operator.index,
        operation=kind if operator is None else operator.operation,
        label="" if operator is None else operator.label,
        dataType=descriptor.dataType,
        shape=descriptor.dimensions,
        statistics=describe_elements(elements) if statistics is None else statistics,
        value=elements.copy() if keep else None,
    )


# NaN and infinities


def find_nan(subject: Subject, inputs: Mapping[str, Any], limit: int = LIMIT) -> FirstNaN | None:
    """Find the first operator that makes NaN or infinities; see `MLGraph.firstNaN`."""
    description = subject.description
    arrays = check_inputs("firstNaN", description.inputs, inputs)
    finder = _Finder(subject, arrays)
    found = finder.look_at_leaves()
    if found is not None:
        return found
    groups = group(description, limit, operands=True)
    for (positions, _), computed in zip(groups, subject.walk([names for _, names in groups], arrays), strict=True):
        for position in positions:
            found = finder.look_at(description.operators[position], computed)
            if found is not None:
                return found
    return None


class _Finder:
    """The state of one `find_nan`."""

    def __init__(self, subject: Subject, arrays: Mapping[str, Array]) -> None:
        self._description = subject.description
        self._known = subject.description.descriptors()
        self._makers = {name: operator for operator in self._description.operators for name in operator.outputs}
        self._leaves = {**{name: each.value for name, each in self._description.constants.items()}, **arrays}
        #: Whether each value has NaN and infinities.
        self._flaws: dict[str, tuple[bool, bool]] = {}

    def look_at_leaves(self) -> FirstNaN | None:
        """Return a finding for the first input or constant with NaN. Infinities are common there, for example in masks."""
        for name in (*self._description.inputs, *self._description.constants):
            if self._flaw(name, self._leaves)[0]:
                array = self._leaves[name]
                kind = "input" if name in self._description.inputs else "constant"
                bad = np.isnan(array)
                return FirstNaN(
                    kind="NaN",
                    index=0,
                    operation=kind,
                    label="",
                    value=_see(name, self._known[name], array, kind=kind),
                    operands={},
                    offenders=self._offenders(unpack(array, self._known[name]), bad, {}),
                )
        return None

    def look_at(self, operator: OperatorDescription, computed: dict[str, Array]) -> FirstNaN | None:
        """Return a finding for an operator if its result has NaN or infinities that its operands do not have."""
        values = ChainMap({}, computed, self._leaves)
        operands = [(title, value) for title, _, value in operator.named_values()]
        before = [self._flaw(value, values) for _, value in operands]
        for name in operator.outputs:
            after = self._flaw(name, values)
            for kind, place, find in (("NaN", 0, np.isnan), ("infinity", 1, np.isinf)):
                if after[place] and not any(each[place] for each in before):
                    return self._report(operator, name, kind, find(values[name]), dict(operands), values)
        return None

    def _flaw(self, name: str, values: Mapping[str, Array]) -> tuple[bool, bool]:
        found = self._flaws.get(name)
        if found is None:
            array = values[name]
            floating = is_float(self._known[name].dataType)
            found = self._flaws[name] = (bool(np.isnan(array).any()), bool(np.isinf(array).any())) if floating else (False, False)
        return found

    def _report(
        self, operator: OperatorDescription, name: str, kind: str, bad: Array, operands: Mapping[str, str], values: Mapping[str, Array]
    ) -> FirstNaN:
        elements = {title: unpack(values[value], self._known[value]) for title, value in operands.items()}
        return FirstNaN(
            kind=kind,
            index=operator.index,
            operation=operator.operation,
            label=operator.label,
            value=_see(name, self._known[name], values[name], operator),
            operands={title: self._operand(value, values[value]) for title, value in operands.items()},
            offenders=self._offenders(unpack(values[name], self._known[name]), bad, elements),
        )

    def _operand(self, name: str, array: Array) -> TracedValue:
        kind = "constant" if name in self._description.constants else "input"
        return _see(name, self._known[name], array, self._makers.get(name), kind=kind)

    def _offenders(self, elements: Array, bad: Array, operands: Mapping[str, Array]) -> tuple[Offender, ...]:
        flat = np.flatnonzero(bad)[:_OFFENDERS]
        fitting = {title: array for title, array in operands.items() if array.shape == elements.shape}
        return tuple(
            Offender(
                position=tuple(int(each) for each in np.unravel_index(place, elements.shape)),
                value=elements.reshape(-1)[place].item(),
                operands={title: array.reshape(-1)[place].item() for title, array in fitting.items()},
            )
            for place in flat
        )
