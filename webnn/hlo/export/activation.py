"""Activation functions, clamp, prelu and softmax. `ACTIVATIONS` are those that recurrent networks have, too."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial

from webnn.hlo.export.emitter import Emitter, Tensor, is_float
from webnn.hlo.export.erf import gelu
from webnn.hlo.export.rule import Op, Rule, wide
from webnn.hlo.types import DTYPES
from webnn.validation.numbers import integer_bounds

__all__ = ["ACTIVATIONS", "RULES"]


#: From an emitter, a tensor and the numbers among the options, by their names, to the result.
ACTIVATIONS: Mapping[str, Callable[..., Tensor]] = {
    "elu": lambda e, x, alpha: e.maximum(x, 0) + alpha * e.unary("exponential_minus_one", e.minimum(x, 0)),
    "gelu": gelu,
    "hardSigmoid": lambda e, x, alpha, beta: e.clamp(alpha * x + beta, 0, 1),
    "hardSwish": lambda e, x: x * (e.clamp(x + 3, 0, 6) / 6),
    "leakyRelu": lambda e, x, alpha: e.maximum(x, 0) + alpha * e.minimum(x, 0),
    "linear": lambda _, x, alpha, beta: alpha * x + beta,
    "relu": lambda e, x: e.maximum(x, 0),
    "sigmoid": lambda e, x: e.unary("logistic", x),
    "softplus": lambda e, x: e.maximum(x, 0) + e.unary("log_plus_one", e.unary("exponential", -e.unary("abs", x))),
    "softsign": lambda e, x: x / (1 + e.unary("abs", x)),
    "tanh": lambda e, x: e.unary("tanh", x),
}


def _activation(function: Callable[..., Tensor], e: Emitter, op: Op) -> Tensor:
    numbers = {} if op.options is None else {name: getattr(op.options, name) for name in type(op.options).model_fields if name != "label"}
    return function(e, op["input"], **numbers)


def _clamp(e: Emitter, op: Op) -> Tensor:
    x, options = op["input"], op.options
    low = -math.inf if options.minValue is None else options.minValue
    high = math.inf if options.maxValue is None else options.maxValue
    if is_float(x.element):
        return e.minimum(e.maximum(x, low), high)
    least, most = integer_bounds(options.minValue, options.maxValue, DTYPES[x.element])
    return e.minimum(e.maximum(x, least), most)


def _prelu(e: Emitter, op: Op) -> Tensor:
    x = op["input"]
    return e.select(e.compare("LT", x, 0), x * op["slope"], x)


def _softmax(e: Emitter, op: Op) -> Tensor:
    x, axes = op["input"], [op.arguments["axis"]]
    exponentials = e.unary("exponential", x - e.reduce(x, "maximum", -math.inf, axes, keep=True))
    return exponentials / e.reduce(exponentials, "add", 0, axes, keep=True)


RULES = {
    **{name: wide(partial(_activation, function)) for name, function in ACTIVATIONS.items()},
    # These choose numbers, and round nothing.
    "clamp": Rule(emit=_clamp),
    "relu": Rule(emit=partial(_activation, ACTIVATIONS["relu"])),
    "prelu": wide(_prelu),
    "softmax": wide(_softmax),
}
