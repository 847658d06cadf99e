"""An operation as the validators see it: its row (`Operation`), one call of it (`Call`), and the limits of a device (`Acceptance`).

A comment that begins with numbers in brackets cites steps that can throw: docs/spec-coverage.md has the form. Other numbers of steps are
those of the first draft that has the operation.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from webnn.validation.descriptor import SMALL_TYPES, BigInt, DataType, OperandDescriptor
from webnn.validation.errors import Rule, WebNNTypeError, argument_error
from webnn.validation.webidl import ConversionError

if TYPE_CHECKING:
    from webnn.validation.dictionary import Dictionary
    from webnn.validation.revision import Revision

__all__ = ["Acceptance", "Argument", "Call", "NamedOperand", "Operation", "Outputs", "Role", "find_unsupported"]

#: The types whose numbers are BigInts in browsers.
_BIGINTS = frozenset({"int64", "uint64"})

T = TypeVar("T")

#: The result of a validator: one descriptor for an operation with one output, a tuple for one that returns a sequence.
Outputs = OperandDescriptor | tuple[OperandDescriptor, ...]
#: An operand of a call: what an error calls it (``"inputs[1]"``, ``"options.bias"``), its row (``"inputs"``, ``"bias"``), its descriptor.
NamedOperand = tuple[str, str, OperandDescriptor]
#: The role of an operand in a graph.
Role = Literal["input", "constant", "output"]


@dataclass(frozen=True, slots=True)
class Argument:
    """A positional argument that is not an operand: its name in the IDL, and the Web IDL conversion of its type."""

    name: str
    convert: Callable[[object], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation of `MLGraphBuilder`: what its steps share, as data.

    Attributes:
        operands: The names of the operand arguments, in the IDL's order; they come before `arguments`.
        infer: The validator, called with the `Call`, the operands' descriptors, the converted arguments and, where `options` is set,
            the converted options. Returns the outputs' descriptors; raises `WebNNTypeError` where a step fails. The method of
            `MLGraphBuilder` says which types and shapes go in and come out.
        variadic: The one operand argument is a ``sequence<MLOperand>``; `infer` gets a tuple of descriptors for it.
        elsewhere: Options that only other drafts have, and their replacements in this one, empty for none. A browser ignores them; here the
            driver raises unless the replacement is given too. It follows from the models of the drafts.
        activation: The method has a second overload without the input, which returns an `MLActivation`, in drafts with activations.
        translation: Returns the translation to ONNX, for an operation that `webnn.builder.onnx` does not have.
        complete: Returns options that the program did not give and that follow from its operands, in drafts that have no default for them.
            Called with the descriptors of the operands and the program's options, which are not converted yet.
    """

    name: str
    anchor: str
    operands: tuple[str, ...]
    infer: Callable[..., Outputs]
    variadic: bool = False
    arguments: tuple[Argument, ...] = ()
    options: type[Dictionary] | None = None
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    activation: bool = False
    translation: Callable[[], Any] | None = None
    complete: Callable[[Sequence[OperandDescriptor], Mapping[str, Any]], Mapping[str, Any]] | None = None

    @property
    def members(self) -> tuple[str, ...]:
        """The options' members that are operands, in the IDL's order."""
        return () if self.options is None else self.options.operand_members()

    @property
    def numbers(self) -> tuple[str, ...]:
        """The options' members that are cast to the data type of the first operand."""
        return () if self.options is None else self.options.cast_members()


