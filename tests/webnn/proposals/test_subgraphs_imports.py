"""Attention of ONNX Runtime, imported into a draft with subgraphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import webnn
import webnn.onnx
from tests.webnn.onnx.contrib import floats, load, whole
from tools.evidence.onnx_contrib.cases import Case, run_engine
from webnn import MLGraphBuilder
from webnn.context import once

STEP: dict[str, Any] = {
    "q": floats(1, 1, 32),
    "k": floats(1, 1, 16),
    "v": floats(1, 1, 16),
    **{name: floats(1, 2, 5, 8) for name in "ef"},
    "s": whole(3),
    "t": np.array(4, np.int32),
}
GROUPS: dict[str, Any] = {"num_heads": 4, "kv_num_heads": 2}
#: A step that makes the cache longer, with rotary embeddings.
GROWN: dict[str, Any] = {**STEP, "s": whole(5), "t": np.array(6, np.int32)}
TURNED: dict[str, Any] = {
    **GROWN,
    **{name: floats(1, 1, size) for name, size in (("q", 64), ("k", 32), ("v", 32))},
    **{name: floats(1, 2, 5, 16) for name in "ef"},
    **{name: floats(16, 8) for name in ("cos", "sin")},
}
ROTATED = "RotaryEmbedding, MultiHeadAttention"
PLAIN: dict[str, Any] = {name: floats(2, 3, 16) for name in "qkv"}
#: The operator, the inputs, the attributes, the outputs, the initializers; and the kernel of its call.
CASES: dict[str, tuple[Any, ...]] = {
    "attention": ("MultiHeadAttention", PLAIN, {"num_heads": 2}, ("y",), "", "MultiHeadAttention"),
    "a mask": ("MultiHeadAttention", {**PLAIN, "b": None, "m": whole(3, 1)}, {"num_heads": 2}, ("y",), "", "MultiHeadAttention"),
    "a causal mask": ("MultiHeadAttention", PLAIN, {"num_heads": 2, "unidirectional": 1}, ("y",), "", "MultiHeadAttention"),
    "a step": ("GroupQueryAttention", STEP, GROUPS, ("y", "p", "c"), "ts", "MultiHeadAttention"),
    "any step": ("GroupQueryAttention", STEP, GROUPS, ("y", "p", "c"), "", "GroupQueryAttention"),
    "a cache that grows": ("GroupQueryAttention", GROWN, GROUPS, ("y", "p", "c"), "ts", "MultiHeadAttention"),
    "rotary": ("GroupQueryAttention", TURNED, {**GROUPS, "do_rotary": 1}, ("y", "p", "c"), "ts", ROTATED),
    "rotary pairs": ("GroupQueryAttention", TURNED, {**GROUPS, "do_rotary": 1, "rotary_interleaved": 1}, ("y", "p", "c"), "ts", ROTATED),
    "any position": (
        "GroupQueryAttention",
        TURNED | {"s": whole(3), "t": np.array(4, np.int32)},
        {**GROUPS, "do_rotary": 1},
        ("y", "p", "c"),
        "",
        "GroupQueryAttention",
    ),
    "a window": ("GroupQueryAttention", STEP, {**GROUPS, "local_window_size": 2}, ("y", "p", "c"), "ts", "MultiHeadAttention"),
    "caps": ("GroupQueryAttention", STEP, {**GROUPS, "softcap": 2.0}, ("y", "p", "c"), "ts", ""),
}


@pytest.mark.parametrize("numerics", ["exact", "fast"])
@pytest.mark.parametrize("case", CASES)
def test_attention_is_a_call(case: str, numerics: Any) -> None:
    operator, inputs, attributes, outputs, known, kernel = CASES[case]
    model = Case(operator=operator, inputs=inputs, attributes=attributes, outputs=outputs, known=known)
    context = webnn.ML(revision="2026-06+subgraphs", numerics=numerics).createContextSync()
    builder = MLGraphBuilder(context)
    imported = webnn.onnx.load(model.model(), builder)
    graph = builder.buildSync(dict(imported.outputs))
    [call] = graph.description.calls
    assert (call.name, call.kernel) == (operator, kernel)
    if operator == "GroupQueryAttention":
        assert call.config == {**attributes, **{name: True for name in attributes if name.startswith(("do_", "rotary_"))}}
        assert set(call.outputs) == {"output", "present_key", "present_value"}
    assert call == imported.description.calls[0]
    feeds = model.feeds()
    results = once.compute(context, graph, {name: feeds[name] for name in imported.inputs})
    for name, wanted in run_engine(model).items():
        np.testing.assert_allclose(results[name], wanted, rtol=1e-5, atol=1e-5)


def test_a_draft_without_subgraphs_has_no_calls() -> None:
    operator, inputs, attributes, outputs, known, _ = CASES["attention"]
    assert "softmax" in load(operator, inputs, attributes, outputs, known)
    model = Case(operator=operator, inputs=inputs, attributes=attributes, outputs=outputs).model()
    builder = MLGraphBuilder(webnn.ML(revision="2026-06").createContextSync())
    assert webnn.onnx.load(model, builder).description.calls == ()
