"""Mixtures of experts of ONNX Runtime: routing, layouts of gates, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import webnn.onnx
from tests.webnn.onnx.contrib import floats, load
from tools.evidence.onnx_contrib.cases import Case, compare, run_engine


def test_layouts_of_gates() -> None:
    """The kernel has one layout: gates between what they are multiplied with. The others are the same numbers."""
    x, scores, gates, ups, down = floats(3, 4), floats(3, 2), floats(2, 5, 4), floats(2, 5, 4), floats(2, 4, 5)
    between = np.stack([gates, ups], 2).reshape(2, 10, 4)
    attributes: dict[str, Any] = {"k": 1, "activation_type": "swiglu", "swiglu_fusion": 1}
    expected = run_engine(
        Case(operator="MoE", inputs={"x": x, "r": scores, "a": between, "b": None, "c": down}, attributes=attributes, known="ac")
    )
    behind = np.concatenate([gates, ups], 1)
    blanks = {"b": None, "c": down, "d": None}
    for inputs, fusion in (({"a": behind, **blanks}, 2), ({"a": gates, **blanks, "e": ups}, 0)):
        case = Case(
            operator="MoE",
            inputs={"x": x, "r": scores, **inputs},
            attributes={**attributes, "swiglu_fusion": fusion},
            known="ace",
            expected=expected,
        )
        assert compare(case) <= 1


WEIGHTS: dict[str, Any] = {"x": floats(2, 4), "r": floats(2, 3), "a": floats(3, 5, 4), "b": None, "c": floats(3, 4, 5)}
PACKED: dict[str, Any] = {
    "x": floats(2, 4),
    "r": floats(2, 3),
    "a": np.zeros((3, 6, 2), np.uint8),
    "b": np.ones((3, 6), np.float32),
    "c": None,
    "d": np.zeros((3, 4, 3), np.uint8),
    "e": np.ones((3, 4), np.float32),
}
REFUSED: dict[str, tuple[str, dict[str, Any], dict[str, Any], str]] = {
    "a mixer": (
        "MoE",
        WEIGHTS,
        {"use_sparse_mixer": 1},
        "use_sparse_mixer must be 0; export the model with the k best",
    ),
    "an activation": ("MoE", WEIGHTS, {"activation_type": "geglu"}, "activation_type must be one of relu, gelu, silu, identity, swiglu"),
    "experts": ("MoE", WEIGHTS, {"k": 9}, "k must be a number from 0 to the size of axis 1, 3, got"),
    "scores": ("MoE", {**WEIGHTS, "r": floats(2, 9)}, {}, r"router_probs must be \[tokens, 3\], got \[2, 9\]"),
    "weights": ("MoE", {**WEIGHTS, "a": floats(5, 4)}, {}, "the weights must be .experts, outputs, inputs., got .5, 4."),
    "limits": ("MoE", WEIGHTS, {"swiglu_limit_after_activation": 1}, "export the model with limits before the activation"),
    "floats": ("QMoE", PACKED, {"quant_type": "fp4"}, "quant_type must be 'int'.*; export the model with integers as weights"),
    "bits": ("QMoE", PACKED, {"expert_weight_bits": 3}, "of 2, 4 or 8 bits in uint8, got 3 bits"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str) -> None:
    operator, inputs, attributes, reason = REFUSED[case]
    with pytest.raises(webnn.onnx.RefusedModelError, match=reason):
        load(operator, inputs, attributes, ("y",), "abcde")


def test_weights_stay_packed_by_blocks() -> None:
    assert load("QMoE", PACKED, {}, ("y",), "abde").count("dequantizeLinear") == 2
