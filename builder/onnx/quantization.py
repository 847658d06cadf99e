"""Integers for floating-point numbers, by the engine's own nodes where they are right: `docs/numerics.md` defines right.

Its `DequantizeLinear` is right for integers of 4 and 8 bits, in each of the forms of `_form`. For int32 it is right without a zero point
(the difference wraps), and it does not know uint32. Its `QuantizeLinear` is right for float32 and 8 bits with one scale, or with one for
each index of an axis; with blocks, for float16 and for 4 bits it turns numbers that are too large into the smallest value. Where no node is
right, and for float8e4m3, the result is computed step by step: each blocked axis becomes two axes, the blocks and the elements of a
block, so that scales are broadcast.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np

from webnn.builder.onnx.emitter import Emitter, Op, Translation
from webnn.builder.onnx.integer import clip
from webnn.builder.onnx.values import Array, View
from webnn.builder.operand import Operator
from webnn.validation.descriptor import CARRIERS, DataType, Shape, integer_range

__all__ = ["TRANSLATIONS", "Subtract", "dequantize", "dequantize_constants", "dequantize_in_steps"]

_WIDE: tuple[DataType, ...] = ("int32", "uint32")


#: Emits the difference of integers of 32 bits as float32.
Subtract = Callable[[Emitter, str, str, DataType], str]


class _Form(NamedTuple):
    """A way in which the engine's nodes take scale and zero point: the shape of both, and attributes. ``blocked``: one for each block."""

    shape: Shape
    attributes: Mapping[str, int]
    blocked: bool = False


