"""Operators whose results are known at import, because they depend on attributes and shapes only."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.importing.named import as_array, have_names, sizes_of
from webnn.importing.steps import Result
from webnn.importing.values import Array, Refused, Value, carrier, make_uniform
from webnn.onnx.model import element_type
from webnn.onnx.node import Node

__all__ = ["RULES"]

#: The most elements of a matrix that a rule makes.
_MOST_ELEMENTS = 1 << 24


def _constant(node: Node) -> Array:
    """Return the value of whichever attribute is given. Strings and sparse tensors are refused."""
    if node.has("value"):
        return node.tensor_array("value")
    if node.has("value_float"):
        return np.array(node.number("value_float"), np.float32)
    if node.has("value_floats"):
        return np.array(node.numbers("value_floats"), np.float32)
    if node.has("value_int"):
        return np.array(node.integer("value_int"), np.int64)
    if node.has("value_ints"):
        return np.array(node.integers("value_ints"), np.int64)
    raise Refused("a constant must be a tensor or numbers, got a sparse tensor or strings")


def _shape(node: Node) -> Array:
    """Return the shape of the input, or the part of it from start to end."""
    shape = node.value(0).shape
    return as_array(shape[node.integer("start", 0) : node.integer("end", len(shape))])


def _size(node: Node) -> Array:
    """Return the number of elements of the input."""
    return as_array([node.value(0).size]).reshape(())


def _has_element(node: Node) -> Array:
    """Tell whether the input is given: a tensor is there."""
    return np.array(node.given(0))


def _constant_of_shape(node: Node) -> Array | Value:
    """Repeat a number: map to expand if a dimension has a name. The shape must be known."""
    value = node.tensor_array("value").reshape(-1) if node.has("value") else np.zeros(1, np.float32)
    if value.size != 1:
        raise Refused(f"value must have one element, got {value.size}")
    shape = node.known_integers(0, "the shape")
    if have_names(shape):
        return node.typed(node.builder.expand(node.constant(value.reshape(())), shape), value.dtype)
    if any(size < 0 for size in shape):
        raise Refused(f"the shape must have sizes of at least 0, got {shape}")
    return make_uniform(shape, value.dtype, value[0])


def _eye_like(node: Node) -> Array:
    """Return the matrix with ones on a diagonal, in the shape of the input."""
    value = node.value(0)
    if value.rank != 2 or value.size > _MOST_ELEMENTS:
        raise Refused(f"the input must be a matrix of at most {_MOST_ELEMENTS} elements, got {list(value.shape)}")
    dtype = element_type(node.integer("dtype")) if node.has("dtype") else value.dtype
    diagonal = min(max(node.integer("k", 0), -value.shape[0]), value.shape[1])
    rows, columns = value.shape
    return np.asarray(np.eye(rows, columns, diagonal, dtype))


def _range(node: Node) -> MLOperand:
    """Count from start to limit, if these have dimensions with names. All inputs must be known; the folding has computed other ranges."""
    numbers = []
    for index, name in enumerate(("start", "limit", "delta")):
        known = node.known(index, name)
        numbers += sizes_of(known) if known.size == 1 and known.dtype.kind in "iuO" else []
    if have_names(numbers) and len(numbers) == 3:
        start, limit, delta = numbers
        return node.count(start, limit, delta, carrier(node.value(0).dtype))
    raise Refused("the range must have an increment other than 0, and at most 16 MiB")


RULES: Mapping[str, Callable[[Node], Result]] = {
    "Constant": _constant,
    "ConstantOfShape": _constant_of_shape,
    "EyeLike": _eye_like,
    "OptionalHasElement": _has_element,
    "Range": _range,
    "Shape": _shape,
    "Size": _size,
}
