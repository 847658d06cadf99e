"""The element types of a node's outputs, from the operator's schema."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from webnn.onnx.functions import find_schema

if TYPE_CHECKING:
    from webnn.onnx.values import Value

__all__ = ["output_types"]

_NAMES = {"float": "float32", "double": "float64"}


def output_types(operator: str, version: int, domain: str, inputs: Sequence[Value | None], count: int) -> list[np.dtype[Any] | None]:
    """Return the element type of each output: that of an input with the same type variable, or the only one that the schema allows.

    None stands for a type that an attribute determines, and for those of an operator without a schema.
    """
    if find_schema(operator, version, domain) is None:
        return [None] * count
    sources = _sources(operator, version, domain)
    found: list[np.dtype[Any] | None] = []
    for index in range(count):
        source = sources[min(index, len(sources) - 1)] if sources else None
        if isinstance(source, int):
            value = inputs[source] if source < len(inputs) else None
            found.append(None if value is None else value.dtype)
        else:
            found.append(source)
    return found


@functools.cache
def _sources(name: str, version: int, domain: str) -> list[int | np.dtype[Any] | None]:
    """Return for each output the index of the input that gives its type, or the type, or None."""
    schema = find_schema(name, version, domain)
    assert schema is not None
    variables = {each.type_param_str: list(each.allowed_type_strs) for each in schema.type_constraints}
    found: list[int | np.dtype[Any] | None] = []
    for output in schema.outputs:
        same = [index for index, each in enumerate(schema.inputs) if each.type_str == output.type_str]
        types = variables.get(output.type_str, [output.type_str])
        found.append(_parse(types[0]) if len(types) == 1 else same[0] if same else None)
    return found


def _parse(text: str) -> np.dtype[Any] | None:
    tensor = re.fullmatch(r"tensor\((\w+)\)", text)
    if tensor is None:
        return None
    try:
        return np.dtype(_NAMES.get(tensor[1], tensor[1]))
    except TypeError:
        return None
