"""Operations that combine elements: sums of products, and computations over dimensions and windows."""

from __future__ import annotations

import enum
from collections.abc import Sequence

import numpy as np

from webnn.hlo.attributes import Attribute, ConvDimensionNumbers, DotDimensionNumbers
from webnn.xla.base import BuilderBase
from webnn.xla.call import Array, ComputationDataHandle, XlaCall
from webnn.xla.computation import Computation
from webnn.xla.shapes import PrimitiveType, Shape

__all__ = ["Padding", "WindowOperations"]


class Padding(enum.Enum):
    """How much padding there is around an array that windows move over."""

    #: As many windows as elements, divided by the stride and rounded up. The padding is the same at both ends, or 1 more at the high one.
    kSame = "SAME"
    #: No padding.
    kValid = "VALID"

    def __repr__(self) -> str:
        return f"Padding.{self.name}"


class WindowOperations(BuilderBase):
    """Operations that combine elements."""

    __slots__ = ()

    def Dot(self, lhs: ComputationDataHandle, rhs: ComputationDataHandle) -> ComputationDataHandle:
        """Multiply vectors or matrices.

        Args:
            lhs: An array of numbers, of rank 1 or 2.
            rhs: An array of the same element type, of rank 1 or 2. Its first dimension is as large as the last one of ``lhs``.
        """
        call = XlaCall(self._state, "Dot")
        one, other = call.array("lhs", lhs), call.array("rhs", rhs)
        call.same_type("lhs", one, "rhs", other)
        call.number("lhs", one)
        for name, array in (("lhs", one), ("rhs", other)):
            if array.rank not in (1, 2):
                raise call.error(name, f"must be a vector or a matrix, got {array.shape}")
        if one.dimensions[-1] != other.dimensions[0]:
            wanted = "must be such that the last dimension of lhs is as large as the first one of rhs"
            raise call.error("lhs and rhs", f"{wanted}, got {one.shape} and {other.shape}")
        numbers = DotDimensionNumbers(lhs_contracting_dimensions=(one.rank - 1,), rhs_contracting_dimensions=(0,))
        shape = one.shape.sized(one.dimensions[:-1] + other.dimensions[1:])
        return call.give(call.one("dot_general", [one, other], shape, {"dot_dimension_numbers": numbers}))

    def Conv(
        self,
        lhs: ComputationDataHandle,
        rhs: ComputationDataHandle,
        window_strides: Sequence[int],
        padding: Padding,
        lhs_dilation: Sequence[int] | None = None,
        rhs_dilation: Sequence[int] | None = None,
    ) -> ComputationDataHandle:
        """Compute a convolution as `ConvWithGeneralPadding` does, with ``Padding.kSame`` or ``Padding.kValid`` as the padding."""
        return self._convolve("Conv", lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation)

    def ConvWithGeneralPadding(
        self,
        lhs: ComputationDataHandle,
        rhs: ComputationDataHandle,
        window_strides: Sequence[int],
        padding: Sequence[tuple[int, int]],
        lhs_dilation: Sequence[int] | None = None,
        rhs_dilation: Sequence[int] | None = None,
    ) -> ComputationDataHandle:
        """Compute a convolution as neural networks use it.

        Args:
            lhs: The input, [batch, features, spatial dimensions].
            rhs: The kernel, [output features, input features, spatial dimensions], of the same element type.
            window_strides: For each spatial dimension how far the window moves.
            padding: For each spatial dimension the number of zeros before and behind the input; negative to remove elements.
            lhs_dilation: For each spatial dimension the distance of the input's elements, between which there are zeros; by default 1.
            rhs_dilation: For each spatial dimension the distance of the kernel's elements; by default 1.
        """
        return self._convolve("ConvWithGeneralPadding", lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation)

    def _convolve(
        self,
        operation: str,
        lhs: ComputationDataHandle,
        rhs: ComputationDataHandle,
        window_strides: Sequence[int],
        padding: Padding | Sequence[tuple[int, int]],
        lhs_dilation: Sequence[int] | None,
        rhs_dilation: Sequence[int] | None,
    ) -> ComputationDataHandle:
        call = XlaCall(self._state, operation)
        base, kernel = call.array("lhs", lhs), call.array("rhs", rhs)
        call.same_type("lhs", base, "rhs", kernel)
        call.number("lhs", base)
        if base.rank < 2 or kernel.rank != base.rank:
            wanted = "must have the same rank, which is 2 and the number of spatial dimensions"
            raise call.error("lhs and rhs", f"{wanted}, got {base.shape} and {kernel.shape}")
        if base.dimensions[1] != kernel.dimensions[1]:
            wanted = "must have the same number of input features in dimension 1"
            raise call.error("lhs and rhs", f"{wanted}, got {base.shape} and {kernel.shape}")
        count = base.rank - 2
        strides = call.integers("window_strides", window_strides, count, least=1)
        holes = [
            (1,) * count if given is None else call.integers(name, given, count, least=1)
            for name, given in (("lhs_dilation", lhs_dilation), ("rhs_dilation", rhs_dilation))
        ]
        area, window = (
            [(size - 1) * factor + 1 if size else 0 for size, factor in zip(array.dimensions[2:], factors, strict=True)]
            for array, factors in zip((base, kernel), holes, strict=True)
        )
        edges = _edges(call, padding, area, window, strides) if operation == "Conv" else _pairs(call, padding, count)
        sizes = (base.dimensions[0], kernel.dimensions[0], *_positions(call, area, window, strides, edges))
        places = tuple(range(2, base.rank))
        attributes: dict[str, Attribute] = {
            "window_strides": strides,
            "padding": np.array(edges, np.int64).reshape(count, 2),
            "lhs_dilation": holes[0],
            "rhs_dilation": holes[1],
            "dimension_numbers": ConvDimensionNumbers(
                input_batch_dimension=0,
                input_feature_dimension=1,
                input_spatial_dimensions=places,
                kernel_output_feature_dimension=0,
                kernel_input_feature_dimension=1,
                kernel_spatial_dimensions=places,
                output_batch_dimension=0,
                output_feature_dimension=1,
                output_spatial_dimensions=places,
            ),
            "feature_group_count": 1,
            "batch_group_count": 1,
        }
        return call.give(call.one("convolution", [base, kernel], base.shape.sized(sizes), attributes))

    def Reduce(
        self, operand: ComputationDataHandle, init_value: ComputationDataHandle, computation: Computation, dimensions: Sequence[int]
    ) -> ComputationDataHandle:
        """Combine the elements along dimensions, in any order.

        Args:
            operand: An array of some element type T.
            init_value: A scalar of T. It may be used any number of times, so it should change nothing: 0 for a sum.
            computation: A computation of type ``T, T -> T``.
            dimensions: The dimensions, which the result does not have, in any order.
        """
        call = XlaCall(self._state, "Reduce")
        array = call.array("operand", operand)
        first = call.scalar("init_value", init_value, array.element_type)
        body = _binary(call, "computation", computation, array.element_type)
        axes = tuple(sorted(call.axes("dimensions", dimensions, array)))
        shape = array.shape.sized([size for index, size in enumerate(array.dimensions) if index not in axes])
        return call.give(call.one("reduce", [array, first], shape, {"dimensions": axes}, [call.region(body)]))

    def ReduceWindow(
        self,
        operand: ComputationDataHandle,
        init_value: ComputationDataHandle,
        computation: Computation,
        window_dimensions: Sequence[int],
        window_strides: Sequence[int],
        padding: Padding,
    ) -> ComputationDataHandle:
        """Combine the elements of each window, in any order.

        Args:
            operand: An array of some element type T.
            init_value: A scalar of T, which the padding has, too. It may be used any number of times: see `Reduce`.
            computation: A computation of type ``T, T -> T``.
            window_dimensions: For each dimension the size of the window.
            window_strides: For each dimension how far the window moves.
            padding: ``Padding.kSame`` or ``Padding.kValid``.
        """
        call = XlaCall(self._state, "ReduceWindow")
        array = call.array("operand", operand)
        first = call.scalar("init_value", init_value, array.element_type)
        body = _binary(call, "computation", computation, array.element_type)
        attributes, shape = _slide(call, array, window_dimensions, window_strides, padding)
        return call.give(call.one("reduce_window", [array, first], shape, attributes, [call.region(body)]))

    def SelectAndScatter(
        self,
        operand: ComputationDataHandle,
        select: Computation,
        window_dimensions: Sequence[int],
        window_strides: Sequence[int],
        padding: Padding,
        source: ComputationDataHandle,
        init_value: ComputationDataHandle,
        scatter: Computation,
    ) -> ComputationDataHandle:
        """Select an element of each window, and combine what is at its place in the result with an element of another array.

        Args:
            operand: An array of some element type T, over which the windows move.
            select: A computation of type ``T, T -> PRED``: whether the first one of two elements is selected.
            window_dimensions: For each dimension the size of the window.
            window_strides: For each dimension how far the window moves.
            padding: ``Padding.kSame`` or ``Padding.kValid``.
            source: For each window an element of T, as an array of the shape that `ReduceWindow` returns.
            init_value: A scalar of T, which is everywhere in the result at first.
            scatter: A computation of type ``T, T -> T``: of the element of the result and that of ``source``.
        """
        call = XlaCall(self._state, "SelectAndScatter")
        array = call.array("operand", operand)
        scalar = Shape(array.element_type)
        choice = call.computation("select", select, [scalar, scalar], Shape(PrimitiveType.PRED))
        attributes, shape = _slide(call, array, window_dimensions, window_strides, padding)
        updates = call.array("source", source)
        if updates.shape != shape:
            raise call.error("source", f"must have the shape of the windows, {shape}, got {updates.shape}")
        first = call.scalar("init_value", init_value, array.element_type)
        body = _binary(call, "scatter", scatter, array.element_type)
        regions = [call.region(choice), call.region(body)]
        return call.give(call.one("select_and_scatter", [array, updates, first], array.shape, attributes, regions))


