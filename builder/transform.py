"""The methods of `GraphDescription` that work on the whole graph: `build`, `infer`, `survey`, `lift` and `rename`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from webnn.builder.base import BuilderBase
from webnn.builder.collection import without_collection
from webnn.builder.description import ActivationDescription, DescriptionError, given_options
from webnn.builder.graph import FUSE, ComputationalGraph, SubgraphCall, collect, restore_call
from webnn.builder.graph_builder import GraphBuilder, Sketch, make_sketch
from webnn.builder.operand import MLOperand, Operator
from webnn.validation import webidl
from webnn.validation.descriptor import OperandDescriptor
from webnn.validation.drafts import DELTAS, DRAFTS, DRAFTS_OF_GRAPHS, NEWEST, find_revision
from webnn.validation.drafts.delta import Lifting, NoCounterpartError
from webnn.validation.errors import WebNNTypeError
from webnn.validation.member import class_of_draft
from webnn.validation.suggestions import lacks_operation

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription, OperatorDescription
    from webnn.validation.drafts.delta import Delta
    from webnn.validation.operation import Operation
    from webnn.validation.revision import Revision

__all__ = ["Rebuilder", "build", "complete", "infer", "lift", "no_counterpart", "rename", "repeat_operator", "survey"]


def build(
    description: GraphDescription, builder: GraphBuilder, inputs: Mapping[str, MLOperand] = MappingProxyType({})
) -> dict[str, MLOperand]:
    """Make a graph again; see `GraphDescription.build`."""
    if not webidl.isInstance(builder, BuilderBase):
        raise WebNNTypeError(
            f"build: builder must be an MLGraphBuilder, got {webidl.describe(builder)}",
            operation="build",
            argument="builder",
            rule="conversion",
        )
    checked = description._checked
    with without_collection():
        if checked is None or inputs or not _is_checked_for(checked, description, builder):
            return Rebuilder(builder).build(description, inputs)
        return _copy(checked, builder) if description._describe is not None else _Copier(builder, checked).build(description)


def _is_checked_for(graph: ComputationalGraph, description: GraphDescription, builder: GraphBuilder) -> bool:
    """Tell whether a builder need not check the operators of a graph again, which another one has checked."""
    revision, kind = builder._revision, type(builder)
    own = class_of_draft(GraphBuilder, "MLGraphBuilder", revision) if revision.reshapes else GraphBuilder
    methods = {"_connect", "constant", "input", *[operator.operation.name for operator in graph.operators]}
    return (
        revision.of_graphs == description.draft
        and revision.acceptance is None
        and revision.extension(FUSE) is None
        # A program's subclass of the builder may have methods of its own.
        and all(getattr(kind, name, None) is getattr(own, name, builder) for name in methods)
        # The mappings of a description can change.
        and {name: operand.descriptor for name, operand in graph.inputs.items()} == description.inputs
    )


def _copy(graph: ComputationalGraph, builder: GraphBuilder) -> dict[str, MLOperand]:
    """Make a graph that was checked again, as nobody has looked at its description."""
    rows = builder._revision.operations
    builder._checkCanBuild("build")
    #: By the ids of the operands, which the graph keeps.
    leaves: dict[int, MLOperand] = {}
    results: dict[int, list[MLOperand]] = {}

    def find(operand: MLOperand) -> MLOperand:
        if operand._operator is not None:
            return results[operand._operator.index][operand._position]
        found = leaves.get(id(operand))
        if found is None:
            assert operand._value is not None  # the inputs are there
            # No `compute()` has taken the array, which only the import has.
            kept = builder._memory.keep(operand._value, operand.descriptor)
            found = leaves[id(operand)] = MLOperand._create(builder, operand.descriptor, value=kept)
        return found

    for name, operand in graph.inputs.items():
        leaves[id(operand)] = builder.input(name, _members(builder, operand.descriptor))
    for source in graph.operators:
        copied = tuple([find(operand) for operand in source.inputs])
        optional = tuple([(member, find(operand)) for member, operand in source.members]) if source.members else ()
        results[source.index] = repeat_operator(builder, source, rows[source.operation.name], source.label, copied, optional)
    return {name: find(operand) for name, operand in graph.outputs.items()}


def repeat_operator(
    builder: GraphBuilder,
    source: Operator,
    row: Operation,
    label: str,
    inputs: tuple[MLOperand, ...],
    members: tuple[tuple[str, MLOperand], ...],
) -> list[MLOperand]:
    """Make an operator like a checked one, of operands like its own; return its results."""
    builder._count += 1
    result = source.result
    operator = Operator(row, builder._count, label, inputs, members, source.arguments, source.options, result, source.given)
    if type(result) is OperandDescriptor:
        # Most operators have one.
        return [MLOperand._create(builder, result, operator)]
    return [MLOperand._create(builder, descriptor, operator, position) for position, descriptor in enumerate(operator.outputs)]


def infer(description: GraphDescription) -> GraphDescription:
    """Return a description with the descriptors of all operators; see `GraphDescription.infer`."""
    pairs = zip(description.operators, _infer(description), strict=True)
    operators = [replace(operator, descriptors=descriptors) for operator, descriptors in pairs]
    return replace(description, operators=tuple(operators))


def complete(description: GraphDescription) -> None:
    """Give the operators of a description that was just made their descriptors, as `infer` does for any description."""
    for operator, descriptors in zip(description.operators, _infer(description), strict=True):
        # Safe: the description has not been shared yet.
        object.__setattr__(operator, "descriptors", descriptors)


def survey(description: GraphDescription) -> tuple[ComputationalGraph, dict[str, MLOperand]]:
    """Return the computational graph of a description, and the operands of all its values by name. The constants are not copied.

    Raises:
        WebNNTypeError: The draft refuses something.
        DescriptionError: The description contradicts itself, or names an operation or argument that its draft does not have.
    """
    rebuilder = Rebuilder(_sketch(description))
    rebuilder.build(description)
    operands = rebuilder.operands
    return collect({name: operands[value] for name, value in description.outputs.items()}), operands


def _infer(description: GraphDescription) -> list[tuple[OperandDescriptor, ...]]:
    """Return the descriptors of the results of each operator."""
    inference = _Inference(_sketch(description))
    inference.build(description)
    return inference.descriptors


def _sketch(description: GraphDescription) -> GraphBuilder:
    """Make a builder for a description's draft, without a context."""
    try:
        revision = find_revision(description.draft, imports=False)
    except ValueError as error:
        raise DescriptionError(str(error), "draft") from None
    return make_sketch(Sketch, revision)


