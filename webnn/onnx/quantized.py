"""Steps that rules of quantized operators share.

A matrix product or a convolution of integers is computed in float32. The factors are the integers less their zero points:
`dequantizeLinear` with the scale 1 gives them exactly. Sums of such products are exact up to 2**24. The scales come last, in one
`quantizeLinear`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.importing.steps import product
from webnn.importing.values import Refused, Value
from webnn.onnx.node import Node
from webnn.validation.shapes import bidirectionally_broadcast

__all__ = ["arrange", "dequantize_dynamically", "per_axis", "quantize", "quantize_dynamically", "scale_ratio", "subtract_zero"]


def arrange(node: Node, value: Value, shape: Sequence[int], wide: Sequence[int] | None = None) -> MLOperand:
    """Return a scale or a zero point in another shape, and expand it; one that is known is changed at import."""
    _check_size(value, shape)
    array = node.find_array(value)
    if array is not None:
        reshaped = array.reshape(shape)
        if wide is not None and reshaped.shape != tuple(wide):
            reshaped = np.full(wide, reshaped)
        return node.constant(reshaped)
    operand = node.reshape(node.operand_of(value), shape)
    return operand if wide is None or tuple(wide) == tuple(shape) else node.builder.expand(operand, list(wide))


def _check_size(value: Value, shape: Sequence[int]) -> None:
    if value.size != product(shape):
        raise Refused(f"scales and zero points must have the same shape, got {list(value.shape)} for {list(shape)}")


def per_axis(what: str, given: Sequence[int], shape: Sequence[int], axis: int) -> list[int]:
    """Return the shape in which a scale or a zero point broadcasts to a tensor.

    It has one element, one for each index of the axis, or a shape that broadcasts; otherwise it is refused.
    """
    rank = len(shape)
    spread = [1] * rank
    if product(given) == 1:
        return spread
    fits = -rank <= axis < rank if len(given) == 1 else len(given) <= rank
    if fits and len(given) == 1:
        spread[axis] = given[0]
    elif fits:
        spread[rank - len(given) :] = given
    if not fits or any(size not in (1, wanted) for size, wanted in zip(spread, shape, strict=True)):
        raise Refused(f"{what} must have one element or one for each index of axis {axis} of {list(shape)}, got {list(given)}")
    return spread


def subtract_zero(node: Node, x: MLOperand, zero: Value | None, shape: Sequence[int]) -> MLOperand:
    """Return integers less their zero point, in a shape that broadcasts to them, exactly, in float32."""
    dataType = x.descriptor.dataType
    if dataType in ("int32", "uint32") and zero is None:
        return node.builder.cast(x, "float32")
    zeroPoint = node.constant(np.zeros(shape, dataType)) if zero is None else arrange(node, zero, shape)
    return node.builder.dequantizeLinear(x, node.constant(np.ones(shape, np.float32)), zeroPoint)


def scale_ratio(node: Node, output: tuple[Value, Sequence[int]], inputs: Sequence[tuple[Value, Sequence[int]]]) -> MLOperand:
    """Return an output's scale divided by the product of the inputs' scales, in float32, each with the shape in which it broadcasts."""
    arrays = [node.find_array(value) for value, _ in (output, *inputs)]
    for value, shape in (output, *inputs):
        _check_size(value, shape)
    known = [array for array in arrays if array is not None]
    if len(known) == len(arrays):
        ratio = known[0].reshape(output[1])
        with np.errstate(all="ignore"):
            for array, (_, shape) in zip(known[1:], inputs, strict=True):
                ratio = np.divide(ratio, array.reshape(shape), dtype=np.float64)
            return node.constant(np.asarray(ratio, np.float32))
    scale, *factors = (node.cast(arrange(node, value, shape), "float32") for value, shape in (output, *inputs))
    for factor in factors:
        scale = node.builder.div(scale, factor)
    return scale


def quantize(node: Node, x: MLOperand, scale: MLOperand, zero: Value, shape: Sequence[int]) -> MLOperand:
    """Quantize numbers, by a zero point that broadcasts to them in a shape; both parameters get one shape."""
    given = scale.descriptor.dimensions
    wide = bidirectionally_broadcast(given, tuple(shape))
    if wide is None:
        raise Refused(f"the zero point of the output must broadcast to its scale, {list(given)}, got {list(shape)}")
    if wide != given:
        scale = node.builder.expand(scale, list(wide))
    return node.builder.quantizeLinear(x, scale, arrange(node, zero, shape, wide))


def quantize_dynamically(node: Node, x: MLOperand) -> tuple[MLOperand, MLOperand, MLOperand]:
    """Quantize numbers to uint8, by their least and greatest one; return the integers, the scale and the zero point, both scalars."""
    builder = node.builder
    axes, one = list(range(len(x.descriptor.dimensions))), [1] * len(x.descriptor.dimensions)
    # How far the numbers go below and above 0.
    below = builder.relu(builder.neg(builder.reduceMin(x, axes=axes, keepDimensions=False)))
    above = builder.relu(builder.reduceMax(x, axes=axes, keepDimensions=False))
    span = builder.add(above, below)
    # Zeros only have no scale of their own.
    scale = builder.where(builder.equal(span, node.scalar(0, x)), node.scalar(1, x), builder.div(span, node.scalar(255, x)))
    zeroPoint = builder.quantizeLinear(below, scale, node.scalar(0, "uint8"))
    return builder.quantizeLinear(x, node.reshape(scale, one), node.reshape(zeroPoint, one)), scale, zeroPoint


def dequantize_dynamically(node: Node, x: MLOperand) -> MLOperand:
    """Return numbers rounded to those that `quantize_dynamically` makes of them."""
    integers, scale, zero = quantize_dynamically(node, x)
    one = [1] * len(x.descriptor.dimensions)
    return node.builder.dequantizeLinear(integers, node.reshape(scale, one), node.reshape(zero, one))
