"""The element types of a node's inputs and outputs, from the operator's schema."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from webnn.importing.values import Refused
from webnn.onnx.functions import find_schema

if TYPE_CHECKING:
    from webnn.importing.values import Value

__all__ = ["check_inputs", "output_types"]

_NAMES = {"float": "float32", "double": "float64"}


def output_types(operator: str, version: int, domain: str, inputs: Sequence[Value | None], count: int) -> list[np.dtype[Any] | None]:
    """Return the element type of each output: that of an input with the same type variable, or the only one that the schema allows.

    None stands for a type that an attribute determines, and for those of an operator without a schema.
    """
    sources = _sources(operator, version, domain)
    found: list[np.dtype[Any] | None] = []
    for index in range(count):
        # The last one may stand for any number of outputs.
        source = sources[min(index, len(sources) - 1)] if sources else None
        if isinstance(source, int):
            value = inputs[source] if source < len(inputs) else None
            found.append(None if value is None else value.dtype)
        else:
            found.append(source)
    return found


def check_inputs(operator: str, version: int, domain: str, inputs: Sequence[Value | None]) -> None:
    """Refuse inputs of a type that an operator does not have, which has a schema.

    Raises:
        Refused: There is one.
    """
    allowed = _allowed(operator, version, domain)
    for index, value in enumerate(inputs):
        types = allowed[min(index, len(allowed) - 1)] if allowed else None
        # WebNN has no other types than NumPy's own.
        if value is not None and types is not None and value.dtype not in types and value.dtype.isbuiltin == 1:
            raise Refused(f"the input {index} must be one of {', '.join(sorted(each.name for each in types))}, got {value.dtype.name}")


@functools.cache
def _allowed(name: str, version: int, domain: str) -> list[frozenset[np.dtype[Any]] | None]:
    """Return for each input the types of NumPy that it may have; None for one that may have none of them."""
    schema = find_schema(name, version, domain)
    assert schema is not None
    variables = {each.type_param_str: list(each.allowed_type_strs) for each in schema.type_constraints}
    found: list[frozenset[np.dtype[Any]] | None] = []
    for each in schema.inputs:
        types = {_parse(text) for text in variables.get(each.type_str, [each.type_str])}
        found.append(frozenset(dtype for dtype in types if dtype is not None) or None)
    return found


@functools.cache
def _sources(name: str, version: int, domain: str) -> list[int | np.dtype[Any] | None]:
    """Return for each output the index of the input that gives its type, or the type, or None; nothing without a schema."""
    schema = find_schema(name, version, domain)
    if schema is None:
        return []
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
