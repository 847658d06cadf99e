"""`State`, the parts that a builder has so far, and `XlaCall`, which checks the arguments of one call and appends operations to them."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from webnn.hlo.ir import Location, RegionBuilder
from webnn.validation import webidl
from webnn.xla.computation import Computation
from webnn.xla.errors import XlaError, XlaTypeError
from webnn.xla.shapes import PrimitiveType, Shape, TupleShape, flatten, integers

if TYPE_CHECKING:
    from webnn.hlo.attributes import Attribute
    from webnn.hlo.ir import Region, Value
    from webnn.xla.shapes import AnyShape

__all__ = ["Array", "ComputationDataHandle", "State", "XlaCall"]

#: The most operations of a computation, those of the computations that it uses counted each time. The import goes through no more.
_MOST_OPERATIONS = 200_000
#: The deepest nesting of computations that operations run.
_DEEPEST = 60


class ComputationDataHandle:
    """A value of a computation that is being built: an array, or a tuple. The methods of `ComputationBuilder` make it.

    Attributes:
        shape: Its shape.
    """

    __slots__ = ("_label", "_state", "_values", "shape")

    def __init__(self, state: State, shape: AnyShape, values: Sequence[Value], label: str) -> None:
        self.shape = shape
        self._state = state
        #: The arrays: several for a tuple.
        self._values = tuple(values)
        self._label = label

    def __repr__(self) -> str:
        return f"<ComputationDataHandle {self._label}: {self.shape}>"


@dataclass(frozen=True, slots=True)
class Array:
    """An array of the computation that is being built."""

    value: Value
    shape: Shape

    @property
    def element_type(self) -> PrimitiveType:
        """The type of the elements."""
        return self.shape.element_type

    @property
    def dimensions(self) -> tuple[int, ...]:
        """The sizes."""
        return self.shape.dimensions

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return self.shape.rank


class State:
    """The parts that a builder has so far.

    Attributes:
        name: The name of the computation.
        body: The operations.
        parameters: Name, shape and arrays of the parameters, by their numbers.
        handles: The number of handles so far.
        last: The last handle.
        built: Whether the computation is built.
        size: The number of operations, those inside of others too.
        depth: How deep computations are nested in operations.
    """

    __slots__ = ("body", "built", "depth", "handles", "last", "name", "parameters", "size")

    def __init__(self, name: str) -> None:
        self.name = name
        self.body = RegionBuilder()
        self.parameters: dict[int, tuple[str, AnyShape, tuple[Value, ...]]] = {}
        self.handles = 0
        self.last: ComputationDataHandle | None = None
        self.built = False
        self.size = 0
        self.depth = 0

    def __str__(self) -> str:
        return webidl.describe(self.name) if self.name else "which has no name"

    def spend(self, count: int, call: XlaCall) -> None:
        """Count operations that a call appends."""
        if self.size + count > _MOST_OPERATIONS:
            raise call.error(
                "", f"a computation must have at most {_MOST_OPERATIONS} operations, those of computations that it uses counted each time"
            )
        self.size += count

    def nest(self, depth: int, call: XlaCall) -> None:
        """Note how deep a call nests computations."""
        if depth > _DEEPEST:
            raise call.error("", f"computations must not be nested deeper than {_DEEPEST} levels")
        self.depth = max(self.depth, depth)


class XlaCall:
    """One call of a method of the builder.

    Raises:
        XlaError: The builder has built its computation.
    """

    __slots__ = ("_label", "_state", "operation")

    def __init__(self, state: State, operation: str) -> None:
        self._state = state
        self.operation = operation
        if state.built:
            raise self.error("", f"needs a builder that has not built its computation, got {state}, after Build()")
        self._label = f"{operation}.{state.handles}"

    # Errors.

    def error(self, argument: str, message: str) -> XlaError:
        """Return an error about the value of an argument."""
        return XlaError(message, self.operation, argument)

    def wrong_type(self, argument: str, message: str, given: object) -> XlaTypeError:
        """Return an error about an object of another kind."""
        return XlaTypeError(f"{message}, got {webidl.describe(given)}", self.operation, argument)

    # Arguments.

    def handle(self, argument: str, given: object) -> ComputationDataHandle:
        """Return an argument that must be a value of this builder."""
        if not isinstance(given, ComputationDataHandle):
            advice = "" if isinstance(given, Computation) else " (ConstantLiteral makes one of a number or an array)"
            raise self.wrong_type(argument, f"must be a ComputationDataHandle{advice}", given)
        if given._state is not self._state:
            raise self.error(argument, f"must be a value of this builder, {self._state}, got {given._label} of {given._state}")
        return given

    def array(self, argument: str, given: object) -> Array:
        """Return an argument that must be an array."""
        handle = self.handle(argument, given)
        if isinstance(handle.shape, TupleShape):
            raise self.error(argument, f"must be an array, got {handle.shape}")
        return Array(handle._values[0], handle.shape)

    def arrays(self, argument: str, given: object) -> list[Array]:
        """Return an argument that must be a sequence of at least one array."""
        if not isinstance(given, (tuple, list)):
            raise self.wrong_type(argument, "must be a sequence of ComputationDataHandles", given)
        if not given:
            raise self.error(argument, "must have at least one array, got none")
        return [self.array(f"{argument}[{position}]", each) for position, each in enumerate(given)]

    def scalar(self, argument: str, given: object, element_type: PrimitiveType) -> Array:
        """Return an argument that must be a scalar of an element type."""
        array = self.array(argument, given)
        if array.shape != Shape(element_type):
            raise self.error(argument, f"must be a scalar of {element_type.value}, got {array.shape}")
        return array

    def integers(self, argument: str, given: object, length: int | None = None, *, least: int | None = None) -> tuple[int, ...]:
        """Return an argument that must be a sequence of integers, of some length and not less than ``least``."""
        found = integers(given, self.operation, argument)
        if length is not None and len(found) != length:
            raise self.error(argument, f"must have {length} elements, one for each dimension, got {list(found)}")
        if least is not None and any(each < least for each in found):
            raise self.error(argument, f"must be {least} or greater in each dimension, got {list(found)}")
        return found

    def integer(self, argument: str, given: object, least: int, limit: int, what: str) -> int:
        """Return an argument that must be an integer in a range, without its limit; ``what`` is the name of the range."""
        try:
            if isinstance(given, bool):
                raise TypeError
            number = operator.index(given)  # type: ignore[arg-type]
        except TypeError:
            raise self.wrong_type(argument, "must be an integer", given) from None
        if not least <= number < limit:
            raise self.error(argument, f"must be {what}, from {least} to {limit - 1}, got {webidl.describe(number)}")
        return number

    def axes(self, argument: str, given: object, array: Array) -> tuple[int, ...]:
        """Return an argument that must name different dimensions of an array."""
        found = self.integers(argument, given)
        if any(not 0 <= each < array.rank for each in found) or len({*found}) < len(found):
            raise self.error(argument, f"must name different dimensions of {array.shape}, got {list(found)}")
        return found

    def same_type(self, one: str, first: Array, other: str, second: Array) -> None:
        """Check that two arrays have one element type."""
        if first.element_type is not second.element_type:
            raise self.error(f"{one} and {other}", f"must have the same element type, got {first.shape} and {second.shape}")

    def number(self, argument: str, array: Array) -> None:
        """Check that an array has numbers."""
        if array.element_type.is_pred:
            raise self.error(argument, f"must have numbers as elements, got {array.shape}")

    def floating(self, argument: str, array: Array) -> None:
        """Check that an array has floating-point numbers."""
        if not array.element_type.is_float:
            raise self.error(argument, f"must have floating-point numbers as elements, got {array.shape}")

    def pred(self, argument: str, array: Array) -> None:
        """Check that an array has elements of PRED."""
        if not array.element_type.is_pred:
            raise self.error(argument, f"must have elements of pred, got {array.shape}")

    def computation(self, argument: str, given: object, parameters: Sequence[AnyShape], result: AnyShape | None) -> Computation:
        """Return an argument that must be a computation of some type; None is any shape of the result."""
        if not isinstance(given, Computation):
            raise self.wrong_type(argument, "must be a Computation, which Build() returns", given)
        if given.parameter_shapes != tuple(parameters) or (result is not None and given.result_shape != result):
            wanted = f"({', '.join(map(str, parameters))}) -> {'any shape' if result is None else result}"
            raise self.error(argument, f"must be a computation of type {wanted}, got {given}")
        return given

    # Operations.

    def append(
        self,
        name: str,
        operands: Sequence[Array],
        shapes: Sequence[Shape],
        attributes: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
    ) -> list[Array]:
        """Append an operation of StableHLO, and return its results."""
        self._state.spend(1, self)
        location = Location(name=f"{self._state.name}/{self._label}" if self._state.name else self._label)
        types = [shape.type for shape in shapes]
        values = self._state.body.append(f"stablehlo.{name}", [operand.value for operand in operands], types, attributes, regions, location)
        return [Array(value, shape) for value, shape in zip(values, shapes, strict=True)]

    def one(
        self,
        name: str,
        operands: Sequence[Array],
        shape: Shape,
        attributes: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
    ) -> Array:
        """Append an operation with one result."""
        return self.append(name, operands, [shape], attributes, regions)[0]

    def inline(self, computation: Computation, values: Sequence[Value]) -> tuple[Value, ...]:
        """Append the operations of a computation, and return the arrays of its result."""
        self._state.spend(computation._size, self)
        self._state.nest(computation._depth, self)
        return computation._copy(self._state.body, values)

    def region(self, computation: Computation, captured: Iterable[Value] = ()) -> Region:
        """Return the program of a computation as a region; its last parameters are captured arrays, not arguments."""
        self._state.spend(computation._size, self)
        self._state.nest(computation._depth + 1, self)
        outside = tuple(captured)
        types = [shape.type for each in computation.parameter_shapes for shape in flatten(each)]
        body = RegionBuilder(types[: len(types) - len(outside)])
        body.append("stablehlo.return", computation._copy(body, (*body.arguments, *outside)))
        return body.build()

    def comparison(self, direction: str, element_type: PrimitiveType) -> Region:
        """Return a region that compares two scalars: ``"LT"``, for example."""
        self._state.spend(1, self)
        body = RegionBuilder([Shape(element_type).type] * 2)
        result = Shape(PrimitiveType.PRED).type
        body.append("stablehlo.return", body.append("stablehlo.compare", body.arguments, [result], {"comparison_direction": direction}))
        return body.build()

    def loop(self, values: Sequence[Value], shapes: Sequence[Shape], condition: Region, body: Region) -> list[Value]:
        """Append a loop over arrays, and return their last values."""
        arrays = [Array(value, shape) for value, shape in zip(values, shapes, strict=True)]
        return [array.value for array in self.append("while", arrays, shapes, None, [condition, body])]

    def give(self, *arrays: Array) -> ComputationDataHandle:
        """Return the result of the call: an array, or several as a tuple."""
        shapes = [array.shape for array in arrays]
        return self.give_values(shapes[0] if len(shapes) == 1 else TupleShape(tuple(shapes)), [array.value for array in arrays])

    def give_values(self, shape: AnyShape, values: Sequence[Any]) -> ComputationDataHandle:
        """Return the result of the call, of any shape."""
        handle = ComputationDataHandle(self._state, shape, values, self._label)
        self._state.handles += 1
        self._state.last = handle
        return handle
