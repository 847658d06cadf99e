"""Grouped attention of ONNX Runtime: what it becomes, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import webnn.onnx
from tests.webnn.onnx.contrib import floats, load, whole
from tools.evidence.onnx_contrib.cases import Case, compare, run_engine

HEADS: dict[str, Any] = {"num_heads": 4, "kv_num_heads": 2}


def step(rows: int = 1, cache: int = 5, length: int = 3, batch: int = 1, total: int | None = None) -> dict[str, Any]:
    """Return the inputs of a step: the query, the caches, and how many rows are valid behind it."""
    return {
        "q": floats(batch, rows, 32),
        "k": floats(batch, rows, 16),
        "v": floats(batch, rows, 16),
        **{name: floats(batch, 2, cache, 8) for name in "ef"},
        "s": np.full(batch, length, np.int32),
        "t": np.array(length + 1 if total is None else total, np.int32),
    }


@pytest.mark.parametrize(
    ("known", "batch", "isGathered"), [("ts", 1, False), ("t", 1, False), ("s", 3, False), ("t", 3, True), ("", 1, True)]
)
def test_caches(known: str, batch: int, isGathered: bool) -> None:
    """A step whose place is known needs no gather; otherwise one graph serves all steps."""
    operations = load("GroupQueryAttention", step(batch=batch), HEADS, ("y", "p", "c"), known)
    assert ("gather" in operations) == isGathered
    assert isGathered or "concat" in operations


def test_heads_with_the_same_keys_are_rows() -> None:
    """Keys and values are not copied for each head."""
    assert "expand" not in load("GroupQueryAttention", step(), HEADS, ("y", "p", "c"), "ts")


def test_one_graph_serves_all_steps() -> None:
    for length in range(5):
        case = Case(operator="GroupQueryAttention", inputs=step(length=length), attributes=HEADS, outputs=("y", "p", "c"))
        assert compare(case) <= 1


def test_norms_of_queries_and_keys() -> None:
    """No CPU has them: the expected numbers are those of normalized inputs."""
    inputs = step(rows=3, length=2, cache=3, total=3)
    weights = {"a": floats(8), "b": floats(8)}

    def normalize(x: Any, weight: Any) -> Any:
        heads = x.reshape(*x.shape[:2], -1, 8)
        return (heads / np.sqrt((heads**2).mean(-1, keepdims=True) + 1e-6) * weight).reshape(x.shape).astype(np.float32)

    normal = {**inputs, "q": normalize(inputs["q"], weights["a"]), "k": normalize(inputs["k"], weights["b"])}
    expected = run_engine(Case(operator="GroupQueryAttention", inputs=normal, attributes=HEADS, outputs=("y", "p", "c"), known="ts"))
    optional = dict.fromkeys(("1", "2", "3", "4", "5", "6", "7"))
    case = Case(
        operator="GroupQueryAttention",
        inputs={**inputs, **optional, **weights},
        attributes=HEADS,
        outputs=("y", "p", "c"),
        known="ts",
        expected=expected,
    )
    assert compare(case) <= 1


REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], str, str]] = {
    "a window of the cache": (
        step(),
        {"sliding_window_cache": 1, "local_window_size": 3},
        "ts",
        "sliding_window_cache must be 0, got 1; export the model with a cache for all tokens",
    ),
    "padded prompts": (
        {**step(), **dict.fromkeys("012345678"), "n": whole(1)},
        {},
        "ts",
        "query_seqlens must not be given; export the model for prompts without padding",
    ),
    "4 bits": (
        {**step(), **dict.fromkeys("01234"), "n": np.ones(1, np.float32), "r": np.ones(1, np.float32)},
        {"k_quant_type": "PER_TENSOR", "v_quant_type": "PER_TENSOR", "kv_cache_bit_width": 4},
        "ts",
        "quantized caches must be int8, got 4 bits; export the model with caches of int8",
    ),
    "lengths": ({**step(), "s": whole(1, 2)}, {}, "ts", r"the lengths must have an element for each of 1 elements of the batch, got \[2\]"),
    "a short cache": (step(length=9), {}, "ts", "the cache must have the rows before the step, 9, got 5"),
    "a total": (step(rows=3, total=2), {}, "ts", "total_sequence_length must be at least the number of new rows, 3, got 2"),
    "an open total": (step(rows=7), {}, "s", "total_sequence_length must be known at import, got the value 't'"),
    "caches": ({**step(), "e": floats(1, 9, 5, 8)}, {}, "ts", r"past keys and values must be \[1, 2, 5, 8\], got \[1, 9, 5, 8\]"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str) -> None:
    inputs, attributes, known, reason = REFUSED[case]
    with pytest.raises(webnn.onnx.RefusedModelError, match=reason):
        load("GroupQueryAttention", inputs, {**HEADS, **attributes}, ("y", "p", "c"), known)


BLOCKS: dict[str, Any] = {
    **{name: floats(1, 1, 32) for name in "qkv"},
    **{name: floats(1, 2, 32, 16) for name in "ef"},
    "r": np.array([[0, 1, 2]], np.int32),
    "c": np.array([[0, 1]], np.int32),
    "t": whole(20),
    "l": whole(20),
}


@pytest.mark.parametrize(
    ("changed", "known", "reason"),
    [
        ({}, "ctl", "block_row_indices must be known at import, got the value 'r'"),
        ({"r": np.array([[0, 1, 9]], np.int32)}, "rctl", "the blocks must cover 20 rows, got 2 of 16"),
        ({"r": np.zeros((1, 0), np.int32)}, "rctl", "the blocks must cover 20 rows, got -1 of 16"),
        ({"c": np.array([[0, 5]], np.int32)}, "rctl", "block_col_indices must be from -1 to 1, got some from 0 to 5"),
        ({"r": whole(0, 1)}, "rctl", r"layouts of 2 heads, got \[2\] and \[1, 2\]"),
    ],
)
def test_refused_blocks(changed: dict[str, Any], known: str, reason: str) -> None:
    attributes = {"num_heads": 2, "kv_num_heads": 2, "sparse_block_size": 16}
    assert "softmax" in load("SparseAttention", BLOCKS, attributes, ("y", "p", "w"), "rctl")
    with pytest.raises(webnn.onnx.RefusedModelError, match=reason):
        load("SparseAttention", {**BLOCKS, **changed}, attributes, ("y", "p", "w"), known)


def test_refused_rotary_embeddings() -> None:
    inputs = {"x": floats(1, 2, 2, 4), "i": np.zeros((1, 2), np.int64), "c": floats(3, 4), "s": floats(3, 4)}
    with pytest.raises(webnn.onnx.RefusedModelError, match="at most half of the features of a head, 4, got 4"):
        load("RotaryEmbedding", inputs, {}, ("y",))
    with pytest.raises(webnn.onnx.RefusedModelError, match="is_packed_batching must be 0; export the model for sequences of one length"):
        load("RotaryEmbedding", {**inputs, "c": floats(3, 2), "s": floats(3, 2)}, {"is_packed_batching": 1}, ("y",))
