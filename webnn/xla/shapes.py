"""Element types and shapes, with the names of XLA's operation semantics."""

from __future__ import annotations

import enum
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from webnn.hlo.types import ELEMENTS, TensorType
from webnn.validation import webidl
from webnn.xla.errors import XlaError, XlaTypeError

__all__ = ["AnyShape", "MakeShape", "PrimitiveType", "Shape", "ShapeUtil", "TupleShape", "assemble", "count", "flatten", "integers"]

#: The range of the page's type int64.
_LEAST, _LARGEST = -(1 << 63), (1 << 63) - 1
#: Tuples are not nested deeper, and have no more arrays.
_DEEPEST = 64
_MOST_ARRAYS = 10_000


class PrimitiveType(enum.Enum):
    """The type of an array's elements. Each value is the name that shapes are written with: ``f32[2x3]``."""

    PRED = "pred"
    S8 = "s8"
    S16 = "s16"
    S32 = "s32"
    S64 = "s64"
    U8 = "u8"
    U16 = "u16"
    U32 = "u32"
    U64 = "u64"
    F16 = "f16"
    F32 = "f32"
    F64 = "f64"

    @property
    def dtype(self) -> np.dtype[Any]:
        """The data type of NumPy that holds the elements."""
        if self is PrimitiveType.PRED:
            return np.dtype(np.bool_)
        return np.dtype(f"{_KINDS[self.value[0]]}{self.value[1:]}")

    @property
    def is_pred(self) -> bool:
        """Whether the elements are true or false."""
        return self is PrimitiveType.PRED

    @property
    def is_float(self) -> bool:
        """Whether the elements are floating-point numbers."""
        return self.value[0] == "f"

    @property
    def is_unsigned(self) -> bool:
        """Whether the elements are integers without a sign."""
        return self.value[0] == "u"

    def __repr__(self) -> str:
        return self.name


_KINDS = {"s": "int", "u": "uint", "f": "float"}


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of an array.

    Attributes:
        element_type: The type of the elements.
        dimensions: The sizes, each 0 or greater.

    Raises:
        XlaError: A size is negative.
        XlaTypeError: The element type is not a `PrimitiveType`, or the sizes are not integers.
    """

    element_type: PrimitiveType
    dimensions: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.element_type, PrimitiveType):
            names = ", ".join(each.name for each in PrimitiveType)
            raise XlaTypeError(f"must be one of {names}, got {webidl.describe(self.element_type)}", "MakeShape", "element_type")
        sizes = integers(self.dimensions, "MakeShape", "dimensions")
        if any(size < 0 for size in sizes):
            raise XlaError(f"must be 0 or greater, got {list(sizes)}", "MakeShape", "dimensions")
        object.__setattr__(self, "dimensions", sizes)

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.dimensions)

    @property
    def is_scalar(self) -> bool:
        """Whether there are no dimensions."""
        return not self.dimensions

    @property
    def type(self) -> TensorType:
        """The type of StableHLO."""
        return TensorType(shape=self.dimensions, element=ELEMENTS[self.element_type.dtype.name])

    def of(self, element_type: PrimitiveType) -> Shape:
        """Return the shape with elements of another type."""
        return Shape(element_type, self.dimensions)

    def sized(self, dimensions: Sequence[int]) -> Shape:
        """Return the shape with other dimensions."""
        return Shape(self.element_type, tuple(dimensions))

    def __str__(self) -> str:
        return f"{self.element_type.value}[{'x'.join(map(str, self.dimensions))}]" if self.dimensions else self.element_type.value


@dataclass(frozen=True, slots=True)
class TupleShape:
    """The shape of a tuple.

    Attributes:
        shapes: The shapes of its elements, which may be tuples: a list or tuple, kept as a tuple.

    Raises:
        XlaError: Tuples are nested too deep, or have too many arrays.
        XlaTypeError: Something else than a shape is given.
    """

    shapes: Sequence[AnyShape]
    #: The number of arrays, and how deep tuples are nested.
    _count: int = field(init=False, repr=False, compare=False)
    _depth: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        shapes = tuple(self.shapes) if isinstance(self.shapes, (tuple, list)) else ()
        if not isinstance(self.shapes, (tuple, list)) or not all(isinstance(each, (Shape, TupleShape)) for each in shapes):
            raise XlaTypeError(f"must be a sequence of shapes, got {webidl.describe(self.shapes)}", "TupleShape", "shapes")
        depth = 1 + max((each._depth for each in shapes if isinstance(each, TupleShape)), default=0)
        arrays = sum(map(count, shapes))
        if depth > _DEEPEST or arrays > _MOST_ARRAYS:
            limits = f"must have at most {_DEEPEST} levels and {_MOST_ARRAYS} arrays"
            raise XlaError(f"{limits}, got {depth} and {arrays}", "TupleShape", "shapes")
        object.__setattr__(self, "shapes", shapes)
        object.__setattr__(self, "_count", arrays)
        object.__setattr__(self, "_depth", depth)

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.shapes))})"


AnyShape = Shape | TupleShape


def MakeShape(element_type: PrimitiveType, dimensions: Sequence[int] = ()) -> Shape:
    """Make the shape of an array.

    Args:
        element_type: The type of the elements.
        dimensions: The sizes; none for a scalar.

    Raises:
        XlaError: A size is negative.
        XlaTypeError: The element type is not a `PrimitiveType`, or the sizes are not integers.
    """
    return Shape(element_type, dimensions)  # type: ignore[arg-type]  # it becomes a tuple


class ShapeUtil:
    """Shapes, by the names that the page's programs have."""

    MakeShape = staticmethod(MakeShape)


def count(shape: AnyShape) -> int:
    """Return the number of arrays in a shape."""
    return shape._count if isinstance(shape, TupleShape) else 1


def flatten(shape: AnyShape) -> Iterator[Shape]:
    """Yield the shapes of the arrays in a shape."""
    if isinstance(shape, Shape):
        yield shape
    else:
        for each in shape.shapes:
            yield from flatten(each)


def assemble(shape: AnyShape, arrays: Iterator[Any], make: Callable[[list[Any]], Any] = tuple) -> Any:
    """Put the new parts of arrays, in their order, into the tuples of a shape, which ``make`` makes."""
    if isinstance(shape, Shape):
        return next(arrays)
    return make([assemble(each, arrays, make) for each in shape.shapes])


def integers(given: object, operation: str, argument: str) -> tuple[int, ...]:
    """Return the integers of an argument.

    Raises:
        XlaError: One is not in the range of int64.
        XlaTypeError: It is not a sequence of integers.
    """
    found: list[int] = []
    wrong = XlaTypeError(f"must be a sequence of integers, got {webidl.describe(given)}", operation, argument)
    if not isinstance(given, (tuple, list, range, np.ndarray)) or (isinstance(given, np.ndarray) and given.ndim != 1):
        raise wrong
    for each in given:
        if isinstance(each, (bool, np.bool_)):
            raise wrong
        try:
            found.append(operator.index(each))
        except TypeError:
            raise wrong from None
        if not _LEAST <= found[-1] <= _LARGEST:
            raise XlaError(f"must be integers of 64 bits, got {webidl.describe(each)}", operation, argument)
    return tuple(found)
