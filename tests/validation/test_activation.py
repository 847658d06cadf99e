"""Activation functions, clamp, prelu, softmax: inferred descriptors, the second overload, and every step that can fail."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.support import Shape, each_row, infer, make_context, refused
from webnn import MLActivation, MLGraphBuilder

FLOATS = {"float32", "float16"}
SIGNED = FLOATS | {"int32", "int8"}
ALL = SIGNED | {"uint32", "int64", "uint64", "uint8"}

ALLOWED = {
    "clamp": ALL,
    "elu": FLOATS,
    "gelu": FLOATS,
    "hardSigmoid": FLOATS,
    "hardSwish": FLOATS,
    "leakyRelu": FLOATS,
    "linear": FLOATS,
    "relu": SIGNED,
    "sigmoid": FLOATS,
    "softplus": FLOATS,
    "softsign": FLOATS,
    "tanh": FLOATS,
}

F = "float32"
X = Shape(F, [3, 2, 5])

VALID: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("clamp", (Shape("uint32", [1, 2, 3]),), {"minValue": 1.0, "maxValue": 3.0}),
    ("clamp", (Shape("int32", [1, 2, 3, 4]),), {"minValue": 0, "maxValue": 0}),
    ("clamp", (Shape("uint8", []),), {"minValue": -1000}),
    ("clamp", (X,), {"maxValue": -1}),
    # Above the upper bound, but not in single precision.
    ("clamp", (X,), {"minValue": 1 + 1e-9, "maxValue": 1}),
    # A member that is missing has its default.
    ("elu", (X,), {"alpha": None}),
    ("elu", (X,), {"alpha": -1.5}),
    ("hardSigmoid", (Shape("float16", [1, 2, 3]),), {"alpha": 0.5, "beta": 1.0}),
    ("leakyRelu", (X,), {"alpha": 0.02}),
    ("linear", (X,), {"alpha": "1.5", "beta": True}),
    ("prelu", (X, X), {}),
    ("prelu", (X, Shape(F, [5])), {}),
    ("prelu", (X, Shape(F, [])), {}),
    ("prelu", (X, Shape(F, [2, 1])), {}),
    ("prelu", (Shape("float16", []), Shape("float16", [])), {}),
    ("prelu", (Shape("int32", [3, 2, 5]), Shape("int32", [2, 5])), {}),
    ("prelu", (Shape("int8", [3, 2, 5]), Shape("int8", [2, 5])), {}),
    ("softmax", (Shape(F, [4, 4, 3]), 1), {}),
    ("softmax", (Shape("float16", [3, 1, 5, 2]), 2), {}),
    ("softmax", (Shape(F, [1] * 8), 7), {}),
    # ``unsigned long`` without [EnforceRange]: modulo 2^32, and anything but a number is 0.
    ("softmax", (X, 2**32 + 2), {}),
    ("softmax", (X, -(2**32)), {}),
    ("softmax", (X, math.nan), {}),
    ("softmax", (X, "2"), {}),
]

INVALID: list[tuple[str, tuple[Any, ...], dict[str, Any], str, str]] = [
    *((name, (Shape(t, [2]),), {}, "input", "type") for name in ALLOWED for t in sorted(ALL - ALLOWED[name])),
    *((name, (3,), {}, "input", "conversion") for name in ALLOWED),
    ("clamp", (Shape("float16", []),), {"minValue": -math.inf}, "options.minValue", "conversion"),
    ("clamp", (X,), {"maxValue": math.nan}, "options.maxValue", "conversion"),
    ("clamp", (X,), {"maxValue": 1e39}, "options.maxValue", "conversion"),
    ("clamp", (Shape("uint8", [1, 2, 3]),), {"minValue": 3, "maxValue": 1}, "options.minValue", "range"),
    ("elu", (Shape("float16", []),), {"alpha": math.nan}, "options.alpha", "conversion"),
    ("hardSigmoid", (X,), {"beta": math.nan}, "options.beta", "conversion"),
    ("leakyRelu", (X,), {"alpha": math.inf}, "options.alpha", "conversion"),
    ("linear", (X,), {"beta": -math.inf}, "options.beta", "conversion"),
    # prelu 2., 3., 6.
    ("prelu", (Shape("int64", [3]), Shape("int64", [3])), {}, "input", "type"),
    ("prelu", (Shape("uint32", [3]), Shape("uint32", [3])), {}, "input", "type"),
    ("prelu", (X, Shape("int32", [3, 2, 5])), {}, "slope", "type"),
    ("prelu", (X, Shape(F, [2])), {}, "slope", "broadcast"),
    ("prelu", (X, Shape(F, [1, 3, 2, 5])), {}, "slope", "broadcast"),
    ("prelu", (Shape(F, [1]), Shape(F, [3])), {}, "slope", "broadcast"),
    # softmax 2., 3.
    ("softmax", (Shape("int32", [3, 1, 5, 2]), 3), {}, "input", "type"),
    ("softmax", (Shape("float16", [3, 1, 5, 2]), 4), {}, "axis", "axis"),
    ("softmax", (Shape(F, []), 0), {}, "axis", "axis"),
    ("softmax", (X, -1), {}, "axis", "axis"),
    ("softmax", (X, {}), {}, "axis", "conversion"),
]

DEFAULTS: dict[str, dict[str, float]] = {
    "elu": {"alpha": 1},
    "gelu": {},
    "hardSigmoid": {"alpha": 0.2, "beta": 0.5},
    "hardSwish": {},
    "leakyRelu": {"alpha": 0.01},
    "linear": {"alpha": 1, "beta": 0},
    "relu": {},
    "sigmoid": {},
    "softplus": {},
    "softsign": {},
    "tanh": {},
}


@pytest.mark.parametrize("name", ALLOWED)
@each_row("dimensions", [[], [2], [2, 3, 4, 5, 6], [1, 2, 1, 2, 1, 2, 1, 2]])
def test_types(name: str, dimensions: list[int]) -> None:
    for dataType in ALLOWED[name]:
        assert infer(name, Shape(dataType, dimensions)) == [(dataType, dimensions)]


@each_row(("name", "arguments", "options"), VALID)
def test_valid(name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
    assert infer(name, *arguments, **options) == [(arguments[0].dataType, arguments[0].dimensions)]


@each_row(("name", "arguments", "options", "argument", "rule"), INVALID)
def test_invalid(name: str, arguments: tuple[Any, ...], options: dict[str, Any], argument: str, rule: str) -> None:
    with refused(rule=rule, operation=name, argument=argument):
        infer(name, *arguments, **options)


@pytest.mark.parametrize(("name", "defaults"), DEFAULTS.items())
def test_activation(name: str, defaults: dict[str, float]) -> None:
    method = getattr(MLGraphBuilder(make_context()), name)
    given = {member: value + 0.25 for member, value in defaults.items()}
    value: object
    calls: list[tuple[MLActivation, dict[str, float]]] = [(method(), defaults)]
    if defaults:
        calls += [(method(None), defaults), (method({}), defaults), (method(given), given), (method(**given), given)]
    else:
        # Any argument selects the other overload.
        for value in ({}, None):
            with refused(rule="conversion", argument="input"):
                method(value)
    for activation, parameters in calls:
        assert isinstance(activation, MLActivation)
        assert activation._activation.name == name
        assert activation._activation.parameters == pytest.approx(parameters)


@pytest.mark.parametrize(("name", "options", "member"), [
    ("elu", {"alpha": math.inf}, "alpha"),
    ("hardSigmoid", {"alpha": math.inf}, "alpha"),
    ("leakyRelu", {"alpha": -math.nan}, "alpha"),
    ("linear", {"beta": "x"}, "beta"),
])  # fmt: skip
def test_invalid_activation(name: str, options: dict[str, float], member: str) -> None:
    with refused(rule="conversion", operation=name, argument=f"options.{member}"):
        getattr(MLGraphBuilder(make_context()), name)(options)
