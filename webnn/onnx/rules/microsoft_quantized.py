"""Quantized operators of the domain com.microsoft, which ONNX Runtime's quantizer writes. ONNX has no schemas of them.

Sums and products are computed with the integers less their zero points; functions that are not linear with the numbers themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.importing.steps import Result
from webnn.importing.values import Refused, Value
from webnn.onnx.node import Node
from webnn.onnx.quantized import arrange, dequantize_dynamically, per_axis, quantize, scale_ratio, subtract_zero
from webnn.onnx.rules.elementwise import RULES as ELEMENTWISE
from webnn.onnx.rules.matmul import lift, multiply, unlift
from webnn.onnx.rules.microsoft import apply
from webnn.onnx.rules.normalization import RULES as NORMALIZATION
from webnn.onnx.rules.pooling import RULES as POOLING
from webnn.onnx.rules.quantization import RULES as QUANTIZATION
from webnn.onnx.rules.reduction import RULES as REDUCTION

__all__ = ["RULES"]


def _zero(node: Node, index: int, like: Value) -> Value:
    """Return a zero point; it is 0 if it is not given."""
    return node.value(index) if node.given(index) else Value.known(np.zeros((), like.dtype))


def _numbers(node: Node, first: int) -> MLOperand:
    """Return the numbers that integers represent; the scale comes after them, then the zero point. All of them have one scale."""
    x = node.value(first)
    shape = [1] * x.rank
    scale, zero = (arrange(node, value, shape) for value in (node.value(first + 1), _zero(node, first + 2, x)))
    return node.builder.dequantizeLinear(node.operand(first), scale, zero)


def _integers(node: Node, first: int) -> MLOperand:
    """Return integers less their zero point, in float32."""
    x = node.value(first)
    return subtract_zero(node, node.operand(first), _zero(node, first + 2, x), [1] * x.rank)


def _quantized(node: Node, x: MLOperand, scale: int, zero: int, inputs: Sequence[int] = (), *, like: int = 0) -> MLOperand:
    """Quantize numbers with an input as the scale, divided by those of other inputs, and an input as the zero point."""
    shape = [1] * len(x.descriptor.dimensions)
    ratio = scale_ratio(node, (node.value(scale), shape), [(node.value(index), shape) for index in inputs])
    return quantize(node, x, ratio, _zero(node, zero, node.value(like)), shape)


def _add(node: Node) -> MLOperand:
    """Add the numbers, and quantize."""
    return _quantized(node, node.builder.add(_numbers(node, 0), _numbers(node, 3)), 6, 7)


def _mul(node: Node) -> MLOperand:
    """Multiply the integers less their zero points, and quantize by the ratio of the scales."""
    return _quantized(node, node.builder.mul(_integers(node, 0), _integers(node, 3)), 6, 7, (1, 4))


def _elementwise(operator: str) -> Callable[[Node], MLOperand]:
    def rule(node: Node) -> MLOperand:
        return _quantized(node, apply(ELEMENTWISE, operator, node, [_numbers(node, 0)]), 3, 4)

    rule.__doc__ = f"Apply {operator} to the numbers, and quantize."
    return rule


def _softmax(node: Node) -> MLOperand:
    """Apply the Softmax of a version of ONNX to the numbers, and quantize."""
    version = node.integer("opset", least=1)
    axis = node.integer("axis", -1)
    return _quantized(node, apply(NORMALIZATION, "Softmax", node, [_numbers(node, 0)], {"axis": axis}, version=version), 3, 4)


def _pool(operator: str) -> Callable[[Node], MLOperand]:
    def rule(node: Node) -> MLOperand:
        x = _integers(node, 0)
        inner = node.derive([x, *node.inputs[1:]])

        def compute(node: Node, x: MLOperand) -> MLOperand:
            return apply(POOLING, operator, node, [x])

        y = _channels_first(inner, compute) if node.flag("channels_last", default=False) else compute(inner, x)
        return _quantized(node, y, 3, 4, (1,))

    rule.__doc__ = f"Apply {operator} to the integers less their zero point, and quantize by the ratio of the scales."
    return rule


def _concat(node: Node) -> MLOperand:
    """Map to concat. Inputs with another scale or zero point than the result are quantized again."""
    if len(node.inputs) < 5 or len(node.inputs) % 3 != 2:
        raise Refused(f"there must be 2 inputs, and 3 for each tensor, got {len(node.inputs)}")
    parts = []
    for first in range(2, len(node.inputs), 3):
        same = all(_same(node, first + 1 + index, index) for index in (0, 1))
        parts.append(node.operand(first) if same else _quantized(node, _numbers(node, first), 0, 1))
    axis = node.axis("axis", None, node.value(2).rank)
    return parts[0] if len(parts) == 1 else node.builder.concat(parts, axis)


def _same(node: Node, index: int, other: int) -> bool:
    """Tell whether two inputs are known to be equal."""
    a, b = (node.find_array(node.value(each)) for each in (index, other))
    return a is not None and b is not None and a.dtype == b.dtype and a.size == b.size and np.array_equal(a.reshape(-1), b.reshape(-1))


def _where(node: Node) -> MLOperand:
    """Map to where of the numbers, and quantize."""
    condition = node.cast(node.operand(0), "uint8")
    return _quantized(node, node.builder.where(condition, _numbers(node, 1), _numbers(node, 4)), 7, 8, like=1)


def _mean(node: Node) -> MLOperand:
    """Map to reduceMean of the numbers, and quantize."""
    given = {"axes": node.integers("axes"), "keepdims": node.integer("keepdims", 1)}
    return _quantized(node, apply(REDUCTION, "ReduceMean", node, [_numbers(node, 0)], given, version=13), 3, 4)


# Operators with the channels behind.


def _channels_first(node: Node, compute: Callable[[Node, MLOperand], MLOperand]) -> MLOperand:
    """Compute something of an input whose channels are moved to the front, and back again in the result."""
    rank = node.value(0).rank
    if rank < 3:
        return compute(node, node.operand(0))
    y = compute(node, node.transpose(node.operand(0), [0, rank - 1, *range(1, rank - 1)]))
    return node.transpose(y, [0, *range(2, rank), 1])


def _conv(node: Node) -> MLOperand:
    """Map as QLinearConv, perhaps with the channels behind."""

    def compute(node: Node, x: MLOperand) -> MLOperand:
        return apply(QUANTIZATION, "QLinearConv", node, [x, *node.inputs[1:]])

    return _channels_first(node, compute) if node.flag("channels_last", default=False) else compute(node, node.operand(0))


def _max_pool(node: Node) -> MLOperand:
    """Map as MaxPool, with the channels behind."""
    return _channels_first(node, lambda node, x: apply(POOLING, "MaxPool", node, [x]))


# Matrix products.


def _factor(node: Node, operand: MLOperand, shape: Sequence[int], scale: int, zero: int, axis: int) -> MLOperand:
    """Return the numbers of a factor of a matrix product, which has one scale, or one for each row or column."""
    scales = node.value(scale)
    zeros = node.value(zero) if node.given(zero) else Value.known(np.zeros((), operand.descriptor.dataType))
    spreads = per_axis("the scale", scales.shape, shape, axis), per_axis("the zero point", zeros.shape, shape, axis)
    # One of both may be for the whole factor.
    wide = [max(sizes) for sizes in zip(*spreads, strict=True)]
    scaleOperand, zeroPoint = (arrange(node, value, spread, wide) for value, spread in zip((scales, zeros), spreads, strict=True))
    return node.builder.dequantizeLinear(node.reshape(operand, shape), scaleOperand, zeroPoint)


def _product(node: Node, left: MLOperand, shapes: tuple[Sequence[int], Sequence[int]], right: MLOperand, bias: int) -> MLOperand:
    """Multiply the factors, and add a bias if it is given."""
    product = unlift(node, multiply(node, left, right), *shapes)
    return node.builder.add(product, node.operand(bias)) if node.given(bias) else product


def _matmul_to_float(node: Node) -> MLOperand:
    """Map to matmul of the numbers, and an addition."""
    shapes = (node.value(0).shape, node.value(1).shape)
    rows, columns = lift(*shapes)
    left = _factor(node, node.operand(0), rows, 2, 4, -2)
    return _product(node, left, shapes, _factor(node, node.operand(1), columns, 3, 5, -1), 6)


def _dynamic_matmul(node: Node) -> MLOperand:
    """Quantize the left factor, then map to matmul of the numbers, and an addition."""
    shapes = (node.value(0).shape, node.value(1).shape)
    rows, columns = lift(*shapes)
    left = dequantize_dynamically(node, node.reshape(node.operand(0), rows))
    return _product(node, left, shapes, _factor(node, node.operand(1), columns, 2, 3, -1), 4)


def _gemm(node: Node) -> MLOperand:
    """Map to matmul of the integers less their zero points, plus the bias; quantized, or multiplied by the scales.

    The bias counts in steps of alpha and the product of the scales. The right factor may have a scale for each column.
    """
    builder = node.builder
    a, b = node.operand(0), node.operand(3)
    if node.value(0).rank != 2 or node.value(3).rank != 2:
        raise Refused(f"the factors must be matrices, got {list(node.value(0).shape)} and {list(node.value(3).shape)}")
    a = node.transpose(a, [1, 0]) if node.flag("transA", default=False) else a
    b = node.transpose(b, [1, 0]) if node.flag("transB", default=False) else b
    left = subtract_zero(node, a, _zero(node, 2, node.value(0)), [1, 1])
    zero = _zero(node, 5, node.value(3))
    right = subtract_zero(node, b, zero, per_axis("the zero point of B", zero.shape, b.descriptor.dimensions, -1))
    sums = builder.matmul(left, right)
    if node.given(6):
        sums = builder.add(sums, node.cast(node.operand(6), "float32"))
    alpha = node.number("alpha", 1.0)
    if alpha != 1:
        sums = builder.mul(sums, node.scalar(alpha, sums))
    shape = sums.descriptor.dimensions
    scales = [(node.value(1), [1, 1]), (node.value(4), per_axis("the scale of B", node.value(4).shape, shape, -1))]
    if node.given(7):
        return quantize(node, sums, scale_ratio(node, (node.value(7), [1, 1]), scales), _zero(node, 8, node.value(0)), [1, 1])
    one, two = (arrange(node, value, spread) for value, spread in scales)
    return builder.mul(sums, builder.mul(one, two))


_RULES: Mapping[str, Callable[[Node], Result | list[Result]]] = {
    **{name: QUANTIZATION[name] for name in ("DequantizeLinear", "QuantizeLinear")},
    "DynamicQuantizeMatMul": _dynamic_matmul,
    "MatMulIntegerToFloat": _matmul_to_float,
    "NhwcMaxPool": _max_pool,
    "QGemm": _gemm,
    "QLinearAdd": _add,
    "QLinearAveragePool": _pool("AveragePool"),
    "QLinearConcat": _concat,
    "QLinearConv": _conv,
    "QLinearGlobalAveragePool": _pool("GlobalAveragePool"),
    "QLinearLeakyRelu": _elementwise("LeakyRelu"),
    "QLinearMul": _mul,
    "QLinearReduceMean": _mean,
    "QLinearSigmoid": _elementwise("Sigmoid"),
    "QLinearSoftmax": _softmax,
    "QLinearWhere": _where,
}

RULES: Mapping[str, Callable[[Node], Result | list[Result]]] = {f"com.microsoft.{name}": rule for name, rule in _RULES.items()}