def lift(description: GraphDescription, draft: str | None) -> GraphDescription:
    """Return the description in a later draft; see `GraphDescription.lift`."""
    return _move(description, NEWEST if draft is None else draft, later=True)


def rename(description: GraphDescription, draft: str) -> GraphDescription:
    """Return the description in an earlier draft that has all its operations; `webnn.lowering` makes the others of these."""
    return _move(description, draft, later=False)


def _move(description: GraphDescription, target: str, *, later: bool) -> GraphDescription:
    own, plus, additions = description.draft.partition("+")
    for name in (own, target):
        if name not in DRAFTS:
            raise DescriptionError(f"must be one of {', '.join(DRAFTS_OF_GRAPHS)}, got {webidl.describe(name)}", "draft")
    # Graphs of a draft that changes contexts only are those of the one before it.
    own, target = (find_revision(name).of_graphs for name in (own, target))
    first, last = DRAFTS.index(own), DRAFTS.index(target)
    if first == last:
        return description
    if later != (first < last):
        way = "earlier" if later else "later"
        raise DescriptionError(f"a description of {own} cannot be moved to the {way} draft {target}", "draft")
    moved = description.infer()
    for delta in DELTAS[first:last] if later else reversed(DELTAS[last:first]):
        moved = _apply(moved, delta, later=later)
    # Additions to a draft are made for the later ones.
    moved = replace(moved, draft=target + plus + additions) if later else replace(moved, draft=target, calls=())
    try:
        return moved.infer()
    except WebNNTypeError as error:
        raise DescriptionError(f"the draft {target} refuses it: {error}", "operators") from error


