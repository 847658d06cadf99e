"""Elements that move, whether they are known or not: what is known stays known."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.hlo.ir import Region
from webnn.importing import moving
from webnn.importing.values import Array, Refused, Value, carrier, make_uniform
from webnn.stablehlo.node import Item, Node
from webnn.validation.shapes import bidirectionally_broadcast

__all__ = ["apply", "convert", "cut", "expand", "flip", "join", "pad", "permute", "reshape", "run_body", "take", "tell", "wrap"]

#: The functions of `apply` for known values.
_KNOWN: Mapping[str, Callable[..., Any]] = {
    "add": np.add,
    "equal": np.equal,
    "max": np.maximum,
    "min": np.minimum,
    "mul": np.multiply,
    "where": np.where,
}


def wrap(operand: MLOperand, *values: Value) -> Value:
    """Return an operand as a value that has the element type of the first value, and comes from all."""
    return tell(operand, values[0].dtype, *values)


def tell(operand: MLOperand, dtype: np.dtype[Any], *values: Value) -> Value:
    """Return an operand as a value of an element type that comes from some values."""
    roots = frozenset[str]().union(*(value.roots for value in values))
    return Value("", dtype, operand.descriptor.dimensions, operand=operand, roots=roots)


def _empty(value: Value, shape: Sequence[int]) -> Value:
    return Value.known(make_uniform(shape, value.dtype))


def permute(node: Node, value: Value, permutation: Sequence[int]) -> Value:
    """Transpose a value."""
    order = list(permutation)
    if order == sorted(order):
        return value
    if value.array is not None:
        return Value.known(value.array.transpose(order))
    return wrap(node.transpose(node.operand_of(value), order), value)


def reshape(node: Node, value: Value, shape: Sequence[int]) -> Value:
    """Reshape a value."""
    if value.shape == tuple(shape):
        return value
    if value.array is not None:
        return Value.known(node.reshaped(value.array, shape))
    return wrap(node.reshape(node.operand_of(value), shape), value)


def expand(node: Node, value: Value, shape: Sequence[int]) -> Value:
    """Broadcast a value to a shape."""
    if value.shape == tuple(shape):
        return value
    if value.array is not None:
        return Value.known(np.broadcast_to(value.array, tuple(shape)))
    if 0 in shape:
        return _empty(value, shape)
    return wrap(node.builder.expand(node.operand_of(value), list(shape)), value)


def convert(node: Node, value: Value, dtype: np.dtype[Any]) -> Value:
    """Cast a value to an element type in which its elements are exact, or nearly so."""
    if value.dtype == dtype:
        return value
    if value.array is not None:
        return Value.known(value.array.astype(dtype))
    return tell(node.cast(node.operand_of(value), carrier(dtype)), dtype, value)


def flip(node: Node, value: Value, axes: Sequence[int]) -> Value:
    """Reverse the elements along axes."""
    axes = [axis for axis in axes if value.shape[axis] > 1]
    if not axes:
        return value
    if value.array is not None:
        return Value.known(np.flip(value.array, tuple(axes)))
    return wrap(node.builder.reverse(node.operand_of(value), axes=list(axes)), value)


def cut(node: Node, value: Value, starts: Sequence[int], sizes: Sequence[int], strides: Sequence[int] | None = None) -> Value:
    """Cut a block out of a value: `sizes` are those of the result, which has one element from each stride."""
    steps = list(strides) if strides is not None else [1] * value.rank
    if 0 in sizes:
        return _empty(value, sizes)
    if value.array is not None:
        slices = [slice(start, start + (size - 1) * step + 1, step) for start, size, step in zip(starts, sizes, steps, strict=True)]
        return Value.known(value.array[tuple(slices)])
    if tuple(sizes) == value.shape:
        return value
    return wrap(moving.slice_operand(node, node.operand_of(value), starts, sizes, strides), value)


def take(node: Node, value: Value, axis: int, indices: Array) -> Value:
    """Return the elements at some indices along an axis."""
    if value.array is not None:
        return Value.known(np.take(value.array, indices, axis))
    return wrap(node.builder.gather(node.operand_of(value), node.constant(indices.astype(np.int32)), axis=axis), value)


def join(node: Node, values: Sequence[Value], axis: int) -> Value:
    """Concatenate values."""
    kept = [value for value in values if value.shape[axis]] or list(values[:1])
    if len(kept) == 1:
        return kept[0]
    known = [value.array for value in kept if value.array is not None]
    if len(known) == len(kept):
        node.spend(sum(array.nbytes for array in known))
        return Value.known(np.concatenate(known, axis))
    return wrap(node.builder.concat([node.operand_of(value) for value in kept], axis), *kept)


def pad(node: Node, value: Value, filler: Value, low: Sequence[int], high: Sequence[int], interior: Sequence[int] | None = None) -> Value:
    """Put a scalar between the elements of each axis, and before and behind them; a negative number cuts elements off."""
    inner = [0] * value.rank if interior is None else interior
    if value.array is None or filler.array is None:
        found = moving.pad(node, value, filler, low, high, inner)
        return wrap(found, value, filler) if isinstance(found, MLOperand) else Value.known(found)
    spread = [size + max(size - 1, 0) * between for size, between in zip(value.shape, inner, strict=True)]
    shape = [max(size + before + behind, 0) for size, before, behind in zip(spread, low, high, strict=True)]
    # Elements that are cut off later are included.
    whole = [size + max(before, 0) + max(behind, 0) for size, before, behind in zip(spread, low, high, strict=True)]
    node.spend(math.prod(whole) * value.dtype.itemsize)
    padded = np.full(whole, filler.array.reshape(()), value.dtype)
    places = [slice(max(start, 0), max(start, 0) + size, step + 1) for start, size, step in zip(low, spread, inner, strict=True)]
    padded[tuple(places)] = value.array
    return cut(node, Value.known(padded), [max(-start, 0) for start in low], shape)


def apply(node: Node, name: str, *values: Value) -> Value:
    """Return what an elementwise operation of the builder makes of values; comparisons return i1, others the type of the last value."""
    dtype = np.dtype(np.bool_) if name == "equal" else values[-1].dtype
    known = [value.array for value in values if value.array is not None]
    if len(known) == len(values):
        return Value.known(np.asarray(_KNOWN[name](*known), dtype))
    operand: MLOperand = getattr(node.builder, name)(*[node.operand_of(value) for value in values])
    return tell(operand, dtype, *values)


def run_body(node: Node, region: Region, values: Sequence[Value], shape: Sequence[int]) -> list[Value]:
    """Run a region that makes one of two lists of scalars on the elements of values; return its results in a shape.

    The region must be elementwise; one that is not is refused, or its results cannot be broadcast to the shape.
    """
    items: list[Item] = node.run(region, values)
    if len(items) != len(values) // 2:
        raise Refused(f"the region must return {len(values) // 2} results, got {len(items)}")
    found = []
    for item in items:
        if not isinstance(item, Value):
            raise Refused("the region must return tensors")
        if item.shape != tuple(shape) and bidirectionally_broadcast(item.shape, tuple(shape)) != tuple(shape):
            raise Refused(f"the results of the region must have the shape {list(shape)}, got {list(item.shape)}")
        found.append(expand(node, item, shape))
    return found
