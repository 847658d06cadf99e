"""Calls that a device refuses beyond its limits, most of them only when a graph is built: the member ``_build`` of a profile.

`MLContext.opSupportLimits` does not say it, and no call of a builder fails: Chromium translates a graph to its backend in ``build()``, and
the backend may need a constant, or have no such padding. A rule says what must hold for operands, arguments and options of an operation, in
a closed vocabulary of tests:

- of an operand, or of ``output``, the result: ``constant`` (whether it is one), ``dataTypes``, ``rankRange``, ``maxByteLength``;
- of an argument or an option: ``equals`` (a value), ``oneOf`` (a list of values);
- of either: ``size``, the number of operands of a sequence, or of elements of a value that is one.

Some operations have one more value, which follows from the others:

- `convTranspose2d`: ``autoPad``, ``"none"`` without padding, ``"same-upper"`` for the padding that a convolution of the output needs to
  have a window at every stride, and ``"explicit"`` for any other;
- `averagePool2d`, `l2Pool2d` and `maxPool2d`: ``padded``, whether there is padding, and ``dilated``, whether the window has gaps;
- `prelu`: ``broadcast``, ``"slope"`` if the slope broadcasts to the input, ``"both"`` if the input broadcasts, too;
- `slice`: ``longStrides``, whether a stride is larger than the size along its axis;
- `triangular`: ``farDiagonal``, whether the diagonal and the larger of the last two sizes are more than 2^31 - 1 together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import ceil
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from webnn.builder.base import named_operands
from webnn.builder.description import ActivationDescription
from webnn.validation import errors, webidl
from webnn.validation.drafts import for_devices
from webnn.validation.interfaces import Activation

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription, OperatorDescription
    from webnn.builder.graph import ComputationalGraph
    from webnn.builder.operand import MLOperand, Operator
    from webnn.validation.descriptor import OperandDescriptor

__all__ = ["CONSTANT", "ERRORS", "Broken", "Facts", "Rule", "Test", "constant_facts", "demand", "described_facts", "facts_of", "subjects"]

#: A test: the value of each word of the vocabulary that it uses. All of them must hold.
Test = Mapping[str, Any]

#: Arguments and options other than operands, with what an error calls them, by name.
Values = Mapping[str, tuple[str, Any]]

#: The errors that `build()` fails with.
ERRORS: Mapping[str, type[errors.DOMException | errors.WebNNTypeError]] = MappingProxyType(
    {
        "NotSupportedError": errors.NotSupportedError,
        "OperationError": errors.OperationError,
        "TypeError": errors.WebNNTypeError,
        "UnknownError": errors.UnknownError,
    }
)
#: The name that rules for the constants of a graph have in place of an operation.
CONSTANT = "constant"
_CONSTANT = "a constant"
#: The name that rules have for the result of an operation.
_OUTPUT = "output"


class Given(NamedTuple):
    """An operand of a call: what an error calls it, its descriptor, and what it is: ``"a constant"``, ``"an input"``, ``"a result"``."""

    argument: str
    descriptor: OperandDescriptor
    role: str

    @property
    def constant(self) -> bool:
        """It is a constant."""
        return self.role == _CONSTANT


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts that rules look at.

    Attributes:
        operands: The operands, by row.
        values: The arguments and options other than operands, with what an error calls them, by name. ``None`` is a missing one that
            has no default.
    """

    operands: Mapping[str, Sequence[Given]]
    values: Values