def _binary(call: XlaCall, argument: str, given: object, element_type: PrimitiveType) -> Computation:
    """Return an argument that must be a computation of type ``T, T -> T``."""
    scalar = Shape(element_type)
    return call.computation(argument, given, [scalar, scalar], scalar)


def _slide(
    call: XlaCall, array: Array, window_dimensions: Sequence[int], window_strides: Sequence[int], padding: Padding
) -> tuple[dict[str, Attribute], Shape]:
    """Return the attributes of windows over all dimensions, and the shape of their positions."""
    window = call.integers("window_dimensions", window_dimensions, array.rank, least=1)
    strides = call.integers("window_strides", window_strides, array.rank, least=1)
    edges = _edges(call, padding, array.dimensions, window, strides)
    shape = array.shape.sized(_positions(call, array.dimensions, window, strides, edges))
    return {"window_dimensions": window, "window_strides": strides, "padding": np.array(edges, np.int64).reshape(array.rank, 2)}, shape


def _edges(call: XlaCall, padding: object, area: Sequence[int], window: Sequence[int], strides: Sequence[int]) -> list[tuple[int, int]]:
    """Return the padding before and behind each dimension."""
    if not isinstance(padding, Padding):
        raise call.wrong_type("padding", "must be Padding.kSame or Padding.kValid", padding)
    edges = []
    for size, width, stride in zip(area, window, strides, strict=True):
        total = max((-(-size // stride) - 1) * stride + width - size, 0) if padding is Padding.kSame else 0
        edges.append((total // 2, total - total // 2))
    return edges


def _pairs(call: XlaCall, padding: object, count: int) -> list[tuple[int, int]]:
    """Return a padding that is given for each dimension."""
    if not isinstance(padding, (tuple, list)):
        raise call.wrong_type("padding", "must be a sequence of pairs of integers", padding)
    if len(padding) != count:
        raise call.error("padding", f"must have {count} pairs, one for each spatial dimension, got {len(padding)}")
    edges = []
    for position, each in enumerate(padding):
        pair = call.integers(f"padding[{position}]", each)
        if len(pair) != 2:
            raise call.error(f"padding[{position}]", f"must be the low and the high padding, got {list(pair)}")
        edges.append((pair[0], pair[1]))
    return edges


def _positions(
    call: XlaCall, area: Sequence[int], window: Sequence[int], strides: Sequence[int], edges: Sequence[tuple[int, int]]
) -> list[int]:
    """Return the number of positions of a window in each dimension."""
    found = []
    for size, width, stride, (low, high) in zip(area, window, strides, edges, strict=True):
        padded = size + low + high
        if padded < 0:
            raise call.error("padding", f"must not remove more elements than there are, {size}, got {(low, high)}")
        found.append((padded - width) // stride + 1 if padded >= width else 0)
    return found
