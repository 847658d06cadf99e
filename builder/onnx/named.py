"""Sizes of dimensions with names, in the models of graphs that are compiled for many sizes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from webnn.validation.named_descriptor import NamedSize, is_named

if TYPE_CHECKING:
    from webnn.builder.onnx.emitter import Emitter
    from webnn.validation.descriptor import OperandDescriptor

__all__ = ["Names", "emit_sizes", "infer_one"]


class Names(dict[object, tuple[str, int]]):
    """An input and an axis of it, for each name of a dimension."""

    def note(self, value: str, descriptor: OperandDescriptor) -> str:
        """Learn the names of an input, and return it."""
        for axis, size in enumerate(descriptor.dimensions):
            if is_named(size) and size.name is not None:
                self.setdefault(size.name, (value, axis))
        return value


def emit_sizes(e: Emitter, sizes: Sequence[int]) -> str:
    """Return a 1-D int64 value, an initializer if no size has a name; otherwise it is computed in each run."""
    if not any(map(is_named, sizes)):
        return e.literal(np.array(sizes, np.int64))
    parts = [_emit_size(e, size) for size in sizes]
    return parts[0] if len(parts) == 1 else e.node("Concat", parts, axis=0)


def _emit_size(e: Emitter, size: int | NamedSize) -> str:
    if isinstance(size, int) or not all(name in e.names for names in size.terms for name in names):
        return e.literal(np.array([size], np.int64))
    # A sum of products of dimensions of the inputs.
    sums = []
    for names, factor in size.terms.items():
        places = [e.names[name] for name in names]
        factors = [e.node("Shape", [value], start=axis, end=axis + 1) for value, axis in places]
        factors += [e.literal(np.array([factor], np.int64))] if factor != 1 or not names else []
        sums.append(reduce(lambda a, b: e.node("Mul", [a, b]), factors))
    return reduce(lambda a, b: e.node("Add", [a, b]), sums)


def infer_one(shape: Sequence[int]) -> Sequence[int]:
    """Return the target of a reshape: -1, the size that the engine infers, in place of a size with a name, if there is only one."""
    known = [size for size in shape if not is_named(size)]
    return [-1 if is_named(size) else size for size in shape] if len(known) == len(shape) - 1 and 0 not in known else shape
