"""The driver that all operations share: conversion, the steps they have in common, and the graph connections."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from webnn.builder.operand import MLActivation, MLOperand, Operator
from webnn.validation import webidl
from webnn.validation.caller import find_line
from webnn.validation.descriptor import DataType, OperandDescriptor, Types
from webnn.validation.errors import InvalidStateError, label_prefix
from webnn.validation.ignored import warn_ignored
from webnn.validation.interfaces import Activation
from webnn.validation.member import DraftMembers
from webnn.validation.operation import Call, Operation, Outputs
from webnn.validation.switch import draft_error

if TYPE_CHECKING:
    from webnn.builder.interfaces import State
    from webnn.validation.dictionary import Dictionary
    from webnn.validation.operation import NamedOperand
    from webnn.validation.revision import Revision

__all__ = ["MISSING", "BuilderBase", "Missing", "named_operands", "require_operand"]


class Missing:
    """The type of `MISSING`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<missing>"


#: The default of an operand whose absence selects another overload. ``None``, like any other value, would select this overload.
MISSING = Missing()


#: For each operand argument the data types, and the smallest and the largest rank, of the tables of limits; empty without tables.
_Limits = tuple[tuple[Types, int, int], ...]
#: An operation of a builder, a call of it without a label, its limits, and its options if none are given.
_Prepared = tuple[Operation, Call, _Limits, "Dictionary | None"]


#: Converts to `MLOperand`.
require_operand = webidl.interface(MLOperand, "MLOperand")
_convertOperands = webidl.sequence(require_operand)
_LABEL = frozenset({"label"})


def _has_option(operation: str, member: str, revision: Revision) -> bool:
    row = revision.operations.get(operation)
    return row is not None and row.options is not None and member in row.options.member_names()


def named_operands(operation: Operation, inputs: Sequence[MLOperand], members: Iterable[tuple[str, MLOperand]]) -> Iterator[NamedOperand]:
    """Name the operands of a call, for a device profile: what an error calls each, its row in the tables of limits, its descriptor."""
    for index, operand in enumerate(inputs):
        row = operation.operands[0 if operation.variadic else index]
        yield f"{row}[{index}]" if operation.variadic else row, row, operand.descriptor
    for member, operand in members:
        yield f"options.{member}", member, operand.descriptor


def _chosen(operation: Operation) -> str:
    """Return the argument or option that determines the data type of an operation's output; empty if none does."""
    if operation.name == "cast":
        return operation.arguments[0].name
    if operation.options is not None and "outputDataType" in operation.options.model_fields:
        return "options.outputDataType"
    return _TYPE_GIVERS.get(operation.name, "")


@cache
def _default(model: type[Dictionary]) -> Dictionary:
    """Return the dictionary without members, which cannot be changed."""
    return model()


#: The operands other than the first one that give the output their data type.
_TYPE_GIVERS: Mapping[str, str] = MappingProxyType({"dequantizeLinear": "scale", "quantizeLinear": "zeroPoint"})


def _fit(limits: _Limits, descriptors: Sequence[OperandDescriptor]) -> bool:
    """Tell whether the operands of a call are within its limits: a quick way to say that `BuilderBase._checkLimits` finds nothing."""
    if len(limits) != len(descriptors):
        # Of a variadic operation, all operands have the only row.
        limits = limits * len(descriptors)
    for index, descriptor in enumerate(descriptors):
        types, low, high = limits[index]
        if descriptor.dataType not in types or not low <= len(descriptor.dimensions) <= high:
            return False
    return True


def _prepare(revision: Revision, name: str) -> _Prepared:
    """Return what all calls of an operation share."""
    operation = revision.operations[name]
    limits: _Limits = ()
    if revision.checks_operands:
        types, ranks = revision.data_types[name], revision.ranks[name]
        limits = tuple([(types[row], *ranks[row]) for row in operation.operands])
    default = None if operation.options is None else _default(operation.options)
    return operation, Call(name, operation.anchor, revision), limits, default


