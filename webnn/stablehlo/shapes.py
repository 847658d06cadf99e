"""The shapes of results that follow from those of operands and from integers of the program, which are checked."""

from __future__ import annotations

from collections.abc import Sequence

from webnn.importing.steps import product
from webnn.importing.values import Refused
from webnn.validation import webidl

__all__ = [
    "check_axes",
    "check_axis",
    "check_size",
    "check_starts",
    "find_broadcast",
    "find_concatenated",
    "find_padded",
    "find_reshaped",
    "find_sliced",
    "find_transposed",
]

#: The most dimensions of an array, and the most elements, of any type.
_MOST_DIMENSIONS, _MOST_ELEMENTS = 32, 1 << 58


def _check_count(name: str, numbers: Sequence[int], rank: int) -> None:
    if len(numbers) != rank:
        raise Refused(f"{name} must be one number for each of {rank} dimensions, got {list(numbers)}")


def check_axis(name: str, axis: int, rank: int) -> int:
    """Return a dimension that there must be."""
    if not 0 <= axis < rank:
        raise Refused(f"{name} must be a dimension of {rank}, counted from 0, got {axis}")
    return axis


def check_axes(name: str, axes: Sequence[int], rank: int) -> list[int]:
    """Return dimensions, each of which there must be, once."""
    found = [check_axis(name, axis, rank) for axis in axes]
    if len(set(found)) < len(found):
        raise Refused(f"{name} must name each dimension once, got {found}")
    return found


def check_starts(shape: Sequence[int], sizes: Sequence[int], starts: Sequence[Sequence[int]]) -> None:
    """Check the sizes of a slice, and the shapes of its starts: one scalar for each dimension."""
    if not len(starts) == len(sizes) == len(shape) or any(starts):
        raise Refused(f"there must be a scalar start and a size for each of {list(shape)}, got starts of {list(starts)} and {list(sizes)}")
    if any(not 0 <= size <= given for size, given in zip(sizes, shape, strict=True)):
        raise Refused(f"a slice must fit into {list(shape)}, got {list(sizes)}")


def check_size(shape: Sequence[int]) -> None:
    """Refuse a shape that no array can have: NumPy counts the elements as if no size were 0."""
    if len(shape) > _MOST_DIMENSIONS or product([size for size in shape if size]) > _MOST_ELEMENTS:
        raise Refused(
            f"a tensor must have at most {_MOST_DIMENSIONS} dimensions and {_MOST_ELEMENTS} elements, got {webidl.describe(list(shape))}"
        )


def find_reshaped(shape: Sequence[int], wanted: Sequence[int]) -> tuple[int, ...]:
    """Return a shape that must have as many elements as another one."""
    if any(size < 0 for size in wanted) or product(shape) != product(wanted):
        raise Refused(f"the shape must have the {product(shape)} elements of {list(shape)}, got {list(wanted)}")
    return tuple(wanted)


def find_transposed(shape: Sequence[int], permutation: Sequence[int]) -> tuple[int, ...]:
    """Return the shape of a transposed tensor."""
    _check_count("permutation", permutation, len(shape))
    return tuple([shape[axis] for axis in check_axes("permutation", permutation, len(shape))])


def find_broadcast(shape: Sequence[int], dimensions: Sequence[int], wanted: Sequence[int]) -> tuple[int, ...]:
    """Return a shape that another one must broadcast to, each dimension to one that is named."""
    _check_count("broadcast_dimensions", dimensions, len(shape))
    for size, axis in zip(shape, check_axes("broadcast_dimensions", dimensions, len(wanted)), strict=True):
        if size not in (1, wanted[axis]):
            raise Refused(f"{list(shape)} must broadcast to the dimensions {list(dimensions)} of {list(wanted)}")
    if any(size < 0 for size in wanted):
        raise Refused(f"sizes must be 0 or greater, got {list(wanted)}")
    return tuple(wanted)


def find_sliced(shape: Sequence[int], starts: Sequence[int], limits: Sequence[int], strides: Sequence[int]) -> tuple[int, ...]:
    """Return the shape of a slice."""
    for name, numbers in (("start_indices", starts), ("limit_indices", limits), ("strides", strides)):
        _check_count(name, numbers, len(shape))
    for size, start, limit, stride in zip(shape, starts, limits, strides, strict=True):
        if not 0 <= start <= limit <= size or stride < 1:
            raise Refused(
                f"a slice of {list(shape)} must lie in it with strides of at least 1, got {list(starts)} to {list(limits)}, {list(strides)}"
            )
    return tuple([-(-(limit - start) // stride) for start, limit, stride in zip(starts, limits, strides, strict=True)])


def find_padded(shape: Sequence[int], low: Sequence[int], high: Sequence[int], interior: Sequence[int]) -> tuple[int, ...]:
    """Return the shape of a padded tensor."""
    for name, numbers in (("edge_padding_low", low), ("edge_padding_high", high), ("interior_padding", interior)):
        _check_count(name, numbers, len(shape))
    sizes = [
        size + max(size - 1, 0) * inner + before + behind for size, before, behind, inner in zip(shape, low, high, interior, strict=True)
    ]
    if any(size < 0 for size in sizes) or any(inner < 0 for inner in interior):
        raise Refused(f"sizes and interior_padding must be 0 or greater, got {sizes} and {list(interior)}")
    return tuple(sizes)


def find_concatenated(shapes: Sequence[Sequence[int]], axis: int) -> tuple[int, ...]:
    """Return the shape of tensors that are joined along a dimension."""
    if not shapes:
        raise Refused("there must be at least one tensor, got none")
    first = shapes[0]
    check_axis("dimension", axis, len(first))
    for shape in shapes:
        if len(shape) != len(first) or any(a != b for each, (a, b) in enumerate(zip(shape, first, strict=True)) if each != axis):
            raise Refused(f"the shapes must be equal but for dimension {axis}, got {list(first)} and {list(shape)}")
    return (*first[:axis], sum(shape[axis] for shape in shapes), *first[axis + 1 :])
