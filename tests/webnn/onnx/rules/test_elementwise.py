"""Operators that compute each element by itself, against ONNX Runtime and NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

import webnn.onnx
from tests.webnn.onnx.models import check, compute, make

Array = np.ndarray[Any, np.dtype[Any]]

FLOATS = np.array([[-2.5, -1, -0.0, 0.5], [1, 2.5, 3.5, 40]], np.float32)
INTEGERS = np.array([[-7, -1, 0], [1, 6, 9]], np.int32)
DIVISORS = np.array([[3, -2, 4], [-4, 5, 2]], np.int32)


def node(operator: str, count: int = 1, **attributes: Any) -> onnx.NodeProto:
    return onnx.helper.make_node(operator, ["x", "y", "z"][:count], ["r"], **attributes)


UNARY: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in ("Abs", "Ceil", "Cos", "Erf", "Floor", "HardSwish", "Neg", "Relu", "Round", "Sigmoid", "Sign", "Sin")),
    *((name, {}) for name in ("Softplus", "Softsign", "Tanh", "Elu", "LeakyRelu", "HardSigmoid", "Identity", "Reciprocal", "Gelu")),
    *(
        ("Elu", {"alpha": 0.5}),
        ("Gelu", {"approximate": "tanh"}),
        ("HardSigmoid", {"alpha": 0.4, "beta": 0.1}),
        ("LeakyRelu", {"alpha": 0.3}),
    ),
]


@pytest.mark.parametrize(("operator", "attributes"), UNARY)
def test_functions(operator: str, attributes: dict[str, Any]) -> None:
    feeds = {"x": FLOATS if operator != "Reciprocal" else FLOATS + np.float32(0.25)}
    check(make(node(operator, **attributes), feeds), feeds, 2e-6)


def test_approximate_gelu_of_float16() -> None:
    """Its small results have digits: it is not computed by a sum that is nearly 0."""
    x = np.array([-4, -3.5, -3, -2, -0.5, 0, 0.5, 3, 60], np.float16)
    actual = compute(make(node("Gelu", approximate="tanh"), {"x": x}), {"x": x})["r"]
    wide = x.astype(np.float64)
    expected = 0.5 * wide * (1 + np.tanh(np.sqrt(2 / np.pi) * (wide + 0.044715 * wide**3)))
    np.testing.assert_allclose(actual.astype(np.float64), expected, rtol=0.02)


@pytest.mark.parametrize("operator", ["Add", "Sub", "Mul", "Max", "Min", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"])
@pytest.mark.parametrize("dtype", ["float32", "int32", "int64"])
def test_two_operands_broadcast(operator: str, dtype: str) -> None:
    feeds = {"x": INTEGERS.astype(dtype), "y": DIVISORS[:1].astype(dtype)}
    check(make(node(operator, 2), feeds), feeds)


@pytest.mark.parametrize("operator", ["And", "Or", "Xor"])
def test_truth_values(operator: str) -> None:
    feeds = {"x": np.array([[True], [False]]), "y": np.array([True, False])}
    check(make(node(operator, 2), feeds), feeds)
    check(make(node("Not"), {"x": feeds["x"]}), {"x": feeds["x"]})


@pytest.mark.parametrize("operator", ["Sum", "Mean", "Max", "Min"])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_any_number_of_operands(operator: str, count: int) -> None:
    feeds = dict(list({"x": FLOATS, "y": FLOATS[:1] * 2, "z": np.float32([[1], [-3]])}.items())[:count])
    check(make(node(operator, count), feeds), feeds, 1e-6)


@pytest.mark.parametrize("fmod", [0, 1])
@pytest.mark.parametrize("dtype", ["int32", "int8", "float32"])
def test_remainders(fmod: int, dtype: str) -> None:
    if dtype == "float32":
        x = np.array([5.5, -5.5, 7, -7, 1, np.inf], np.float32)
        y = np.array([2, 2, -3, np.inf, -np.inf, 3], np.float32)
        expected: Array = np.array([1.5, -1.5, 1, -7, 1, np.nan] if fmod else [1.5, 0.5, -2, np.inf, -np.inf, np.nan], np.float32)
        feeds = {"x": x, "y": y}
        np.testing.assert_array_equal(compute(make(node("Mod", 2, fmod=fmod), feeds, 13), feeds)["r"], expected)
        return
    feeds = {"x": INTEGERS.astype(dtype), "y": DIVISORS.astype(dtype)}
    found = compute(make(node("Mod", 2, fmod=fmod), feeds), feeds)["r"]
    np.testing.assert_array_equal(found, (np.fmod if fmod else np.mod)(feeds["x"], feeds["y"]))


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (FLOATS[1], np.float32([2, 0.5, -1, 1])),
        (FLOATS[1], np.int32([2, 3, -1, 1])),
        (np.int32([2, 3, 4]), np.int32([3, 2, 0])),
        (np.int32([2, 3, 9]), np.float32([3, 2, 0.5])),
    ],
)
def test_powers(x: Array, y: Array) -> None:
    feeds = {"x": x, "y": y}
    check(make(node("Pow", 2), feeds), feeds, 1e-6)


@pytest.mark.parametrize(
    ("limits", "constants"),
    [
        ({"y": np.float32(-1), "z": np.float32(2)}, ["y", "z"]),
        ({"y": np.float32(-1), "z": np.float32(2)}, []),
        ({"y": np.float32(-1)}, ["y"]),
        ({"y": np.float32(3), "z": np.float32(-3)}, ["y", "z"]),
        ({}, []),
    ],
)
def test_limits_of_clip(limits: dict[str, Array], constants: list[str]) -> None:
    feeds = {"x": FLOATS, **{name: np.asarray(value) for name, value in limits.items()}}
    check(make(node("Clip", len(feeds)), feeds), feeds, constants=constants)


def test_the_limits_of_clip_were_attributes() -> None:
    feeds = {"x": FLOATS}
    check(make(node("Clip", min=-1.0, max=2.0), feeds, 10), feeds)


TYPES = ["float32", "float16", "float64", "int8", "uint8", "int32", "uint32", "int64", "uint64", "bool"]


@pytest.mark.parametrize("source", TYPES)
@pytest.mark.parametrize("target", TYPES)
def test_casts(source: str, target: str) -> None:
    feeds = {"x": np.array([0, 1, 2, 100]).astype(source)}
    check(make(node("Cast", to=onnx.helper.np_dtype_to_tensor_dtype(np.dtype(target))), feeds), feeds)
    feeds["y"] = np.zeros(1, target)
    check(make(node("CastLike", 2), feeds), feeds)


@pytest.mark.parametrize("attributes", [{}, {"detect_negative": 0}, {"detect_positive": 0}, {"detect_negative": 0, "detect_positive": 0}])
def test_infinities(attributes: dict[str, int]) -> None:
    feeds = {"x": np.array([np.inf, -np.inf, np.nan, 1], np.float32)}
    check(make(node("IsInf", **attributes), feeds), feeds)
    check(make(node("IsNaN"), feeds), feeds)


def test_where_and_prelu() -> None:
    feeds = {"x": np.array([[True], [False]]), "y": FLOATS, "z": FLOATS[:, ::-1].copy()}
    check(make(node("Where", 3), feeds), feeds)
    slopes = {"x": FLOATS, "y": np.float32([0.5, 2, 1, -1])}
    check(make(node("PRelu", 2), slopes), slopes)


@pytest.mark.parametrize("operator", ["Abs", "Sign"])
@pytest.mark.parametrize("dtype", ["uint8", "uint32", "int64"])
def test_signs_of_integers(operator: str, dtype: str) -> None:
    feeds = {"x": np.array([0, 1, 200]).astype(dtype)}
    check(make(node(operator), feeds), feeds)


def test_a_swish_with_a_factor() -> None:
    feeds = {"x": FLOATS}
    found = compute(make(node("Swish", alpha=0.5), feeds, 24), feeds)["r"]
    wide = FLOATS.astype(np.float64)
    np.testing.assert_allclose(found, wide / (1 + np.exp(-0.5 * wide)), rtol=1e-6)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (node("Dropout"), None),
        (node("Gelu", approximate="erf"), "the attribute approximate must be one of none, tanh, got 'erf'"),
        (node("Cast", to=onnx.TensorProto.STRING), "the element type must be one of WebNN, got string"),
    ],
)
def test_refusals(made: onnx.NodeProto, message: str | None) -> None:
    feeds = {"x": FLOATS}
    if message is None:
        np.testing.assert_array_equal(compute(make(made, feeds), feeds)["r"], FLOATS)
        return
    with pytest.raises(webnn.onnx.RefusedModelError) as refused:
        webnn.onnx.load(make(made, feeds))
    assert message in str(refused.value)