@dataclass(frozen=True, slots=True)
class Call:
    """One call of an operation: the validators' access to errors and to the revision's tables.

    The methods ``check_...`` raise `WebNNTypeError` if what they check does not hold.
    """

    operation: str
    anchor: str
    revision: Revision
    label: str = ""

    def error(self, argument: str, requirement: str, *given: object, rule: Rule = "range") -> WebNNTypeError:
        """Make the ``TypeError`` of a failed step, as `argument_error` does."""
        return argument_error(
            self.operation, argument, requirement, self.anchor, given=given, rule=rule, label=self.label, draft=self.revision.draft
        )

    def convert(self, argument: str, convert: Callable[[Any], T], value: object) -> T:
        """Convert an argument. If the conversion fails, raise a `WebNNTypeError` that names the argument."""
        try:
            return convert(value)
        except ConversionError as error:
            raise self.error(f"{argument}{error.path}", error.reason) from error.__cause__

    def cast(self, argument: str, number: float, dataType: DataType) -> int | float:
        """*Cast* a number to the type of an operand, as the revision does."""
        if self.revision.checks.bigints:
            if type(number) is BigInt and dataType not in _BIGINTS:
                raise self.error(argument, f"must be a Number, not a BigInt, for {dataType}", int(number), rule="type")
            if dataType in SMALL_TYPES:
                raise self.error(argument, f"must be given as elements for {dataType}", number, rule="type")
        return self.revision.cast(number, dataType)

    def check_type(self, argument: str, operand: OperandDescriptor, row: str = "") -> None:
        """Check an operand's data type against the revision's table of this operation; ``row``: its row there, if that has another name."""
        allowed = self.revision.data_types[self.operation][row or argument]
        if operand.dataType not in allowed:
            raise self.error(argument, f"must have a data type of {list(allowed)}", operand.dataType, rule="type")

    def check_same_type(self, argument: str, operand: OperandDescriptor, other: str, expected: OperandDescriptor) -> None:
        """Check that an operand has the same data type as another one."""
        if operand.dataType != expected.dataType:
            raise self.error(argument, f"must have the data type of {other}, {expected.dataType}", operand.dataType, rule="type")

    def check_rank(self, argument: str, operand: OperandDescriptor, row: str = "") -> None:
        """Check an operand's rank against the revision's table of this operation; see `check_type`."""
        low, high = self.revision.ranks[self.operation][row or argument]
        if not low <= len(operand.dimensions) <= high:
            wanted = f"must be {low}-D" if low == high else f"must have at least {low} dimensions"
            if low < high < self.revision.max_rank:
                wanted = f"must have {low} to {high} dimensions"
            raise self.error(argument, wanted, f"{len(operand.dimensions)}-D {list(operand.dimensions)}", rule="rank")

    def check_shape(self, argument: str, operand: OperandDescriptor, expected: tuple[int, ...]) -> None:
        """Check that an operand has exactly a shape."""
        if operand.dimensions != expected:
            raise self.error(argument, f"must have the shape {list(expected)}", list(operand.dimensions), rule="shape")

    def check_size(self, argument: str, values: tuple[Any, ...], size: int) -> None:
        """Check that a sequence has a number of elements."""
        if len(values) != size:
            raise self.error(argument, f"must have {size} elements", list(values), rule="length")

    def check_no_zero(self, argument: str, values: tuple[int, ...]) -> None:
        """Check that no element of a sequence is 0."""
        if 0 in values:
            raise self.error(argument, "must be greater than 0 in each element", list(values))

    def check_sizes(self, argument: str, sizes: tuple[int, ...]) -> None:
        """Check that no size is 0, in drafts that forbid empty dimensions."""
        if self.revision.min_dimension > 0:
            self.check_no_zero(argument, sizes)

    def check_dimensions(self, argument: str, descriptor: OperandDescriptor) -> None:
        """*Check dimensions*, `#mloperanddescriptor-check-dimensions`: the revision and this implementation support a descriptor."""
        reason = find_unsupported(self.revision, descriptor)
        if reason:
            raise self.error(argument, reason, rule="limit")

    def output(self, dataType: DataType, dimensions: tuple[int, ...]) -> OperandDescriptor:
        """Make an output's descriptor; raise `WebNNTypeError` unless each dimension is valid and this implementation supports the size."""
        descriptor = OperandDescriptor(dataType, dimensions)
        # A copy of `check_dimensions` that saves a function call, because every operation runs this.
        reason = find_unsupported(self.revision, descriptor)
        if reason:
            raise self.error("output", reason, rule="limit")
        return descriptor


def find_unsupported(revision: Revision, descriptor: OperandDescriptor) -> str:
    """Say why a draft has no operand of this descriptor; empty if it has. *Check dimensions*, `#mloperanddescriptor-check-dimensions`."""
    dimensions, smallest, largest = descriptor.dimensions, revision.min_dimension, revision.max_dimension
    # [1] Every dimension is valid. (`is_valid_dimension` without a function call, because every operation runs this.)
    for size in dimensions:
        if not smallest <= size <= largest:
            return f"must have dimensions from {smallest} to {largest}, got {list(dimensions)}"
    # [2] The rank is one that the implementation supports.
    if len(dimensions) > revision.max_rank:
        return f"must have at most {revision.max_rank} dimensions, got {len(dimensions)}"
    # [3; 2026-06: 3, 4] So is the byte length, and with it the number of elements.
    if descriptor.byte_length > revision.max_byte_length:
        # One that only watches has no name.
        where = (
            "" if revision.acceptance is None or not revision.acceptance.name else f' on the device profile "{revision.acceptance.name}"'
        )
        return f"must have at most {revision.max_byte_length} bytes{where}, got {descriptor} of {descriptor.byte_length} bytes"
    return ""


class Acceptance(Protocol):
    """Says which calls a device accepts. Not a step of the specification, which does not define the limits of devices.

    `webnn.context.profiles` has one for each browser backend.
    """

    @property
    def name(self) -> str:
        """The name of the device; empty for one that only watches."""

    @property
    def max_byte_length(self) -> int:
        """The largest byte length of any operand."""

    @property
    def ruled(self) -> Collection[str]:
        """The operations whose calls it refuses by more than types, ranks and the largest byte length."""

    def accept(self, call: Call, operands: Iterable[NamedOperand], outputs: Sequence[OperandDescriptor], chosen: str = "") -> None:
        """Refuse an operation that the device does not take, by raising `WebNNTypeError`.

        ``chosen`` is the argument, perhaps an operand, that determines the data type of the output; it is empty if none does.
        """

    def accept_constant_tensor(self, call: Call) -> None:
        """Refuse to make or to use a constant tensor if the device has none, by raising `NotSupportedError`."""

    def accept_operator(self, call: Call, operator: Any) -> None:
        """Refuse an operator that is not connected yet (`webnn.builder.operand.Operator`), by raising `WebNNTypeError`."""

    def accept_tensor(self, call: Call, role: Role, argument: str, descriptor: OperandDescriptor, label: str = "") -> None:
        """Refuse an input, a constant or an output of a graph, or a tensor, that the device does not take, by raising `WebNNTypeError`.

        An error calls it ``argument``; ``label`` is the name of an input, or empty.
        """

    def limits(self) -> dict[str, Any]:
        """Return what ``MLContext.opSupportLimits`` returns, a new dictionary each time."""
