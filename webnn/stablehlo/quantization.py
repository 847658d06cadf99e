"""Quantized types: integers that represent numbers.

An operation computes with the numbers; one that only moves elements takes the integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from webnn.hlo.ir import Operation
from webnn.hlo.types import QuantizedType, TensorType, Type, find_dtype
from webnn.importing.values import Refused, Value, carrier
from webnn.stablehlo.elements import tensor_type
from webnn.stablehlo.node import Item, Node
from webnn.stablehlo.tensors import convert, tell

__all__ = ["dequantize", "express", "is_computed", "quantize", "quantize_results", "quantized_type"]


def _operations(*names: str) -> frozenset[str]:
    return frozenset([f"stablehlo.{name}" for name in names])


#: Operations that take the integers as they are: about quantization, or about what is around the elements.
_STORED = {"func.call"} | _operations(
    *("after_all", "bitcast_convert", "composite", "constant", "custom_call", "get_dimension_size", "get_tuple_element"),
    *("optimization_barrier", "tuple", "uniform_dequantize", "uniform_quantize"),
)
#: Operations that move elements, and what of them keeps the dimension that scales belong to.
_SHAPING = _operations("broadcast_in_dim", "dynamic_broadcast_in_dim", "dynamic_reshape", "reshape", "transpose")
_MOVING = _SHAPING | _operations(
    *("concatenate", "dynamic_gather", "dynamic_pad", "dynamic_slice", "dynamic_update_slice", "gather", "pad", "real_dynamic_slice"),
    *("reverse", "select", "slice"),
)
#: Operations that return NaN for some finite numbers.
_UNDEFINED = _operations(
    *("batch_norm_grad", "batch_norm_inference", "batch_norm_training", "cholesky", "divide", "log", "log_plus_one", "power"),
    *("remainder", "rsqrt", "sqrt"),
)


def quantized_type(type: Type) -> QuantizedType | None:
    """Return the element type if it is quantized."""
    element = type.element if isinstance(type, TensorType) else None
    return element if isinstance(element, QuantizedType) else None


def is_computed(operation: Operation) -> bool:
    """Tell whether an operation has quantized operands or results, and computes with the numbers that they represent.

    Quantized elements that a scatter combines are refused.
    """
    found = [kind for value in (*operation.operands, *operation.results) if (kind := quantized_type(value.type)) is not None]
    if not found or operation.name in _STORED or not operation.name.startswith("stablehlo."):
        return False
    if operation.name == "stablehlo.scatter" and any(len(region.operations) > 1 for region in operation.regions):
        raise Refused(f"a scatter of quantized elements must replace them, got a body that computes with {found[0]}")
    if operation.regions:
        # The operations of the regions see to it.
        return False
    if operation.name not in _MOVING:
        return True
    first = found[0]
    if operation.name in _SHAPING:
        return any(
            (each.storage, each.scales, each.zero_points, _limits(each)) != (first.storage, first.scales, first.zero_points, _limits(first))
            for each in found
        )
    return first.axis is not None or any(each != first for each in found)


def _limits(type: QuantizedType) -> tuple[int, int]:
    """Return the least and the greatest stored integer."""
    bits = int(type.storage.lstrip("ui"))
    low, high = (0, (1 << bits) - 1) if type.storage.startswith("u") else (-(1 << bits - 1), (1 << bits - 1) - 1)
    return low if type.minimum is None else type.minimum, high if type.maximum is None else type.maximum


def express(node: Node) -> None:
    """Let an operation see the numbers that its operands represent, and types that are not quantized."""
    items: list[Item] = []
    for item, operand in zip(node.items, node.operation.operands, strict=True):
        type = quantized_type(operand.type)
        items.append(item if type is None or not isinstance(item, Value) else dequantize(node, item, type))
    node.items = items
    types: list[Type] = []
    for each in node.types:
        type = quantized_type(each)
        types.append(each if type is None else TensorType(shape=tensor_type(each).shape, element=type.expressed))
    node.types = tuple(types)


def quantize_results(node: Node, results: Sequence[Item]) -> list[Item]:
    """Return the integers for the results of an operation that computed with numbers."""
    found: list[Item] = []
    for result, value in zip(results, node.operation.results, strict=True):
        type = quantized_type(value.type)
        found.append(result if type is None or not isinstance(result, Value) else quantize(node, result, type))
    return found


def _parameters(value: Value, type: QuantizedType) -> tuple[np.ndarray[Any, np.dtype[Any]], np.ndarray[Any, np.dtype[Any]]]:
    """Return scales and zero points so that they broadcast to a value."""
    shape = [1] * value.rank
    if type.axis is not None:
        if not 0 <= type.axis < value.rank or value.shape[type.axis] != len(type.scales):
            raise Refused(
                f"there must be a scale for each position of the dimension {type.axis} of {list(value.shape)}, got {len(type.scales)}"
            )
        shape[type.axis] = len(type.scales)
    low, high = _limits(type)
    if any(not low <= zero <= high for zero in type.zero_points):
        raise Refused(f"the zero points must be from {low} to {high}, got {list(type.zero_points)}")
    expressed = find_dtype(type.expressed)
    return np.array(type.scales).astype(expressed).reshape(shape), np.array(type.zero_points, np.int64).reshape(shape)


def dequantize(node: Node, value: Value, type: QuantizedType) -> Value:
    """Return the numbers that integers represent."""
    scales, zeros = _parameters(value, type)
    dtype = scales.dtype
    if value.array is not None:
        node.spend(value.size * dtype.itemsize)
        return Value.known(((value.array.astype(dtype) - zeros.astype(dtype)) * scales).astype(dtype))
    zero_points = node.constant(zeros.astype(value.dtype))
    return tell(node.builder.dequantizeLinear(node.operand_of(value), node.constant(scales), zero_points), dtype, value)


def quantize(node: Node, value: Value, type: QuantizedType) -> Value:
    """Return the integers that represent numbers: the quotient and the zero point are added, clamped, and rounded.

    quantizeLinear rounds first. That is the same if the zero point is even; otherwise it is not used. NaN becomes the stored integer 0,
    as in StableHLO's own tests, if it is known, or if the operation makes it of quantized numbers. Other NaN are left to quantizeLinear:
    operators that replaced it would stand between quantizeLinear and the operator before it, which devices fuse.
    """
    scales, zeros = _parameters(value, type)
    storage = find_dtype(type.storage)
    value = convert(node, value, scales.dtype)
    low, high = _limits(type)
    if value.array is not None:
        node.spend(value.size * storage.itemsize)
        quotients = np.asarray(value.array / scales + zeros.astype(scales.dtype), np.float64)
        return Value.known(np.rint(np.nan_to_num(quotients).clip(low, high)).astype(np.int64).astype(storage))
    builder = node.builder
    operand = node.operand_of(value)
    if node.name in _UNDEFINED:
        zero = node.constant((scales * -zeros).astype(scales.dtype))
        operand = builder.where(builder.isNaN(operand), zero, operand)
    if not (zeros % 2).any():
        found = builder.quantizeLinear(operand, node.constant(scales), node.constant(zeros.astype(storage)))
        if (type.minimum, type.maximum) != (None, None):
            found = builder.clamp(found, minValue=low, maxValue=high)
        return tell(found, storage, value)
    moved = builder.add(builder.div(operand, node.constant(scales)), node.constant(zeros.astype(scales.dtype)))
    rounded = builder.roundEven(builder.clamp(moved, minValue=low, maxValue=high))
    return tell(builder.cast(rounded, carrier(storage)), storage, value)
