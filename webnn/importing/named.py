"""Dimensions that keep their names in an import, for builders of a draft that has such dimensions.

An import with names runs with sizes that compute as integers (`NamedSize`). A rule may compute with them and compare them; a rule that
needs the number refuses its node. Sizes among known integers are in arrays of objects.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from webnn.validation.extension import Extension
from webnn.validation.named_descriptor import NamedSize, is_named

if TYPE_CHECKING:
    from webnn.builder.graph_builder import LabellingBuilder
    from webnn.builder.operand import MLOperand
    from webnn.importing.values import Array
    from webnn.validation.descriptor import DataType
    from webnn.validation.revision import Revision

__all__ = [
    "NAME_SIZES",
    "Naming",
    "are_same",
    "as_array",
    "broadcast_sizes",
    "evaluate_size",
    "find_names",
    "have_names",
    "is_empty",
    "is_same",
    "replace_names",
    "settle",
    "sizes_of",
]

T = TypeVar("T")

#: A number, a name, or a sum of products of these: ``past_sequence_length + sequence_length``, and the most characters of one.
_LONGEST = 200
_TOKENS = re.compile(r"\s*(?:(\d+)|([^\W\d][\w.]*)|([-+*]))\s*")


class Naming(Protocol):
    """The names of an import."""

    @property
    def builder(self) -> LabellingBuilder:
        """The builder of the import. Its operations take named sizes in place of numbers where the draft has a form for that."""

    def add(self, name: str) -> NamedSize:
        """Return the size of a dimension of an input with a name, or with a sum of products of names."""

    def meaning(self, size: NamedSize) -> int | NamedSize:
        """Return the sum of products that the name of a dimension is; the size itself for another one."""

    def emit(self, array: Array, dataType: DataType) -> MLOperand:
        """Return an operand of integers and named sizes."""

    def count(self, start: int, end: int, step: int, dataType: DataType) -> MLOperand:
        """Return the numbers from a size on that are before another one, in steps."""

    def find_reshaped(self, operand: MLOperand) -> MLOperand | None:
        """Return the operand that another one is a reshape of; ``None`` if it is the result of another operation."""

    def place(self, operand: MLOperand) -> None:
        """Learn that the dimensions of an input have the sizes with names."""

    def finish(self, outputs: Mapping[str, MLOperand]) -> dict[str, MLOperand]:
        """Return the outputs, which check in each run what the import has assumed. All shapes get names in place of named sizes."""

    def refuse(self, sizes: Iterable[object] = ()) -> Exception:
        """Return the refusal of a node that needs the numbers of sizes, by default of all of them."""


#: Makes the names of an import into graphs of a draft: of a draft, and of the setting for each name, which advice names.
NAME_SIZES: Extension[Callable[[Revision, Mapping[str, str]], Naming]] = Extension("name sizes")


def evaluate_size(text: str, find: Callable[[str], T | None]) -> T | int | None:
    """Compute a sum of products of names and numbers; ``None`` if the text is none, or if a name has no value."""
    tokens = _tokens(text)
    if tokens is None:
        return None
    total: Any = 0
    product: Any = None
    sign, joins = 1, True
    for number, name, operator in tokens:
        if operator and joins:
            return None
        if operator == "*":
            joins = True
        elif operator:
            total, product, sign, joins = total + product, None, 1 if operator == "+" else -1, True
        else:
            value: Any = int(number) if number else find(name)
            if not joins or value is None:
                return None
            product, joins = sign * value if product is None else product * value, False
    return None if joins else total + product


def find_names(text: str) -> list[str]:
    """Return the names in a sum of products; of another text, none."""
    return [name for _, name, _ in _tokens(text) or [] if name]


def replace_names(text: str, values: Mapping[str, str]) -> str:
    """Return a sum of products with other names, or numbers, in place of some."""
    return " ".join([values.get(name, name) or number or operator for number, name, operator in _tokens(text) or []])


def _tokens(text: str) -> list[tuple[str, str, str]] | None:
    found, place = [], 0
    if len(text) > _LONGEST:
        return None
    while place < len(text):
        match = _TOKENS.match(text, place)
        if match is None:
            return None
        found.append((match[1] or "", match[2] or "", match[3] or ""))
        place = match.end()
    return found


# Comparisons without a question: `==` of sizes notes what the import assumes.


def is_same(a: int | NamedSize, b: int | NamedSize) -> bool:
    """Tell whether two sizes are the same, whatever the sizes of the names are."""
    if is_named(a):
        return is_named(b) and a.terms == b.terms
    return not is_named(b) and a == b


def are_same(a: Sequence[int], b: Sequence[int]) -> bool:
    """Tell whether two shapes are the same, whatever the sizes of the names are."""
    return len(a) == len(b) and all(map(is_same, a, b))


def is_empty(shape: Iterable[int]) -> bool:
    """Tell whether a tensor has no elements, whatever the sizes of the names are."""
    return any(not is_named(size) and size == 0 for size in shape)


def have_names(sizes: Iterable[int]) -> bool:
    """Tell whether some sizes have names."""
    return any(map(is_named, sizes))


def broadcast_sizes(a: Sequence[int], b: Sequence[int]) -> tuple[int, ...] | None:
    """Return the shape to which two shapes with names broadcast; ``None`` if that is not the same for all sizes of the names."""
    rank = max(len(a), len(b))
    shape = []
    for one, other in zip((1,) * (rank - len(a)) + tuple(a), (1,) * (rank - len(b)) + tuple(b), strict=True):
        if not (is_same(one, other) or is_same(one, 1) or is_same(other, 1)):
            return None
        shape.append(other if is_same(one, 1) else one)
    return tuple(shape)


# Arrays of objects.


def sizes_of(array: Array) -> list[int]:
    """Return the elements of an array of integers and named sizes."""
    sizes: Any = [each if is_named(each) else int(each) for each in array.reshape(-1).tolist()]
    return list(sizes)


def as_array(sizes: Sequence[int]) -> Array:
    """Return sizes as an array of int64, or of objects if some have names."""
    return np.array([*sizes, None], object)[:-1] if have_names(sizes) else np.array(sizes, np.int64)


def settle(array: Array, dtype: np.dtype[Any]) -> Array:
    """Return an array of objects, in an element type if they are all numbers."""
    return array if have_names(array.reshape(-1).tolist()) else array.astype(dtype)
