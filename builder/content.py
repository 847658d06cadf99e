"""Equality by content, and the bytes of equal contents for a digest: for the parts of `GraphDescription`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, cast

import numpy as np

from webnn.validation.descriptor import OperandDescriptor

__all__ = ["ByContent", "comparable", "feed"]


class ByContent:
    """Equality by content: arrays by their bytes, NaN equals NaN, and -0.0 differs from 0.0."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return comparable(self) == comparable(other) if type(self) is type(other) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # its mappings can change


def comparable(value: Any) -> object:
    """Return an object for comparison: two of them are equal if the values are, in the sense of `ByContent`."""
    if isinstance(value, float):
        # Compare by text: in Python, NaN differs from itself, and 0.0 equals -0.0.
        return repr(value) if math.isnan(value) or (value == 0 and math.copysign(1, value) < 0) else value
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, np.ascontiguousarray(value).reshape(-1).view(np.uint8).data
    if isinstance(value, Mapping):
        return {name: comparable(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [comparable(each) for each in value]
    if isinstance(value, ByContent):
        members = [(each.name, getattr(value, each.name)) for each in fields(cast(Any, value)) if each.compare]
        # So that a graph without calls has the digest that it always had.
        return [comparable(member) for name, member in members if name != "calls" or member]
    return value


def feed(update: Callable[[bytes | memoryview], None], value: object) -> None:
    """Feed a comparable object to a hash. Equal objects give the same bytes, different ones give others."""
    if isinstance(value, dict):
        update(b"{%d:" % len(value))
        for name in sorted(value):
            feed(update, name)
            feed(update, value[name])
    elif isinstance(value, list | tuple):
        update(b"[%d:" % len(value))
        for each in value:
            feed(update, each)
    elif isinstance(value, memoryview):
        update(b"b%d:" % value.nbytes)
        update(value)
    elif isinstance(value, bool | int | float):
        # 1 equals 1.0 and True.
        number = repr(int(value)) if math.isfinite(value) and value == int(value) else repr(value)
        update(f"n{number};".encode())
    elif isinstance(value, OperandDescriptor):
        feed(update, [value.dataType, value.dimensions])
    elif value is None:
        update(b"0")
    else:
        text = str(value).encode("utf-8", "surrogatepass")
        update(b"s%d:" % len(text))
        update(text)
