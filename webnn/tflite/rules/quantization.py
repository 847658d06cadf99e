"""Operators between element types. The import itself quantizes results, and reads what quantized integers mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from webnn.importing.steps import Result
from webnn.importing.values import Refused
from webnn.tflite.node import Node

__all__ = ["RULES"]

#: Constants of more numbers stay in float16.
_FEW = 1 << 10


def _pass(node: Node) -> Result:
    """Pass on the input, or the numbers that it means. Sparse weights are expanded when the file is read."""
    return node.value(0)


def _dequantize(node: Node) -> Result:
    """Map to cast or dequantizeLinear. Few numbers of float16 are cast at import; more stay as small as they are."""
    value = node.value(0)
    return value.array.astype(np.float32) if value.array is not None and value.size <= _FEW and value.dtype == np.float16 else value


def _fake_quant(node: Node) -> Result:
    """Round to the numbers that quantized integers would mean."""
    builder, x = node.builder, node.operand(0)
    low, high, bits = float(node.option("Min", 0.0)), float(node.option("Max", 0.0)), node.integer("NumBits", 2)
    if not low <= 0 <= high or low == high or bits > 16:
        raise Refused(f"Min and Max must enclose 0, and NumBits be at most 16, got {low}, {high} and {bits}")
    least, most = int(node.flag("NarrowRange")), 2**bits - 1
    scale = np.float32((high - low) / (most - least))
    zero = min(max(int(np.round(least - low / scale)), least), most)
    bottom, top = (least - zero) * scale, (most - zero) * scale
    x = builder.clamp(x, minValue=float(bottom), maxValue=float(top))
    steps = builder.roundEven(builder.div(builder.sub(x, node.scalar(float(bottom), x)), node.scalar(float(scale), x)))
    return builder.add(builder.mul(steps, node.scalar(float(scale), x)), node.scalar(float(bottom), x))


RULES: Mapping[str, Callable[[Node], Result | list[Result]]] = {
    "DENSIFY": _pass,
    "DEQUANTIZE": _dequantize,
    "FAKE_QUANT": _fake_quant,
    "QUANTIZE": _pass,
}
