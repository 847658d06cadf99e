"""Activation functions, `clamp`, `prelu` and `softmax`."""

from __future__ import annotations

import math

import numpy as np

from webnn.builder.onnx.emitter import Emitter, Op, Translation
from webnn.builder.onnx.integer import clip
from webnn.validation.descriptor import FLOAT_TYPES
from webnn.validation.numbers import integer_bounds
from webnn.validation.shapes import unidirectionally_broadcast

__all__ = ["TRANSLATIONS"]

#: The engine's operator, and its attributes, which have the names of options.
_KERNELS: dict[str, tuple[str, tuple[str, ...]]] = {
    "elu": ("Elu", ("alpha",)),
    "gelu": ("Gelu", ()),
    "hardSigmoid": ("HardSigmoid", ("alpha", "beta")),
    "leakyRelu": ("LeakyRelu", ("alpha",)),
    "softplus": ("Softplus", ()),
    "softsign": ("Softsign", ()),
    "tanh": ("Tanh", ()),
}

#: From 17 on, a float32 sigmoid is 1.
_SIGMOID_IS_ONE = 40.0


def _kernel(e: Emitter, op: Op) -> str:
    op_type, attributes = _KERNELS[op.name]
    return e.node(op_type, [op["input"]], **{name: getattr(op.options, name) for name in attributes})


def _clamp(e: Emitter, op: Op) -> str:
    dtype, options = op.type("input"), op.options
    if options.minValue is None and options.maxValue is None:
        return e.node("Identity", [op["input"]])
    # Instead of a missing bound, `Clip` takes the largest finite number, which would clip the infinities.
    low = -math.inf if options.minValue is None else options.minValue
    high = math.inf if options.maxValue is None else options.maxValue
    if dtype not in FLOAT_TYPES:
        return clip(e, op["input"], *integer_bounds(options.minValue, options.maxValue, dtype), dtype)
    bounds = [bound for bound in (low, high) if math.isnan(bound)]
    if bounds:
        # `Clip` ignores a bound that is NaN; the maximum or minimum with it is NaN.
        return e.node("Max", [op["input"], e.scalar(bounds[0], dtype)])
    with np.errstate(over="ignore"):  # a bound beyond float16 is an infinity
        return e.node("Clip", [op["input"], e.scalar(low, dtype), e.scalar(high, dtype)])


def _elu(e: Emitter, op: Op) -> str:
    # `Elu` returns -0 as it is; by the formula it is +0.
    return e.node("Add", [_kernel(e, op), e.scalar(0, "float32")])


def _hard_swish(e: Emitter, op: Op) -> str:
    # The engine's own computes x / 6 + 1/2, which cancels near -3, where x + 3 is exact.
    value = op["input"]
    gate = e.node("Clip", [e.node("Add", [value, e.scalar(3, "float32")]), e.scalar(0, "float32"), e.scalar(6, "float32")])
    return e.node("Mul", [value, e.node("Div", [gate, e.scalar(6, "float32")])])


def _fast_hard_swish(e: Emitter, op: Op) -> str:
    return e.node("HardSwish", [op["input"]])


def _linear(e: Emitter, op: Op) -> str:
    scaled = e.node("Mul", [op["input"], e.scalar(op.options.alpha, "float32")])
    return e.node("Add", [scaled, e.scalar(op.options.beta, "float32")])


def _prelu(e: Emitter, op: Op) -> str:
    input, slope = op["input"], op["slope"]
    if op.type("input") in FLOAT_TYPES and unidirectionally_broadcast(op.shape("slope"), op.shape("input")) is not None:
        return e.node("PRelu", [input, slope])
    # `PRelu` has no kernel for signed integers, and does not stretch the input.
    isNegative = e.node("Less", [input, e.scalar(0, op.type("input"))])
    return e.node("Where", [isNegative, e.node("Mul", [input, slope]), input])


def _relu(e: Emitter, op: Op) -> str:
    dtype = op.type("input")
    # The engine merges `Relu` with a `Clip` behind it, and refuses the graph if they are of an integer type.
    return e.node("Relu", [op["input"]]) if dtype in FLOAT_TYPES else clip(e, op["input"], 0, int(np.iinfo(dtype).max), dtype)


def _sigmoid(e: Emitter, op: Op) -> str:
    # `Sigmoid` is 0 below -18: it misses the tolerance of web-platform-tests there. `Softsign` of the exponential is exp(x) / (1 + exp(x)):
    # off by 2.8 units in the last place at most, denormal results included. The limit keeps the exponential finite; the sigmoid is 1 there.
    limited = e.node("Clip", [op["input"], e.scalar(-math.inf, "float32"), e.scalar(_SIGMOID_IS_ONE, "float32")])
    return e.node("Softsign", [e.node("Exp", [limited])])


def _fast_sigmoid(e: Emitter, op: Op) -> str:
    return e.node("Sigmoid", [op["input"]])


def _softmax(e: Emitter, op: Op) -> str:
    return e.node("Softmax", [op["input"]], axis=op.arguments["axis"])


TRANSLATIONS = {
    **{
        name: Translation(emit=_kernel, carry={"float16": "float32"}, elementwise=True, kernel="" if attributes else kernel)
        for name, (kernel, attributes) in _KERNELS.items()
    },
    "elu": Translation(emit=_elu, carry={"float16": "float32"}, elementwise=True),
    # The engine's `Clip` takes all types; it chooses a value and never rounds.
    "clamp": Translation(emit=_clamp, elementwise=True),
    "hardSwish": Translation(emit=_hard_swish, fast=_fast_hard_swish, carry={"float16": "float32"}, elementwise=True),
    "linear": Translation(emit=_linear, carry={"float16": "float32"}, elementwise=True),
    "prelu": Translation(emit=_prelu, carry={"float16": "float32"}, elementwise=True),
    "relu": Translation(emit=_relu, carry={"float16": "float32"}, elementwise=True, kernel="Relu"),
    "sigmoid": Translation(emit=_sigmoid, fast=_fast_sigmoid, carry={"float16": "float32"}, elementwise=True),
    "softmax": Translation(emit=_softmax, carry={"float16": "float32"}),
}
