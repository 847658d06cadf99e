"""Weights that models store as integers stay integers, with the same numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import webnn.onnx
from webnn.builder.description import GraphDescription
from webnn.commands.feeds import build, compute
from webnn.context.engine.foreign import run_model

_random = np.random.default_rng(11)
SIGNED = _random.integers(-128, 128, (64, 32)).astype(np.int8)
UNSIGNED = _random.integers(0, 256, (64, 32)).astype(np.uint8)
COLUMNS = _random.normal(scale=1e-3, size=(1, 32)).astype(np.float32)
ROWS = _random.normal(scale=1e-3, size=(64, 1)).astype(np.float32)
X = _random.normal(size=(3, 64)).astype(np.float32)


def model(weights: np.ndarray[Any, Any], steps: list[tuple[str, Any]], to: int = TensorProto.FLOAT) -> onnx.ModelProto:
    """Make a model of x @ numbers. They come from weights by a cast and more steps: an operator with a constant or attributes."""
    nodes = [helper.make_node("Cast", ["w"], ["n0"], to=to)]
    constants = {"w": weights}
    for index, (operator, given) in enumerate(steps):
        inputs = [f"n{index}"]
        attributes = given if isinstance(given, dict) else {}
        if not attributes:
            constants[f"c{index}"] = given
            inputs.append(f"c{index}")
        nodes.append(helper.make_node(operator, inputs, [f"n{index + 1}"], **attributes))
    last = f"n{len(steps)}"
    nodes.append(helper.make_node("MatMul", ["x", last], ["y"]))
    graph = helper.make_graph(
        nodes,
        "m",
        [helper.make_tensor_value_info("x", to, [3, None])],
        [helper.make_tensor_value_info("y", to, [3, None])],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def stored(description: GraphDescription) -> dict[str, int]:
    """Return the bytes of constants by their types."""
    found: dict[str, int] = {}
    for each in description.constants.values():
        found[each.descriptor.dataType] = found.get(each.descriptor.dataType, 0) + each.descriptor.byte_length
    return found


HALVES = (SIGNED / 7).astype(np.float16)

KEPT: list[tuple[str, np.ndarray[Any, Any], list[tuple[str, Any]], list[str]]] = [
    ("a cast", SIGNED, [], ["cast", "matmul"]),
    ("a cast of float16", HALVES, [], ["cast", "matmul"]),
    ("a scale", SIGNED, [("Mul", COLUMNS)], ["dequantizeLinear", "matmul"]),
    ("a scale of rows", SIGNED, [("Mul", ROWS)], ["dequantizeLinear", "matmul"]),
    ("one scale", UNSIGNED, [("Mul", np.array(0.01, np.float32))], ["dequantizeLinear", "matmul"]),
    ("a zero point", UNSIGNED, [("Sub", np.array(128, np.float32)), ("Mul", COLUMNS)], ["dequantizeLinear", "matmul"]),
    ("zero points alone", UNSIGNED, [("Sub", np.arange(32, dtype=np.float32))], ["dequantizeLinear", "matmul"]),
    ("a transpose", SIGNED, [("Mul", ROWS), ("Transpose", {"perm": [1, 0]})], ["dequantizeLinear", "matmul"]),
]


@pytest.mark.parametrize(("weights", "steps", "operations"), [each[1:] for each in KEPT], ids=[each[0] for each in KEPT])
def test_integers_stay_integers(weights: np.ndarray[Any, Any], steps: list[tuple[str, Any]], operations: list[str], tmp_path: Any) -> None:
    made = model(weights, steps)
    size = 32 if steps and steps[-1][0] == "Transpose" else 64
    x = np.ascontiguousarray(X[:, :size])
    description = webnn.onnx.load(made, shapes={"x": list(x.shape)}).description
    assert [each.operation for each in description.operators] == operations
    # The integers, and beside them little.
    assert stored(description)[weights.dtype.name] <= weights.nbytes + 64
    assert stored(description).get("float32", 0) <= 4 * 64
    # An identity shows the numbers: they are those of the file, bit for bit.
    onnx.save(made, tmp_path / "model.onnx")
    eye = np.eye(size, dtype=np.float32)[:3]
    [expected] = run_model(tmp_path / "model.onnx", {"x": eye}).values()
    for numerics in ("exact", "fast"):
        [actual] = compute(*build(description, numerics=numerics), {"x": eye}).values()
        assert np.array_equal(actual, expected)
    # In files, they are as small.
    for suffix in (".webnn", ".onnx"):
        description.save(tmp_path / f"graph{suffix}")
        again = webnn.load(tmp_path / f"graph{suffix}")
        assert stored(again)[weights.dtype.name] >= weights.nbytes
        assert stored(again).get("float32", 0) <= 4 * 64
        [actual] = compute(*build(again), {"x": eye}).values()
        assert np.array_equal(actual, expected)


OTHERS: list[tuple[str, np.ndarray[Any, Any], list[tuple[str, Any]]]] = [
    ("few integers", SIGNED[:8, :8].copy(), [("Mul", np.array(0.5, np.float32))]),
    ("wider integers", SIGNED.astype(np.int32), [("Mul", COLUMNS)]),
    ("a scale of float16", HALVES, [("Mul", COLUMNS)]),
    ("as many scales", SIGNED, [("Mul", np.full((64, 32), 0.5, np.float32))]),
    ("a zero point that is not an integer", SIGNED, [("Sub", np.array(0.5, np.float32))]),
    ("a zero point beyond the type", SIGNED, [("Sub", np.array(200, np.float32))]),
    ("a scale that comes first", SIGNED, [("Mul", COLUMNS), ("Sub", np.array(1, np.float32))]),
]


@pytest.mark.parametrize(("weights", "steps"), [each[1:] for each in OTHERS], ids=[each[0] for each in OTHERS])
def test_other_numbers_are_computed_at_import(weights: np.ndarray[Any, Any], steps: list[tuple[str, Any]]) -> None:
    rows = weights.shape[0]
    description = webnn.onnx.load(model(weights, steps), shapes={"x": [3, rows]}).description
    assert [each.operation for each in description.operators] == ["matmul"]


def test_float16_numbers() -> None:
    made = model(SIGNED, [("Mul", COLUMNS.astype(np.float16))], TensorProto.FLOAT16)
    description = webnn.onnx.load(made, shapes={"x": [3, 64]}).description
    assert [each.operation for each in description.operators] == ["dequantizeLinear", "matmul"]
    eye = np.eye(64, dtype=np.float16)[:3]
    [actual] = compute(*build(description), {"x": eye}).values()
    assert np.array_equal(actual, (SIGNED.astype(np.float16) * COLUMNS.astype(np.float16))[:3])
