"""Quantization: numbers to integers and back, and products and convolutions of integers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from onnx import TensorProto

from webnn.builder.operand import MLOperand
from webnn.importing.steps import Result, normalize_axis
from webnn.importing.values import Refused, Value, carrier
from webnn.onnx.model import element_type
from webnn.onnx.node import Node
from webnn.onnx.quantized import arrange, per_axis, quantize, quantize_dynamically, scale_ratio, subtract_zero
from webnn.onnx.rules.convolution import convolve
from webnn.onnx.rules.matmul import lift, multiply, unlift
from webnn.validation.descriptor import FLOAT_TYPES

__all__ = ["RULES", "requantize"]


def _spread(node: Node, shape: Sequence[int]) -> list[int]:
    """Return the scale's shape in the rank of the input: one element, one for each index of an axis, or one for each block of an axis."""
    given = node.value(1).shape
    rank = len(shape)
    block = node.integer("block_size", 0, least=0)
    if all(size == 1 for size in given) and len(given) <= 1 and not block:
        return [1] * rank
    axis = node.axis("axis", 1, rank)
    if not block:
        if len(given) > 1:
            raise Refused(f"the scale must have one dimension if there is no block_size, got {list(given)}")
        return per_axis("the scale", given, shape, axis)
    wanted = [-(-size // block) if each == axis else size for each, size in enumerate(shape)]
    if list(given) != wanted:
        raise Refused(f"the scale must have the shape {wanted} for blocks of {block} along axis {axis}, got {list(given)}")
    return wanted


def _parameter(node: Node, value: Value, spread: Sequence[int], shape: Sequence[int]) -> MLOperand:
    """Return a scale or a zero point for blocks that all have one size; if the last one is shorter, each element gets its own."""
    block = node.integer("block_size", 0)
    axis = normalize_axis("axis", node.integer("axis", 1), len(shape)) if block else 0
    if not block or shape[axis] == spread[axis] * block:
        return arrange(node, value, spread)
    places = node.positions(shape[axis]) // min(block, shape[axis])
    array = node.find_array(value)
    if array is not None and array.shape == tuple(spread):
        return node.constant(array.take(places, axis))
    return node.builder.gather(arrange(node, value, spread), node.constant(places), axis=axis)


def _zero(node: Node, index: int, scale: MLOperand, dtype: np.dtype[Any], spread: Sequence[int], shape: Sequence[int]) -> MLOperand:
    """Return the zero point, in the shape of the scale; it is 0 if it is not given."""
    if node.given(index):
        return _parameter(node, node.value(index), spread, shape)
    return node.constant(np.zeros(scale.descriptor.dimensions, dtype))


def _dequantize(node: Node) -> MLOperand:
    """Map to dequantizeLinear. If the last block is shorter, each element gets its own scale."""
    shape = node.value(0).shape
    spread = _spread(node, shape)
    scale = _parameter(node, node.value(1), spread, shape)
    zero = _zero(node, 2, scale, node.value(0).dtype, spread, shape)
    result = node.builder.dequantizeLinear(node.operand(0), scale, zero)
    target = node.integer("output_dtype", 0)
    return node.cast(result, carrier(element_type(target))) if target else result


def _quantize(node: Node) -> Value:
    """Map to quantizeLinear. The division is computed in the type of the scale, or in that of `precision`; integers are cast to float32."""
    shape = node.value(0).shape
    spread = _spread(node, shape)
    scale = _parameter(node, node.value(1), spread, shape)
    precision = scale.descriptor.dataType
    if node.integer("precision", 0):
        precision = carrier(element_type(node.integer("precision")))
    if precision not in FLOAT_TYPES:
        precision = "float32"
    target = node.value(2).dtype if node.given(2) else element_type(node.integer("output_dtype", 0) or TensorProto.UINT8)
    zero = _zero(node, 2, scale, target, spread, shape)
    quantized = node.builder.quantizeLinear(node.cast(node.operand(0), precision), node.cast(scale, precision), zero)
    return node.typed(quantized, target)


def _qlinear_matmul(node: Node) -> MLOperand:
    """Map to matmul of the integers less their zero points, and quantizeLinear by the ratio of the scales."""
    a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero = (node.value(index) for index in range(8))
    left, right = lift(a.shape, b.shape)
    rows = subtract_zero(node, node.reshape(node.operand(0), left), a_zero, per_axis("the zero point of a", a_zero.shape, left, -2))
    columns = subtract_zero(node, node.reshape(node.operand(3), right), b_zero, per_axis("the zero point of b", b_zero.shape, right, -1))
    product = multiply(node, rows, columns)
    shape = product.descriptor.dimensions
    by_row, by_column = (
        per_axis(f"the scale of {name}", value.shape, shape, axis) for name, value, axis in (("a", a_scale, -2), ("b", b_scale, -1))
    )
    ratio = scale_ratio(node, (y_scale, per_axis("the scale of y", y_scale.shape, shape, -2)), [(a_scale, by_row), (b_scale, by_column)])
    return unlift(node, quantize(node, product, ratio, y_zero, per_axis("the zero point of y", y_zero.shape, shape, -2)), a.shape, b.shape)


def _qlinear_conv(node: Node) -> MLOperand:
    """Map to conv2d of the integers less their zero points, and quantizeLinear by the ratio of the scales.

    The filter may have a scale and a zero point for each of its output channels.
    """
    x, w = node.operand(0), node.operand(3)
    inputs, filters = x.descriptor.dimensions, w.descriptor.dimensions
    if len(inputs) != len(filters):
        raise Refused(f"the filter must have {len(inputs)} dimensions, as the input, got {list(filters)}")
    zeros = [node.value(index) for index in (2, 5)]
    x = subtract_zero(node, x, zeros[0], per_axis("the zero point of x", zeros[0].shape, inputs, 1))
    w = subtract_zero(node, w, zeros[1], per_axis("the zero point of w", zeros[1].shape, filters, 0))
    # The bias counts in steps of the product of the scales, as the sums do.
    bias = node.cast(node.operand(8), "float32") if node.given(8) else None
    sums = convolve(node.derive([x, w]), x, w, bias)
    return requantize(node, sums, (1, 4, 6), 7)


def requantize(node: Node, sums: MLOperand, scales: tuple[int, int, int], zero: int) -> MLOperand:
    """Quantize the sums of a convolution of integers: [batches, channels, ...].

    ``scales`` are the inputs with the scales of input, filter and output, of one element or one for each channel; ``zero`` is that with the
    zero point of the output.
    """
    shape = sums.descriptor.dimensions
    x, w, y = ((value, per_axis("the scale", value.shape, shape, 1)) for value in (node.value(index) for index in scales))
    ratio = scale_ratio(node, y, [x, w])
    return quantize(node, sums, ratio, node.value(zero), per_axis("the zero point of y", node.value(zero).shape, shape, 1))


def _dynamic_quantize(node: Node) -> list[Result]:
    """Compute scale and zero point from the least and the greatest number. The scale of zeros is 1."""
    return [*quantize_dynamically(node, node.operand(0))]


RULES: Mapping[str, Callable[[Node], Result | list[Result]]] = {
    "DequantizeLinear": _dequantize,
    "DynamicQuantizeLinear": _dynamic_quantize,
    "QLinearConv": _qlinear_conv,
    "QLinearMatMul": _qlinear_matmul,
    "QuantizeLinear": _quantize,
}
