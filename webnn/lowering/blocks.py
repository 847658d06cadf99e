"""Weights as integers, by blocks: `to_integers`. A `dequantizeLinear` in front of the operators gives the numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from webnn.builder.describe import Names
from webnn.builder.description import ConstantDescription, GraphDescription, OperatorDescription
from webnn.validation.descriptor import FLOAT_TYPES, DataType, OperandDescriptor, integer_range, pack
from webnn.validation.drafts import find_revision, for_devices

__all__ = ["IntegerWeight", "Integers", "to_integers"]

Array = np.ndarray[Any, np.dtype[Any]]
Bits = Literal[4, 8]

#: The most elements of a block.
_BLOCKS: Mapping[Bits, int] = MappingProxyType({4: 32, 8: 128})
_TYPES: Mapping[Bits, DataType] = MappingProxyType({4: "int4", 8: "int8"})
#: A block of fewer elements has no use: its scale would be as large as the elements.
_LEAST_BLOCK = 8
#: A constant of fewer elements stays as it is.
_LEAST = 4096
#: The largest integers to which the largest element of a block may be mapped: the one with the least error is taken.
_STEPS: Mapping[Bits, tuple[float, ...]] = MappingProxyType({4: (7.0, 7.5, 8.0), 8: (127.0,)})


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegerWeight:
    """A constant that became integers.

    Attributes:
        name: The name of the numbers, as before.
        error: The root mean square of the errors, divided by that of the numbers.
    """

    name: str
    error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Integers:
    """A graph with weights of integers: the result of `to_integers`.

    Attributes:
        description: The graph.
        weights: The weights that became integers, the one with the largest error first.
    """

    description: GraphDescription
    weights: tuple[IntegerWeight, ...]


def to_integers(description: GraphDescription, bits: Bits) -> Integers:
    """Return a graph whose weights are integers of 8 or 4 bits, in blocks with a scale each.

    Weights are the constants of at least 4096 finite numbers that only matrix products, convolutions, recurrent networks and `gather` take.
    A block is at most 128 elements for 8 bits, 32 for 4 bits, along the axis that a product sums over.

    Args:
        description: The graph. One with weights, of a draft without `dequantizeLinear`, is lifted; 4 bits bring the draft an addition.
        bits: The bits of an integer.

    Raises:
        WebNNTypeError: The draft refuses the graph.
        DescriptionError: The description contradicts itself, or has something without counterpart in the newest draft.
    """
    description = description.infer()
    found = _find_weights(description)
    if found and "dequantizeLinear" not in find_revision(description.draft, imports=False).operations:
        description = description.lift()
    constants, taken = dict(description.constants), Names(description.descriptors())
    made: dict[str, OperatorDescription] = {}
    weights = []
    for name, axes in found.items():
        constant = constants[name]
        blocks = _divide(constant.value.shape, axes, _BLOCKS[bits])
        integers, scale, error = _round(constant.value.astype(np.float32), blocks, bits, constant.value.dtype)
        weights.append(IntegerWeight(name=name, error=error))
        del constants[name]
        inputs: dict[str, str | tuple[str, ...]] = {}
        zeros = np.zeros(blocks, np.int8)
        for part, array, dataType in (
            ("input", integers, _TYPES[bits]),
            ("scale", scale, constant.descriptor.dataType),
            ("zeroPoint", zeros, _TYPES[bits]),
        ):
            own = inputs[part] = taken.find(f"{name}_{dataType if part == 'input' else part}")
            value = pack(array) if dataType == "int4" else array
            constants[own] = ConstantDescription(descriptor=OperandDescriptor(dataType, array.shape), value=value)
        made[name] = OperatorDescription(operation="dequantizeLinear", inputs=inputs, label=name, outputs=(name,))
    operators: list[OperatorDescription] = []
    for operator in description.operators:
        operators += [made.pop(value) for _, _, value in operator.named_values() if value in made]
        operators.append(operator)
    draft = description.draft
    if bits == 4 and weights:
        draft = for_devices(find_revision(draft, imports=False)).of_graphs
    changed = replace(description, draft=draft, constants=constants, operators=tuple(operators)).infer()
    return Integers(description=changed, weights=tuple(sorted(weights, key=lambda each: -each.error)))


def _find_weights(description: GraphDescription) -> dict[str, tuple[int, ...]]:
    """Return the constants that become integers, with the axis along which blocks lie; behind it the axes that blocks fill."""
    found: dict[str, tuple[int, ...]] = {}
    for operator in description.operators:
        for argument, _, value in operator.named_values():
            if value in description.constants:
                axes = _axes(operator, argument.removeprefix("options."), description.constants[value].descriptor)
                found[value] = axes if found.get(value, axes) == axes else ()
    kept = {*description.outputs.values()}
    return {name: axes for name, axes in found.items() if axes and name not in kept and _is_finite(description.constants[name].value)}


def _axes(operator: OperatorDescription, argument: str, descriptor: OperandDescriptor) -> tuple[int, ...]:
    """Return the axis of a weight that a product sums over, and the axes of a filter's window; none if the operand is not a weight."""
    rank, options = len(descriptor.dimensions), operator.options
    if descriptor.dataType not in FLOAT_TYPES or descriptor.element_count < _LEAST or rank < 2:
        return ()
    match operator.operation, argument:
        case "matmul", "b":
            return (rank - 2,)
        case "gemm", "a":
            return (0 if options.get("aTranspose") else 1,)
        case "gemm", "b":
            return (1 if options.get("bTranspose") else 0,)
        case "conv2d" | "convTranspose2d", "filter":
            layout = str(options.get("filterLayout", "oihw" if operator.operation == "conv2d" else "iohw"))
            return tuple([layout.index(each) for each in "ihw"])
        case ("matmul", "a") | ("gather", "input") | ("gru" | "lstm" | "gruCell" | "lstmCell", "weight" | "recurrentWeight"):
            return (rank - 1,)
    return ()


