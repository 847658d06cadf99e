"""Attention of ONNX Runtime: what it becomes, and what is refused. `tests/tools/evidence/test_onnx_contrib.py` compares its numbers."""

from __future__ import annotations

from typing import Any

import pytest

import webnn.onnx
from tests.webnn.onnx.contrib import floats, load, whole

HEADS: dict[str, Any] = {"num_heads": 2}


def test_attention_without_masks_adds_nothing() -> None:
    inputs = {name: floats(1, 3, 8) for name in "qkv"}
    operations = load("MultiHeadAttention", inputs, HEADS, ("y",))
    assert [each for each in operations if each not in ("reshape", "transpose")] == ["matmul", "mul", "softmax", "matmul"]


@pytest.mark.parametrize(("known", "moves"), [("g", {"slice", "concat"}), ("", {"gather"})])
def test_shared_buffers(known: str, moves: set[str]) -> None:
    """Rows of a known place are put there by slices and concat; otherwise one graph serves all steps."""
    inputs = {"q": floats(1, 1, 8), "k": floats(1, 1, 8), "v": floats(1, 1, 8), "m": None, "a": None}
    inputs |= {"e": floats(1, 2, 5, 4), "f": floats(1, 2, 5, 4), "g": whole(2)}
    attributes = {**HEADS, "past_present_share_buffer": 1}
    found = set(load("DecoderMaskedMultiHeadAttention", inputs, attributes, ("y", "s", "t"), known))
    assert found & {"slice", "concat", "gather"} - (moves if known else {"concat", "gather"}) == set()
    assert moves <= found


REFUSED: dict[str, tuple[str, dict[str, Any], dict[str, Any], str]] = {
    "rotary embeddings": (
        "Attention",
        {"x": floats(1, 2, 4), "w": floats(4, 12), "b": floats(12)},
        {"do_rotary": 1},
        "do_rotary must be 0, got 1; export the model without the fusion of rotary embeddings",
    ),
    "a mask": (
        "Attention",
        {"x": floats(1, 2, 4), "w": floats(4, 12), "b": floats(12), "m": whole(1, 2, 3)},
        {},
        r"the mask must have one of the shapes \[1\], \[2\], \[1, 2\], \[1, 2, 2\], got \[3\]",
    ),
    "sizes": (
        "Attention",
        {"x": floats(1, 2, 4), "w": floats(4, 12), "b": floats(12)},
        {"qkv_hidden_sizes": [4, 4, 5]},
        r"the columns of queries, keys and values, \[4, 4, 5\], got 12",
    ),
    "past": (
        "Attention",
        {"x": floats(1, 2, 4), "w": floats(4, 12), "b": floats(12), "m": None, "p": floats(2, 1, 2, 3, 9)},
        {},
        r"past must be \[2, 1, 2, rows, 2\], got \[2, 1, 2, 3, 9\]",
    ),
    "heads": ("MultiHeadAttention", {name: floats(1, 2, 5) for name in "qkv"}, {}, r"with features for 2 heads, got \[1, 2, 5\]"),
    "keys": (
        "MultiHeadAttention",
        {"q": floats(1, 2, 4), "k": floats(3, 2, 4), "v": floats(3, 2, 4)},
        {},
        "queries, keys and values must have the same batch",
    ),
    "a bias": (
        "MultiHeadAttention",
        {**{name: floats(1, 2, 4) for name in "qkv"}, "b": floats(5)},
        {},
        r"bias must have one element for each of 12 features, got \[5\]",
    ),
    "what is added": (
        "MultiHeadAttention",
        {**{name: floats(1, 2, 4) for name in "qkv"}, "b": None, "m": None, "a": floats(3, 1, 2, 2)},
        {},
        r"the mask must broadcast to the scores, \[1, 2, 2, 2\], got \[3, 1, 2, 2\]",
    ),
    "beams": (
        "DecoderMaskedMultiHeadAttention",
        {**{name: floats(1, 1, 4) for name in "qkv"}, "m": None, "a": None, "e": None, "f": None, "g": None, "h": whole(4)},
        {},
        "inputs of beam search must not be given; export the model without the fusion of beam search",
    ),
    "buffers": (
        "DecoderMaskedMultiHeadAttention",
        {
            **{name: floats(1, 1, 4) for name in "qkv"},
            **{"m": None, "a": None, "e": floats(1, 2, 3, 2), "f": floats(1, 2, 3, 2), "g": whole(3)},
        },
        {},
        "past_sequence_length and the new rows must fit into the buffers, 3, got 4",
    ),
    "packed tokens": (
        "PackedMultiHeadAttention",
        {**{name: floats(3, 4) for name in "qkv"}, "b": None, "o": whole(0, 1, 2), "c": whole(0, 3), "a": floats(1, 1, 3, 3)},
        {},
        "attention_bias must not be given; export the model without the packing of tokens",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str) -> None:
    operator, inputs, attributes, reason = REFUSED[case]
    with pytest.raises(webnn.onnx.RefusedModelError, match=reason):
        load(operator, inputs, {**HEADS, **attributes}, ("y",), "g")
