"""Operators on bits, compared with NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

import webnn.onnx
from tests.webnn.onnx.models import compute, make, one

Array = np.ndarray[Any, np.dtype[Any]]
TYPES = ["int8", "uint8", "int32", "uint32", "int64", "uint64"]


def _numbers(dtype: str, seed: int) -> Array:
    """Return a column of numbers of all sizes, with the least and the greatest one."""
    info = np.iinfo(dtype)
    random = np.random.default_rng(seed)
    numbers = random.integers(info.min, info.max, 40, dtype, endpoint=True) >> random.integers(0, info.bits, 40).astype(dtype)
    return np.concatenate([numbers, np.array([0, 1, info.min, info.max, info.max - 1], dtype)])


def _run(node: Any, feeds: dict[str, Array], version: int, constants: str = "") -> Array:
    return compute(make(node, feeds, version), feeds, constants=list(constants))["z"]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("operator", ["BitwiseAnd", "BitwiseOr", "BitwiseXor"])
def test_two_operands(operator: str, dtype: str) -> None:
    feeds = {"x": _numbers(dtype, 1).reshape(-1, 1), "y": _numbers(dtype, 2)}
    actual = _run(helper.make_node(operator, ["x", "y"], ["z"]), feeds, 18)
    wanted = {"BitwiseAnd": np.bitwise_and, "BitwiseOr": np.bitwise_or, "BitwiseXor": np.bitwise_xor}[operator](feeds["x"], feeds["y"])
    assert actual.dtype == wanted.dtype
    assert actual.tolist() == wanted.tolist()


@pytest.mark.parametrize("dtype", TYPES)
def test_not(dtype: str) -> None:
    x = _numbers(dtype, 1)
    assert _run(helper.make_node("BitwiseNot", ["x"], ["z"]), {"x": x}, 18).tolist() == (~x).tolist()


@pytest.mark.parametrize("constants", ["", "y"])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("direction", ["LEFT", "RIGHT"])
def test_shift(direction: str, dtype: str, constants: str) -> None:
    info = np.iinfo(dtype)
    x = _numbers(dtype, 1).reshape(-1, 1)
    distances = np.arange(-2 if info.min < 0 else 0, info.bits + 3).astype(dtype)
    actual = _run(helper.make_node("BitShift", ["x", "y"], ["z"], direction=direction), {"x": x, "y": distances}, 28, constants)
    rows = []
    for number in x.reshape(-1).tolist():
        inside = [distance if 0 <= distance < info.bits else 999 for distance in distances.tolist()]
        rows.append([number >> each if direction == "RIGHT" else (number << each) for each in inside])
    wanted = np.array([[(each - info.min) % (1 << info.bits) + info.min for each in row] for row in rows], dtype)
    assert actual.tolist() == wanted.tolist()


@pytest.mark.parametrize(
    ("source", "target"),
    [("int8", "uint8"), ("uint8", "int8"), ("int32", "uint32"), ("uint32", "int32"), ("int64", "int64"), ("bool", "uint8")],
)
def test_bit_cast(source: str, target: str) -> None:
    x = np.array([False, True]) if source == "bool" else _numbers(source, 1)
    actual = _run(helper.make_node("BitCast", ["x"], ["z"], to=helper.np_dtype_to_tensor_dtype(np.dtype(target))), {"x": x}, 26)
    assert actual.dtype == target
    assert actual.tolist() == x.view(target).tolist()


@pytest.mark.parametrize(
    ("dtype", "to", "reason"),
    [
        ("float32", TensorProto.INT32, "the bits must stay integers of a size, got float32 and int32"),
        ("int32", TensorProto.INT64, "the bits must stay integers of a size, got int32 and int64"),
        ("int32", TensorProto.STRING, "the element type must be one of WebNN, got string"),
    ],
)
def test_refused_casts(dtype: str, to: int, reason: str) -> None:
    with pytest.raises(webnn.onnx.RefusedModelError, match=reason):
        webnn.onnx.load(one("BitCast", {"x": np.ones(2, dtype)}, 26, outputs=["z"], to=to))


def test_refused_directions() -> None:
    feeds = {name: np.ones(2, np.uint8) for name in "xy"}
    with pytest.raises(webnn.onnx.RefusedModelError, match="the attribute direction must be one of LEFT, RIGHT, got 'UP'"):
        webnn.onnx.load(make(helper.make_node("BitShift", ["x", "y"], ["z"], direction="UP"), feeds, 11))
