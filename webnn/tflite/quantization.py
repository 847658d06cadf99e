"""Quantized tensors: the numbers that their integers mean, and back."""

from __future__ import annotations

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.importing.steps import Steps
from webnn.importing.values import Array, Refused, Value
from webnn.tflite.model import Quantization, Tensor

__all__ = ["dequantize", "find_quantization", "quantize", "round_input"]

#: The integers that `dequantizeLinear` and `quantizeLinear` have.
_TYPES = frozenset({"int4", "int8", "uint8", "int32"})


def find_quantization(tensor: Tensor) -> Quantization | None:
    """Return the quantization of a tensor of integers; refuse one that is not valid."""
    found = tensor.quantization
    if found is None or tensor.dtype.kind not in "iuV":
        return None
    least, most = tensor.limits
    if not (np.isfinite(found.scales) & (found.scales > 0)).all() or not ((found.zeros >= least) & (found.zeros <= most)).all():
        raise Refused(f"scales must be finite and above 0, and zero points from {least} to {most}")
    return found


def dequantize(steps: Steps, value: Value, quantization: Quantization) -> Value:
    """Return the numbers, in float32, that integers mean."""
    scales, zeros = _spread(quantization, value.rank)
    if value.dtype.name in _TYPES:
        operand = steps.operand_of(value)
        result = steps.builder.dequantizeLinear(operand, steps.constant(scales), steps.constant(zeros.astype(value.dtype)))
        return Value(value.name, np.dtype(np.float32), value.shape, operand=result, roots=value.roots)
    if value.array is None:
        raise Refused(f"quantized integers must be of int4, int8, int16, int32 or uint8, or known, got {value.dtype.name}")
    numbers = (value.array.astype(np.float64) - zeros) * scales
    return Value.known(numbers.astype(np.float32), value.name)


def quantize(steps: Steps, x: MLOperand, quantization: Quantization, tensor: Tensor) -> MLOperand:
    """Return the integers of a tensor that mean numbers of any floating-point type."""
    if tensor.dtype.name not in _TYPES:
        raise Refused(f"quantized integers must be of int4, int8, int16, int32 or uint8, got {tensor.type}")
    scales, zeros = _spread(quantization, x.descriptor.rank)
    found = steps.builder.quantizeLinear(steps.cast(x, "float32"), steps.constant(scales), steps.constant(zeros.astype(tensor.dtype)))
    if tensor.type != "INT16":
        return found
    least, most = tensor.limits
    return steps.builder.clamp(found, minValue=least, maxValue=most)


def _spread(quantization: Quantization, rank: int) -> tuple[Array, Array]:
    """Return scales and zero points in a shape that broadcasts."""
    shape = [1] * rank
    if quantization.scales.size > 1:
        shape[quantization.axis] = quantization.scales.size
    return quantization.scales.astype(np.float32).reshape(shape), quantization.zeros.reshape(shape)


def round_input(steps: Steps, x: MLOperand, *, asymmetric: bool) -> MLOperand:
    """Round numbers to 8 bits by the range of each batch, as LiteRT does before it multiplies them by quantized weights."""
    builder, axes = steps.builder, list(range(1, x.descriptor.rank))
    least, most = (builder.reduceMin(x, axes=axes, keepDimensions=True), builder.reduceMax(x, axes=axes, keepDimensions=True))
    zero, one = steps.scalar(0, x), steps.scalar(1, x)
    if asymmetric:
        least, most = builder.min(least, zero), builder.max(most, zero)
        scale = builder.div(builder.sub(most, least), steps.scalar(255, x))
    else:
        scale = builder.div(builder.max(builder.abs(least), builder.abs(most)), steps.scalar(127, x))
    # Zeros only have no scale.
    scale = builder.where(builder.equal(scale, zero), one, scale)
    rounded = builder.roundEven(builder.div(x, scale))
    if asymmetric:
        low = builder.roundEven(builder.div(least, scale))
        rounded = builder.min(builder.max(rounded, low), builder.add(low, steps.scalar(255, x)))
    return builder.mul(rounded, scale)
