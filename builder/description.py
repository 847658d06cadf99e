"""A graph as a value: `GraphDescription` and its parts. `webnn.builder.describe` makes one from operands.

A description has the specification's own names. It needs no operand, no builder and no context.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from webnn.builder import above
from webnn.builder.content import ByContent, comparable, feed
from webnn.validation import webidl
from webnn.validation.descriptor import OperandDescriptor
from webnn.validation.interfaces import Activation
from webnn.validation.operation import Call
from webnn.validation.suggestions import lacks_operation

if TYPE_CHECKING:
    from webnn.builder.graph import ComputationalGraph
    from webnn.builder.graph_builder import GraphBuilder
    from webnn.builder.operand import MLOperand, Operator
    from webnn.validation.dictionary import Dictionary

__all__ = [
    "ActivationDescription",
    "CallDescription",
    "ConstantDescription",
    "DescriptionError",
    "FormatError",
    "GraphDescription",
    "OperatorDescription",
    "given_options",
    "load",
]


class DescriptionError(ValueError):
    """A description contradicts itself: it names a value that nothing makes, for example.

    Attributes:
        message: The requirement, and the given value.
        path: Where in the description, for example ``"operators[3].outputs"``.
    """

    def __init__(self, message: str, path: str) -> None:
        super().__init__(message, path)
        self.message = message
        self.path = path

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


class FormatError(ValueError):
    """A file is not what it claims to be, or a graph cannot be said in a format.

    Attributes:
        message: The requirement, and the given value.
        file: The file.
        line: The line of a text file, from 1; 0 if it is unknown or the file is not text.
        path: Where in the graph, for example ``"nodes[3].inputs"``; empty if there is no such place.
        column: The column of that line, from 1; 0 if it is unknown.
    """

    def __init__(self, message: str, file: str | os.PathLike[str], *, line: int = 0, path: str = "", column: int = 0) -> None:
        super().__init__(message, os.fspath(file), line, path, column)
        self.message = message
        self.file = os.fspath(file)
        self.line = line
        self.path = path
        self.column = column

    def __reduce__(self) -> tuple[Callable[..., FormatError], tuple[Any, ...]]:
        return _format_error, self.args

    def __str__(self) -> str:
        numbers = [str(number) for number in (self.line, self.column) if number]
        place = ":".join([self.file, *numbers])
        return f"{place}: {self.path}: {self.message}" if self.path else f"{place}: {self.message}"


def _format_error(message: str, file: str, line: int, path: str, column: int) -> FormatError:
    return FormatError(message, file, line=line, path=path, column=column)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ConstantDescription(ByContent):
    """A constant of a graph.

    Attributes:
        descriptor: Its data type and shape.
        value: Its elements, an array that cannot be written to. Two elements of int4 and uint4 share a byte: their array is flat.
    """

    descriptor: OperandDescriptor
    value: np.ndarray[Any, np.dtype[Any]] = field(repr=False)

    def __post_init__(self) -> None:
        view = self.value.view()
        view.setflags(write=False)
        object.__setattr__(self, "value", view)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ActivationDescription(ByContent):
    """An `MLActivation` among the options of an operator, in drafts that have it.

    Attributes:
        operation: The method of the builder that makes it.
        options: The options that the program gave.
    """

    operation: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OperatorDescription(ByContent):
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
        # Imported lazily because it loads pydantic.
        from webnn.validation.drafts import find_revision  # noqa: PLC0415

        revision = find_revision(draft, imports=False)
        row = revision.operations.get(operation)
        if row is None:
            raise DescriptionError(f"the draft {lacks_operation(operation, revision.operations)}", "operation")
        call = Call(operation, row.anchor, revision)
        names = (*row.operands, *(argument.name for argument in row.arguments))
        if len(arguments) != len(names):
            raise call.error("", f"takes {len(names)} arguments ({', '.join(names)})", len(arguments), rule="length")
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
                raise call.error(argument, "must be the name of an operand", webidl.describe(value), rule="conversion")
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
        arguments = [convert(value) for value in self.arguments.values()] if self.arguments else []
        options = {name: convert(value) for name, value in self.options.items()} if self.options else {}
        if self.operands:
            options |= {name: find(value) for name, value in self.operands.items()}
        return inputs + arguments, {**options, "label": self.label} if self.label else options


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CallDescription(ByContent):
    """A call of a subgraph, in drafts that have subgraphs. Its operators are operators of the graph.

    Attributes:
        name: The name of the subgraph, empty if it has none.
        config: Its config.
        caller: The position of the call inside which this one is, in `GraphDescription.calls`; -1 for none.
        operators: The first result of each of its operators, those of calls inside among them.
        inputs: The names of the values that the inputs of the subgraph get, without those that the graph does not need.
        outputs: The names of the values of its outputs, likewise.
        kernel: The engine's operator by which fast numerics compute some of the operators; empty if there is none. Not compared.
        reason: Why there is none. Not compared.
    """

    name: str
    config: Mapping[str, bool | int | float | str]
    caller: int = -1
    operators: tuple[str, ...]
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    kernel: str = field(default="", compare=False)
    reason: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class GraphDescription(ByContent):
    """A graph: the inputs, constants and calls of `MLGraphBuilder` that some outputs need.

    Inputs, constants and the results of operators are *values*; each has a name of its own. An input has the name that the program gave.
    Descriptions are equal if their parts are, the names of values included. They can be pickled. ``print`` shows a table as wide as the
    terminal, and a notebook a picture.

    Attributes:
        name: The graph's name, empty if it has none.
        draft: The draft of the specification, ``"2024-06"``, without additions that change contexts only.
        inputs: The data type and shape of each input.
        constants: The constants.
        operators: The operators, each after those that make what it takes.
        outputs: For each output of the graph the name of its value.
        calls: The calls of subgraphs. Files do not have them.
    """

    name: str = ""
    draft: str
    inputs: Mapping[str, OperandDescriptor]
    constants: Mapping[str, ConstantDescription]
    operators: tuple[OperatorDescription, ...]
    outputs: Mapping[str, str]
    calls: tuple[CallDescription, ...] = ()
    #: The graph of an import, as a builder of the same draft has checked it; copies of the description have none. Not compared.
    _checked: ComputationalGraph | None = field(default=None, init=False, compare=False)
    #: Makes the parts that such a description lacks until somebody looks at them.
    _describe: Callable[[], GraphDescription] | None = field(default=None, init=False, compare=False)

    if not TYPE_CHECKING:  # type checkers would take any name for a member

        def __getattr__(self, name: str) -> Any:
            """Describe a graph when somebody looks at it: a program that only builds it does not."""
            describe = None if name.startswith("_") else self._describe
            if describe is None:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
            described = describe()
            for part in ("constants", "operators", "outputs", "calls"):
                object.__setattr__(self, part, getattr(described, part))
            object.__setattr__(self, "_describe", None)
            return getattr(self, name)

    def __getstate__(self) -> list[Any]:
        return [getattr(self, each.name) for each in fields(self) if each.init]

    def __setstate__(self, state: Sequence[Any]) -> None:
        for each, value in zip(fields(self), [*state, None, None], strict=True):
            object.__setattr__(self, each.name, value)

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name else ""
        return f"<GraphDescription{name}: ({', '.join(self.inputs)}) -> ({', '.join(self.outputs)}), {len(self.operators)} operators>"

    def __str__(self) -> str:
        return above.summary().as_text(self)

    def _repr_html_(self) -> str:
        return above.html().as_html(self)

    def descriptors(self) -> dict[str, OperandDescriptor]:
        """Return the data type and shape of every value whose type and shape are known."""
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
            calls=_select_calls(self.calls, frozenset([each.outputs[0] for each in operators])) if self.calls else (),
        )

    def digest(self) -> str:
        """Return a SHA-256 digest, in hexadecimal: that of every equal description, in any process and on any machine."""
        state = hashlib.sha256()
        feed(state.update, comparable(self))
        return state.hexdigest()

    def infer(self) -> GraphDescription:
        """Return the same with the descriptors of all operators, which files do not have. The graph is checked, but not compiled.

        Raises:
            WebNNTypeError: The draft refuses something.
            DescriptionError: The description contradicts itself, or names an operation or argument that its draft does not have.
        """
        from webnn.builder.transform import infer  # noqa: PLC0415 (it imports this module)

        return infer(self)

    def lift(self, draft: str | None = None) -> GraphDescription:
        """Return the same graph in a later draft, with the names and defaults that this draft has.

        Args:
            draft: The draft, by default the newest one.

        Raises:
            DescriptionError: The graph has something without counterpart in the later draft; the message names it. Or the draft is not a
                later one.
        """
        from webnn.builder.transform import lift  # noqa: PLC0415 (it imports this module)

        return lift(self, draft)

    def lower(self, draft: str) -> GraphDescription:
        """Return the same graph in an earlier draft, with the names and defaults that this draft has.

        Operations that the earlier draft lacks become others that compute the same, where possible. Such operators have the label
        of the one that they replace.

        Args:
            draft: The draft.

        Raises:
            DescriptionError: The graph has something without counterpart in the earlier draft; the message names it. Or the draft is not an
                earlier one.
        """
        lowered: GraphDescription = above.lowering().lower(self, draft)
        return lowered

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the graph to a file; `webnn.formats.save` has the formats, which the suffix chooses."""
        above.formats().save(self, path)

    def build(self, builder: GraphBuilder, inputs: Mapping[str, MLOperand] = MappingProxyType({})) -> dict[str, MLOperand]:
        """Make the graph again, through the builder's public methods; `MLGraphBuilder.build` compiles it.

        Args:
            builder: The builder. It may follow another draft than the description, if that draft has everything in the description.
            inputs: Operands of the builder that replace inputs of the graph, by their names; the others become inputs of the builder.

        Returns:
            The operands of the outputs, by their names.

        Raises:
            WebNNTypeError: The builder refuses something.
            DescriptionError: The description contradicts itself, or names an operation or argument that the builder's draft does not have.
                Or an operand that replaces an input has another data type or shape, or there is no such input.
            InvalidStateError: The builder has built a graph, or its context is lost.
        """
        from webnn.builder.transform import build  # noqa: PLC0415 (it imports this module)

        return build(self, builder, inputs)