def _is_finite(array: Array) -> bool:
    return bool(np.isfinite(array).all())


def _divide(shape: Sequence[int], axes: Sequence[int], most: int) -> tuple[int, ...]:
    """Return the number of blocks along each axis. A block divides the first of the axes, and fills the others."""
    size = shape[axes[0]]
    block = max(each for each in range(1, min(size, most) + 1) if size % each == 0)
    blocks = [1 if place in axes else each for place, each in enumerate(shape)]
    blocks[axes[0]] = size // block if block >= _LEAST_BLOCK else 1
    return tuple(blocks)


def _round(value: Array, blocks: Sequence[int], bits: Bits, dtype: np.dtype[Any]) -> tuple[Array, Array, float]:
    """Return the integers, the scales in a type, and the error."""
    low, high = integer_range(_TYPES[bits])
    split = [part for size, count in zip(value.shape, blocks, strict=True) for part in (count, size // count)]
    inner = tuple(range(1, len(split), 2))
    blocked = value.reshape(split)
    largest = np.abs(blocked).max(inner, keepdims=True)
    best: tuple[Array, Array, Array] | None = None
    for step in _STEPS[bits]:
        scale = (largest / np.float32(step)).astype(dtype)
        # Nothing is rounded to a scale of 0.
        scale[scale == 0] = 1
        integers = np.clip(np.rint(blocked / scale.astype(np.float32)), low, high)
        error = np.square(integers * scale.astype(np.float32) - blocked).sum(inner, keepdims=True, dtype=np.float64)
        if best is None:
            best = integers, scale, error
        else:
            better = error < best[2]
            best = np.where(better, integers, best[0]), np.where(better, scale, best[1]), np.where(better, error, best[2])
    assert best is not None
    total = float(np.square(value, dtype=np.float64).sum())
    error_ratio = math.sqrt(float(best[2].sum()) / total) if total else 0.0
    return best[0].reshape(value.shape).astype(np.int8), best[1].reshape(blocks), error_ratio
