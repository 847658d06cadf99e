"""Operations that convert, move or pick elements."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from webnn.builder.elementwise import saturate
from webnn.builder.places import PAD_MODES
from webnn.reference.numbers import Array, Operation, idl_float, is_float, named, typed

__all__ = ["OPERATIONS", "pad_with", "slice_"]


def cast(input: Array, type: str) -> Array:
    """Convert each element to another type: `#api-mlgraphbuilder-cast`.

    Float to integer truncates towards zero, then saturates; NaN becomes 0. Integer to integer wraps modulo
    2^bits. To a float type: rounds to nearest, ties to even, overflow to infinity.
    """
    target = np.dtype(type)
    if target.kind == "f":
        return input.astype(target)
    return saturate(input, target) if is_float(input) else typed(input, target)


def concat(inputs: list[Array], axis: int) -> Array:
    """Join tensors along an axis: `#api-mlgraphbuilder-concat`."""
    return np.concatenate(inputs, axis=axis)


def expand(input: Array, newShape: list[int]) -> Array:
    """Repeat dimensions of size 1 up to the new shape: `#api-mlgraphbuilder-expand`."""
    return np.broadcast_to(input, newShape).copy()


def pad(input: Array, beginningPadding: list[int], endingPadding: list[int], *, mode: str = "constant", value: float = 0) -> Array:
    """Add elements around the tensor: `#api-mlgraphbuilder-pad`.

    "edge" repeats the outermost element, "reflection" mirrors without it, "symmetric" with it; both mirror again where the padding is
    larger than the tensor. For integers the constant is converted as by `cast`: truncated towards zero, then saturated.
    """
    return pad_with(input, beginningPadding, endingPadding, mode, cast(np.array(idl_float(value)), input.dtype.name))


def pad_with(input: Array, beginningPadding: list[int], endingPadding: list[int], mode: str, filler: Array) -> Array:
    """Add elements around the tensor: those of a mode, or a constant of the tensor's type."""
    padding = list(zip(beginningPadding, endingPadding, strict=True))
    if not padding:
        return input.copy()
    return np.pad(input, padding, constant_values=filler) if mode == "constant" else np.pad(input, padding, PAD_MODES[mode])


def reshape(input: Array, newShape: list[int]) -> Array:
    """Give the elements, in the same order, a new shape: `#api-mlgraphbuilder-reshape-method`."""
    return input.reshape(newShape).copy()


def slice_(input: Array, starts: list[int], sizes: list[int]) -> Array:
    """Cut a block out: `#api-mlgraphbuilder-slice`."""
    return np.array(input[tuple(slice(start, start + size) for start, size in zip(starts, sizes, strict=True))])


def split(input: Array, splits: int | list[int], *, axis: int = 0) -> list[Array]:
    """Cut along an axis into equal parts, or into parts of the listed sizes: `#api-mlgraphbuilder-split`."""
    sizes = [input.shape[axis] // splits] * splits if isinstance(splits, int) else splits
    starts = [sum(sizes[:index]) for index in range(len(sizes))]
    return [input.take(range(start, start + size), axis=axis) for start, size in zip(starts, sizes, strict=True)]


def transpose(input: Array, *, permutation: list[int] | None = None) -> Array:
    """Permute the dimensions, by default reverse them: `#api-mlgraphbuilder-transpose`."""
    return input.transpose(permutation).copy()


def triangular(input: Array, *, upper: bool = True, diagonal: int = 0) -> Array:
    """Keep one triangle of each matrix and set the rest to 0: `#api-mlgraphbuilder-triangular`.

    Element [..., i, j] is kept if j - i >= diagonal (upper) or j - i <= diagonal (lower).
    """
    above = np.arange(input.shape[-1]) - np.arange(input.shape[-2])[:, np.newaxis]
    return np.where(above >= diagonal if upper else above <= diagonal, input, np.zeros([], input.dtype))


def where(condition: Array, input: Array, other: Array) -> Array:
    """Select from `input` where the condition is not 0, else from `other`: `#api-mlgraphbuilder-where`.

    All three are broadcast; values are copied bit for bit.
    """
    return np.where(condition != 0, input, other)


OPERATIONS: Mapping[str, Operation] = named(cast, concat, expand, pad, reshape, slice_, split, transpose, triangular, where)