def _form(shape: Shape, blocks: Shape) -> _Form | None:
    """Choose how the engine's nodes take a scale, whose shape is the number of blocks along each axis.

    Returns:
        One scale; one for each index of an axis; one for each element except along one axis, which has blocks; ``None`` if none of these
        fits.
    """
    several = [axis for axis, count in enumerate(blocks) if count != 1]
    if not several:
        return _Form((), {})
    axis = several[0]
    if len(several) == 1 and blocks[axis] == shape[axis]:
        return _Form((shape[axis],), {"axis": axis})
    blocked = [axis for axis, count in enumerate(blocks) if count != shape[axis]] or [0]
    if len(blocked) > 1:
        return None
    axis = blocked[0]
    return _Form(blocks, {"axis": axis, "block_size": shape[axis] // blocks[axis]}, blocked=True)


def _split(shape: Shape, blocks: Shape) -> tuple[list[int], list[int]]:
    """Return the shapes of the input and the scale with two axes in place of each blocked one; the scale's broadcasts to the input's."""
    inputShape: list[int] = []
    scaleShape: list[int] = []
    for size, count in zip(shape, blocks, strict=True):
        if count in (1, size):
            inputShape.append(size)
            scaleShape.append(count)
        else:
            inputShape += [count, size // count]
            scaleShape += [count, 1]
    return inputShape, scaleShape


class _Operands(NamedTuple):
    """The operands, with their axes in the order of a node's output, before a deferred transpose. The input is a view of that output."""

    view: View
    scale: str
    zeroPoint: str
    shape: Shape
    blocks: Shape

    @classmethod
    def of(cls, e: Emitter, op: Op) -> _Operands:
        view = e.view(op["input"], len(op.shape("input")))
        order = view.for_source(range(len(view.permutation)))
        shape, blocks = tuple(view.for_source(op.shape("input"))), tuple(view.for_source(op.shape("scale")))
        return cls(view, e.transpose(op["scale"], order), e.transpose(op["zeroPoint"], order), shape, blocks)


def _reshape(e: Emitter, value: str, before: Shape, after: Shape | list[int]) -> str:
    return value if tuple(after) == before else e.reshape(value, after)


def _subtract_wide(e: Emitter, minuend: str, subtrahend: str, dataType: DataType) -> str:
    # A difference of 32-bit integers needs 33 bits.
    del dataType
    return e.cast(e.node("Sub", [e.cast(minuend, "int64"), e.cast(subtrahend, "int64")]), "float32")


def dequantize(e: Emitter, op: Op, *, subtract: Subtract, least: int = 1) -> str:
    """Emit ``dequantizeLinear``, with differences of integers of 32 bits as the provider computes them exactly.

    ``least`` is the least rank with which the provider's node is right for blocks.
    """
    given, dataType = _Operands.of(e, op), op.type("input")
    form, zeros = _form(given.shape, given.blocks), op.constants.get("zeroPoint")
    input, zeroPoint = given.view.source, given.zeroPoint
    if dataType in CARRIERS and (form is None or (form.shape != given.blocks and not e.is_constant(zeroPoint))):
        # The engine has no `Reshape` for small integers; a constant needs none.
        dataType = CARRIERS[dataType]
        input, zeroPoint = e.cast(input, dataType), e.cast(zeroPoint, dataType)
    withoutZero = dataType == "int32" and zeros is not None and not np.any(zeros)
    if form is None or (form.blocked and len(given.shape) < least) or dataType == "float32" or (dataType in _WIDE and not withoutZero):
        result = _dequantize_in_steps(e, op, given, input, zeroPoint, subtract)
    else:
        scale = _reshape(e, given.scale, given.blocks, form.shape)
        zeroPoint = "" if withoutZero else _reshape(e, zeroPoint, given.blocks, form.shape)
        result = e.node("DequantizeLinear", [input, scale, zeroPoint], **form.attributes)
    return e.transpose(result, given.view.permutation)


def dequantize_constants(operator: Operator) -> Array | None:
    """Return the numbers of constants of 8 bits, as ``dequantizeLinear`` gives them; None if an operand is something else."""
    arrays = [each._value for each in operator.inputs]
    integers, scale, zero = arrays
    if integers is None or scale is None or zero is None or operator.inputs[0].descriptor.dataType not in ("int8", "uint8"):
        return None
    inputShape, scaleShape = _split(integers.shape, scale.shape)
    with np.errstate(all="ignore"):
        difference = integers.reshape(inputShape).astype(np.float32) - zero.reshape(scaleShape).astype(np.float32)
        difference *= scale.reshape(scaleShape)
    return difference.reshape(integers.shape).astype(scale.dtype, copy=False)


def dequantize_in_steps(e: Emitter, op: Op, *, subtract: Subtract) -> str:
    """Emit ``dequantizeLinear`` without the engine's node."""
    given = _Operands.of(e, op)
    return e.transpose(_dequantize_in_steps(e, op, given, given.view.source, given.zeroPoint, subtract), given.view.permutation)


def _dequantize_in_steps(e: Emitter, op: Op, given: _Operands, input: str, zeroPoint: str, subtract: Subtract) -> str:
    inputShape, scaleShape = _split(given.shape, given.blocks)
    minuend = _reshape(e, input, given.shape, inputShape)
    if op.type("input") in _WIDE:
        difference = subtract(e, minuend, _reshape(e, zeroPoint, given.blocks, scaleShape), op.type("input"))
    else:
        # It is exact in float32.
        minuend = e.cast(minuend, "float32")
        difference = e.node("Sub", [minuend, e.cast(_reshape(e, zeroPoint, given.blocks, scaleShape), "float32")])
    scale = _reshape(e, given.scale, given.blocks, scaleShape)
    isHalf = op.type("scale") == "float16"
    result = e.node("Mul", [difference, e.cast(scale, "float32") if isHalf else scale])
    return _reshape(e, e.cast(result, "float16") if isHalf else result, tuple(inputShape), given.shape)


def _quantize(e: Emitter, op: Op) -> str:
    given, target = _Operands.of(e, op), op.outputs[0].dataType
    if target == "float32":
        # It carries float8e4m3, to which the sum is rounded afterwards.
        return e.transpose(_quantize_in_steps(e, given, given.zeroPoint, target), given.view.permutation)
    form, carrier = _form(given.shape, given.blocks), CARRIERS.get(target, target)
    zeroPoint = given.zeroPoint if target == carrier else e.cast(given.zeroPoint, carrier)
    low, high = integer_range(target)
    if form is None or form.blocked or target in _WIDE:
        result = _quantize_in_steps(e, given, zeroPoint, target)
    else:
        scale, zeroPoint = (_reshape(e, value, given.blocks, form.shape) for value in (given.scale, zeroPoint))
        result = e.node("QuantizeLinear", [given.view.source, scale, zeroPoint], **form.attributes)
        if carrier != target:
            result = clip(e, result, low, high, carrier)
    if carrier != target:
        result = e.cast(result, target)
    return e.transpose(result, given.view.permutation)


def _quantize_in_steps(e: Emitter, given: _Operands, zeroPoint: str, target: DataType) -> str:
    """Emit the steps up to the sum, which is in the target's range; a small integer is still in its carrier."""
    inputShape, scaleShape = _split(given.shape, given.blocks)
    input = _reshape(e, given.view.source, given.shape, inputShape)
    quotient = e.node("Div", [input, _reshape(e, given.scale, given.blocks, scaleShape)])
    if target == "float32":
        total = e.node("Add", [quotient, _reshape(e, zeroPoint, given.blocks, scaleShape)])
        return _reshape(e, total, tuple(inputShape), given.shape)
    quotient = e.node("Round", [quotient])
    # The sum is exact wherever it does not saturate: in float64 for 32 bits, in float32 for fewer.
    exact = "float64" if target in _WIDE else "float32"
    addend = e.cast(_reshape(e, zeroPoint, given.blocks, scaleShape), exact)
    total = e.node("Add", [quotient if exact == "float32" else e.cast(quotient, exact), addend])
    low, high = integer_range(target)
    inside = e.node("Clip", [total, e.scalar(low, exact), e.scalar(high, exact)])
    return _reshape(e, e.cast(inside, CARRIERS.get(target, target)), tuple(inputShape), given.shape)


TRANSLATIONS = {
    "dequantizeLinear": Translation(emit=partial(dequantize, subtract=_subtract_wide)),
    "quantizeLinear": Translation(emit=_quantize, carry={"float16": "float32"}),
}
