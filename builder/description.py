"""A graph as a value: `GraphDescription` and its parts. `webnn.builder.describe` makes one from operands.

A description has the specification's own names. It holds no operand, no builder and no context.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from webnn.builder.base import BuilderBase
from webnn.validation import webidl
from webnn.validation.descriptor import OperandDescriptor
from webnn.validation.drafts import find_revision
from webnn.validation.errors import WebNNTypeError
from webnn.validation.operation import Call

if TYPE_CHECKING:
    from webnn.builder.graph_builder import GraphBuilder
    from webnn.builder.operand import MLOperand

__all__ = [
    "ActivationDescription",
    "ConstantDescription",
    "DescriptionError",
    "GraphDescription",
    "OperatorDescription",
]


class DescriptionError(ValueError):
    """A description contradicts itself: it names a value that nothing makes, for example.

    Attributes:
        message: What must hold, and what was given.
        path: Where in the description, for example ``"operators[3].outputs"``.
    """

    def __init__(self, message: str, path: str) -> None:
        super().__init__(message, path)
        self.message = message
        self.path = path

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


class _Value:
    """Equality by content: arrays by their bytes, NaN equals NaN, and -0.0 differs from 0.0."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return _comparable(self) == _comparable(other) if type(self) is type(other) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # its mappings can change


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ConstantDescription(_Value):
    """A constant of a graph.

    Attributes:
        descriptor: Its data type and shape.
        value: Its elements, an array that cannot be written to. Two elements of int4 and uint4 share a byte: their array is flat.
    """

    descriptor: OperandDescriptor
    value: np.ndarray[Any, np.dtype[Any]] = field(repr=False)

    def __post_init__(self) -> None:
        view = self.value.view()
        view.flags.writeable = False
        object.__setattr__(self, "value", view)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ActivationDescription(_Value):
    """An `MLActivation` among the options of an operator, in drafts that have it.

    Attributes:
        operation: The method of the builder that makes it.
        options: The options that the program gave.
    """

    operation: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OperatorDescription(_Value):
    """One call of an operation. Operands go by the names of values; see `GraphDescription`.

    Attributes:
        operation: The builder's method.
        inputs: The operand arguments by the IDL's names; a tuple of names for a sequence of operands.
        arguments: The other positional arguments by the IDL's names; sequences are tuples.
        options: The options that the program gave, without operands and label; sequences are tuples.
        operands: The options that are operands.
        label: The label, empty if there is none.
        outputs: The names of the results.
        descriptors: The data types and shapes of the results; none if nothing has inferred them yet. Not compared.
        index: The number of the operator in its builder, as `OperatorPlacement.index`; 0 if it has none. Not compared.
    """

    operation: str
    inputs: Mapping[str, str | tuple[str, ...]]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    operands: Mapping[str, str] = field(default_factory=dict)
    label: str = ""
    outputs: tuple[str, ...]
    descriptors: tuple[OperandDescriptor, ...] = field(default=(), compare=False)
    index: int = field(default=0, compare=False)

    @classmethod
    def from_call(
        cls, draft: str, operation: str, arguments: Sequence[Any], options: Mapping[str, Any], outputs: Sequence[str]
    ) -> OperatorDescription:
        """Describe a call as a program writes it, with names in the place of operands.

        Args:
            draft: The draft, as `GraphDescription.draft`.
            operation: The builder's method.
            arguments: The positional arguments without the options.
            options: The options, with the label.
            outputs: The names of the results.

        Raises:
            DescriptionError: The draft has no such operation.
            WebNNTypeError: The number of arguments is wrong, or an operand is not given as a name.
        """
        revision = find_revision(draft, imports=False)
        row = revision.operations.get(operation)
        if row is None:
            raise DescriptionError(f"the draft has no operation {webidl.describe(operation)}", "operation")
        call = Call(operation, row.anchor, revision)
        names = (*row.operands, *(argument.name for argument in row.arguments))
        if len(arguments) != len(names):
            raise call.error("", f"takes {len(names)} arguments ({', '.join(names)})", len(arguments))
        given = {name: tuple(value) if isinstance(value, list) else value for name, value in zip(names, arguments, strict=True)}
        described = cls(
            operation=operation,
            inputs={name: given[name] for name in row.operands},
            arguments={argument.name: given[argument.name] for argument in row.arguments},
            options={name: value for name, value in options.items() if name not in (*row.members, "label") and value is not None},
            operands={name: value for name, value in options.items() if name in row.members and value is not None},
            label=options.get("label") or "",
            outputs=tuple(outputs),
        )
        for argument, _, value in described.named_values():
            if not isinstance(value, str):
                raise call.error(argument, "must be the name of an operand", webidl.describe(value))
        return described

    def named_values(self) -> list[tuple[str, str, str]]:
        """Return all operands.

        Returns:
            For each operand its name in messages, its name in the IDL, and the name of its value: ``("inputs[1]", "inputs", "x")``.
        """
        found: list[tuple[str, str, str]] = []
        for name, value in self.inputs.items():
            if isinstance(value, tuple):
                found += [(f"{name}[{position}]", name, each) for position, each in enumerate(value)]
            else:
                found.append((name, name, value))
        found += [(f"options.{name}", name, value) for name, value in self.operands.items()]
        return found

    def call(self, find: Callable[[str], Any], make: Callable[[ActivationDescription], Any]) -> tuple[list[Any], dict[str, Any]]:
        """Return the positional arguments and the options of the call, in the order in which the description has them.

        Args:
            find: Returns the replacement of an operand, by the name of its value.
            make: Returns the replacement of an activation.
        """

        def convert(value: Any) -> Any:
            if isinstance(value, ActivationDescription):
                return make(value)
            return [convert(element) for element in value] if isinstance(value, tuple) else value

        inputs = [[find(each) for each in value] if isinstance(value, tuple) else find(value) for value in self.inputs.values()]
        arguments = [convert(value) for value in self.arguments.values()]
        options = {name: convert(value) for name, value in self.options.items()}
        options |= {name: find(value) for name, value in self.operands.items()}
        return inputs + arguments, options | ({"label": self.label} if self.label else {})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class GraphDescription(_Value):
    """A graph: the inputs, constants and calls of `MLGraphBuilder` that some outputs need.

    Inputs, constants and the results of operators are *values*; each has a name of its own. An input has the name that the program gave.
    Descriptions are equal if their parts are, the names of values included. They can be pickled.

    Attributes:
        name: The graph's name, empty if it has none.
        draft: The draft of the specification: ``"2024-06"``.
        inputs: The data type and shape of each input.
        constants: The constants.
        operators: The operators, each after those that make what it takes.
        outputs: For each output of the graph the name of its value.
    """

    name: str = ""
    draft: str
    inputs: Mapping[str, OperandDescriptor]
    constants: Mapping[str, ConstantDescription]
    operators: tuple[OperatorDescription, ...]
    outputs: Mapping[str, str]

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name else ""
        return f"<GraphDescription{name}: ({', '.join(self.inputs)}) -> ({', '.join(self.outputs)}), {len(self.operators)} operators>"

    def descriptors(self) -> dict[str, OperandDescriptor]:
        """Return the data type and shape of every value, as far as they are known."""
        known = {**self.inputs, **{name: constant.descriptor for name, constant in self.constants.items()}}
        for operator in self.operators:
            known.update(zip(operator.outputs, operator.descriptors, strict=False))
        return known

    def select(self, outputs: Iterable[str]) -> GraphDescription:
        """Return the part of the graph that some of its outputs need.

        Raises:
            KeyError: It has no such output.
        """
        chosen = {name: self.outputs[name] for name in outputs}
        needed = set(chosen.values())
        operators: list[OperatorDescription] = []
        for operator in reversed(self.operators):
            if not needed.isdisjoint(operator.outputs):
                operators.append(operator)
                needed.update([value for _, _, value in operator.named_values()])
        return replace(
            self,
            inputs={name: each for name, each in self.inputs.items() if name in needed},
            constants={name: each for name, each in self.constants.items() if name in needed},
            operators=tuple(reversed(operators)),
            outputs=chosen,
        )

    def build(self, builder: GraphBuilder) -> dict[str, MLOperand]:
        """Make the graph again, through the builder's public methods; `MLGraphBuilder.build` compiles it.

        Args:
            builder: The builder. It may follow another draft than the description, if that draft has everything in the description.

        Returns:
            The operands of the outputs, by their names.

        Raises:
            WebNNTypeError: The builder refuses something.
            DescriptionError: The description contradicts itself, or names an operation or argument that the builder's draft does not have.
            InvalidStateError: The builder has built a graph, or its context is lost.
        """
        if not webidl.isInstance(builder, BuilderBase):
            raise WebNNTypeError(
                f"build: builder must be an MLGraphBuilder, got {webidl.describe(builder)}", operation="build", argument="builder"
            )
        return _Rebuilder(builder).build(self)


