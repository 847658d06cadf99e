"""Integers for floating-point numbers: in float32, as docs/numerics.md says."""

from __future__ import annotations

from webnn.hlo.export.emitter import Emitter, Tensor
from webnn.hlo.export.rule import Op, Rule
from webnn.validation.descriptor import BITS, integer_range

__all__ = ["RULES"]


def _upsample(e: Emitter, x: Tensor, like: Tensor) -> Tensor:
    """Repeat each element along each axis, as often as its block has elements: axis by axis, because LiteRT has few dimensions."""
    for axis, (count, whole) in enumerate(zip(x.shape, like.shape, strict=True)):
        if count != whole:
            before, behind = x.shape[: axis + 1], x.shape[axis + 1 :]
            shape = (*before, whole // count, *behind)
            repeated = e.broadcast(x, shape, [each for each in range(len(shape)) if each != axis + 1])
            x = e.reshape(repeated, (*before[:-1], whole, *behind))
    return x


def _dequantize(e: Emitter, op: Op) -> Tensor:
    x, scale = op["input"], op["scale"]
    # A difference of 32-bit integers has 33 bits.
    exact = "i64" if x.element in ("i32", "ui32") else "i32"
    difference = e.convert(x, exact) - _upsample(e, e.convert(op["zeroPoint"], exact), x)
    product = e.convert(difference, "f32") * _upsample(e, e.convert(scale, "f32"), x)
    return e.convert(product, scale.element)


def _quantize(e: Emitter, op: Op) -> Tensor:
    x, zeroPoint, dataType = op["input"], op["zeroPoint"], op.outputs[0].dataType
    # XLA replaces a division by a constant or a broadcast value with a product: a quotient of one half could be rounded to another integer.
    scale = _upsample(e, e.convert(op["scale"], "f32"), x)
    quotient = e.convert(x, "f32") / e.op("optimization_barrier", [scale], scale.shape, scale.element)
    number = e.unary("round_nearest_even", quotient)
    # Far beyond the ends of the type, and exact in both types.
    exact, end = ("i64", 2.0**40) if BITS[dataType] == 32 else ("i32", 2.0**20)
    total = e.convert(e.clamp(number, -end, end), exact) + _upsample(e, e.convert(zeroPoint, exact), x)
    inside = e.clamp(total, *integer_range(dataType))
    # StableHLO does not define the integer of NaN.
    return e.convert(e.select(e.compare("NE", quotient, quotient), 0, inside), zeroPoint.element)


RULES = {"dequantizeLinear": Rule(emit=_dequantize), "quantizeLinear": Rule(emit=_quantize)}
