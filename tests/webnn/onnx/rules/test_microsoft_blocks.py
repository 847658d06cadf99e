"""Weights by blocks of ONNX Runtime: types that its kernel for rows does not take in one model, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

import webnn.onnx
from tests.webnn.onnx.contrib import floats, load, whole
from tests.webnn.onnx.models import check

PACKED: dict[str, Any] = {"d": np.zeros((3, 8), np.uint8), "i": whole(0, 2), "s": np.ones((3, 1), np.float32)}
BNB4: dict[str, Any] = {"a": floats(2, 8), "b": np.zeros(16, np.uint8), "s": np.ones(2, np.float32)}
REFUSED: dict[str, tuple[str, dict[str, Any], dict[str, Any], str]] = {
    "axes": (
        "GatherBlockQuantized",
        PACKED,
        {"block_size": 16, "gather_axis": 1, "quantize_axis": 1},
        "gather_axis and quantize_axis must differ, got 1",
    ),
    "scales": ("GatherBlockQuantized", {**PACKED, "s": np.ones((3, 4), np.float32)}, {"block_size": 16}, r"shape \[3, 1\], got \[3, 4\]"),
    "data": ("GatherBlockQuantized", PACKED, {"block_size": 16, "bits": 3}, "uint8 with 2, 4 or 8 bits, got uint8 with 3"),
    "a type": ("MatMulBnb4", BNB4, {"K": 8, "N": 4, "block_size": 16, "quant_type": 2}, "quant_type must be 0 or 1, and B uint8, got 2"),
    "a size": ("MatMulBnb4", BNB4, {"K": 8, "N": 5, "block_size": 16, "quant_type": 1}, r"B must have 20 elements, got \[16\]"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str) -> None:
    operator, inputs, attributes, reason = REFUSED[case]
    with pytest.raises(webnn.onnx.RefusedModelError, match=reason):
        load(operator, inputs, attributes, ("y",), "dsb")


@pytest.mark.parametrize(("dtype", "axis"), [(TensorProto.INT4, 0), (TensorProto.UINT4, 0), (TensorProto.INT4, 1)])
def test_rows_of_4_bits(dtype: int, axis: int) -> None:
    """Blocks along the last axis, and rows along any other one."""
    random = np.random.default_rng(axis)
    low = -8 if dtype == TensorProto.INT4 else 0
    data = helper.make_tensor("d", dtype, [3, 4, 32], random.integers(low, low + 16, 3 * 4 * 32))
    scales = helper.make_tensor("s", TensorProto.FLOAT, [3, 4, 2], random.uniform(0.02, 0.06, 24))
    attributes = {"block_size": 16, "gather_axis": axis, "quantize_axis": 2}
    node = helper.make_node("GatherBlockQuantized", ["d", "i", "s"], ["y"], domain="com.microsoft", **attributes)
    infos = [helper.make_tensor_value_info("i", TensorProto.INT64, [2, 2])], [helper.make_empty_tensor_value_info("y")]
    graph = helper.make_graph([node], "m", *infos, [data, scales])
    domains = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    check(helper.make_model(graph, opset_imports=domains, ir_version=10), {"i": np.array([[0, 2], [-1, 1]])})
