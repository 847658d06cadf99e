"""Operators of ONNX Runtime with a state: what is refused."""

from __future__ import annotations

from typing import Any

import pytest

import webnn.onnx
from tests.webnn.onnx.contrib import floats, load

CONVOLUTION: dict[str, Any] = {"x": floats(1, 3, 5), "w": floats(3, 1, 2)}
ATTENTION: dict[str, Any] = {name: floats(1, 3, 8) for name in "qkv"}
HEADS: dict[str, Any] = {"q_num_heads": 2, "kv_num_heads": 2, "update_rule": "linear"}
REFUSED: dict[str, tuple[str, dict[str, Any], dict[str, Any], str]] = {
    "windows": (
        "CausalConvWithState",
        CONVOLUTION,
        {"state_window": 2},
        "state_window must be 0, got 2; export",
    ),
    "dimensions": ("CausalConvWithState", CONVOLUTION, {"ndim": 2}, r"ndim must be 1, and the input 3-D, got 2 and \[1, 3, 5\]"),
    "channels": (
        "CausalConvWithState",
        CONVOLUTION,
        {"input_channels": 2},
        "input_channels must be 0, got 2; export",
    ),
    "a rule": (
        "LinearAttention",
        ATTENTION,
        {**HEADS, "update_rule": "other"},
        "update_rule must be one of linear, gated",
    ),
    "heads": ("LinearAttention", ATTENTION, {**HEADS, "q_num_heads": 4}, "queries and keys must have heads that fit"),
    "a missing decay": ("LinearAttention", ATTENTION, {**HEADS, "update_rule": "gated"}, "the input 4 must be given"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str) -> None:
    operator, inputs, attributes, reason = REFUSED[case]
    with pytest.raises(webnn.onnx.RefusedModelError, match=reason):
        load(operator, inputs, attributes, ("y", "z"))


def test_a_kernel_of_one_token_has_no_state() -> None:
    operations = load("CausalConvWithState", {"x": floats(1, 3, 5), "w": floats(3, 1, 1)}, {}, ("y",))
    assert "conv2d" in operations
    assert "concat" not in operations