class _Rebuilder:
    """The state of one `GraphDescription.build`."""

    def __init__(self, builder: GraphBuilder) -> None:
        self._builder = builder
        self._operands: dict[str, MLOperand] = {}
        #: The part of the description that is made.
        self._path = ""

    def build(self, description: GraphDescription) -> dict[str, MLOperand]:
        shape = self._builder._revision.shape

        def members(descriptor: OperandDescriptor) -> Any:
            return {"dataType": descriptor.dataType, shape: descriptor.shape}

        for name, descriptor in description.inputs.items():
            self._path = "inputs"
            self._give(name, self._builder.input(name, members(descriptor)))
        for name, constant in description.constants.items():
            self._path = "constants"
            self._give(name, self._builder.constant(members(constant.descriptor), constant.value))
        for number, operator in enumerate(description.operators):
            self._path = f"operators[{number}]"
            self._call(operator)
        self._path = "outputs"
        return {name: self._find(value) for name, value in description.outputs.items()}

    def _call(self, operator: OperatorDescription) -> None:
        row = self._builder._revision.operations.get(operator.operation)
        # A method that is no operation, such as `build`, must not be called.
        if row is None:
            raise DescriptionError(f"the draft has no operation {webidl.describe(operator.operation)}", f"{self._path}.operation")
        inputs = self._order("inputs", operator.inputs, row.operands)
        positional = self._order("arguments", operator.arguments, [argument.name for argument in row.arguments])
        arguments, options = replace(operator, inputs=inputs, arguments=positional).call(self._find, self._activate)
        returned = getattr(self._builder, operator.operation)(*arguments, *([options] if options else []))
        results = returned if isinstance(returned, list) else [returned]
        self._path += ".outputs"
        if len(results) != len(operator.outputs):
            raise DescriptionError(f"must name {len(results)} results of {operator.operation}, got {list(operator.outputs)}", self._path)
        for name, result in zip(operator.outputs, results, strict=True):
            self._give(name, result)

    def _order(self, part: str, given: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
        """Return arguments in the IDL's order."""
        if set(given) != set(names):
            raise DescriptionError(f"must be {', '.join(names) or 'none'}, got {', '.join(given) or 'none'}", f"{self._path}.{part}")
        return {name: given[name] for name in names}

    def _activate(self, activation: ActivationDescription) -> object:
        revision = self._builder._revision
        row = revision.operations.get(activation.operation)
        if row is None or not row.activation or not revision.activations:
            raise DescriptionError(f"the draft has no activation function {webidl.describe(activation.operation)}", f"{self._path}.options")
        return getattr(self._builder, activation.operation)(*([activation.options] if activation.options else []))

    def _find(self, name: str) -> MLOperand:
        operand = self._operands.get(name)
        if operand is None:
            raise DescriptionError(f"there is no value {webidl.describe(name)} yet", self._path)
        return operand

    def _give(self, name: str, operand: MLOperand) -> None:
        if name in self._operands:
            raise DescriptionError(f"there is a value {webidl.describe(name)} already", self._path)
        self._operands[name] = operand


def _comparable(value: Any) -> object:
    """Return an object for comparison: two of them are equal if the values are, in the sense of `_Value`."""
    if isinstance(value, float):
        # Compare by text: in Python, NaN differs from itself, and 0.0 equals -0.0.
        return repr(value) if math.isnan(value) or (value == 0 and math.copysign(1, value) < 0) else value
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, np.ascontiguousarray(value).reshape(-1).view(np.uint8).data
    if isinstance(value, Mapping):
        return {name: _comparable(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_comparable(each) for each in value]
    if isinstance(value, _Value):
        return [_comparable(getattr(value, each.name)) for each in fields(cast(Any, value)) if each.compare]
    return value
