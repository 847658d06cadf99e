"""Sparse tensors: only some elements are stored, with the positions of blocks along dimensions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from webnn.importing.values import Array, Refused

__all__ = ["Sparsity"]

#: A sparse tensor has at most this many elements for each one that is stored.
_MOST_FACTOR = 1 << 6


@dataclass(frozen=True, slots=True, eq=False)
class Sparsity:
    """Where the elements of a sparse tensor are.

    Attributes:
        order: The dimension of each level; those from the rank on are dimensions inside of blocks.
        blocks: The dimension that each dimension of a block divides.
        levels: The size of a dense level; the segments and indices of a sparse one: segments[p] to segments[p + 1] are the indices of the
            element p of the level before.
    """

    order: Sequence[int]
    blocks: Sequence[int]
    levels: Sequence[int | tuple[Array, Array]]

    def expand(self, elements: Array, shape: tuple[int, ...]) -> Array:
        """Return all elements of a tensor, of those that are stored.

        Raises:
            Refused: The positions contradict the shape or the number of elements.
        """
        rank, count = len(shape), len(self.order)
        if not rank or sorted(self.order) != list(range(count)) or count != len(self.levels) or count != rank + len(self.blocks):
            raise Refused(f"the order of a sparse tensor must name each of {rank} dimensions and its blocks once, got {list(self.order)}")
        if not all(0 <= each < rank for each in self.blocks) or len({*self.blocks}) < len(self.blocks):
            raise Refused(f"blocks must divide different dimensions of {rank}, got {list(self.blocks)}")
        size = math.prod(shape)
        if size > _MOST_FACTOR * (elements.size + 1):
            raise Refused(f"a sparse tensor must store one of {_MOST_FACTOR} elements at least, got {elements.size} of {list(shape)}")
        wrong = Refused(f"the positions of a sparse tensor must be those of its {elements.size} elements, inside of {list(shape)}")
        #: The positions of the elements along the dimensions, of those levels that have been read.
        places: dict[int, Array] = {}
        found = 1
        for dimension, level in zip(self.order, self.levels, strict=True):
            if isinstance(level, int):
                fits = level >= 0 and found * level <= size
                repeats, along = np.full(found, level), np.tile(np.arange(level if fits else 0), found)
            else:
                segments, along = level
                repeats = np.diff(segments)
                fits = segments.size == found + 1 and not segments[0] and segments[-1] == along.size <= elements.size and repeats.min() >= 0
            if not fits:
                raise wrong
            places = {**{each: np.repeat(place, repeats) for each, place in places.items()}, dimension: along}
            found = along.size
        for block, dimension in enumerate(self.blocks, rank):
            width = self.levels[self.order.index(block)]
            if not isinstance(width, int):
                raise Refused("the dimensions of blocks must be dense")
            places[dimension] = places[dimension] * width + places[block]
        coordinates = [places[axis] for axis in range(rank)]
        if found != elements.size or any(((each < 0) | (each >= limit)).any() for limit, each in zip(shape, coordinates, strict=True)):
            raise wrong
        dense = np.zeros(shape, elements.dtype)
        dense[tuple(coordinates)] = elements
        return dense
