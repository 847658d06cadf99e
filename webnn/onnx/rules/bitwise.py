"""Operators on the bits of integers. WebNN has none: shifts are products and quotients with powers of 2; the others go bit by bit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from webnn.importing.values import Refused, Value
from webnn.onnx.elements import element_type
from webnn.onnx.node import Node

if TYPE_CHECKING:
    from webnn.builder.operand import MLOperand
    from webnn.validation.descriptor import DataType

__all__ = ["RULES"]


def _info(node: Node, index: int) -> np.iinfo[Any]:
    dtype = node.value(index).dtype
    if dtype.kind not in "iu":
        raise Refused(f"the input {index} must be integers, got {dtype.name}")
    return np.iinfo(dtype)


def _type(node: Node, index: int) -> DataType:
    """Return the type in which an input is computed: integers of 8 bits in int32."""
    info = _info(node, index)
    return "int32" if info.bits < 32 else cast("DataType", info.dtype.name)


def _bit_shift(node: Node) -> MLOperand:
    """Multiply or divide by a power of 2. A negative distance is as one of all bits."""
    builder, info = node.builder, _info(node, 0)
    x, bits = node.cast(node.operand(0), _type(node, 0)), int(info.bits)
    left = node.choice("direction", "", ("LEFT", "RIGHT")) == "LEFT"
    choose = _distances(node, bits)
    powers = choose([1 << min(distance, bits - 1) for distance in range(bits + 1)])
    is_shorter = choose([*[1] * bits, 0])
    if left:
        return _wrap(node, builder.mul(builder.mul(x, powers), is_shorter), info)
    negative = builder.lesser(x, node.scalar(0, x)) if info.min < 0 else None
    shifted = builder.mul(builder.div(_complement(node, x, negative), powers), is_shorter)
    return _complement(node, shifted, negative)


def _distances(node: Node, bits: int) -> Callable[[list[int]], MLOperand]:
    """Return a function that chooses a number from a list for each distance."""
    dataType, builder = _type(node, 0), node.builder
    known = node.find_array(node.value(1))
    if known is not None:
        places = np.where((known < 0) | (known >= bits), bits, known).astype(np.int64)
        return lambda numbers: node.constant(np.array(numbers, np.uint64).astype(dataType)[places])
    distance = node.cast(node.operand(1), _type(node, 1))
    most = node.scalar(bits, distance)
    place = builder.min(distance, most)
    if _info(node, 1).min < 0:
        place = builder.where(builder.lesser(distance, node.scalar(0, distance)), most, place)
    indices = node.cast(place, "int32")
    return lambda numbers: builder.gather(node.constant(np.array(numbers, np.uint64).astype(dataType)), indices)


def _wrap(node: Node, x: MLOperand, info: np.iinfo[Any]) -> MLOperand:
    """Return integers modulo what the type of the result holds; those of 32 bits and more wrap by themselves."""
    if info.bits >= 32:
        return x
    builder, count = node.builder, 1 << int(info.bits)
    # A quotient goes toward zero: the dividend becomes positive.
    dividend = builder.add(x, node.scalar(count * count - int(info.min), x)) if info.min < 0 else x
    size = node.scalar(count, x)
    rest = builder.sub(dividend, builder.mul(builder.div(dividend, size), size))
    return builder.add(rest, node.scalar(int(info.min), x)) if info.min < 0 else rest


def _complement(node: Node, x: MLOperand, where: MLOperand | None) -> MLOperand:
    """Return the numbers with all bits inverted where a condition holds."""
    return x if where is None else node.builder.where(where, node.builder.sub(node.scalar(-1, x), x), x)


def _bitwise_not(node: Node) -> MLOperand:
    """Subtract from the number of all bits: -1, or the greatest one."""
    info, dataType = _info(node, 0), _type(node, 0)
    return node.builder.sub(node.scalar(-1 if info.min < 0 else int(info.max), dataType), node.cast(node.operand(0), dataType))


def _bits(node: Node, index: int, powers: MLOperand) -> tuple[MLOperand, MLOperand | None]:
    """Return the bits of an input, uint8 [..., bits], and whether it is negative, uint8 [..., 1], if that is possible."""
    builder, dataType, shape = node.builder, _type(node, index), node.value(index).shape
    x = node.reshape(node.cast(node.operand(index), dataType), [*shape, 1])
    negative = None
    if _info(node, index).min < 0:
        negative = builder.lesser(x, node.scalar(0, x))
        # The complement has the other bits, and is not negative.
        x = _complement(node, x, negative)
    quotient, two = builder.div(x, powers), node.scalar(2, x)
    odd = builder.notEqual(builder.mul(builder.div(quotient, two), two), quotient)
    return odd if negative is None else builder.logicalXor(odd, negative), negative


def _bitwise(operation: Literal["logicalAnd", "logicalOr", "logicalXor"]) -> Callable[[Node], MLOperand]:
    def rule(node: Node) -> MLOperand:
        builder, info, dataType = node.builder, _info(node, 0), _type(node, 0)
        combine = getattr(builder, operation)
        count = int(info.bits) - (info.min < 0)
        powers = node.constant(np.array([1 << bit for bit in range(count)], dataType))
        (a, a_negative), (b, b_negative) = (_bits(node, index, powers) for index in (0, 1))
        bits = combine(a, b)
        negative = None if a_negative is None else combine(a_negative, b_negative)
        if negative is not None:
            bits = builder.logicalXor(bits, negative)
        axis = len(bits._descriptor.dimensions) - 1
        magnitude = builder.reduceSum(builder.mul(builder.cast(bits, dataType), powers), axes=[axis], keepDimensions=True)
        return node.reshape(_complement(node, magnitude, negative), magnitude._descriptor.dimensions[:-1])

    rule.__doc__ = f"Divide by all powers of 2, combine the odd quotients by {operation}, and add the powers up."
    return rule


def _bit_cast(node: Node) -> Value:
    """Map to cast between signed and unsigned integers of a size, which wraps. Floating-point numbers are refused."""
    source, target = node.value(0).dtype, element_type(node.integer("to"))
    if source == target:
        return node.value(0)
    if source.kind not in "biu" or target.kind not in "iu" or source.itemsize != target.itemsize:
        raise Refused(f"the bits must stay integers of a size, got {source.name} and {target.name}")
    return node.typed(node.operand(0), target)


RULES: Mapping[str, Callable[[Node], MLOperand | Value]] = MappingProxyType(
    {
        "BitCast": _bit_cast,
        "BitShift": _bit_shift,
        "BitwiseAnd": _bitwise("logicalAnd"),
        "BitwiseNot": _bitwise_not,
        "BitwiseOr": _bitwise("logicalOr"),
        "BitwiseXor": _bitwise("logicalXor"),
    }
)
