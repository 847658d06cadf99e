"""`BuilderBase`: the base of the families of operations."""

from __future__ import annotations

from webnn.hlo.ir import Region, Value
from webnn.validation import webidl
from webnn.xla.call import ComputationDataHandle, State, XlaCall
from webnn.xla.computation import Computation
from webnn.xla.errors import XlaTypeError
from webnn.xla.literals import take_literal
from webnn.xla.shapes import AnyShape, Shape, TupleShape, flatten

__all__ = ["BuilderBase"]


class BuilderBase:
    """The state of a builder: parameters, constants, and the computation that it builds.

    Args:
        name: The name of the computation; it may be empty.
    """

    __slots__ = ("_state",)

    def __init__(self, name: str = "") -> None:
        if not isinstance(name, str):
            raise XlaTypeError(f"must be a string, got {webidl.describe(name)}", "ComputationBuilder", "name")
        self._state = State(name)

    def __repr__(self) -> str:
        built = ", built" if self._state.built else ""
        return f"<{type(self).__name__}{f' {self._state.name!r}' if self._state.name else ''}: {self._state.size} operations{built}>"

    def Parameter(self, parameter_number: int, shape: AnyShape, name: str = "") -> ComputationDataHandle:
        """Make a parameter of the computation.

        Args:
            parameter_number: Its position among the parameters, from 0. When the computation is built, there must be one for each number.
            shape: Its shape, for example ``MakeShape(F32, [2, 3])``.
            name: Its name; without one ``"parameter0"``, or so.

        Raises:
            XlaError: There is such a parameter.
            XlaTypeError: An argument is an object of another kind.
        """
        call = XlaCall(self._state, "Parameter")
        number = call.integer("parameter_number", parameter_number, 0, 1 << 31, "a position")
        if not isinstance(shape, (Shape, TupleShape)):
            raise call.wrong_type("shape", "must be a Shape or a TupleShape, which MakeShape makes", shape)
        if not isinstance(name, str):
            raise call.wrong_type("name", "must be a string", name)
        if number in self._state.parameters:
            raise call.error("parameter_number", f"must be that of no other parameter, got {number} twice")
        values = tuple([Value(each.type) for each in flatten(shape)])
        self._state.parameters[number] = (name or f"parameter{number}", shape, values)
        return call.give_values(shape, values)

    def ConstantLiteral(self, literal: object) -> ComputationDataHandle:
        """Make a constant.

        Args:
            literal: An array or a scalar of NumPy, whose data type counts; or Python numbers in lists of equal lengths: integers of S32,
                floating-point numbers of F32, or PRED.

        Raises:
            XlaError: A number is out of range.
            XlaTypeError: It is not such an array, or there is no element type for it.
        """
        call = XlaCall(self._state, "ConstantLiteral")
        array, shape = take_literal(literal, "ConstantLiteral", "literal")
        return call.give(call.one("constant", [], shape, {"value": array}))

    def Build(self, root: ComputationDataHandle | None = None) -> Computation:
        """Build the computation; then the builder is of no more use.

        Args:
            root: The result; by default that of the last call.

        Raises:
            XlaError: There is no result, or parameters are missing.
            XlaTypeError: The root is not a value.
        """
        call, state = XlaCall(self._state, "Build"), self._state
        if root is None and state.last is None:
            raise call.error("", "needs a builder with at least one operation or parameter, got none")
        handle = call.handle("root", state.last if root is None else root)
        numbers = sorted(state.parameters)
        if numbers != list(range(len(numbers))):
            raise call.error("", f"needs parameters with the numbers from 0 to {len(numbers) - 1}, got {numbers}")
        parameters = [state.parameters[number] for number in numbers]
        state.body.append("func.return", handle._values)
        body = Region(arguments=tuple([value for _, _, values in parameters for value in values]), operations=state.body.build().operations)
        state.built = True
        named = [(name, shape) for name, shape, _ in parameters]
        return Computation(state.name, named, handle.shape, body, state.size, state.depth)
