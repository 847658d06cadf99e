"""The rule of each operation: an operator of LiteRT where it has one, otherwise the rule that exports share."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast

import numpy as np

from webnn.hlo.export import graph
from webnn.hlo.export.activation import ACTIVATIONS
from webnn.hlo.export.emitter import Emitter, Tensor, is_float
from webnn.hlo.export.erf import polynomial
from webnn.hlo.export.rule import Op, Rule, RuleError
from webnn.tflite.export import indexing, movement, products, quantization, reduction, windows
from webnn.tflite.export.emitter import LiteEmitter

__all__ = ["RULES"]

#: From an emitter and an operator to its results.
Emit = Callable[[LiteEmitter, Op], Tensor | Sequence[Tensor]]

#: The operators of LiteRT's own for operations of one operand. They have no options.
_LONE = {"gelu": "GELU", "hardSwish": "HARD_SWISH", "sigmoid": "LOGISTIC", "tanh": "TANH"}
#: The limits of clamps that are operators of their own.
_CLAMPS = {(0.0, math.inf): "RELU", (0.0, 6.0): "RELU6", (0.0, 1.0): "RELU_0_TO_1", (-1.0, 1.0): "RELU_N1_TO_1"}


def _lone(code: str) -> Emit:
    return lambda e, op: e.lone(code, op["input"])


def _elu(e: LiteEmitter, op: Op) -> Tensor:
    return e.lone("ELU", op["input"]) if op.options.alpha == 1 else ACTIVATIONS["elu"](e, op["input"], op.options.alpha)


def _leaky_relu(e: LiteEmitter, op: Op) -> Tensor:
    return e.lone("LEAKY_RELU", op["input"], Alpha=op.options.alpha)


def _prelu(e: LiteEmitter, op: Op) -> Tensor:
    x, slope = op["input"], op["slope"]
    if np.broadcast_shapes(x.shape, slope.shape) != x.shape:
        return cast("Tensor", graph.RULES["prelu"].emit(e, op))
    return e.act("PRELU", [x, slope], x.shape)


def _clamp(e: LiteEmitter, op: Op) -> Tensor | Sequence[Tensor]:
    x, options = op["input"], op.options
    low = -math.inf if options.minValue is None else float(options.minValue)
    high = math.inf if options.maxValue is None else float(options.maxValue)
    if x.element != "f32":
        return graph.RULES["clamp"].emit(e, op)
    code = _CLAMPS.get((low, high))
    return e.clamp(x, low, high) if code is None else e.activated(code, x, alone=_alone(e, op))


def _alone(e: LiteEmitter, op: Op) -> bool:
    """Tell whether nothing else needs the first operand."""
    return e.uses[id(op.operator.inputs[0])] == 1


def _relu(e: LiteEmitter, op: Op) -> Tensor:
    x = op["input"]
    return e.activated("RELU", x, alone=_alone(e, op)) if is_float(x.element) else e.maximum(x, 0)


def _hard_sigmoid(e: LiteEmitter, op: Op) -> Tensor:
    options = op.options
    return e.lone("RELU_0_TO_1", options.alpha * op["input"] + options.beta)


def _softplus(e: LiteEmitter, op: Op) -> Tensor | Sequence[Tensor]:
    if not e.semantics:
        return graph.RULES["softplus"].emit(e, op)
    # As Chromium: below 0 the rounding of the sum shows.
    return e.unary("log", 1 + e.unary("exponential", op["input"]))


def _erf(e: LiteEmitter, op: Op) -> Tensor | Sequence[Tensor]:
    if not e.semantics:
        return graph.RULES["erf"].emit(e, op)
    # As Chromium: formula 7.1.26 of Abramowitz and Stegun, with an absolute error of 1.5e-7.
    x = op["input"]
    y = e.unary("abs", x)
    t = 1 / (1 + 0.3275911 * y)
    total = t * polynomial(t, (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429))
    return e.lone("SIGN", x) * (1 - total * e.unary("exponential", -(x * x)))


def _softmax(e: LiteEmitter, op: Op) -> Tensor:
    x, axis = op["input"], op.arguments["axis"]
    order = [each for each in range(len(x.shape)) if each != axis] + [axis]
    last = e.transpose(x, order)
    made = e.act("SOFTMAX", [last], last.shape, Beta=1.0)
    return e.transpose(made, np.argsort(order).tolist())


def _pow(e: LiteEmitter, op: Op) -> Tensor | Sequence[Tensor]:
    a, b, known = op["a"], op["b"], op.constants.get("b")
    if is_float(a.element):
        return e.binary("power", a, b)
    if known is not None and (known >= 0).all():
        return _known_power(e, a, known)
    if a.element == "i32" and e.semantics.get("integerNegativePower") == "zeros":
        return _zeros_if(e, e.compare("LT", b, 0), e.binary("power", a, e.maximum(b, 0)))
    if a.element == "i32":
        e.note("pow of int32: a negative exponent fails")
        return e.binary("power", a, b)
    raise RuleError(f"of {op.operator.inputs[0].dataType} must have a constant exponent of at least 0")


def _div(e: LiteEmitter, op: Op) -> Tensor | Sequence[Tensor]:
    found = graph.RULES["div"].emit(e, op)
    if is_float(op["a"].element) or e.semantics.get("integerDivByZero") != "zeros":
        return found
    return _zeros_if(e, e.compare("EQ", op["b"], 0), cast("Tensor", found))


def _zeros_if(e: LiteEmitter, wrong: Tensor, found: Tensor) -> Tensor:
    """Return zeros if LiteRT's kernel would fail because of one element: Chromium then leaves the whole result as it was."""
    axes = list(range(len(wrong.shape)))
    is_any = e.reduce(e.convert(wrong, "i32"), "maximum", 0, axes, keep=True) if axes else e.convert(wrong, "i32")
    return e.select(e.compare("NE", is_any, 0), 0, found)


