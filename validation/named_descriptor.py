"""Descriptors of operands whose shapes are not known yet, for revisions with `GIVE_SIZES`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeGuard, cast

from webnn.validation.descriptor import OperandDescriptor, Shape
from webnn.validation.extension import Extension

__all__ = ["GIVE_SIZES", "UNRANKED", "NamedDescriptor", "NamedSize", "UnrankedDescriptor", "has_names", "has_sizes", "is_named"]

#: The dimensions of inputs may be names. The function makes of a `GraphDescription` one with sizes in place of its names.
GIVE_SIZES: Extension[Callable[[Any, Mapping[str, int]], Any]] = Extension("give sizes")
#: The dimensions of an operand whose rank is not known.
UNRANKED: Shape = cast(Any, ("...",))


@dataclass(frozen=True, slots=True)
class NamedDescriptor(OperandDescriptor):
    """The descriptor of an operand some of whose dimensions are names: texts in place of sizes."""

    @property
    def element_count(self) -> int:
        """0, because the number of elements is not known."""
        return 0

    @property
    def byte_length(self) -> int:
        """0, because the number of bytes is not known."""
        return 0


@dataclass(frozen=True, slots=True)
class UnrankedDescriptor(NamedDescriptor):
    """The descriptor of an operand whose rank is not known: its dimensions are `UNRANKED`.

    Attributes:
        ranks: The ranks that it may have.
    """

    ranks: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{self.dataType} of unknown rank"


class NamedSize(Protocol):
    """The size of a dimension with a name, in a graph that is compiled for many sizes: a polynomial in such names.

    It has a number, too, that of the sizes which the graph is compiled for first. `__index__` returns it; from then on the graph is
    compiled for this number.
    """

    @property
    def terms(self) -> Mapping[tuple[object, ...], int]:
        """For each product of names its coefficient."""

    @property
    def name(self) -> object | None:
        """The name that it is; ``None`` if it is another polynomial."""

    def __index__(self) -> int: ...


def is_named(size: int | NamedSize) -> TypeGuard[NamedSize]:
    """Tell whether a size is that of a dimension with a name."""
    return not isinstance(size, int)


def has_sizes(descriptor: OperandDescriptor) -> bool:
    """Tell whether a shape has a `NamedSize`."""
    return any(map(is_named, descriptor.dimensions))


def has_names(descriptor: OperandDescriptor) -> bool:
    """Tell whether a shape is not known yet."""
    sizes: tuple[Any, ...] = descriptor.dimensions
    return any(isinstance(size, str) for size in sizes)