def load(path: str | os.PathLike[str]) -> GraphDescription:
    """Read a graph from a file; `webnn.formats` has the formats, which the suffix chooses.

    Args:
        path: The file. Files beside it that it names, with weights, are read too.

    Raises:
        FormatError: The file is not valid; the message names the file, the line or the place in the graph, and the value.
        ValueError: The suffix is unknown.
        OSError: A file cannot be read.
    """
    description: GraphDescription = above.formats().load(path)
    return description


def _select_calls(calls: Sequence[CallDescription], operators: Set[str]) -> tuple[CallDescription, ...]:
    """Return the calls that have some of the operators, which go by their first results."""
    kept = [place for place, call in enumerate(calls) if not operators.isdisjoint(call.operators)]
    places = {-1: -1} | {place: number for number, place in enumerate(kept)}
    own = [(calls[place], tuple([name for name in calls[place].operators if name in operators])) for place in kept]
    return tuple([replace(call, operators=names, caller=places[call.caller]) for call, names in own])


def given_options(operator: Operator) -> dict[str, Any]:
    """Return the options that the program gave, in the IDL's order, without operands."""
    given, options, row = operator.given, operator.options, operator.operation
    if not given or options is None:
        return {}
    numbers = row.numbers
    members = [member for member in _plain_members(type(options)) if member in given]
    return {member: _give_back(given[member], getattr(options, member), rounded=member in numbers) for member in members}


@functools.cache
def _plain_members(model: type[Dictionary]) -> tuple[str, ...]:
    """Return the names of a dictionary's members other than operands, in the IDL's order."""
    operands = model.operand_members()
    return tuple([member for member in model.model_fields if member not in operands])


def _give_back(given: Any, converted: Any, *, rounded: bool = False) -> Any:
    """Return the description of an option.

    A number is returned as the program gave it, because the converted number is rounded. Any other value is returned as converted, because
    the program may have changed its own list since, or read its own iterator.
    """
    if type(given) in (int, float) and (rounded or type(converted) is float):
        return given
    if isinstance(converted, tuple) and converted and isinstance(converted[0], Activation):
        return tuple([_give_back(None, element) for element in converted])
    if not isinstance(converted, Activation):
        return converted
    if converted.builder is None:
        # A draft without `MLActivation` has names.
        return converted.name
    options = {name: _give_back(converted.given[name], value) for name, value in converted.parameters.items() if name in converted.given}
    return ActivationDescription(operation=converted.name, options=options)
