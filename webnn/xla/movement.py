"""Operations that move elements: shapes, slices, padding, sorting."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, overload

from webnn.xla.base import BuilderBase
from webnn.xla.call import Array, ComputationDataHandle, XlaCall
from webnn.xla.shapes import PrimitiveType

__all__ = ["MovementOperations", "PaddingConfigDimension"]


class PaddingConfigDimension(NamedTuple):
    """The padding of a dimension.

    Attributes:
        edge_padding_low: The number of elements before the first one; negative to remove some.
        edge_padding_high: The number of elements behind the last one; negative to remove some.
        interior_padding: The number of elements between two of them, 0 or greater.
    """

    edge_padding_low: int = 0
    edge_padding_high: int = 0
    interior_padding: int = 0


class MovementOperations(BuilderBase):
    """Operations that move elements."""

    __slots__ = ()

    def Broadcast(self, operand: ComputationDataHandle, broadcast_sizes: Sequence[int]) -> ComputationDataHandle:
        """Repeat an array along new dimensions, which come before its own.

        Args:
            operand: An array.
            broadcast_sizes: The sizes of the new dimensions.
        """
        call = XlaCall(self._state, "Broadcast")
        array = call.array("operand", operand)
        sizes = call.integers("broadcast_sizes", broadcast_sizes, least=0)
        shape = array.shape.sized((*sizes, *array.dimensions))
        return call.give(call.one("broadcast_in_dim", [array], shape, {"broadcast_dimensions": tuple(range(len(sizes), shape.rank))}))

    def Collapse(self, operand: ComputationDataHandle, dimensions: Sequence[int]) -> ComputationDataHandle:
        """Make one dimension of several, in their place.

        Args:
            operand: An array.
            dimensions: Dimensions that follow each other, in increasing order.
        """
        call = XlaCall(self._state, "Collapse")
        array = call.array("operand", operand)
        given = call.axes("dimensions", dimensions, array)
        if not given:
            return call.give(array)
        first, last = given[0], given[-1]
        if given != tuple(range(first, last + 1)):
            raise call.error("dimensions", f"must be dimensions that follow each other in increasing order, got {list(given)}")
        sizes = array.dimensions
        return call.give(_reshape(call, array, (*sizes[:first], math.prod(sizes[first : last + 1]), *sizes[last + 1 :])))

    def Concatenate(self, operands: Sequence[ComputationDataHandle], dimension: int) -> ComputationDataHandle:
        """Join arrays along a dimension.

        Args:
            operands: At least one array, of a rank of at least 1. Element types, and the sizes of all other dimensions must be the same.
            dimension: The dimension.
        """
        return self._concatenate("Concatenate", operands, dimension)

    def ConcatInDim(self, operands: Sequence[ComputationDataHandle], dimension: int) -> ComputationDataHandle:
        """Join arrays along a dimension: another name of `Concatenate`."""
        return self._concatenate("ConcatInDim", operands, dimension)

    def _concatenate(self, operation: str, operands: Sequence[ComputationDataHandle], dimension: int) -> ComputationDataHandle:
        call = XlaCall(self._state, operation)
        arrays = call.arrays("operands", operands)
        first = arrays[0]
        if not first.rank:
            raise call.error("operands[0]", f"must have a rank of at least 1, got {first.shape}")
        axis = call.integer("dimension", dimension, 0, first.rank, f"a dimension of {first.shape}")
        for position, array in enumerate(arrays):
            fitting = array.rank == first.rank and array.element_type is first.element_type
            if not fitting or _without(array, axis) != _without(first, axis):
                wanted = f"must have the shape of operands[0], {first.shape}, in all but dimension {axis}"
                raise call.error(f"operands[{position}]", f"{wanted}, got {array.shape}")
        sizes = list(first.dimensions)
        sizes[axis] = sum(array.dimensions[axis] for array in arrays)
        return call.give(call.one("concatenate", arrays, first.shape.sized(sizes), {"dimension": axis}))

    def Pad(
        self,
        operand: ComputationDataHandle,
        padding_value: ComputationDataHandle,
        padding_config: Sequence[PaddingConfigDimension | tuple[int, int, int]],
    ) -> ComputationDataHandle:
        """Put a value around an array and between its elements; a negative number of elements at an edge removes as many.

        Args:
            operand: An array.
            padding_value: A scalar of the same element type.
            padding_config: For each dimension a `PaddingConfigDimension`, or its three numbers. The interior is padded before the edges.
        """
        call = XlaCall(self._state, "Pad")
        array = call.array("operand", operand)
        value = call.scalar("padding_value", padding_value, array.element_type)
        if not isinstance(padding_config, (tuple, list)):
            raise call.wrong_type("padding_config", "must be a sequence of PaddingConfigDimensions", padding_config)
        if len(padding_config) != array.rank:
            raise call.error("padding_config", f"must have {array.rank} elements, one for each dimension, got {len(padding_config)}")
        config = [PaddingConfigDimension(*_three(call, position, each)) for position, each in enumerate(padding_config)]
        sizes = []
        for position, (size, (low, high, interior)) in enumerate(zip(array.dimensions, config, strict=True)):
            if interior < 0:
                raise call.error(f"padding_config[{position}]", f"must have an interior_padding of 0 or greater, got {interior}")
            sizes.append(size + max(size - 1, 0) * interior + low + high)
            if sizes[-1] < 0:
                wanted = f"must not remove more elements than {array.shape} has"
                raise call.error(f"padding_config[{position}]", f"{wanted}, got {tuple(config[position])}")
        names = ("edge_padding_low", "edge_padding_high", "interior_padding")
        attributes = {name: tuple([each[index] for each in config]) for index, name in enumerate(names)}
        return call.give(call.one("pad", [array, value], array.shape.sized(sizes), attributes))

    @overload
    def Reshape(self, operand: ComputationDataHandle, new_sizes: Sequence[int], /) -> ComputationDataHandle: ...
    @overload
    def Reshape(self, operand: ComputationDataHandle, dimensions: Sequence[int], new_sizes: Sequence[int]) -> ComputationDataHandle: ...
    @overload
    def Reshape(self, operand: ComputationDataHandle, *, new_sizes: Sequence[int]) -> ComputationDataHandle: ...
    def Reshape(
        self, operand: ComputationDataHandle, dimensions: Sequence[int] | None = None, new_sizes: Sequence[int] | None = None
    ) -> ComputationDataHandle:
        """Put the elements of an array into other dimensions: ``Reshape(operand, new_sizes)``, ``Reshape(operand, dimensions, new_sizes)``.

        Args:
            operand: An array.
            dimensions: All dimensions, from the one that varies slowest; by default in their order.
            new_sizes: The sizes of the result, which has as many elements.
        """
        call = XlaCall(self._state, "Reshape")
        array = call.array("operand", operand)
        if new_sizes is None:
            dimensions, new_sizes = None, dimensions
        if dimensions is not None:
            array = _transpose(call, array, "dimensions", dimensions)
        sizes = call.integers("new_sizes", new_sizes, least=0)
        if math.prod(sizes) != math.prod(array.dimensions):
            raise call.error("new_sizes", f"must have as many elements as {array.shape}, got {list(sizes)}")
        return call.give(_reshape(call, array, sizes))

    def Rev(self, operand: ComputationDataHandle, dimensions: Sequence[int]) -> ComputationDataHandle:
        """Reverse the order of elements along dimensions."""
        call = XlaCall(self._state, "Rev")
        array = call.array("operand", operand)
        return call.give(call.one("reverse", [array], array.shape, {"dimensions": call.axes("dimensions", dimensions, array)}))

    def Slice(self, operand: ComputationDataHandle, start_indices: Sequence[int], limit_indices: Sequence[int]) -> ComputationDataHandle:
        """Return a part of an array.

        Args:
            operand: An array.
            start_indices: For each dimension the first index.
            limit_indices: For each dimension the index behind the last one, greater than the first one.
        """
        call = XlaCall(self._state, "Slice")
        array = call.array("operand", operand)
        starts = call.integers("start_indices", start_indices, array.rank, least=0)
        limits = call.integers("limit_indices", limit_indices, array.rank)
        if any(not start < limit <= size for start, limit, size in zip(starts, limits, array.dimensions, strict=True)):
            wanted = f"must be greater than start_indices, {list(starts)}, and at most the sizes of {array.shape}"
            raise call.error("limit_indices", f"{wanted}, got {list(limits)}")
        return call.give(_slice(call, array, starts, limits))

    def DynamicSlice(
        self, operand: ComputationDataHandle, start_indices: ComputationDataHandle, size_indices: Sequence[int]
    ) -> ComputationDataHandle:
        """Return a part of an array that begins where another array says. A part that would end outside is moved inside.

        Args:
            operand: An array.
            start_indices: For each dimension the first index: integers of rank 1.
            size_indices: For each dimension the number of indices, 1 or greater.
        """
        call = XlaCall(self._state, "DynamicSlice")
        array = call.array("operand", operand)
        starts = _starts(call, array, start_indices)
        sizes = call.integers("size_indices", size_indices, array.rank, least=1)
        if any(size > whole for size, whole in zip(sizes, array.dimensions, strict=True)):
            raise call.error("size_indices", f"must be at most the sizes of {array.shape}, got {list(sizes)}")
        return call.give(call.one("dynamic_slice", [array, *starts], array.shape.sized(sizes), {"slice_sizes": sizes}))

    def DynamicUpdateSlice(
        self, operand: ComputationDataHandle, update: ComputationDataHandle, start_indices: ComputationDataHandle
    ) -> ComputationDataHandle:
        """Replace a part of an array that begins where another array says. A part that would end outside is moved inside.

        Args:
            operand: An array.
            update: The new elements: an array of the same element type and rank.
            start_indices: For each dimension the first index: integers of rank 1.
        """
        call = XlaCall(self._state, "DynamicUpdateSlice")
        array, part = call.array("operand", operand), call.array("update", update)
        call.same_type("operand", array, "update", part)
        starts = _starts(call, array, start_indices)
        if part.rank != array.rank or any(not 0 < size <= whole for size, whole in zip(part.dimensions, array.dimensions, strict=True)):
            raise call.error("update", f"must have the rank of {array.shape}, and sizes from 1 to those of it, got {part.shape}")
        return call.give(call.one("dynamic_update_slice", [array, part, *starts], array.shape))

    def Sort(self, operand: ComputationDataHandle) -> ComputationDataHandle:
        """Sort the elements along the last dimension, from the least to the greatest one.

        Args:
            operand: An array of a rank of at least 1.
        """
        call = XlaCall(self._state, "Sort")
        array = call.array("operand", operand)
        if not array.rank:
            raise call.error("operand", f"must have a rank of at least 1, got {array.shape}")
        return call.give(
            call.one(
                "sort", [array], array.shape, {"dimension": array.rank - 1, "is_stable": True}, [call.comparison("LT", array.element_type)]
            )
        )

    def Transpose(self, operand: ComputationDataHandle, permutation: Sequence[int]) -> ComputationDataHandle:
        """Put dimensions into another order.

        Args:
            operand: An array.
            permutation: For each dimension of the result that of the operand.
        """
        call = XlaCall(self._state, "Transpose")
        return call.give(_transpose(call, call.array("operand", operand), "permutation", permutation))


def _without(array: Array, axis: int) -> tuple[int, ...]:
    """Return the sizes of an array without those of a dimension."""
    return array.dimensions[:axis] + array.dimensions[axis + 1 :]


def _three(call: XlaCall, position: int, given: object) -> tuple[int, ...]:
    found = call.integers(f"padding_config[{position}]", given)
    if len(found) != 3:
        raise call.error(f"padding_config[{position}]", f"must be the low, high and interior padding, got {list(found)}")
    return found


def _reshape(call: XlaCall, array: Array, sizes: Sequence[int]) -> Array:
    return call.one("reshape", [array], array.shape.sized(sizes))


def _slice(call: XlaCall, array: Array, starts: Sequence[int], limits: Sequence[int]) -> Array:
    sizes = [limit - start for start, limit in zip(starts, limits, strict=True)]
    attributes = {"start_indices": tuple(starts), "limit_indices": tuple(limits), "strides": (1,) * len(sizes)}
    return call.one("slice", [array], array.shape.sized(sizes), attributes)


def _transpose(call: XlaCall, array: Array, argument: str, given: object) -> Array:
    permutation = call.integers(argument, given)
    if sorted(permutation) != list(range(array.rank)):
        raise call.error(argument, f"must name each dimension of {array.shape} once, got {list(permutation)}")
    sizes = [array.dimensions[each] for each in permutation]
    return call.one("transpose", [array], array.shape.sized(sizes), {"permutation": permutation})


def _starts(call: XlaCall, array: Array, given: ComputationDataHandle) -> list[Array]:
    """Return the indices that an array has, as scalars."""
    starts = call.array("start_indices", given)
    if starts.dimensions != (array.rank,) or starts.element_type.is_float or starts.element_type is PrimitiveType.PRED:
        wanted = f"must be {array.rank} integers of rank 1, one for each dimension of {array.shape}"
        raise call.error("start_indices", f"{wanted}, got {starts.shape}")
    return [_reshape(call, _slice(call, starts, [index], [index + 1]), ()) for index in range(array.rank)]
