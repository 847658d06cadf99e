"""How two graphs differ: `compare` finds the differences in structure and in weights.

Operators are matched in order, by operation and options, not by the names of their values: a graph that was saved, loaded or renamed equals
the first one. Then the operands of matched operators are compared: where they come from, and the elements of constants.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from difflib import SequenceMatcher
from typing import Any, Literal

import numpy as np

from webnn.builder.description import ConstantDescription, GraphDescription, OperatorDescription
from webnn.formats import plain
from webnn.validation import webidl
from webnn.validation.descriptor import OperandDescriptor, unpack

__all__ = ["Change", "Difference", "WeightChange", "compare"]

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class Change:
    """A difference in structure.

    Attributes:
        kind: Only the second graph has it, only the first one has it, or both have it differently.
        text: The difference, in a line.
        first: The position of the operator in the first graph, from 0; ``None`` if it has none, or the difference is not of an operator.
        second: That in the second graph, likewise.
    """

    kind: Literal["added", "removed", "changed"]
    text: str
    first: int | None = field(default=None, compare=False)
    second: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightChange:
    """A constant of both graphs whose elements differ.

    Attributes:
        operator: The operator that takes it, in the first graph.
        argument: The argument or option.
        dataType: Its data type, in both graphs.
        shape: Its shape, in both graphs.
        count: How many elements differ.
        largest: The largest absolute difference, in the elements' own unit; NaN if one of two differing elements is NaN.
        first: The position of the operator in the first graph, from 0.
        second: That in the second graph, likewise.
    """

    operator: str
    argument: str
    dataType: str
    shape: tuple[int, ...]
    count: int
    largest: float
    first: int | None = field(default=None, compare=False)
    second: int | None = field(default=None, compare=False)

    def __str__(self) -> str:
        of = int(np.prod(self.shape, dtype=np.int64))
        return f"{self.operator}: {self.argument}: {self.count} of {of} elements differ, by at most {self.largest:.6g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The differences of two graphs; none if it is empty.

    Attributes:
        structure: The differences in inputs, operators and outputs, in the order of the graphs.
        weights: The constants of both graphs that differ.
        pairs: The positions of operators that are alike, or in the same place, in the first graph and in the second one. Not compared.
    """

    structure: tuple[Change, ...] = ()
    weights: tuple[WeightChange, ...] = ()
    pairs: tuple[tuple[int, int], ...] = field(default=(), compare=False)

    def __bool__(self) -> bool:
        return bool(self.structure or self.weights)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data for JSON, without the pairs."""
        return {name: value for name, value in asdict(self).items() if name != "pairs"}


def compare(first: GraphDescription, second: GraphDescription) -> Difference:
    """Find how the second graph differs from the first one. Both need descriptors; see `GraphDescription.infer`.

    The names of graphs and of values between operators do not count; labels do.
    """
    return _Comparison(first, second).run()


@dataclass(slots=True)
class _Comparison:
    """The state of one `compare`."""

    first: GraphDescription
    second: GraphDescription
    changes: list[Change] = field(default_factory=list)
    weights: dict[tuple[str, str], WeightChange | None] = field(default_factory=dict)
    #: The value of the second graph that corresponds to one of the first.
    values: dict[str, str] = field(default_factory=dict)
    pairs: list[tuple[int, int]] = field(default_factory=list)
    #: The positions of the operators that are being compared.
    place: tuple[int | None, int | None] = (None, None)

    def run(self) -> Difference:
        first, second = self.first, self.second
        if first.draft != second.draft:
            self._add("changed", f"draft: {first.draft} became {second.draft}")
        self._slots("input", first.inputs, second.inputs)
        self.values.update({name: name for name in first.inputs.keys() & second.inputs.keys()})
        reached = [0, 0]
        for pair in _match(first.operators, second.operators):
            one, other = (None if each is None else place for each, place in zip(pair, reached, strict=True))
            self.place = one, other
            reached = [place + (each is not None) for each, place in zip(pair, reached, strict=True)]
            if one is not None and other is not None:
                self.pairs.append((one, other))
            match pair:
                case (OperatorDescription() as old, OperatorDescription() as new):
                    self.values.update(zip(old.outputs, new.outputs, strict=True))
                    self._settings(old, new)
                    self._operands(old, new)
                case (OperatorDescription() as old, None):
                    self._add("removed", _write(old))
                case (None, OperatorDescription() as new):
                    self._add("added", _write(new))
        self.place = (None, None)
        known = first.descriptors(), second.descriptors()
        self._slots(
            "output",
            {name: known[0][value] for name, value in first.outputs.items()},
            {name: known[1][value] for name, value in second.outputs.items()},
        )
        for name in sorted(first.outputs.keys() & second.outputs.keys()):
            self._source(f"output {webidl.describe(name)}", first.outputs[name], second.outputs[name])
        return Difference(
            structure=tuple(self.changes),
            weights=tuple([each for each in self.weights.values() if each is not None]),
            pairs=tuple(self.pairs),
        )

    def _add(self, kind: Literal["added", "removed", "changed"], text: str) -> None:
        self.changes.append(Change(kind, text, *self.place))

    def _slots(self, kind: str, old: Mapping[str, OperandDescriptor], new: Mapping[str, OperandDescriptor]) -> None:
        """Compare the inputs or the outputs of the graphs."""
        for name, descriptor in old.items():
            other = new.get(name)
            if other is None:
                self._add("removed", f"{kind} {webidl.describe(name)}: {descriptor}")
            elif other != descriptor:
                self._add("changed", f"{kind} {webidl.describe(name)}: {descriptor} became {other}")
        for name in new.keys() - old.keys():
            self._add("added", f"{kind} {webidl.describe(name)}: {new[name]}")

    def _settings(self, old: OperatorDescription, new: OperatorDescription) -> None:
        """Compare matched operators, except for their operands."""
        before, after = ({"label": each.label or None, **each.arguments, **each.options} for each in (old, new))
        changed = [name for name in before | after if _normal(before.get(name)) != _normal(after.get(name))]
        texts = [f"{name} {_plain(before.get(name))} became {_plain(after.get(name))}" for name in changed]
        if old.descriptors != new.descriptors:
            texts.append(f"{', '.join(map(str, old.descriptors))} became {', '.join(map(str, new.descriptors))}")
        if texts:
            self._add("changed", f"{_name(old)}: {'; '.join(texts)}")

    def _operands(self, old: OperatorDescription, new: OperatorDescription) -> None:
        """Compare the operands of two operators that are matched."""
        theirs = {argument: value for argument, _, value in new.named_values()}
        for argument, _, value in old.named_values():
            constants = self.first.constants.get(value), self.second.constants.get(theirs[argument])
            match constants:
                case (ConstantDescription() as one, ConstantDescription() as other):
                    key = value, theirs[argument]
                    # A constant that several operators take is reported once.
                    if key in self.weights:
                        continue
                    self.weights[key] = None
                    if one.descriptor == other.descriptor:
                        self.weights[key] = _compare_weights(_name(old), argument, one, other, self.place)
                    else:
                        self._add("changed", f"{_name(old)}: {argument}: constant {one.descriptor} became {other.descriptor}")
                case _:
                    self._source(f"{_name(old)}: {argument}", value, theirs[argument])

    def _source(self, what: str, old: str, new: str) -> None:
        """Compare where two values come from."""
        if self.values.get(old) != new:
            # Another operator may give its result the same name.
            change = f"became {webidl.describe(new)}" if old != new else "comes from another operator"
            self._add("changed", f"{what}: {webidl.describe(old)} {change}")


def _match(
    first: tuple[OperatorDescription, ...], second: tuple[OperatorDescription, ...]
) -> Iterator[tuple[OperatorDescription | None, OperatorDescription | None]]:
    """Yield operators that are alike, and those of one graph alone, in order."""
    keys = [_key(each) for each in first], [_key(each) for each in second]
    numbers: dict[str, int] = {}
    # Numbers are faster to compare than texts.
    one, other = ([numbers.setdefault(key, len(numbers)) for key in each] for each in keys)
    start = next((index for index, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    tail = list(zip(reversed(one[start:]), reversed(other[start:]), strict=False))
    end = next((index for index, (a, b) in enumerate(tail) if a != b), len(tail))
    yield from zip(first[:start], second[:start], strict=True)
    stop = len(one) - end, len(other) - end
    # The part between the common ends is small in most comparisons: the matcher takes quadratic time.
    for _, i1, i2, j1, j2 in SequenceMatcher(None, one[start : stop[0]], other[start : stop[1]], autojunk=False).get_opcodes():
        olds, news = first[start + i1 : start + i2], second[start + j1 : start + j2]
        # Operators in the same place that take the same arguments are one operator, with other settings.
        if [_form(each) for each in olds] == [_form(each) for each in news]:
            yield from zip(olds, news, strict=True)
        else:
            yield from ((each, None) for each in olds)
            yield from ((None, each) for each in news)
    yield from zip(first[stop[0] :], second[stop[1] :], strict=True)


def _form(operator: OperatorDescription) -> tuple[str, list[str], int]:
    return operator.operation, [argument for argument, _, _ in operator.named_values()], len(operator.outputs)


def _key(operator: OperatorDescription) -> str:
    """Return everything of an operator but the names of its values: alike operators have equal keys."""
    operands = [argument for argument, _, _ in operator.named_values()]
    results = [str(each) for each in operator.descriptors]
    given = sorted({**operator.arguments, **operator.options}.items())
    return repr((operator.operation, operands, [(name, _normal(value)) for name, value in given], operator.label, results))


def _normal(value: Any) -> Any:
    """Return a number as files have it: 1 for 1.0, and the same for all numbers that single precision does not tell apart."""
    if isinstance(value, tuple):
        return [_normal(each) for each in value]
    if not isinstance(value, float):
        return value
    with np.errstate(over="ignore"):
        rounded = float(np.float32(value))
    return int(rounded) if rounded.is_integer() and str(rounded) != "-0.0" else rounded


def _name(operator: OperatorDescription) -> str:
    return f"{operator.operation} {webidl.describe(operator.label)}" if operator.label else f"{operator.operation} ({operator.outputs[0]})"


def _write(operator: OperatorDescription) -> str:
    """Write an operator in a line."""
    given = [value for _, _, value in operator.named_values() if value]
    given += [f"{name}={_plain(value)}" for name, value in {**operator.arguments, **operator.options}.items()]
    results = ", ".join(map(str, operator.descriptors))
    return f"{_name(operator)}: ({', '.join(given)}) -> {results}"


def _plain(value: object) -> str:
    return "(none)" if value is None else plain.value(value)


def _compare_weights(
    operator: str, argument: str, old: ConstantDescription, new: ConstantDescription, place: tuple[int | None, int | None]
) -> WeightChange | None:
    """Compare two constants of one descriptor, bit by bit; ``None`` if they are equal."""
    one, other = _elements(old), _elements(new)
    differ = one.view(f"u{one.itemsize}") != other.view(f"u{one.itemsize}")
    if not differ.any():
        return None
    with np.errstate(all="ignore"):
        largest = np.max(np.abs(one[differ].astype(np.float64) - other[differ].astype(np.float64)))
    return WeightChange(
        operator=operator,
        argument=argument,
        dataType=old.descriptor.dataType,
        shape=old.descriptor.shape,
        count=int(np.count_nonzero(differ)),
        largest=float(largest),
        first=place[0],
        second=place[1],
    )


def _elements(constant: ConstantDescription) -> Array:
    """Return the elements of a constant, those of small types one to a byte."""
    descriptor = constant.descriptor
    return np.ascontiguousarray(unpack(constant.value, descriptor.dataType, descriptor.shape)).reshape(-1)