class Broken(NamedTuple):
    """A part of a rule that does not hold.

    Attributes:
        argument: The argument at fault, in the user's own names.
        word: The word of the vocabulary.
        wanted: Its value in the rule.
        given: The given value, for a message.
    """

    argument: str
    word: str
    wanted: Any
    given: str


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule for an operation.

    Attributes:
        must: The tests that must pass, by the name of an operand, an argument or an option. A missing one satisfies every test.
        when: The condition: the rule is about calls for which all of these tests hold. A missing one satisfies none.
        error: The name of the error.
        change: The change that helps, for people; empty if the rule does not say.
        says: The browser's message; empty if the rule does not say.
        at: The call that fails: ``"build"``, or ``"call"`` with a `TypeError`.
    """

    must: Mapping[str, Test]
    when: Mapping[str, Test]
    error: str = "NotSupportedError"
    change: str = ""
    says: str = ""
    at: Literal["build", "call"] = "build"

    def check(self, facts: Facts) -> Iterator[Broken]:
        """Find what does not hold."""
        if all(any(True for _ in _outcomes(facts, name, test)) and not _broken(facts, name, test) for name, test in self.when.items()):
            for name, test in self.must.items():
                yield from _broken(facts, name, test)

    @property
    def sentence(self) -> str:
        """The condition that must hold, and where: ``"indices must be a constant"``."""
        parts = [f"{name} {demand(word, wanted)}" for name, test in self.must.items() for word, wanted in test.items()]
        return ", ".join(filter(None, [" and ".join(parts), self.condition]))

    @property
    def condition(self) -> str:
        """The condition, for a message: ``"where input has a data type of ['float32']"``; empty if there is none."""
        parts = [f"{name} {_IS[word](wanted)}" for name, test in self.when.items() for word, wanted in test.items()]
        return f"where {' and '.join(parts)}" if parts else ""


def _broken(facts: Facts, name: str, test: Test) -> list[Broken]:
    return [broken for broken, holds in _outcomes(facts, name, test) if not holds]


def _outcomes(facts: Facts, name: str, test: Test) -> Iterator[tuple[Broken, bool]]:
    """Apply a test to each operand of that name, or to the value; there is nothing to apply it to if that is missing."""
    operands = facts.operands.get(name, ())
    argument, value = facts.values.get(name, (name, None))
    for word, wanted in test.items():
        if word == "size":
            count = len(operands) if operands else len(value) if isinstance(value, list) else None
            if count is not None:
                yield Broken(argument, word, wanted, f"{count}"), wanted["min"] <= count <= wanted.get("max", count)
        elif word in _OF_OPERANDS:
            of, holds = _OF_OPERANDS[word]
            for each in operands:
                yield Broken(each.argument, word, wanted, of(each)), holds(each, wanted)
        elif value is not None:
            yield Broken(argument, word, wanted, webidl.describe(value)), value in (wanted if word == "oneOf" else [wanted])


def _shape(each: Given) -> str:
    return f"{len(each.descriptor.dimensions)}-D {list(each.descriptor.dimensions)}"


#: For each word about an operand: what is given, for a message, and whether the test holds.
_OF_OPERANDS: Mapping[str, tuple[Callable[[Given], str], Callable[[Given, Any], bool]]] = MappingProxyType(
    {
        "constant": (lambda each: each.role, lambda each, wanted: each.constant is wanted),
        "dataTypes": (lambda each: each.descriptor.dataType, lambda each, wanted: each.descriptor.dataType in wanted),
        "rankRange": (_shape, lambda each, wanted: wanted["min"] <= len(each.descriptor.dimensions) <= wanted["max"]),
        "maxByteLength": (lambda each: f"{each.descriptor.byte_length} bytes", lambda each, wanted: each.descriptor.byte_length <= wanted),
    }
)


def _range(wanted: Mapping[str, int]) -> str:
    low, high = wanted["min"], wanted.get("max")
    return f"at least {low}" if high is None else f"{low}" if low == high else f"{low} to {high}"


#: How a message describes what holds, after the name.
_IS: Mapping[str, Callable[[Any], str]] = MappingProxyType(
    {
        "constant": lambda wanted: f"is {'a' if wanted else 'no'} constant",
        "dataTypes": lambda wanted: f"has a data type of {list(wanted)}",
        "rankRange": lambda wanted: f"has {_range(wanted)} dimensions",
        "maxByteLength": lambda wanted: f"has at most {wanted} bytes",
        "equals": lambda wanted: f"is {webidl.describe(wanted)}",
        "oneOf": lambda wanted: f"is one of {list(wanted)}",
        "size": lambda wanted: f"has {_range(wanted)} elements",
    }
)


def demand(word: str, wanted: Any) -> str:
    """Say what must hold, to be read after an argument's name: ``"must be a constant"``."""
    verb, rest = _IS[word](wanted).split(" ", 1)
    return f"must {'be' if verb == 'is' else 'have'} {rest}"


def _role(operand: MLOperand) -> str:
    """Say what an operand is."""
    if operand._operator is not None:
        return "a result"
    return _CONSTANT if operand._name is None else "an input"


def subjects(operation: str) -> Mapping[str, bool]:
    """Return the names that a rule may use for an operation: whether each is an operand, not an argument or an option."""
    if operation == CONSTANT:
        return {CONSTANT: True}
    found = for_devices().operations[operation]
    operands = dict.fromkeys((*found.operands, *found.members, _OUTPUT), True)
    options = () if found.options is None else found.options.model_fields
    derived = (*_DERIVED.get(operation, ()), *_OF_VALUES.get(operation, ()))
    return dict.fromkeys((*(each.name for each in found.arguments), *options, *derived), False) | operands


def facts_of(operator: Operator) -> Facts:
    """Return what rules look at of an operator."""
    operation = operator.operation
    members = [operand for _, operand in operator.members]
    operands: dict[str, list[Given]] = {}
    named = named_operands(operation, operator.inputs, operator.members)
    for (argument, row, descriptor), operand in zip(named, chain(operator.inputs, members), strict=True):
        operands.setdefault(row, []).append(Given(argument, descriptor, _role(operand)))
    _add_result(operands, operator.outputs)
    values = {each.name: (each.name, _plain(value)) for each, value in zip(operation.arguments, operator.arguments, strict=False)}
    if operator.options is not None:
        for name in type(operator.options).model_fields:
            if name not in operation.members:
                values[name] = (f"options.{name}", _plain(getattr(operator.options, name)))
    for name, derive in _DERIVED.get(operation.name, {}).items():
        values[name] = (name, derive(operator))
    return Facts(operands, values | _of_values(operation.name, values))


