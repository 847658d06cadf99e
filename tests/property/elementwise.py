"""Valid calls of unary, binary and logical operations and of activation functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from tests.property.calls import Call
from tests.property.draws import Draw, arrays, broadcastable, floats, optional, shapes, types

__all__ = ["ACTIVATIONS", "BINARY", "LOGICAL", "OPTIONS", "UNARY"]

#: The options of the activation functions.
OPTIONS: Mapping[str, Mapping[str, st.SearchStrategy[Any]]] = {
    "elu": {"alpha": floats(-2, 2)},
    "hardSigmoid": {"alpha": floats(-1, 1), "beta": floats(-1, 1)},
    "leakyRelu": {"alpha": floats(-2, 2)},
    "linear": {"alpha": floats(-3, 3), "beta": floats(-3, 3)},
}


@st.composite
def _unary(draw: Draw, name: str, argument: str = "input") -> Call:
    input = draw(arrays(draw(types(name, argument)), draw(shapes())))
    return Call(name=name, arguments={argument: input}, options=draw(optional(**OPTIONS.get(name, {}))))


@st.composite
def _pairs(draw: Draw, name: str) -> Call:
    dtype = draw(types(name, "a"))
    shape = draw(shapes())
    a = draw(arrays(dtype, draw(broadcastable(shape))))
    # One operand may be listed twice.
    b = a if draw(st.integers(0, 9)) == 9 else draw(arrays(dtype, draw(broadcastable(shape))))
    return Call(name=name, arguments={"a": a, "b": b})


@st.composite
def _clamp(draw: Draw) -> Call:
    dtype = draw(types("clamp"))
    input = draw(arrays(dtype, draw(shapes())))
    bounds = st.one_of(floats(-10, 10), floats(-1e6, 1e6), st.sampled_from([-3e38, -(2.0**63), 2.0**31, 2.0**63, 2.0**64, 3e38]))
    options = draw(optional(minValue=bounds, maxValue=bounds))
    if len(options) == 2:
        options["minValue"], options["maxValue"] = sorted(options.values())
    return Call(name="clamp", arguments={"input": input}, options=options)


@st.composite
def _prelu(draw: Draw) -> Call:
    dtype = draw(types("prelu"))
    shape = draw(shapes())
    slope = draw(arrays(dtype, draw(broadcastable(shape))))
    return Call(name="prelu", arguments={"input": draw(arrays(dtype, shape)), "slope": slope})


@st.composite
def _softmax(draw: Draw) -> Call:
    shape = draw(shapes(1))
    input = draw(arrays(draw(types("softmax")), shape))
    return Call(name="softmax", arguments={"input": input, "axis": draw(st.integers(0, len(shape) - 1))})


UNARY = {
    name: _unary(name)
    for name in ("abs", "ceil", "cos", "erf", "exp", "floor", "identity", "log", "neg", "reciprocal", "sin", "sqrt", "tan")
}
BINARY = {name: _pairs(name) for name in ("add", "sub", "mul", "div", "max", "min", "pow")}
LOGICAL = {
    **{name: _pairs(name) for name in ("equal", "greater", "greaterOrEqual", "lesser", "lesserOrEqual")},
    "logicalNot": _unary("logicalNot", "a"),
}
ACTIVATIONS = {
    **{
        name: _unary(name)
        for name in (
            "elu",
            "gelu",
            "hardSigmoid",
            "hardSwish",
            "leakyRelu",
            "linear",
            "relu",
            "sigmoid",
            "softplus",
            "softsign",
            "tanh",
        )
    },
    "clamp": _clamp(),
    "prelu": _prelu(),
    "softmax": _softmax(),
}