def _known_power(e: LiteEmitter, a: Tensor, exponents: Any) -> Tensor:
    """Compute powers of integers modulo 2^bits, by squares."""
    power, square = e.full(1, a.element, np.broadcast_shapes(a.shape, exponents.shape)), a
    for bit in range(int(exponents.max()).bit_length()):
        is_odd = (exponents >> bit) & 1 != 0
        if is_odd.any():
            power = power * square if is_odd.all() else e.select(e.constant(is_odd), power * square, power)
        square = square * square
    return power


def _logical(e: LiteEmitter, op: Op, code: str) -> Tensor:
    pair = [e.convert(op[name], "i1") for name in ("a", "b")]
    return e.act(code, pair, np.broadcast_shapes(*(each.shape for each in pair)))


def _sign(e: LiteEmitter, op: Op) -> Tensor | Sequence[Tensor]:
    x = op["input"]
    # The operator keeps NaN.
    return e.lone("SIGN", x) if e.semantics.get("signNaN") == "nan" and x.element == "f32" else graph.RULES["sign"].emit(e, op)


def _identity(e: LiteEmitter, op: Op) -> Tensor:
    return op["input"]


_MOVES = """
    cast concat dequantizeLinear expand gather gatherElements gatherND identity pad quantizeLinear resample2d reshape reverse
    scatterElements scatterND slice split tile transpose triangular where
"""
#: The operations that round nothing, or say themselves in which type they compute: float16 needs no detour.
_EXACT = frozenset(_MOVES.split())

_OWN: Mapping[str, Emit] = {
    **{name: _lone(code) for name, code in _LONE.items()},
    **{name: partial(_logical, code=code) for name, code in (("logicalAnd", "LOGICAL_AND"), ("logicalOr", "LOGICAL_OR"))},
    "clamp": _clamp,
    "div": _div,
    "elu": _elu,
    "erf": _erf,
    "hardSigmoid": _hard_sigmoid,
    "identity": _identity,
    "leakyRelu": _leaky_relu,
    "logicalXor": partial(_logical, code="NOT_EQUAL"),
    "pow": _pow,
    "prelu": _prelu,
    "relu": _relu,
    "sign": _sign,
    "softmax": _softmax,
    "softplus": _softplus,
    **indexing.RULES,
    **movement.RULES,
    **products.RULES,
    **quantization.RULES,
    **reduction.RULES,
    **windows.RULES,
}


def _rule(name: str, shared: Rule) -> Rule:
    emit = cast("Callable[[Emitter, Op], Tensor | Sequence[Tensor]] | None", _OWN.get(name)) or shared.emit
    return Rule(emit=emit, wide=name not in _EXACT)


#: The rule of each operation.
RULES: Mapping[str, Rule] = {name: _rule(name, shared) for name, shared in graph.RULES.items()}