_prepare_once = cache(_prepare)


def _round(call: Call, dictionary: Dictionary, members: Sequence[str], dataType: DataType, *, isOwn: bool) -> Dictionary:
    """Cast members of a dictionary to a data type; change the dictionary if it is this call's own, otherwise a copy."""
    changes: dict[str, int | float] = {}
    for member in members:
        value = getattr(dictionary, member)
        if value is not None:
            rounded = call.cast(f"options.{member}", value, dataType)
            if rounded != value or type(rounded) is not type(value):
                changes[member] = rounded
    if not changes:
        return dictionary
    if not isOwn:
        return dictionary.model_copy(update=changes)
    # The model is frozen for those who get it.
    vars(dictionary).update(changes)
    return dictionary


class BuilderBase(DraftMembers):
    """A builder without its methods: the graph's counter and the shared driver."""

    __slots__ = ("__weakref__", "_calls", "_count", "_hasBuilt", "_isGuarded", "_lines", "_results", "_revision", "_state")

    _count: int
    _hasBuilt: bool
    #: The label of operators whose call has none.
    _label: str = ""
    #: Every method begins with the step that asks whether the builder can build.
    _isGuarded: bool
    _calls: dict[str, _Prepared]
    #: The program's file and line of each operator, by its number; ``None`` if nobody asks for them.
    _lines: dict[int, tuple[str, int]] | None
    #: The results of calls without options, by the operation and its operands; ``None`` if they are not kept.
    _results: dict[tuple[object, ...], Outputs] | None
    _revision: Revision
    _state: State

    def _prepare(self, name: str) -> _Prepared:
        revision = self._revision
        # Each context of a device profile has a revision of its own, which is not kept.
        make = _prepare_once if revision.acceptance is None else _prepare
        entry = self._calls[name] = make(revision, name)
        return entry

    def _checkCanBuild(self, operation: str, label: str = "") -> None:
        """*Can build*, `#mlgraphbuilder-can-build`: the builder has not built yet, and its context is not lost; no step until 2024-06.

        Raises `InvalidStateError` if it has built, or the context is lost.
        """
        if not self._isGuarded:
            return
        if self._hasBuilt:
            prefix = label_prefix(label)
            raise InvalidStateError(
                f"{prefix}{operation}: the builder must not have built a graph yet: make a new one for each graph",
                operation=operation,
                label=label,
                draft=self._revision.draft,
                rule="built",
            )
        self._state.loss.check(operation)

    def _members(self, call: Call, options: object, members: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the options' members, given as one dictionary or as keyword arguments."""
        if not members:
            return call.convert("options", webidl.dictionary_members, options)
        if options is not None:
            raise call.error("options", "must be given as a dictionary or as keyword arguments, not as both", rule="once")
        return webidl.dictionary_members(members)

    def _convertOptions(self, operation: Operation, call: Call, given: Mapping[str, Any]) -> Dictionary | None:
        model = operation.options
        # Every operation takes a label, which `_connect` converts.
        known = _LABEL if model is None else model.member_names("label")
        # (A test without a function call, because every operation with options runs this.)
        if not known.issuperset(given):
            warn_ignored(call, "options", given, known, operation.elsewhere)
        if model is None:
            return None
        try:
            return model.convertMembers(given)
        except webidl.ConversionError as error:
            raise call.error(f"options{error.path}", error.reason) from error.__cause__

    def _connect(
        self, name: str, operands: tuple[object, ...], arguments: tuple[object, ...], options: object, members: Mapping[str, Any]
    ) -> Operator:
        """Run the steps of an operation and make its operator.

        All arguments are as the program gave them. ``operands`` has one sequence for a variadic operation; ``members`` has the options that
        were given as keyword arguments. Raises `WebNNTypeError` if a conversion or a step fails.
        """
        entry = self._calls.get(name)
        operation, call, limits, default = entry if entry is not None else self._prepare(name)
        given = label = None
        if options is not None or members:
            given = self._members(call, options, members)
            label = given.get("label")
            if label is not None:
                call = Call(name, call.anchor, call.revision, call.convert("options.label", webidl.usvString, label))
            for member, instead in operation.elsewhere.items():
                if member in given and instead not in given:
                    has = f"has {instead}" if instead else "has nothing like it"
                    reason = f"must not be given: the draft {call.revision.name} {has}"
                    raise draft_error(call, f"options.{member}", reason, partial(_has_option, name, member))
        # Web IDL: the arguments are converted in their order, before any step.
        if operation.variadic:
            inputs = call.convert(operation.operands[0], _convertOperands, operands[0])
        else:
            for index, operand in enumerate(operands):
                if type(operand) is not MLOperand and not webidl.isInstance(operand, MLOperand):
                    raise call.error(operation.operands[index], f"must be an MLOperand, got {webidl.describe(operand)}", rule="conversion")
            inputs = operands  # type: ignore[assignment]  # all of them are operands, as just checked
        converted: tuple[Any, ...] = ()
        if arguments:
            pairs = zip(operation.arguments, arguments, strict=True)
            converted = tuple([call.convert(argument.name, argument.convert, value) for argument, value in pairs])
        if operation.complete is not None:
            given = {**(given or {}), **operation.complete([operand.descriptor for operand in inputs], given or {})}
        # The label is not a member of the dictionary.
        isDefault = not given or (label is not None and len(given) == 1)
        dictionary = default if isDefault else self._convertOptions(operation, call, given or {})
        # [2026-06: can build] The builder can build.
        if self._isGuarded:  # saves a function call
            self._checkCanBuild(name, call.label)
        # [operands] The operands were made by this builder.
        descriptors = []
        for operand in inputs:
            if operand._builder is not self:
                index = inputs.index(operand)
                argument = f"inputs[{index}]" if operation.variadic else operation.operands[index]
                raise call.error(argument, "must be an operand of this builder, but another one made it", rule="owner")
            descriptors.append(operand.descriptor)
        optional: tuple[tuple[str, MLOperand], ...] = ()
        if given and not isDefault:
            optional = tuple([(member, given[member]) for member in operation.members if member in given])
            for member, operand in optional:
                # [operands] So were those among the options.
                if operand._builder is not self:
                    raise call.error(f"options.{member}", "must be an operand of this builder, but another one made it", rule="owner")
            if call.revision.activations and "activations" in given:
                self._checkActivations(call, getattr(dictionary, "activations", ()))
        # Calls without options have the same results for the same operands.
        outputs: Outputs | None = None
        known: tuple[object, ...] = ()
        results = self._results if isDefault and not converted else None
        if results is not None:
            known = (name, *descriptors)
            outputs = results.get(known)
        # The data types and ranks that the tables of limits restrict (since 2026-06).
        if outputs is None and limits and (optional or not _fit(limits, descriptors)):
            self._checkLimits(call, operation, inputs, optional)
        if dictionary is not None and (numbers_ := operation.numbers):
            dictionary = _round(call, dictionary, numbers_, inputs[0].descriptor.dataType, isOwn=not isDefault)
        # The operation's own steps.
        if outputs is None:
            positional: Sequence[Any] = (tuple(descriptors),) if operation.variadic else descriptors
            if dictionary is None:
                outputs = operation.infer(call, *positional, *converted)
            else:
                outputs = operation.infer(call, *positional, *converted, dictionary)
            if results is not None:
                results[known] = outputs
        # Check the limits of the device. This is not a step of the specification.
        acceptance = call.revision.acceptance
        if acceptance is not None:
            made = outputs if isinstance(outputs, tuple) else (outputs,)
            acceptance.accept(call, named_operands(operation, inputs, optional), made, _chosen(operation))
        # Make graph connections.
        operator = Operator(operation, self._count + 1, call.label or self._label, inputs, optional, converted, dictionary, outputs, given)
        if acceptance is not None:
            acceptance.accept_operator(call, operator)
        self._count += 1
        if self._lines is not None:
            self._lines[operator.index] = find_line()
        return operator

    def _checkLimits(
        self, call: Call, operation: Operation, inputs: tuple[MLOperand, ...], optional: tuple[tuple[str, MLOperand], ...]
    ) -> None:
        for index, operand in enumerate(inputs):
            row = operation.operands[0 if operation.variadic else index]
            argument = f"{row}[{index}]" if operation.variadic else row
            # [2026-06: data type] It is one that the table has for the operand.
            call.check_type(argument, operand.descriptor, row)
            # [2026-06: rank] So is the rank.
            call.check_rank(argument, operand.descriptor, row)
        for member, operand in optional:
            # [2026-06: data type] The same for the operands among the options.
            call.check_type(f"options.{member}", operand.descriptor)
            # [2026-06: rank] Their ranks, too.
            call.check_rank(f"options.{member}", operand.descriptor)

    def _checkActivations(self, call: Call, activations: Iterable[Activation]) -> None:
        for index, activation in enumerate(activations):
            # [activations; 2026-06: -] They were made by this builder.
            if activation.builder is not self:
                raise call.error(
                    f"options.activations[{index}]", "must be an activation of this builder, but another one made it", rule="owner"
                )

    def _single(
        self,
        name: str,
        operands: tuple[object, ...],
        arguments: tuple[object, ...] = (),
        options: object = None,
        members: Mapping[str, Any] = {},
    ) -> MLOperand:
        """Connect an operation that returns one operand; see `_connect`."""
        operator = self._connect(name, operands, arguments, options, members)
        descriptor = operator.result
        assert isinstance(descriptor, OperandDescriptor)  # the operation returns no sequence
        return MLOperand._create(self, descriptor, operator)

    def _sequence(
        self,
        name: str,
        operands: tuple[object, ...],
        arguments: tuple[object, ...] = (),
        options: object = None,
        members: Mapping[str, Any] = {},
    ) -> list[MLOperand]:
        """Connect an operation that returns a sequence of operands; see `_connect`."""
        operator = self._connect(name, operands, arguments, options, members)
        return [MLOperand._create(self, descriptor, operator, position) for position, descriptor in enumerate(operator.outputs)]

    def _activation(self, name: str, options: object = None, members: Mapping[str, Any] = {}) -> MLActivation:
        """Make an activation function: the overload of an operation without its input."""
        entry = self._calls.get(name)
        operation, call, _, default = entry if entry is not None else self._prepare(name)
        given = self._members(call, options, members) if options is not None or members else None
        dictionary = self._convertOptions(operation, call, given) if given else default
        parameters = {} if dictionary is None else dict(dictionary)
        return MLActivation._create(Activation(name, parameters, given or {}, self))

    def _overloaded(self, name: str, input: object, options: object, members: Mapping[str, Any]) -> MLOperand | MLActivation:
        """Choose between the two overloads ``op(input, options)`` and ``op(options)``, as Web IDL's overload resolution does.

        An operand selects the first, a dictionary or nothing the second. A draft without activations has the first only.
        """
        has_activations = self._revision.activations
        if webidl.isInstance(input, MLOperand) or options is not None or not has_activations:
            if not has_activations and (input is MISSING or input is None):
                _, call, *_ = self._calls.get(name) or self._prepare(name)
                reason = f"must be given: the draft {call.revision.name} names activations in options.activations"
                raise draft_error(call, "input", reason, attrgetter("activations"))
            return self._single(name, (input,), (), options, members)
        entry = self._calls.get(name)
        has_options = (entry or self._prepare(name))[0].options is not None
        # For a dictionary, undefined means missing; for an operand it is an error.
        if input is MISSING or (has_options and input is None):
            return self._activation(name, None, members)
        if has_options and webidl.isInstance(input, Mapping):
            return self._activation(name, input, members)
        return self._single(name, (input,), (), options, members)