def _apply(description: GraphDescription, delta: Delta, *, later: bool) -> GraphDescription:
    """Return the operators with the names and defaults of the draft on the other side of a delta; the descriptors stay as they are."""
    before, after = find_revision(delta.after), find_revision(delta.name)
    source, target = (before, after) if later else (after, before)
    known = description.descriptors()
    operators = []
    for number, operator in enumerate(description.operators):
        try:
            operators.append(_redraft(operator, delta, source, target, known, later=later))
        except NoCounterpartError as error:
            raise no_counterpart(operator, number, target.name, error) from None
    return replace(description, draft=target.name, operators=tuple(operators))


def no_counterpart(operator: OperatorDescription, number: int, draft: str, error: NoCounterpartError) -> DescriptionError:
    """Return the error for an operator that another draft does not have."""
    label = f" {webidl.describe(operator.label)}" if operator.label else ""
    return DescriptionError(f"{operator.operation}{label} has no counterpart in the draft {draft}: {error}", f"operators[{number}]")


def _redraft(
    operator: OperatorDescription, delta: Delta, source: Revision, target: Revision, known: Mapping[str, OperandDescriptor], *, later: bool
) -> OperatorDescription:
    """Return an operator as the other side of a delta writes it."""
    old, new = source.operations.get(operator.operation), target.operations.get(operator.operation)
    if old is None or new is None:
        raise NoCounterpartError("there is no such operation")
    arguments, options = dict(operator.arguments), dict(operator.options)
    change = (delta.lifts if later else delta.lowers).get(operator.operation)
    if change is not None:
        change(Lifting(arguments, options, tuple([known[name] for _, _, name in operator.named_values()])))
    # Positional arguments keep their places under other names.
    moved = dict(zip([each.name for each in old.arguments], [each.name for each in new.arguments], strict=False))
    newer = new if later else old
    renamed = {} if newer.options is None else newer.options.former_names
    if not later:
        renamed = {new: old for old, new in renamed.items()}
    if source.activations != target.activations:
        convert = _name_activations if source.activations else _make_activations
        options = {name: convert(value) if name == "activations" else value for name, value in options.items()}
    return replace(
        operator,
        inputs=dict(zip(new.operands, [operator.inputs[name] for name in old.operands], strict=True)),
        arguments={moved.get(name, name): value for name, value in arguments.items()},
        options={renamed.get(name, name): value for name, value in options.items()},
        operands={renamed.get(name, name): value for name, value in operator.operands.items()},
    )


def _name_activations(activations: tuple[ActivationDescription, ...]) -> tuple[str, ...]:
    for each in activations:
        if each.options:
            raise NoCounterpartError(f"the activation {each.operation} has options")
    return tuple([each.operation for each in activations])


def _make_activations(names: tuple[str, ...]) -> tuple[ActivationDescription, ...]:
    return tuple([ActivationDescription(operation=name) for name in names])


def _members(builder: GraphBuilder, descriptor: OperandDescriptor) -> Any:
    """Return a descriptor as programs give it."""
    return {"dataType": descriptor.dataType, builder._revision.shape: descriptor.shape}