def described_facts(operator: OperatorDescription, graph: GraphDescription, known: Mapping[str, OperandDescriptor]) -> Facts:
    """Return what rules look at of a described operator: as `facts_of`, without the values that follow from others.

    Args:
        operator: The operator, of an operation of the newest draft.
        graph: Its graph.
        known: The descriptors of the graph's values.
    """
    operation = for_devices().operations[operator.operation]
    operands: dict[str, list[Given]] = {}
    for argument, row, value in operator.named_values():
        role = _CONSTANT if value in graph.constants else "an input" if value in graph.inputs else "a result"
        operands.setdefault(row, []).append(Given(argument, known[value], role))
    _add_result(operands, [known[value] for value in operator.outputs])
    values = {name: (name, _plain(value)) for name, value in operator.arguments.items()}
    fields = {} if operation.options is None else operation.options.model_fields
    for name, field in fields.items():
        if name not in operation.members:
            values[name] = (f"options.{name}", _plain(operator.options.get(name, field.default)))
    return Facts(operands, values | _of_values(operator.operation, values))


def _add_result(operands: dict[str, list[Given]], descriptors: Sequence[OperandDescriptor]) -> None:
    """Add the result of an operator that has one."""
    if len(descriptors) == 1:
        operands[_OUTPUT] = [Given("the result", descriptors[0], "a result")]


def _auto_pad(operator: Operator) -> str:
    """Say which kind of padding a transposed convolution has."""
    options: Any = operator.options
    padding = options.padding or (0, 0, 0, 0)
    if not any(padding):
        return "none"
    _, filter = operator.inputs
    first = options.inputLayout.index("h")
    sizes = operator.outputs[0].dimensions[first : first + 2]
    for axis, (size, stride, dilation) in enumerate(zip(sizes, options.strides or (1, 1), options.dilations or (1, 1), strict=True)):
        window = (filter.descriptor.dimensions[options.filterLayout.index("hw"[axis])] - 1) * dilation + 1
        total = max((ceil(size / stride) - 1) * stride + window - size, 0)
        if padding[2 * axis : 2 * axis + 2] != (total // 2, total - total // 2):
            return "explicit"
    return "same-upper"


def _broadcast(operator: Operator) -> str:
    """Say which operands of `prelu` are broadcast."""
    return "slope" if operator.outputs[0].dimensions == operator.inputs[0].descriptor.dimensions else "both"


def _long_strides(operator: Operator) -> bool:
    """Tell whether a stride of `slice` is larger than the size along its axis."""
    # Drafts until 2024-06 have no strides.
    strides = getattr(operator.options, "strides", None) or ()
    _, sizes = operator.arguments
    return any(stride > size for stride, size in zip(strides, sizes, strict=False))


def _far_diagonal(operator: Operator) -> bool:
    """Tell whether an int32 cannot hold the end of the diagonal of `triangular`."""
    options: Any = operator.options
    return bool(options.diagonal + max(operator.outputs[0].dimensions[-2:]) >= 2**31)


def _is_padded(values: Values) -> bool:
    """Tell whether a pooling has padding."""
    return any(values["padding"][1] or ())


def _is_dilated(values: Values) -> bool:
    """Tell whether the window of a pooling has gaps."""
    windows, dilations = (values[name][1] for name in ("windowDimensions", "dilations"))
    # One element has no gaps.
    return any(each != 1 and (not windows or windows[index] != 1) for index, each in enumerate(dilations or ()))


#: Values that follow from others, by operation and name.
_DERIVED: Mapping[str, Mapping[str, Callable[[Operator], str | bool]]] = MappingProxyType(
    {
        "convTranspose2d": {"autoPad": _auto_pad},
        "prelu": {"broadcast": _broadcast},
        "slice": {"longStrides": _long_strides},
        "triangular": {"farDiagonal": _far_diagonal},
    }
)
#: The same, where they follow from the values alone.
_OF_VALUES: Mapping[str, Mapping[str, Callable[[Values], bool]]] = MappingProxyType(
    {name: {"padded": _is_padded, "dilated": _is_dilated} for name in ("averagePool2d", "l2Pool2d", "maxPool2d")}
)


def _of_values(operation: str, values: Values) -> dict[str, tuple[str, Any]]:
    """Return the values that follow from others alone."""
    return {name: (name, derive(values)) for name, derive in _OF_VALUES.get(operation, {}).items()}


def constant_facts(graph: ComputationalGraph) -> Iterable[Facts]:
    """Return what rules look at of each constant of a graph."""
    used = {id(each): each for operator in graph.operators for each in (*operator.inputs, *(member for _, member in operator.members))}
    for operand in used.values():
        if _role(operand) == _CONSTANT:
            yield Facts({CONSTANT: (Given(CONSTANT, operand.descriptor, _CONSTANT),)}, {})


def _plain(value: Any) -> Any:
    """Write a converted value as JSON has it."""
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if isinstance(value, ActivationDescription):
        return value.operation
    return value.name if isinstance(value, Activation) else value
