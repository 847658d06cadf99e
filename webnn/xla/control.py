"""Operations that run computations or group values."""

from __future__ import annotations

from collections.abc import Sequence

from webnn.xla.base import BuilderBase
from webnn.xla.call import ComputationDataHandle, XlaCall
from webnn.xla.computation import Computation
from webnn.xla.shapes import AnyShape, PrimitiveType, Shape, TupleShape, count, flatten

__all__ = ["ControlOperations"]


class ControlOperations(BuilderBase):
    """Operations that run computations or group values."""

    __slots__ = ()

    def Call(self, computation: Computation, *args: ComputationDataHandle) -> ComputationDataHandle:
        """Run a computation with arguments.

        Args:
            computation: A computation.
            args: A value for each of its parameters.
        """
        call = XlaCall(self._state, "Call")
        handles = [call.handle(f"args[{position}]", each) for position, each in enumerate(args)]
        called = call.computation("computation", computation, [each.shape for each in handles], None)
        return call.give_values(called.result_shape, call.inline(called, [value for each in handles for value in each._values]))

    def Map(
        self,
        operands: Sequence[ComputationDataHandle],
        computation: Computation,
        dimensions: Sequence[int] | None = None,
        static_operands: Sequence[ComputationDataHandle] = (),
    ) -> ComputationDataHandle:
        """Apply a computation to the elements of arrays, one by one.

        WebNN computes all elements at once, so each value of the computation that depends on them must be a scalar.

        Args:
            operands: At least one array; all have the same dimensions.
            computation: A computation of type ``T_0, ..., U_0, ... -> S``: of a scalar from each operand, and of the static operands.
            dimensions: All dimensions in their order, which is the default.
            static_operands: Values that the computation takes as they are.
        """
        call = XlaCall(self._state, "Map")
        arrays = call.arrays("operands", operands)
        for position, array in enumerate(arrays):
            if array.dimensions != arrays[0].dimensions:
                wanted = f"must have the dimensions of operands[0], {arrays[0].shape}"
                raise call.error(f"operands[{position}]", f"{wanted}, got {array.shape}")
        if not isinstance(static_operands, (tuple, list)):
            raise call.wrong_type("static_operands", "must be a sequence of ComputationDataHandles", static_operands)
        fixed = [call.handle(f"static_operands[{position}]", each) for position, each in enumerate(static_operands)]
        axes = tuple(range(arrays[0].rank))
        if dimensions is not None and call.integers("dimensions", dimensions) != axes:
            raise call.error("dimensions", f"must be all dimensions of {arrays[0].shape} in their order, got {list(dimensions)}")
        parameters: list[AnyShape] = [Shape(array.element_type) for array in arrays]
        mapped = call.computation("computation", computation, [*parameters, *(each.shape for each in fixed)], None)
        if not isinstance(mapped.result_shape, Shape) or mapped.result_shape.rank:
            raise call.error("computation", f"must return a scalar, got {mapped}")
        if not arrays[0].rank:
            values = call.inline(mapped, [*(array.value for array in arrays), *(value for each in fixed for value in each._values)])
            return call.give_values(mapped.result_shape, values)
        shape = arrays[0].shape.of(mapped.result_shape.element_type)
        region = call.region(mapped, [value for each in fixed for value in each._values])
        return call.give(call.one("map", arrays, shape, {"dimensions": axes}, [region]))

    def While(self, condition: Computation, body: Computation, init: ComputationDataHandle) -> ComputationDataHandle:
        """Run a computation again and again while another one is true.

        WebNN has no loops: the iterations are unrolled, so their number must follow from constants.

        Args:
            condition: A computation of type ``T -> PRED``.
            body: A computation of type ``T -> T``.
            init: A value of T, with which the loop begins.
        """
        call = XlaCall(self._state, "While")
        first = call.handle("init", init)
        shape = first.shape
        test = call.computation("condition", condition, [shape], Shape(PrimitiveType.PRED))
        step = call.computation("body", body, [shape], shape)
        values = call.loop(first._values, list(flatten(shape)), call.region(test), call.region(step))
        return call.give_values(shape, values)

    def Tuple(self, *elements: ComputationDataHandle) -> ComputationDataHandle:
        """Group values.

        Args:
            elements: The values.
        """
        call = XlaCall(self._state, "Tuple")
        handles = [call.handle(f"elements[{position}]", each) for position, each in enumerate(elements)]
        return call.give_values(TupleShape(tuple([each.shape for each in handles])), [value for each in handles for value in each._values])

    def GetTupleElement(self, tuple_data: ComputationDataHandle, index: int) -> ComputationDataHandle:
        """Return an element of a tuple.

        Args:
            tuple_data: A tuple.
            index: The position of the element, from 0.
        """
        call = XlaCall(self._state, "GetTupleElement")
        handle = call.handle("tuple_data", tuple_data)
        if not isinstance(handle.shape, TupleShape):
            raise call.error("tuple_data", f"must be a tuple, got {handle.shape}")
        shapes = handle.shape.shapes
        position = call.integer("index", index, 0, len(shapes), f"the position of an element of {handle.shape}")
        before = sum(map(count, shapes[:position]))
        return call.give_values(shapes[position], handle._values[before : before + count(shapes[position])])
