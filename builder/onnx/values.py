"""Values of a translated graph that are known before their nodes: permuted ones, and constants that the engine uses in place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Array", "View", "Weight"]

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class View:
    """A value that is another one with its dimensions permuted. Its node may not be emitted yet.

    Attributes:
        source: The other value.
        permutation: For each dimension of this value, the index of the source's dimension.
    """

    source: str
    permutation: tuple[int, ...]

    def for_source(self, sizes: Sequence[int]) -> list[int]:
        """Bring numbers, one for each dimension of this value, into the order of the source's dimensions."""
        return [sizes[self.permutation.index(axis)] for axis in range(len(sizes))]


@dataclass(frozen=True, slots=True)
class Weight:
    """A constant whose bytes the engine uses in place.

    Attributes:
        location: The name of the in-memory file that the model refers to.
        data: The array, C-contiguous; it must live as long as the session.
    """

    location: str
    data: Array
