"""Operations that compute each element by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from webnn.xla.base import BuilderBase
from webnn.xla.call import Array, ComputationDataHandle, XlaCall
from webnn.xla.shapes import PrimitiveType, Shape, TupleShape, flatten

__all__ = ["ElementwiseOperations"]

#: The elements that an operation takes.
Kind: TypeAlias = Literal["any", "floating", "number", "pred"]


class ElementwiseOperations(BuilderBase):
    """Arithmetic, comparisons, functions of one operand, and choices.

    Operations of two operands take arrays of the same element type. In each dimension their sizes must be equal, or one of them 1.
    Arrays of different ranks need ``broadcast_dimensions``, unless one is a scalar: for each dimension of the array of lower rank the
    one of the other array that it is broadcast with, in increasing order.
    """

    __slots__ = ()

    # Two operands.

    def Add(
        self, lhs: ComputationDataHandle, rhs: ComputationDataHandle, broadcast_dimensions: Sequence[int] | None = None
    ) -> ComputationDataHandle:
        """Add numbers."""
        return self._binary("Add", "add", lhs, rhs, broadcast_dimensions, "number")

    def Sub(
        self, lhs: ComputationDataHandle, rhs: ComputationDataHandle, broadcast_dimensions: Sequence[int] | None = None
    ) -> ComputationDataHandle:
        """Subtract numbers."""
        return self._binary("Sub", "subtract", lhs, rhs, broadcast_dimensions, "number")

    def Mul(
        self, lhs: ComputationDataHandle, rhs: ComputationDataHandle, broadcast_dimensions: Sequence[int] | None = None
    ) -> ComputationDataHandle:
        """Multiply numbers."""
        return self._binary("Mul", "multiply", lhs, rhs, broadcast_dimensions, "number")

    def Div(
        self, lhs: ComputationDataHandle, rhs: ComputationDataHandle, broadcast_dimensions: Sequence[int] | None = None
    ) -> ComputationDataHandle:
        """Divide numbers; quotients of integers are rounded towards zero."""
        return self._binary("Div", "divide", lhs, rhs, broadcast_dimensions, "number")

    def Rem(
        self, lhs: ComputationDataHandle, rhs: ComputationDataHandle, broadcast_dimensions: Sequence[int] | None = None
    ) -> ComputationDataHandle:
        """Return the remainder of a division, which has the sign of the dividend."""
        return self._binary("Rem", "remainder", lhs, rhs, broadcast_dimensions, "number")

    def Max(
        self, lhs: ComputationDataHandle, rhs: ComputationDataHandle, broadcast_dimensions: Sequence[int] | None = None
    ) -> ComputationDataHandle:
        """Return the greater one of two elements."""
        return self._binary("Max", "maximum", lhs, rhs, broadcast_dimensions, "any")

    def Min(
        self, lhs: ComputationDataHandle, rhs: ComputationDataHandle, broadcast_dimensions: Sequence[int] | None = None
    ) -> ComputationDataHandle:
        """Return the smaller one of two elements."""
        return self._binary("Min", "minimum", lhs, rhs, broadcast_dimensions, "any")

    def LogicalAnd(
        self, lhs: ComputationDataHandle, rhs: ComputationDataHandle, broadcast_dimensions: Sequence[int] | None = None
    ) -> ComputationDataHandle:
        """Tell where both elements of PRED are true."""
        return self._binary("LogicalAnd", "and", lhs, rhs, broadcast_dimensions, "pred")

    def LogicalOr(
        self, lhs: ComputationDataHandle, rhs: ComputationDataHandle, broadcast_dimensions: Sequence[int] | None = None
    ) -> ComputationDataHandle:
        """Tell where at least one of two elements of PRED is true."""
        return self._binary("LogicalOr", "or", lhs, rhs, broadcast_dimensions, "pred")

    # Comparisons.

    def Eq(
        self, lhs: ComputationDataHandle, rhs: ComputationDataHandle, broadcast_dimensions: Sequence[int] | None = None
    ) -> ComputationDataHandle:
        """Tell where elements are equal, as PRED."""
        return self._compare("Eq", lhs, rhs, broadcast_dimensions)

    def Ne(
        self, lhs: ComputationDataHandle, rhs: ComputationDataHandle, broadcast_dimensions: Sequence[int] | None = None
    ) -> ComputationDataHandle:
        """Tell where elements are not equal, as PRED."""
        return self._compare("Ne", lhs, rhs, broadcast_dimensions)

    def Ge(
        self, lhs: ComputationDataHandle, rhs: ComputationDataHandle, broadcast_dimensions: Sequence[int] | None = None
    ) -> ComputationDataHandle:
        """Tell where elements of ``lhs`` are greater or equal, as PRED."""
        return self._compare("Ge", lhs, rhs, broadcast_dimensions)

    def Gt(
        self, lhs: ComputationDataHandle, rhs: ComputationDataHandle, broadcast_dimensions: Sequence[int] | None = None
    ) -> ComputationDataHandle:
        """Tell where elements of ``lhs`` are greater, as PRED."""
        return self._compare("Gt", lhs, rhs, broadcast_dimensions)

    def Le(
        self, lhs: ComputationDataHandle, rhs: ComputationDataHandle, broadcast_dimensions: Sequence[int] | None = None
    ) -> ComputationDataHandle:
        """Tell where elements of ``lhs`` are less or equal, as PRED."""
        return self._compare("Le", lhs, rhs, broadcast_dimensions)

    def Lt(
        self, lhs: ComputationDataHandle, rhs: ComputationDataHandle, broadcast_dimensions: Sequence[int] | None = None
    ) -> ComputationDataHandle:
        """Tell where elements of ``lhs`` are less, as PRED."""
        return self._compare("Lt", lhs, rhs, broadcast_dimensions)

    # One operand.

    def Abs(self, operand: ComputationDataHandle) -> ComputationDataHandle:
        """Return the absolute values of numbers."""
        call = XlaCall(self._state, "Abs")
        array = call.array("operand", operand)
        call.number("operand", array)
        return call.give(array if array.element_type.is_unsigned else call.one("abs", [array], array.shape))

    def Ceil(self, operand: ComputationDataHandle) -> ComputationDataHandle:
        """Round floating-point numbers up to integers."""
        return self._unary("Ceil", "ceil", operand, "floating")

    def Cos(self, operand: ComputationDataHandle) -> ComputationDataHandle:
        """Return the cosine of floating-point numbers."""
        return self._unary("Cos", "cosine", operand, "floating")

    def Exp(self, operand: ComputationDataHandle) -> ComputationDataHandle:
        """Return e to the power of floating-point numbers."""
        return self._unary("Exp", "exponential", operand, "floating")

    def Floor(self, operand: ComputationDataHandle) -> ComputationDataHandle:
        """Round floating-point numbers down to integers."""
        return self._unary("Floor", "floor", operand, "floating")

    def IsFinite(self, operand: ComputationDataHandle) -> ComputationDataHandle:
        """Tell where floating-point numbers are neither infinite nor NaN, as PRED."""
        call = XlaCall(self._state, "IsFinite")
        array = call.array("operand", operand)
        call.floating("operand", array)
        return call.give(call.one("is_finite", [array], array.shape.of(PrimitiveType.PRED)))

    def Log(self, operand: ComputationDataHandle) -> ComputationDataHandle:
        """Return the natural logarithm of floating-point numbers."""
        return self._unary("Log", "log", operand, "floating")

    def LogicalNot(self, operand: ComputationDataHandle) -> ComputationDataHandle:
        """Tell where elements of PRED are false."""
        return self._unary("LogicalNot", "not", operand, "pred")

    def Neg(self, operand: ComputationDataHandle) -> ComputationDataHandle:
        """Negate numbers."""
        return self._unary("Neg", "negate", operand, "number")

    def Sign(self, operand: ComputationDataHandle) -> ComputationDataHandle:
        """Return -1 for negative numbers, 1 for positive ones, and 0 for zero."""
        call = XlaCall(self._state, "Sign")
        array = call.array("operand", operand)
        call.number("operand", array)
        if not array.element_type.is_unsigned:
            return call.give(call.one("sign", [array], array.shape))
        one = call.one("constant", [], Shape(array.element_type), {"value": np.ones((), array.element_type.dtype)})
        return call.give(call.one("minimum", [array, _place(call, one, (), array.dimensions)], array.shape))

    def Tanh(self, operand: ComputationDataHandle) -> ComputationDataHandle:
        """Return the hyperbolic tangent of floating-point numbers."""
        return self._unary("Tanh", "tanh", operand, "floating")

    def ConvertElementType(self, operand: ComputationDataHandle, new_element_type: PrimitiveType) -> ComputationDataHandle:
        """Convert elements to another type, as a static cast in C++ does; PRED becomes 0 and 1, and numbers are true if they are not 0.

        Args:
            operand: An array.
            new_element_type: The type.
        """
        call = XlaCall(self._state, "ConvertElementType")
        array = call.array("operand", operand)
        if not isinstance(new_element_type, PrimitiveType):
            raise call.wrong_type("new_element_type", "must be a PrimitiveType, for example F32", new_element_type)
        return call.give(call.one("convert", [array], array.shape.of(new_element_type)))

    def ReducePrecision(self, operand: ComputationDataHandle, mantissa_bits: int, exponent_bits: int) -> ComputationDataHandle:
        """Round floating-point numbers to a format with fewer bits; those that are too large for it become infinite.

        Args:
            operand: An array.
            mantissa_bits: The number of bits of the mantissa, 0 or greater.
            exponent_bits: The number of bits of the exponent, 1 or greater.
        """
        call = XlaCall(self._state, "ReducePrecision")
        array = call.array("operand", operand)
        call.floating("operand", array)
        mantissa = call.integer("mantissa_bits", mantissa_bits, 0, 1 << 31, "a number of bits")
        exponent = call.integer("exponent_bits", exponent_bits, 1, 1 << 31, "a number of bits")
        return call.give(call.one("reduce_precision", [array], array.shape, {"exponent_bits": exponent, "mantissa_bits": mantissa}))

    # Three operands.

    def Clamp(self, operand: ComputationDataHandle, min: ComputationDataHandle, max: ComputationDataHandle) -> ComputationDataHandle:
        """Return ``min(max(operand, min), max)``.

        Args:
            operand: An array of numbers.
            min: The lower bound: an array of the same shape, or a scalar.
            max: The upper bound, likewise.
        """
        call = XlaCall(self._state, "Clamp")
        array, low, high = call.array("operand", operand), call.array("min", min), call.array("max", max)
        call.number("operand", array)
        for name, bound in (("min", low), ("max", high)):
            if bound.shape not in (array.shape, array.shape.sized(())):
                raise call.error(name, f"must have the shape of operand, {array.shape}, or be a scalar of its type, got {bound.shape}")
        return call.give(call.one("clamp", [low, array, high], array.shape))

    def Select(self, pred: ComputationDataHandle, on_true: ComputationDataHandle, on_false: ComputationDataHandle) -> ComputationDataHandle:
        """Choose between the elements of two arrays, or between two tuples.

        Args:
            pred: An array of PRED with the dimensions of the others, or a scalar; for tuples a scalar.
            on_true: The value where ``pred`` is true.
            on_false: The value where it is false: of the same shape.
        """
        call = XlaCall(self._state, "Select")
        condition = call.array("pred", pred)
        call.pred("pred", condition)
        one, other = call.handle("on_true", on_true), call.handle("on_false", on_false)
        if one.shape != other.shape:
            raise call.error("on_true and on_false", f"must have the same shape, got {one.shape} and {other.shape}")
        shape = one.shape
        if condition.rank and (isinstance(shape, TupleShape) or condition.dimensions != shape.dimensions):
            wanted = "a scalar" if isinstance(shape, TupleShape) else f"a scalar, or {shape.of(PrimitiveType.PRED)}"
            raise call.error("pred", f"must be {wanted}, got {condition.shape}")
        chosen = [
            call.one("select", [condition, Array(left, leaf), Array(right, leaf)], leaf)
            for leaf, left, right in zip(flatten(shape), one._values, other._values, strict=True)
        ]
        return call.give_values(shape, [array.value for array in chosen])

    # Steps.

    def _unary(self, operation: str, name: str, operand: ComputationDataHandle, kind: Kind) -> ComputationDataHandle:
        call = XlaCall(self._state, operation)
        array = call.array("operand", operand)
        _check(call, "operand", array, kind)
        return call.give(call.one(name, [array], array.shape))

    def _binary(
        self,
        operation: str,
        name: str,
        lhs: ComputationDataHandle,
        rhs: ComputationDataHandle,
        broadcast_dimensions: Sequence[int] | None,
        kind: Kind,
    ) -> ComputationDataHandle:
        call = XlaCall(self._state, operation)
        one, other = _broadcast(call, lhs, rhs, broadcast_dimensions, kind)
        return call.give(call.one(name, [one, other], one.shape))

    def _compare(
        self, operation: str, lhs: ComputationDataHandle, rhs: ComputationDataHandle, broadcast_dimensions: Sequence[int] | None
    ) -> ComputationDataHandle:
        call = XlaCall(self._state, operation)
        one, other = _broadcast(call, lhs, rhs, broadcast_dimensions, "any")
        shape = one.shape.of(PrimitiveType.PRED)
        return call.give(call.one("compare", [one, other], shape, {"comparison_direction": operation.upper()}))


def _check(call: XlaCall, argument: str, array: Array, kind: Kind) -> None:
    """Check the element type of an operand."""
    if kind == "floating":
        call.floating(argument, array)
    elif kind == "number":
        call.number(argument, array)
    elif kind == "pred":
        call.pred(argument, array)


def _broadcast(
    call: XlaCall, lhs: ComputationDataHandle, rhs: ComputationDataHandle, broadcast_dimensions: Sequence[int] | None, kind: Kind
) -> tuple[Array, Array]:
    """Return two operands with the same dimensions."""
    one, other = call.array("lhs", lhs), call.array("rhs", rhs)
    call.same_type("lhs", one, "rhs", other)
    _check(call, "lhs", one, kind)
    low, high = (one, other) if one.rank <= other.rank else (other, one)
    places = _places(call, low, high, broadcast_dimensions)
    sizes = list(high.dimensions)
    for size, place in zip(low.dimensions, places, strict=True):
        if sizes[place] == 1:
            sizes[place] = size
        elif size not in (1, sizes[place]):
            raise call.error("lhs and rhs", f"must have equal sizes in each dimension, or one of them 1, got {one.shape} and {other.shape}")
    whole = tuple(range(high.rank))
    return tuple([_place(call, each, places if each is low else whole, sizes) for each in (one, other)])  # type: ignore[return-value]


def _places(call: XlaCall, low: Array, high: Array, broadcast_dimensions: Sequence[int] | None) -> tuple[int, ...]:
    """Return the broadcast dimensions: for each dimension of the array of lower rank one of the other array."""
    given = None if broadcast_dimensions is None else call.integers("broadcast_dimensions", broadcast_dimensions)
    if low.rank == high.rank:
        whole = tuple(range(low.rank))
        if given and given != whole:
            raise call.error("broadcast_dimensions", f"must be {list(whole)} or missing for operands of one rank, got {list(given)}")
        return whole
    if not low.rank and not given:
        return ()
    shapes = f"{low.shape} and {high.shape}"
    if given is None:
        raise call.error("broadcast_dimensions", f"must be given for operands of different ranks, {shapes}, unless one is a scalar")
    if len(given) != low.rank or any(not 0 <= each < high.rank for each in given) or list(given) != sorted({*given}):
        raise call.error(
            "broadcast_dimensions", f"must name {low.rank} dimensions of {high.shape} in increasing order for {shapes}, got {list(given)}"
        )
    return given


def _place(call: XlaCall, array: Array, places: Sequence[int], sizes: Sequence[int]) -> Array:
    """Return an array with all sizes; ``places`` names for each of its dimensions that of the result."""
    shape = array.shape.sized(sizes)
    if array.shape == shape:
        return array
    return call.one("broadcast_in_dim", [array], shape, {"broadcast_dimensions": tuple(places)})
