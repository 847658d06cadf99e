"""Imports whose dimensions keep names: the shapes of inputs, and values that are known but for sizes with names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from webnn.builder.describe import value_key
from webnn.importing.driver import find_naming
from webnn.importing.named import Naming, are_same, settle
from webnn.importing.steps import Operands
from webnn.importing.values import Refused, Value
from webnn.validation import webidl
from webnn.validation.named_descriptor import is_named

__all__ = ["name_shape", "named_sizes", "place_names", "settle_values"]


def name_shape(naming: Naming | None, shape: Sequence[int | str]) -> tuple[int, ...]:
    """Return the shape of an input with sizes in place of names. Refuse names if the draft has none."""
    sizes: list[Any] = list(shape)
    for axis, size in enumerate(shape):
        if isinstance(size, str):
            if naming is None:
                draft = find_naming()
                advice = "" if draft is None else f"or make the builder in a context of ML(revision={draft!r}), which has names"
                raise Refused(f"the size of dimension {axis} must be a number in this draft, got the name {size!r}", advice)
            if not size.strip():
                raise Refused(f"the name of dimension {axis} must not be empty")
            sizes[axis] = naming.add(size)
        elif not isinstance(size, int | np.integer):
            raise Refused(f"the size of dimension {axis} must be an integer or a name, got {webidl.describe(size)}")
    return tuple(sizes)


def place_names(naming: Naming, inputs: Mapping[str, Value], operands: Operands) -> dict[str, Value]:
    """Read the sizes of names in the graph. Return the inputs that get a sum of names as the size of a dimension, which is checked."""
    for value in inputs.values():
        naming.place(operands.find(value))
    changed = {}
    for name, value in inputs.items():
        shape: list[Any] = [naming.meaning(size) if is_named(size) else size for size in value.shape]
        if not are_same(shape, value.shape):
            operands.builder.label = f"{name} must be [{', '.join(map(str, shape))}]"
            operand = operands.builder.reshape(operands.find(value), shape)
            operands.checks.add(value_key(operand))
            changed[name] = replace(value, shape=tuple(shape), operand=operand)
    return changed


def settle_values(values: Iterable[Value | None], dtypes: Iterable[np.dtype[Any] | None]) -> None:
    """Give values that are arrays of objects their element types; those that are all numbers become arrays of them."""
    for value, dtype in zip(values, dtypes, strict=False):
        if value is not None and value.array is not None and value.array.dtype == object:
            value.dtype = dtype or np.dtype(np.int64)
            value.array = settle(value.array, value.dtype)


def named_sizes(values: Iterable[Value | None]) -> list[object]:
    """Return the sizes with names that values have, in their shapes or among their elements."""
    found: list[object] = []
    for value in values:
        if value is not None:
            elements = value.array.reshape(-1).tolist() if value.array is not None and value.array.dtype == object else []
            found += [size for size in [*value.shape, *elements] if is_named(size)]
    return found
