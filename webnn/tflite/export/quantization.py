"""Quantized graphs: an operator between `dequantizeLinear` and `quantizeLinear` becomes one of integers, whose tensors say what they mean.

Each operator of numbers is written first. If a `quantizeLinear` follows, and all its operands come from integers, the same operator of
these integers takes its place; the one of numbers is left out of the file then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from webnn.hlo.export.emitter import Tensor
from webnn.hlo.export.graph import RULES as SHARED
from webnn.hlo.export.rule import ELEMENTS, Op, RuleError
from webnn.tflite.export.emitter import LiteEmitter, slot_of
from webnn.tflite.export.program import Operator, Quantization, Slot
from webnn.validation.descriptor import CARRIERS

__all__ = ["RULES", "settle"]

_BYTES = frozenset({"i8", "ui8"})
#: The kernels hold the scale of a bias to that of the products, up to this part of the output's scale.
_SLACK = 0.02
#: From the operands' integers and the meaning of the result to the inputs of the operator; ``None`` if its kernel does not take them.
_Check = Callable[[LiteEmitter, Operator, Sequence["Slot | None"], Quantization, str], "Sequence[Slot | None] | None"]


def _meaning(op: Op) -> Quantization | None:
    """Return what integers mean by a constant scale and zero point: of one element, or of one for each index of an axis."""
    scale, zero = op.constants.get("scale"), op.constants.get("zeroPoint")
    if scale is None or zero is None:
        return None
    shape = op["input"].shape
    own = (1,) * (len(shape) - scale.ndim) + scale.shape
    wide = [axis for axis, size in enumerate(own) if size > 1]
    if len(wide) > 1 or any(shape[axis] != own[axis] for axis in wide):
        return None
    if not (np.isfinite(scale).all() and (scale > 0).all()):
        return None
    return Quantization(tuple(scale.astype(np.float32).reshape(-1).tolist()), tuple(zero.astype(np.int64).reshape(-1).tolist()), *wide[:1])


def _dequantize(e: LiteEmitter, op: Op) -> Tensor | Sequence[Tensor]:
    x, meaning = op["input"], _meaning(op)
    # A difference of 32-bit integers has 33 bits.
    if meaning is None or x.element == "ui32" or (x.element == "i32" and any(meaning.zeros)):
        return SHARED["dequantizeLinear"].emit(e, op)
    return e.convert(e.dequantize(x, meaning), ELEMENTS[op.outputs[0].dataType])


def _quantize(e: LiteEmitter, op: Op) -> Tensor | Sequence[Tensor]:
    x, meaning, element = op["input"], _meaning(op), op["zeroPoint"].element
    e.note("quantizeLinear: NaN, and in 8 bits Infinity, may become any integer")
    if meaning is None or element not in _BYTES or op.outputs[0].dataType in CARRIERS:
        return SHARED["quantizeLinear"].emit(e, op)
    return _to_integers(e, e.convert(x, "f32"), meaning, element, alone=e.uses[id(op.operator.inputs[0])] == 1)


def _to_integers(e: LiteEmitter, x: Tensor, meaning: Quantization, element: str, *, alone: bool) -> Tensor:
    source = e.source_of(x)
    if source is not None and source.element == element and slot_of(source).quantization == meaning:
        return source
    put_off = e.put_off(x)
    if put_off is not None and len(meaning.scales) == 1:
        source, permutation = put_off
        return e.transpose(_to_integers(e, source, meaning, element, alone=alone), permutation)
    made = _fuse(e, x, meaning, element) if alone and len(meaning.scales) == 1 else None
    if made is not None:
        e.note("quantized operators: results may differ by one step where a number is between two")
        return made
    [made] = e.emit("QUANTIZE", [x], [(x.shape, element)])
    slot_of(made).quantization = meaning
    e.note("quantizeLinear: results may differ by one step where a number is between two")
    return made


def _fuse(e: LiteEmitter, x: Tensor, meaning: Quantization, element: str) -> Tensor | None:
    """Write the operator that made a tensor again, of integers."""
    maker = slot_of(x).maker
    check = None if maker is None else _CHECKS.get(maker.code)
    if maker is None or check is None:
        return None
    integers: list[Slot | None] = []
    for each in maker.inputs:
        source = None if each is None else e.source_of(e.tensor(each))
        integers.append(None if source is None else slot_of(source))
    inputs = check(e, maker, integers, meaning, element)
    if inputs is None:
        return None
    made = e.make(x.shape, element, None, meaning)
    e.program.append(maker.code, inputs, [slot_of(made)], maker.options)
    return made


def _single(slot: Slot | None, element: str) -> Quantization | None:
    """Return the meaning of integers of a type, if one scale is for all."""
    if slot is None or slot.element != element or slot.quantization is None or len(slot.quantization.scales) > 1:
        return None
    return slot.quantization


def _any(e: LiteEmitter, maker: Operator, integers: Sequence[Slot | None], meaning: Quantization, element: str) -> list[Slot | None] | None:
    """Take operands of any scales; those that were never numbers stay."""
    inputs: list[Slot | None] = []
    for given, own in zip(maker.inputs, integers, strict=True):
        if given is not None and given.element == "f32" and _single(own, element) is None:
            return None
        inputs.append(own if given is not None and given.element == "f32" else given)
    return inputs


def _same(
    e: LiteEmitter, maker: Operator, integers: Sequence[Slot | None], meaning: Quantization, element: str
) -> list[Slot | None] | None:
    """Take operands that mean the same numbers as the result."""
    found = [each.quantization for each in integers if each is not None]
    return _any(e, maker, integers, meaning, element) if all(each == meaning for each in found) else None


def _fixed(scale: float, zeros: Mapping[str, int]) -> _Check:
    """Take any operand, if the result has the meaning that the kernel gives it."""

    def check(
        e: LiteEmitter, maker: Operator, integers: Sequence[Slot | None], meaning: Quantization, element: str
    ) -> list[Slot | None] | None:
        fits = meaning.scales == (scale,) and meaning.zeros == (zeros[element],)
        return _any(e, maker, integers, meaning, element) if fits else None

    return check


def _weighted(axis: int, places: Sequence[int] = (0, 1, 2)) -> _Check:
    """Take integers by weights, which have a scale for each index of an axis or one, and a bias of int32 by both scales."""

    def check(
        e: LiteEmitter, maker: Operator, integers: Sequence[Slot | None], meaning: Quantization, element: str
    ) -> list[Slot | None] | None:
        x, weights, bias = (integers[place] if place < len(integers) else None for place in places)
        own, scaled = _single(x, element), None if weights is None else weights.quantization
        if own is None or scaled is None or weights is None or weights.element != element or weights.data is None:
            return None
        if element == "i8" and any(scaled.zeros):
            return None
        if len(scaled.scales) > 1 and (scaled.axis != axis or element == "ui8"):
            return None
        inputs = list(maker.inputs)
        inputs[places[0]], inputs[places[1]] = x, weights
        given = maker.inputs[places[2]] if places[2] < len(maker.inputs) else None
        if given is None:
            return inputs
        products = [float(np.float32(own.scales[0]) * np.float32(each)) for each in scaled.scales]
        if given.data is not None and not given.data.any():
            zeros = np.zeros(given.shape, np.int32)
            made = e.make(zeros.shape, "i32", zeros, Quantization(tuple(products), (0,) * len(products)))
            inputs[places[2]] = slot_of(made)
            return inputs
        if bias is None or bias.element != "i32" or bias.quantization is None or any(bias.quantization.zeros):
            return None
        scales = np.broadcast_to(bias.quantization.scales, len(products))
        if not all(
            math.isclose(a, b, rel_tol=1e-5, abs_tol=_SLACK * meaning.scales[0] * 1e-3) for a, b in zip(scales, products, strict=True)
        ):
            return None
        inputs[places[2]] = bias
        return inputs

    return check


#: The operators that LiteRT computes with integers.
_CHECKS: Mapping[str, _Check] = {
    **dict.fromkeys(("ADD", "SUB", "MUL", "MEAN", "SUM", "RELU", "RELU6", "RELU_N1_TO_1", "LEAKY_RELU", "ELU", "HARD_SWISH"), _any),
    "BATCH_MATMUL": _any,
    **dict.fromkeys(("MAXIMUM", "MINIMUM", "CONCATENATION", "AVERAGE_POOL_2D", "MAX_POOL_2D", "REDUCE_MAX", "REDUCE_MIN"), _same),
    **dict.fromkeys(("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR", "SELECT_V2"), _same),
    "LOGISTIC": _fixed(1 / 256, {"i8": -128, "ui8": 0}),
    "SOFTMAX": _fixed(1 / 256, {"i8": -128, "ui8": 0}),
    "TANH": _fixed(1 / 128, {"i8": 0, "ui8": 128}),
    "CONV_2D": _weighted(0),
    "DEPTHWISE_CONV_2D": _weighted(3),
    "FULLY_CONNECTED": _weighted(0),
    "TRANSPOSE_CONV": _weighted(0, (2, 1, 3)),
}

_MOVING = """
    RESHAPE TRANSPOSE SLICE STRIDED_SLICE PAD MIRROR_PAD GATHER GATHER_ND BROADCAST_TO TILE REVERSE_V2 CONCATENATION MAXIMUM MINIMUM
    REDUCE_MAX REDUCE_MIN SELECT_V2 MAX_POOL_2D
"""
#: The operators whose integers mean the same before and after them.
_MOVES = frozenset(_MOVING.split())


def settle(operators: Sequence[Operator]) -> None:
    """Let integers that operators only move mean the same before and after, if only one of both has a meaning.

    Raises `RuleError` if an operator has integers with different meanings.
    """
    moves = [each for each in operators if each.code in _MOVES and each.outputs[0].element in _BYTES]
    changed = True
    while changed:
        changed = False
        for move in moves:
            element = move.outputs[0].element
            group = [each for each in (*move.inputs, *move.outputs) if each is not None and each.element == element]
            found = {each.quantization for each in group} - {None}
            if len(found) > 1:
                raise RuleError(f"needs {move.code} of integers that mean different numbers elsewhere")
            for each in group:
                if found and each.quantization is None:
                    [each.quantization] = found
                    changed = True


RULES: Mapping[str, Callable[[LiteEmitter, Op], Tensor | Sequence[Tensor]]] = {"dequantizeLinear": _dequantize, "quantizeLinear": _quantize}