class Rebuilder:
    """The state of one `GraphDescription.build`."""

    def __init__(self, builder: GraphBuilder) -> None:
        self._builder = builder
        self.operands: dict[str, MLOperand] = {}
        #: The part of the description that is made.
        self._path = ""
        #: The innermost call of each operator that a call made, by the name of its first result.
        self._calls: dict[str, SubgraphCall] = {}

    def build(self, description: GraphDescription, inputs: Mapping[str, MLOperand] = MappingProxyType({})) -> dict[str, MLOperand]:
        """Make the graph; return the operands of its outputs."""
        try:
            return self._build(description, inputs)
        except WebNNTypeError as error:
            error.path = self._path
            raise

    def _build(self, description: GraphDescription, inputs: Mapping[str, MLOperand]) -> dict[str, MLOperand]:
        builder = self._builder
        self._path = "inputs"
        for name in inputs:
            if name not in description.inputs:
                raise DescriptionError(f"there is no input {webidl.describe(name)}", self._path)
        for name, descriptor in description.inputs.items():
            given = inputs.get(name)
            made = builder.input(name, _members(builder, descriptor)) if given is None else self._accept(name, given, descriptor)
            self._give(name, made)
        for name, constant in description.constants.items():
            self._path = "constants"
            self._give(name, builder.constant(_members(builder, constant.descriptor), constant.value))
        calls: list[SubgraphCall] = []
        if description.calls and self._builder._revision.extension(FUSE) is not None:
            for each in description.calls:
                calls.append(SubgraphCall(name=each.name, config=each.config, caller=None if each.caller < 0 else calls[each.caller]))
                self._calls.update(dict.fromkeys(each.operators, calls[-1]))
        self._call_all(description)
        for call, each in zip(calls, description.calls, strict=False):
            call.operands = {name: self.operands[value] for name, value in each.inputs.items() if value in self.operands}
            results = {name: self.operands[value] for name, value in each.outputs.items() if value in self.operands}
            call.results = {name: (made._operator.index, made._position) for name, made in results.items() if made._operator is not None}
        self._path = "outputs"
        return {name: self._find(value) for name, value in description.outputs.items()}

    def _call_all(self, description: GraphDescription) -> None:
        for number, operator in enumerate(description.operators):
            self._path = f"operators[{number}]"
            self._call(operator)

    def _accept(self, name: str, operand: MLOperand, descriptor: OperandDescriptor) -> MLOperand:
        """Return an operand that replaces an input."""
        what = f"{webidl.describe(name)} must be an operand of this builder, {descriptor}"
        if not webidl.isInstance(operand, MLOperand):
            raise DescriptionError(f"{what}, got {webidl.describe(operand)}", self._path)
        if operand._builder is not self._builder or operand.descriptor != descriptor:
            whose = "" if operand._builder is self._builder else " of another builder"
            raise DescriptionError(f"{what}, got {operand.descriptor}{whose}", self._path)
        return operand

    def _call(self, operator: OperatorDescription) -> None:
        row = self._builder._revision.operations.get(operator.operation)
        # A method that is not an operation, such as `build`, must not be called.
        if row is None:
            reason = lacks_operation(operator.operation, self._builder._revision.operations)
            raise DescriptionError(f"the draft {reason}", f"{self._path}.operation")
        # Most operations have no other arguments.
        names = tuple([argument.name for argument in row.arguments]) if row.arguments else ()
        if tuple(operator.inputs) != row.operands or tuple(operator.arguments) != names:
            inputs = self._order("inputs", operator.inputs, row.operands)
            operator = replace(operator, inputs=inputs, arguments=self._order("arguments", operator.arguments, names))
        arguments, options = operator.call(self._find, self._activate)
        returned = getattr(self._builder, operator.operation)(*arguments, *([options] if options else []))
        results = returned if isinstance(returned, list) else [returned]
        self._path += ".outputs"
        if len(results) != len(operator.outputs):
            raise DescriptionError(f"must name {len(results)} results of {operator.operation}, got {list(operator.outputs)}", self._path)
        if operator.outputs and (call := self._calls.get(operator.outputs[0])) is not None:
            restore_call(results, call)
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
        operand = self.operands.get(name)
        if operand is None:
            raise DescriptionError(f"there is no value {webidl.describe(name)} yet", self._path)
        return operand

    def _give(self, name: str, operand: MLOperand) -> None:
        if name in self.operands:
            raise self._taken(name)
        self.operands[name] = operand

    def _taken(self, name: str) -> DescriptionError:
        return DescriptionError(f"there is a value {webidl.describe(name)} already", self._path)


