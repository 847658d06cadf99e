"""The operators of a call, and kernels that compute some of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from webnn.builder.onnx_names import scope
from webnn.builder.operand import MLOperand, Operator
from webnn.validation.descriptor import Shape
from webnn.validation.numbers import cast

if TYPE_CHECKING:
    from webnn.builder.graph import ComputationalGraph, SubgraphCall
    from webnn.builder.onnx.emitter import Emitter

__all__ = ["Body", "Kernel", "OtherBodyError", "Users", "is_known", "orders", "require", "same", "shape_of"]


class OtherBodyError(Exception):
    """A subgraph does not compute what a kernel does; the text says why."""


def require(holds: object, what: str) -> None:
    """Raise `OtherBodyError` with a text unless a condition holds."""
    if not holds:
        raise OtherBodyError(what)


class Users:
    """Which operators of a graph take the results of others."""

    def __init__(self, graph: ComputationalGraph) -> None:
        self._users: defaultdict[tuple[int, int], list[Operator | None]] = defaultdict(list)
        for operator in graph.operators:
            for each in (*operator.inputs, *(member for _, member in operator.members)):
                self._add(each, operator)
        for each in graph.outputs.values():
            self._add(each, None)

    def _add(self, operand: MLOperand, user: Operator | None) -> None:
        if operand._operator is not None:
            self._users[operand._operator.index, operand._position].append(user)

    def of(self, operator: Operator, position: int = 0) -> Sequence[Operator | None]:
        """Return the operators that take a result of an operator, each as often as it does; ``None`` if the result is an output."""
        return self._users[operator.index, position]

    def only(self, operator: Operator) -> Operator | None:
        """Return the operator that takes the first result of an operator, if no other one does, and the result is not an output."""
        users = self.of(operator)
        return users[0] if len(users) == 1 else None


class Body:
    """The operators of a call."""

    def __init__(self, operators: Sequence[Operator], users: Users, call: SubgraphCall) -> None:
        self._operators = {operator.index: operator for operator in operators}
        self.call = call
        self.users = users

    def __contains__(self, operator: Operator) -> bool:
        return operator.index in self._operators

    def all(self, operation: str) -> list[Operator]:
        """Return the operators of an operation."""
        return [each for each in self._operators.values() if each.operation.name == operation]

    def single(self, operation: str) -> Operator:
        """Return the only operator of an operation."""
        found = self.all(operation)
        require(len(found) == 1, f"it must have one {operation}, but has {len(found)}")
        return found[0]

    def shared(self, operand: MLOperand, *operations: str) -> Operator | None:
        """Return the operator of the call that makes an operand, if it is of one of these operations."""
        operator = operand._operator
        if operator is None or operator.index not in self._operators or operator.operation.name not in operations:
            return None
        return operator

    def maker(self, operand: MLOperand, *operations: str) -> Operator | None:
        """Return the same, if nothing else takes the operator's result."""
        operator = self.shared(operand, *operations)
        return operator if operator is not None and self.users.only(operator) is not None else None

    def user(self, operator: Operator, *operations: str) -> Operator | None:
        """Return the only operator that takes the result of an operator, if it is one of the call, and of one of these operations."""
        user = self.users.only(operator)
        return user if user is not None and user.index in self._operators and user.operation.name in operations else None

    def result(self, name: str) -> Operator | None:
        """Return the operator that makes a result of the call, if something needs it."""
        index, _ = self.call.results.get(name, (-1, 0))
        return self._operators.get(index)

    def allows(self, results: Sequence[Operator], inner: Sequence[Operator]) -> bool:
        """Tell whether a kernel in place of the first of some results can make them all: other operators that take them come behind."""
        inside = {each.index for each in (*results, *inner)}
        users = [user for each in results[1:] for user in self.users.of(each)]
        return all(user is None or user.index in inside or user.index > results[0].index for user in users)

    def number(self, operand: MLOperand, option: str) -> float | None:
        """Return the number that a constant of one element holds.

        The config has the number before it was rounded to the constant's type, if it has one that becomes this one.
        """
        if operand._value is None or operand._value.size != 1:
            return None
        rounded = float(operand._value.item())
        given: Any = self.call.config.get(option)
        if type(given) in (int, float) and cast(given, operand.descriptor.dataType) == rounded:
            return float(given)
        return rounded


def same(one: MLOperand, other: MLOperand) -> bool:
    """Tell whether two operands are one value."""
    if one._operator is None or other._operator is None:
        return one is other
    return (one._operator.index, one._position) == (other._operator.index, other._position)


def is_known(operator: Operator) -> bool:
    """Tell whether the sizes around an operator are numbers, or recorded sizes, which answer questions as numbers do."""
    shapes: list[Any] = [each.dimensions for each in (*operator.outputs, *(operand.descriptor for operand in operator.inputs))]
    return all(shape is not None and not any(isinstance(size, str) for size in shape) for shape in shapes)


def shape_of(operand: MLOperand) -> Shape:
    """Return the shape of an operand."""
    return operand.descriptor.dimensions


def orders(operator: Operator) -> Iterator[tuple[MLOperand, MLOperand]]:
    """Yield the two operands of an operator whose order does not matter, in both orders."""
    one, other = operator.inputs
    yield one, other
    yield other, one


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """A kernel that computes some operators: a `webnn.builder.onnx.together.Together`.

    Attributes:
        kernel: The engine's operator.
        results: The operators whose results it computes. The nodes are emitted in place of the first one.
        inner: The operators that it computes, too, whose results nothing else takes.
        operands: The operands, which are made before the first result.
        make: Emits the nodes, for operands and with results of float32.
    """

    kernel: str
    results: tuple[Operator, ...]
    inner: tuple[Operator, ...]
    operands: tuple[MLOperand, ...]
    make: Callable[[Emitter, Sequence[str]], Sequence[str]]

    @property
    def members(self) -> tuple[int, ...]:
        """The numbers of the operators."""
        return tuple([each.index for each in (*self.results, *self.inner)])

    def emit(self, e: Emitter, inputs: Sequence[str]) -> dict[int, Sequence[str]]:
        """Emit the nodes; return the values of the results, by the operators' numbers."""
        first = self.results[0]
        e.scope(scope(first.operation.name, first.index))
        dataType = first.outputs[0].dataType
        isCast = dataType != "float32"
        made = self.make(e, [e.cast(each, "float32") for each in inputs] if isCast else inputs)
        pairs = zip(self.results, made, strict=True)
        return {operator.index: (e.cast(value, dataType) if isCast else value,) for operator, value in pairs}
