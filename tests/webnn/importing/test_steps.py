"""Reshapes and transposes of an import that become one, or none."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import parser

import webnn.onnx
from tests.webnn.onnx.models import check

HEAD = '<ir_version: 9, opset_import: ["" : 21]>\n'

#: The nodes of a model from x, [1, 2, 6], to y; the operations that its graph has.
ROWS: dict[str, tuple[str, list[str]]] = {
    "two reshapes": (
        "a = Reshape(x, flat) y = Reshape(a, rows)",
        ["reshape"],
    ),
    "a reshape back": ("a = Reshape(x, flat) b = Unsqueeze(a, zero) c = Reshape(b, cube) y = Neg(c)", ["neg"]),
    "a reshape whose result is taken twice": (
        "a = Reshape(x, flat) b = Reshape(a, rows) c = Reshape(a, columns) y = MatMul(b, c)",
        ["reshape", "reshape", "matmul"],
    ),
    "two equal reshapes": (
        "a = Reshape(x, rows) b = Reshape(x, rows) c = Neg(b) y = Add(a, c)",
        ["reshape", "neg", "add"],
    ),
    "two transposes": (
        "a = Transpose<perm = [1, 2, 0]>(x) y = Transpose<perm = [0, 2, 1]>(a)",
        ["transpose"],
    ),
    "two transposes the other way round": (
        "a = Transpose(x) y = Transpose<perm = [1, 0, 2]>(a)",
        ["transpose"],
    ),
    "a transpose back": (
        "a = Transpose<perm = [1, 2, 0]>(x) b = Transpose<perm = [2, 0, 1]>(a) y = Neg(b)",
        ["neg"],
    ),
    # Both convolutions take the same filter, which is reshaped once.
    "convolutions of one dimension": (
        "a = Conv<pads = [1, 1]>(x, w) b = Relu(a) c = Sigmoid(b) d = Mul(b, c) y = Conv<pads = [1, 1]>(d, w)",
        ["reshape", "reshape", "conv2d", "relu", "sigmoid", "mul", "conv2d", "reshape"],
    ),
    "a scalar beside a convolution of one dimension": (
        "a = Conv<pads = [1, 1]>(x, w) b = Max(half, a) y = Conv<pads = [1, 1]>(b, w)",
        ["reshape", "reshape", "conv2d", "max", "conv2d", "reshape"],
    ),
    "operands of two shapes": (
        "a = Squeeze(x, zero) b = Unsqueeze(a, one) y = Add(x, b)",
        ["reshape", "add"],
    ),
    "an operand that is not a reshape": (
        "a = Unsqueeze(x, zero) b = Neg(x) c = Add(a, b) y = Relu(c)",
        ["reshape", "neg", "add", "relu"],
    ),
    "a reshape that is more than a dimension of size 1": (
        "a = Reshape(x, rows) y = Relu(a)",
        ["reshape", "relu"],
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_reshapes_and_transposes_meet(name: str) -> None:
    nodes, operations = ROWS[name]
    rng = np.random.default_rng(0)
    weight = ", ".join(f"{each:.3f}" for each in rng.normal(size=12))
    model = parser.parse_model(
        f"""{HEAD} m (float[1, 2, 6] x) => (y)
        <int64[1] flat = {{-1}}, int64[2] rows = {{3, 4}}, int64[2] columns = {{4, 3}}, int64[3] cube = {{1, 2, 6}}, int64[1] zero = {{0}},
        int64[1] one = {{1}}, float half = {{0.1}}, float[2, 2, 3] w = {{{weight}}}> {{ {nodes} }}"""
    )
    assert [each.operation for each in webnn.onnx.load(model).description.operators] == operations
    # Sums of convolutions are rounded in another order.
    check(model, {"x": rng.normal(size=(1, 2, 6)).astype(np.float32)}, 1e-6 if "Conv" in nodes else 0.0)