class _Copier(Rebuilder):
    """A `Rebuilder` that makes operators like checked ones, where the description still says the same."""

    def __init__(self, builder: GraphBuilder, checked: ComputationalGraph) -> None:
        super().__init__(builder)
        self._checked = checked

    def _call_all(self, description: GraphDescription) -> None:
        rows = self._builder._revision.operations
        for number, (operator, source) in enumerate(zip(description.operators, self._checked.operators, strict=True)):
            if not self._copy(operator, source, rows[source.operation.name]):
                self._path = f"operators[{number}]"
                self._call(operator)

    def _copy(self, described: OperatorDescription, source: Operator, row: Operation) -> bool:
        """Make an operator; tell whether its description, whose mappings can change, still says the same."""
        operands, values = self.operands, described.inputs.values()
        try:
            inputs = tuple([operands[name] for name in (next(iter(values)) if row.variadic else values)])  # type: ignore[index]
            members = tuple([(member, operands[name]) for member, name in described.operands.items()]) if described.operands else ()
        except (KeyError, TypeError):  # the call finds that, too
            return False
        if (
            tuple(described.inputs) != row.operands
            or not _are_like(inputs, source.inputs)
            or described.arguments != source.named_arguments
            or described.options != (given_options(source) if source.given else {})
            or [member for member, _ in members] != [member for member, _ in source.members]
            or not _are_like([each for _, each in members], [each for _, each in source.members])
        ):
            return False
        results = repeat_operator(self._builder, source, row, described.label, inputs, members)
        for name, result in zip(described.outputs, results, strict=True):
            self._give(name, result)
        return True


def _are_like(operands: Sequence[MLOperand], others: Sequence[MLOperand]) -> bool:
    """Tell whether operands have the types and shapes of others."""
    if len(operands) != len(others):
        return False
    for one, other in zip(operands, others, strict=True):
        # Results of operators that were copied have the descriptors of the others.
        if one.descriptor is not other.descriptor and one.descriptor != other.descriptor:
            return False
    return True


class _Inference(Rebuilder):
    """The state of one `GraphDescription.infer`. A call that differs from an earlier one in names only is not made again."""

    def __init__(self, builder: GraphBuilder) -> None:
        super().__init__(builder)
        #: The descriptors of the results of each operator so far.
        self.descriptors: list[tuple[OperandDescriptor, ...]] = []
        self._results: dict[object, tuple[OperandDescriptor, ...]] = {}
        #: The descriptors of all values; `operands` has only those that a call made or took.
        self._known: dict[str, OperandDescriptor] = {}
        #: One object for all descriptors that are equal, so that their identities tell them apart.
        self._unique: dict[OperandDescriptor, OperandDescriptor] = {}

    def _call(self, operator: OperatorDescription) -> None:
        known = self._known
        try:
            key = self._key(operator)
            results = self._results.get(key)
        except (KeyError, TypeError):  # there is no such value, which the call finds too, or an activation or a list cannot be hashed
            key = results = None
        if results is None:
            super()._call(operator)
            results = tuple([known[name] for name in operator.outputs])
            if key is not None:
                self._results[key] = results
        else:
            for position, name in enumerate(operator.outputs):
                if name in known:
                    raise self._taken(name)
                known[name] = results[position]
        self.descriptors.append(results)

    def _find(self, name: str) -> MLOperand:
        if name in self._known and name not in self.operands:
            self.operands[name] = MLOperand._create(self._builder, self._known[name])
        return super()._find(name)

    def _give(self, name: str, operand: MLOperand) -> None:
        if name in self._known:
            raise self._taken(name)
        self.operands[name] = operand
        self._known[name] = operand.descriptor = self._unique.setdefault(operand.descriptor, operand.descriptor)

    def _key(self, operator: OperatorDescription) -> object:
        """Return an object that is equal for calls that have the same result. Raises `KeyError` if there is no such value."""
        known, inputs, operands = self._known, operator.inputs, operator.operands
        # None stands between the parts, so that it is clear where each one ends.
        key: list[object] = [operator.operation, len(operator.outputs), *inputs, None, *operands, None]
        key += [*operator.arguments.items(), None, *operator.options.items()]
        for value in inputs.values():
            key.append(tuple([id(known[name]) for name in value]) if isinstance(value, tuple) else id(known[value]))
        for name in operands.values():
            key.append(id(known[name]))
        return tuple(key)
